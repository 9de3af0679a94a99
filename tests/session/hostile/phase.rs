//! The moments at which a datagram can come.

use crate::pair::{Pair, both_ended, config, ms, pair_until, pair_with};
use core::time::Duration;
use rebout::Config;
use rebout::lab::{HOST, JOINER};

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
        self.pair_of(victim, [config(HOST), config(JOINER)])
    }

    /// A pair with these configs in this phase, as seen from the victim.
    pub(crate) fn pair_of(self, victim: usize, mut configs: [Config; 2]) -> Pair {
        configs[HOST].lobby.ask_before_accepting = self == Self::Incoming;
        let mut pair = match self {
            Self::Ending | Self::Over => pair_until::<60>(configs),
            _ => pair_with(configs),
        };
        let limit = Duration::from_secs(20);
        let reached = match self {
            Self::Waiting => {
                pair.machine_mut(1 - victim).asleep = true;
                pair.run_for(ms(50));
                true
            }
            Self::Challenged => pair.step_until(limit, |pair| pair.said_by(JOINER, "HELLO").len() == 2),
            Self::Incoming => {
                // Long enough for the joiner to have heard the host's pings.
                pair.step_until(limit, |pair| pair.said_by(JOINER, "PONG").len() > 2)
            }
            Self::Offered => pair.step_until(limit, |pair| !pair.said_by(JOINER, "CONNECT_REQ").is_empty()),
            Self::Agreed => {
                set_begin(&mut pair, Duration::MAX);
                let both = pair.step_until(limit, |pair| {
                    pair.machine(HOST).has_agreed() && pair.machine(JOINER).has_agreed()
                });
                pair.run_for(ms(100));
                both
            }
            Self::Playing => pair.step_until(limit, |pair| pair.checked().0 >= 100),
            Self::Ending | Self::Over => {
                // Both sides' first messages are their verdicts, and the other side's is late for the victim.
                pair.lose(1 - victim, "VERDICT", if self == Self::Over { 0 } else { 3 });
                pair.step_until(limit, |pair| {
                    if self == Self::Over {
                        both_ended(pair)
                    } else {
                        !pair.said_by(victim, "VERDICT").is_empty()
                    }
                })
            }
        };
        assert!(reached, "{self:?} is not reached: {pair:?}");
        match self {
            Self::Over => pair.run_for(ms(200)),
            // Inputs that the peer sent before its end still arrive, and a new frame contradicts a DISCONNECT.
            Self::Ending => pair.run_for(ms(50)),
            _ => {}
        }
        pair
    }

    /// Lets the other machine wake up, the host accept, both begin.
    pub(crate) fn release(self, pair: &mut Pair) {
        match self {
            Self::Waiting => wake(pair),
            Self::Incoming => pair.lobby_mut(HOST).accept(),
            Self::Agreed => set_begin(pair, Duration::ZERO),
            _ => {}
        }
    }

    /// The same, where the lobby may have become something else meanwhile.
    pub(crate) fn release_lobbies(pair: &mut Pair) {
        wake(pair);
        set_begin(pair, Duration::ZERO);
        for id in [HOST, JOINER] {
            if let Some(lobby) = pair.machine_mut(id).lobby_mut() {
                lobby.accept();
            }
        }
    }
}

fn wake(pair: &mut Pair) {
    [HOST, JOINER].iter().for_each(|id| pair.machine_mut(*id).asleep = false);
}

/// Neither begins the match before this.
fn set_begin(pair: &mut Pair, at: Duration) {
    [HOST, JOINER].iter().for_each(|id| pair.machine_mut(*id).begin_at = at);
}
