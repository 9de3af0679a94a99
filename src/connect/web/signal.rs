//! A signal between two machines of which one is a page: a description, with the numbers of a signal.

use super::description::{Description, MAX_BYTES};

/// The version of these signals. Those of version 1 are for paths without a data channel.
pub(crate) const VERSION: u8 = 2;
const HEAD_LEN: usize = 5;
const FLAG_NO_RELAY: u8 = 1;
const FLAG_WANTS_ANSWER: u8 = 2;

const _: () = assert!(HEAD_LEN + MAX_BYTES <= 254);

/// A signal: one side's part of one peer connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebSignal {
    /// Whether the sender wants no path through a relay.
    pub(crate) no_relay: bool,
    /// Whether the sender wants a signal back, because it does not know whether this one has arrived.
    pub(crate) wants_answer: bool,
    /// The number of the peer connection, which each new one raises.
    pub(crate) generation: u8,
    /// Counts the signals of the sender about this one that name more candidates, from 1 on.
    pub(crate) revision: u8,
    /// The newest revision of the receiver's signal that the sender has; 0 if it has none.
    pub(crate) heard: u8,
    pub(crate) description: Description,
}

impl WebSignal {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags = flag(self.no_relay, FLAG_NO_RELAY) | flag(self.wants_answer, FLAG_WANTS_ANSWER);
        let mut text = vec![VERSION, flags, self.generation, self.revision, self.heard];
        self.description.put(&mut text);
        text
    }

    /// Reads a signal. It was opened by its receiver's key, but may still be the work of a peer that lies.
    pub(crate) fn decode(text: &[u8]) -> Option<Self> {
        let ([version, flags, generation, revision, heard], rest) = text.split_first_chunk::<HEAD_LEN>()?;
        if *version != VERSION || flags & !(FLAG_NO_RELAY | FLAG_WANTS_ANSWER) != 0 || *revision == 0 {
            return None;
        }
        let [no_relay, wants_answer] = [FLAG_NO_RELAY, FLAG_WANTS_ANSWER].map(|flag| flags & flag != 0);
        let description = Description::read(rest)?;
        let (generation, revision, heard) = (*generation, *revision, *heard);
        Some(Self { no_relay, wants_answer, generation, revision, heard, description })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::web::description::tests::example;

    #[test]
    fn signal_of_a_page_comes_back_and_others_are_refused() {
        let signal = WebSignal {
            no_relay: true,
            wants_answer: false,
            generation: 200,
            revision: 3,
            heard: 2,
            description: example(),
        };
        let text = signal.encode();
        assert_eq!(WebSignal::decode(&text), Some(signal));
        for (at, value) in [(0, 1), (1, 4), (3, 0)] {
            let mut bad = text.clone();
            bad[at] = value;
            assert_eq!(WebSignal::decode(&bad), None, "byte {at}");
        }
        assert_eq!(WebSignal::decode(&text[..4]), None);
    }
}
