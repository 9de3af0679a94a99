//! One machine's end of a match: the online match and the state that it is lent.

use rebout::net::Datagrams;
use rebout::replay::Winner;
use rebout::{Buttons, Cue, Frame, Online, Session, checksum};

use crate::netgraph::Played;
use crate::rules::{RuledDuel, Rules};
use games::duel::{Duel, Phase};

/// One machine's end of a match on a transport.
pub struct Machine<D> {
    pub online: Online<Duel, D>,
    pub duel: Duel,
    rules: Rules,
    /// The cues that the steps of the last `advance` asked for, resimulated ones too; kept only where they are heard.
    asked: Option<Vec<Cue>>,
}

impl<D: Datagrams> Machine<D> {
    /// A match that has not begun.
    pub fn of(online: Online<Duel, D>, rules: Rules) -> Self {
        Self { online, duel: Duel::new(1), rules, asked: None }
    }

    /// Begins the match that both have agreed on.
    pub fn begin(&mut self, seed: u32) {
        self.duel = Duel::new(seed);
        self.online.start(&RuledDuel { duel: &mut self.duel, rules: self.rules, asked: None });
    }

    /// Notes from now on what every step asks for.
    pub fn note_step_cues(&mut self) {
        self.asked = Some(Vec::new());
    }

    /// What the steps of the last `advance` asked for; `None` if nobody listens to them.
    pub fn asked(&self) -> Option<&[Cue]> {
        self.asked.as_deref()
    }

    /// Plays a frame.
    pub fn advance(&mut self, buttons: Buttons) -> Played {
        let (shown, frame) = (self.duel, self.online.session().map_or(Frame::ZERO, Session::current));
        let before = self.resimulated_frames();
        if let Some(asked) = &mut self.asked {
            asked.clear();
        }
        let mut game = RuledDuel { duel: &mut self.duel, rules: self.rules, asked: self.asked.as_mut() };
        let advanced = self.online.advance(&mut game, buttons);
        self.online.set_winner(winner(self.certain()));
        let resimulated_frames = (self.resimulated_frames() - before) as u32;
        Played { advanced, shown, frame, resimulated_frames }
    }

    fn resimulated_frames(&self) -> u64 {
        self.online.stats().map_or(0, |stats| stats.rollback.resimulated_frames)
    }

    /// The newest state that is certain: what the recorded inputs lead to.
    pub fn certain(&self) -> &Duel {
        let session = self.online.session();
        session.and_then(|session| session.snapshot(session.settled())).unwrap_or(&self.duel)
    }

    pub fn checksum(&self) -> u32 {
        checksum(self.certain())
    }

    /// The frames that are certain.
    pub fn frames(&self) -> u32 {
        self.online.session().map_or(0, |session| session.settled().0)
    }
}

/// The winner, for a recording.
pub fn winner(duel: &Duel) -> Winner {
    match duel.phase {
        Phase::Done { winner } | Phase::MatchOver { winner } => winner.map_or(Winner::Draw, Winner::Player),
        _ => Winner::Undecided,
    }
}
