//! The limits of a host, by the number of guests that it expects in each role.

use crate::protocol::PeerRole;

/// How much a host lets others make it do. All limits grow with one number, which the owner chooses, so that a host of a match
/// of two has no larger surface than such a match needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Whether they are those of players.
    plays: bool,
    /// Guests that are expected besides the first.
    more: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(PeerRole::Player, 1)
    }
}

impl Limits {
    pub(super) fn of(role: PeerRole, guests: u8) -> Self {
        Self { plays: role.plays(), more: usize::from(guests.saturating_sub(1)) }
    }

    /// Handshakes in any second. A match that runs pays for those of spectators.
    pub(super) fn handshakes(self) -> usize {
        if self.plays { 16 + self.more / 4 } else { 4 + self.more / 8 }
    }

    /// Handshakes of one source in any second. All guests may be behind one router.
    pub(super) fn handshakes_of_source(self) -> usize {
        2 + self.more / 8
    }

    /// INITs that wait for their turn.
    pub(super) fn waiting(self) -> usize {
        32 + self.more
    }

    /// INITs of one source that wait for their turn.
    pub(super) fn waiting_of_source(self) -> usize {
        1 + self.more / 8
    }

    /// Guests that are only reached, and whose opening message is at the inner protocol.
    pub(super) fn reached(self) -> usize {
        1 + self.more
    }

    /// Confirmed guests that the inner protocol does not keep.
    pub(super) fn unkept(self) -> usize {
        8 + self.more
    }

    /// Packets of the link itself that wait to be sent.
    pub(super) fn packets(self) -> usize {
        24 + self.more
    }

    /// How many of those may be answers to strangers: a flood of answers keeps no packet of a connection back.
    /// Those to guests who do not play leave room for those to players.
    pub(super) fn answers(self) -> usize {
        if self.plays { 12 + self.more } else { 6 }
    }

    /// Handshakes by signalling in any second.
    pub(super) fn signals(self) -> usize {
        4 + self.more / 8
    }

    /// Guests by signalling that have sent no DATA yet.
    pub(super) fn half_open_by_signal(self) -> usize {
        16 + self.more
    }

    /// Keys of INITs by signalling that are remembered while their ticket is good. More INITs are refused.
    pub(super) fn keys_by_signal(self) -> usize {
        128 + 2 * self.more
    }

    /// Signals that wait for their reader.
    pub(super) fn waiting_signals(self) -> usize {
        16 + self.more
    }
}

/// The limits of each role: guests of one role use up nothing of another.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoleLimits {
    players: Limits,
    spectators: Limits,
    rejoiners: Limits,
}

impl Default for RoleLimits {
    fn default() -> Self {
        let [players, spectators, rejoiners] =
            [PeerRole::Player, PeerRole::Spectator, PeerRole::Rejoiner].map(|role| Limits::of(role, 1));
        Self { players, spectators, rejoiners }
    }
}

impl RoleLimits {
    /// Sets the limits of a role by the number of guests that are expected.
    pub(super) fn expect(&mut self, role: PeerRole, guests: u8) {
        let limits = match role {
            PeerRole::Host | PeerRole::Player => &mut self.players,
            PeerRole::Spectator => &mut self.spectators,
            PeerRole::Rejoiner => &mut self.rejoiners,
        };
        *limits = Limits::of(role, guests);
    }

    pub(super) fn of(&self, role: PeerRole) -> Limits {
        match role {
            PeerRole::Host | PeerRole::Player => self.players,
            PeerRole::Spectator => self.spectators,
            PeerRole::Rejoiner => self.rejoiners,
        }
    }

    /// Packets of the link itself that wait to be sent, to guests of all roles.
    pub(super) fn packets(&self) -> usize {
        self.players.packets() + self.spectators.more + self.rejoiners.more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(role: PeerRole, guests: u8) -> [usize; 12] {
        let limits = Limits::of(role, guests);
        [
            limits.handshakes(),
            limits.handshakes_of_source(),
            limits.waiting(),
            limits.waiting_of_source(),
            limits.reached(),
            limits.unkept(),
            limits.packets(),
            limits.answers(),
            limits.signals(),
            limits.half_open_by_signal(),
            limits.keys_by_signal(),
            limits.waiting_signals(),
        ]
    }

    #[test]
    fn limits_grow_with_the_guests_of_a_role() {
        assert_eq!(all(PeerRole::Player, 1), [16, 2, 32, 1, 1, 8, 24, 12, 4, 16, 128, 16]);
        assert_eq!(all(PeerRole::Player, 0), all(PeerRole::Player, 1));
        assert_eq!(all(PeerRole::Player, 33), [24, 6, 64, 5, 33, 40, 56, 44, 8, 48, 192, 48]);
        assert_eq!(all(PeerRole::Spectator, 1), [4, 2, 32, 1, 1, 8, 24, 6, 4, 16, 128, 16]);
        assert_eq!(all(PeerRole::Spectator, 33), [8, 6, 64, 5, 33, 40, 56, 6, 8, 48, 192, 48]);
    }

    #[test]
    fn guests_of_one_role_change_no_limit_of_another() {
        let roles = [PeerRole::Player, PeerRole::Spectator, PeerRole::Rejoiner];
        for role in roles {
            let mut limits = RoleLimits::default();
            limits.expect(role, 33);
            for other in roles {
                let guests = if other == role { 33 } else { 1 };
                assert_eq!(limits.of(other), Limits::of(other, guests), "{role:?} and {other:?}");
            }
            assert_eq!(limits.packets(), 56, "all roles share them");
        }
        assert_eq!(RoleLimits::default().packets(), 24);
    }
}
