//! The answers of a host to its guests, kept to be sent again if they were lost.

use std::collections::VecDeque;

/// The most guests whose RESP is kept.
const MAX_GUESTS: usize = 16;

/// The guests, the newest last.
#[derive(Debug, Default)]
pub(super) struct Answers(VecDeque<Guest>);

#[derive(Debug)]
struct Guest {
    number: u64,
    resp: Vec<u8>,
    is_due: bool,
}

impl Answers {
    /// A guest's INIT came. `false` if it came before: its RESP was lost, if there was one, and is due again.
    pub(super) fn is_new(&mut self, number: u64) -> bool {
        let known = self.0.iter_mut().find(|guest| guest.number == number);
        known.map(|guest| guest.is_due = !guest.resp.is_empty()).is_none()
    }

    pub(super) fn add(&mut self, number: u64) {
        if self.0.len() == MAX_GUESTS {
            self.0.pop_front();
        }
        self.0.push_back(Guest { number, resp: Vec::new(), is_due: false });
    }

    /// Sets the RESP of a guest. `false` if the guest is not known any more.
    pub(super) fn set(&mut self, number: u64, resp: &[u8]) -> bool {
        let known = self.0.iter_mut().find(|known| known.number == number);
        let is_known = known.is_some();
        if let Some(guest) = known {
            (guest.resp, guest.is_due) = (resp.to_vec(), true);
        }
        is_known
    }

    pub(super) fn is_due(&self) -> bool {
        self.0.iter().any(|guest| guest.is_due)
    }

    /// The next RESP to send, and the number of its guest.
    pub(super) fn take_due(&mut self) -> Option<(u64, &[u8])> {
        let guest = self.0.iter_mut().find(|guest| guest.is_due)?;
        guest.is_due = false;
        Some((guest.number, &guest.resp))
    }
}
