//! The conditions of a run: what happens in its matches besides play over a bad link.

/// Something that happens in every match of a run, if the run has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// The joiner is behind a router that forgets its mappings every few seconds. The link must be sealed: a bare match does not follow
    /// a peer to another address.
    Roaming,
    /// Somebody without keys sends copies, damaged copies and guesses to both machines, 50 a second to each: from addresses of their own,
    /// and on a sealed link in the name of the peer too.
    Hostile,
    /// The players pause now and then, for longer than the silence that ends a match.
    Pauses,
    /// Some states are barriers: a step from one of them must have confirmed inputs and never be taken again.
    Barriers,
    /// The host hands over a first state.
    FirstStates,
    /// The program of a player is killed and comes back, by the key and the recording that it kept. Somebody whose secret differs in one
    /// bit tries to take its place. The link must be sealed.
    Kills,
    /// Spectators watch from the start and from the middle of the match, one of them through another. They must come to the players'
    /// last state. The link must be sealed.
    Spectators,
    /// The machines are behind routers and firewalls, meet at a rendezvous, and play through a TURN relay where no direct path works. The
    /// link must be sealed, and the test must have [a relay](super::Stress::turn_relay). Not together with roaming, kills and spectators.
    Relayed,
}

impl Condition {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Roaming,
        Self::Hostile,
        Self::Pauses,
        Self::Barriers,
        Self::FirstStates,
        Self::Kills,
        Self::Spectators,
        Self::Relayed,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Roaming => "roaming",
            Self::Hostile => "hostile",
            Self::Pauses => "pauses",
            Self::Barriers => "barriers",
            Self::FirstStates => "first-states",
            Self::Kills => "kills",
            Self::Spectators => "spectators",
            Self::Relayed => "relayed",
        }
    }

    /// Whether a match with [`Relayed`](Self::Relayed) cannot have it: each of them needs a machine at an address that stays.
    #[must_use]
    pub const fn excludes_relays(self) -> bool {
        matches!(self, Self::Roaming | Self::Kills | Self::Spectators)
    }

    /// Whether only a sealed match can have it.
    #[must_use]
    pub const fn needs_seal(self) -> bool {
        matches!(self, Self::Roaming | Self::Kills | Self::Spectators | Self::Relayed)
    }
}

/// A set of conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions(u8);

impl Conditions {
    /// No conditions.
    pub const NONE: Self = Self(0);

    /// Whether this one is among them.
    #[must_use]
    pub const fn has(self, condition: Condition) -> bool {
        self.0 & 1 << condition as u8 != 0
    }

    /// These and one more.
    #[must_use]
    pub const fn with(self, condition: Condition) -> Self {
        Self(self.0 | 1 << condition as u8)
    }

    /// These less the one of this name, if it is among them.
    #[must_use]
    pub fn without(self, name: &str) -> Self {
        self.iter().filter(|condition| condition.name() != name).collect()
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Condition> {
        Condition::ALL.into_iter().filter(move |condition| self.has(*condition))
    }
}

impl FromIterator<Condition> for Conditions {
    fn from_iter<I: IntoIterator<Item = Condition>>(conditions: I) -> Self {
        conditions.into_iter().fold(Self::NONE, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_a_set() {
        let two: Conditions = [Condition::Kills, Condition::Hostile, Condition::Kills].into_iter().collect();
        assert_eq!(two.iter().map(Condition::name).collect::<Vec<_>>(), ["hostile", "kills"]);
        assert_eq!(two.without("kills").without("loss"), Conditions::NONE.with(Condition::Hostile));
        let all: Conditions = Condition::ALL.into_iter().collect();
        assert!(all.iter().eq(Condition::ALL));
    }
}
