//! The answers of a host to its guests, kept to be sent again if they were lost.

use crate::wire::seal::RESP;
use std::collections::VecDeque;

/// The most guests whose answer is kept.
const MAX_GUESTS: usize = 16;

/// The guests, the newest last.
#[derive(Debug, Default)]
pub(super) struct Answers(VecDeque<Guest>);

#[derive(Debug)]
struct Guest {
    number: u64,
    /// The answer to each repetition of what the guest has posted: the RESP to an INIT, the newest SIGNAL to a SIGNAL.
    kept: Vec<u8>,
    /// The packet that waits to be sent.
    due: Option<Vec<u8>>,
}

impl Answers {
    /// A guest's signal came. `false` if it came before: its answer was lost, if there was one, and is due again.
    pub(super) fn is_new(&mut self, number: u64) -> bool {
        let Some(guest) = self.0.iter_mut().find(|guest| guest.number == number) else { return true };
        if guest.due.is_none() && !guest.kept.is_empty() {
            guest.due = Some(guest.kept.clone());
        }
        false
    }

    pub(super) fn add(&mut self, number: u64) {
        if self.0.len() == MAX_GUESTS {
            self.0.pop_front();
        }
        self.0.push_back(Guest { number, kept: Vec::new(), due: None });
    }

    /// Sends a packet to a guest. A SIGNAL does not take the place of a RESP that the guest may not have got. `false` if the guest
    /// is not known any more.
    pub(super) fn set(&mut self, number: u64, packet: &[u8]) -> bool {
        let Some(guest) = self.0.iter_mut().find(|known| known.number == number) else { return false };
        if guest.kept.first() != Some(&RESP) || packet.first() == Some(&RESP) {
            guest.kept = packet.to_vec();
        }
        guest.due = Some(packet.to_vec());
        true
    }

    pub(super) fn is_due(&self) -> bool {
        self.0.iter().any(|guest| guest.due.is_some())
    }

    /// The next packet to send, and the number of its guest.
    pub(super) fn take_due(&mut self) -> Option<(u64, Vec<u8>)> {
        self.0.iter_mut().find_map(|guest| Some((guest.number, guest.due.take()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resp_is_repeated_beside_a_later_signal() {
        let (mut answers, mut sent) = (Answers::default(), Vec::new());
        let mut send = |answers: &mut Answers| {
            sent.clear();
            sent.extend(
                core::iter::from_fn(|| answers.take_due()).map(|(number, packet)| (number, packet[0])),
            );
            sent.clone()
        };
        assert!(answers.is_new(7) && !answers.set(7, &[RESP; 53]), "nobody");
        (7..9).for_each(|number| answers.add(number));
        assert!(!answers.is_new(7) && !answers.is_due(), "there is no answer yet");
        assert!(answers.set(7, &[RESP; 53]) && answers.set(8, &[0xE7; 53]));
        assert_eq!(send(&mut answers), [(7, RESP), (8, 0xE7)]);
        assert!(answers.set(7, &[0xE7; 53]) && answers.set(8, &[0xE8; 53]));
        assert_eq!(send(&mut answers), [(7, 0xE7), (8, 0xE8)]);
        assert!(!answers.is_new(7) && !answers.is_new(8));
        assert_eq!(send(&mut answers), [(7, RESP), (8, 0xE8)]);
        assert!(answers.set(7, &[RESP; 54]));
        answers.take_due();
        assert!(!answers.is_new(7));
        assert_eq!(answers.take_due(), Some((7, vec![RESP; 54])), "the newer one");
    }
}
