//! The formats that no document describes: the messages of a duel with the notes of an autopsy, the packets of a sealed link, of a
//! rendezvous and of a broadcast, and STUN.

/// Notes of an autopsy: the payload of AUTOPSY messages.
pub mod autopsy {
    use crate::wire::autopsy::{
        self as notes, Note, decode, write_leaves, write_mended, write_phases, write_start, write_state,
        write_table, write_trace,
    };
    use crate::wire::message::MAX_AUTOPSY;

    /// Decodes a note, and encodes it again. `None` if it breaks a rule.
    #[must_use]
    pub fn encode_again(payload: &[u8]) -> Option<Vec<u8>> {
        let mut buf: notes::Buffer = [0; MAX_AUTOPSY];
        let len = match decode(payload)? {
            Note::Start { frame, last_match } => write_start(frame, last_match, &mut buf),
            Note::Trace { resimulated, more, first, values } => {
                let values: Vec<u32> = values.iter().collect();
                write_trace(resimulated, more, first, &values, &mut buf)
            }
            Note::State { frame, leaves } => write_state(frame, leaves, &mut buf),
            Note::Table { levels, prefix, sums } => {
                let sums: Vec<u32> = sums.iter().collect();
                write_table(levels, prefix, sums[..].try_into().ok()?, &mut buf)
            }
            // The writers say that more follows when a note is full; here the flag of the note is kept.
            Note::Leaves { more, leaves } => {
                let len = write_leaves(&mut leaves.iter().peekable(), &mut buf);
                buf[1] = more.into();
                len
            }
            Note::Phases { more, marks } => {
                let len = write_phases(&mut marks.iter().peekable(), &mut buf);
                buf[1] = more.into();
                len
            }
            Note::Mended { frame } => write_mended(frame, &mut buf),
        };
        Some(buf[..len].to_vec())
    }
}

/// Messages: the payload of a RELIABLE_EVENT in a duel.
pub mod message {
    pub use crate::wire::message::*;
}

/// The packets between a broadcast and its spectators.
pub mod broadcast {
    pub use crate::wire::broadcast::*;
}

/// The packets of a rendezvous.
pub mod rendezvous {
    pub use crate::wire::rendezvous::*;
}

/// The packets of a sealed link.
pub mod seal {
    pub use crate::wire::seal::*;
}

/// STUN Binding without authentication.
#[cfg(feature = "nat")]
pub mod stun {
    pub use crate::wire::stun::*;
}
