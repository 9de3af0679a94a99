//! The moments at which a datagram can come.

use crate::pair::{HOST, JOINER, Node, Pair, Side, config, ms};
use core::time::Duration;

/// How far two machines have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// A host waits; a joiner has said HELLO to nobody.
    Waiting,
    /// The joiner has its cookie, and the host has not heard it back.
    Challenged,
    /// The host knows who is there and has not decided.
    Incoming,
    /// The joiner has the OFFER and the host does not know that.
    Offered,
    /// Both know, and neither has begun.
    Agreed,
    Playing,
    /// The victim's last state is certain, and the peer's verdict is not here yet.
    Ending,
    Over,
}

impl Phase {
    /// A pair in this phase, as seen from the victim.
    pub(crate) fn pair(self, victim: usize) -> Pair {
        let mut configs = [config(HOST), config(JOINER)];
        configs[HOST].ask_before_accepting = self == Self::Incoming;
        let mut pair = Pair::new(configs);
        pair.record();
        let limit = Duration::from_secs(20);
        let reached = match self {
            Self::Waiting => {
                pair.sides[1 - victim].asleep = true;
                pair.run_for(ms(50));
                true
            }
            Self::Challenged => pair.run_until(limit, |pair| pair.sent(JOINER, "HELLO").len() == 2),
            Self::Incoming => {
                // Long enough for the joiner to have heard the host's pings.
                pair.run_until(limit, |pair| pair.sent(JOINER, "PONG").len() > 2)
            }
            Self::Offered => pair.run_until(limit, |pair| !pair.sent(JOINER, "CONNECT_REQ").is_empty()),
            Self::Agreed => {
                pair.sides.iter_mut().for_each(|side| side.loads_until = Duration::MAX);
                let both = pair.run_until(limit, |pair| pair.agreed(HOST) && pair.agreed(JOINER));
                pair.run_for(ms(100));
                both
            }
            Self::Playing => pair.run_until(limit, |pair| pair.checked >= 100),
            Self::Ending | Self::Over => {
                pair.last_frame = 60;
                // Both sides' first messages are their verdicts, and the other side's is late for the victim.
                pair.losses.push((1 - victim, "VERDICT".into(), if self == Self::Over { 0 } else { 3 }));
                pair.run_until(limit, |pair| {
                    if self == Self::Over {
                        pair.sides.iter().all(Side::ended)
                    } else {
                        !pair.sent(victim, "VERDICT").is_empty()
                    }
                })
            }
        };
        assert!(reached, "{self:?} is not reached: {}, {}", pair.story(HOST), pair.story(JOINER));
        if self == Self::Over {
            pair.run_for(ms(200));
        }
        pair
    }

    /// Lets the other machine wake up, the host accept, both begin.
    pub(crate) fn release(self, pair: &mut Pair) {
        match self {
            Self::Waiting => pair.sides.iter_mut().for_each(|side| side.asleep = false),
            Self::Incoming => pair.sides[HOST].lobby().accept(),
            Self::Agreed => pair.sides.iter_mut().for_each(|side| side.loads_until = Duration::ZERO),
            _ => {}
        }
    }

    /// The same, where the lobby may have become something else meanwhile.
    pub(crate) fn release_lobbies(self, pair: &mut Pair) {
        for side in &mut pair.sides {
            (side.asleep, side.loads_until) = (false, Duration::ZERO);
            if let Node::Lobby(lobby) = &mut side.node {
                lobby.accept();
            }
        }
    }
}
