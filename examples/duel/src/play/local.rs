//! Two players at one keyboard, through the same engine as any other match: there is only nothing to predict.

use std::path::PathBuf;

use rebout::replay::{RecordError, Recorder};
use rebout::rollback::{Advance, Rollback, RollbackConfig};
use rebout::{Player, checksum};

use super::rules::{Bout, Rules};
use super::show::{Show, leaves};
use super::{Beat, Ending, FRAME, Hand, record};
use crate::netgraph::NetSample;
use crate::view::{Hands, Screen};
use games::duel::buttons::LEAVE;
use games::duel::{Duel, Phase};
use stage::Key;

/// How a match at one keyboard is played.
#[derive(Clone, Debug)]
pub struct Options {
    pub seed: u32,
    pub names: [String; 2],
    /// Where the match is recorded, if it is.
    pub record: Option<PathBuf>,
    pub net: bool,
    pub rules: Rules,
    pub timings: bool,
}

struct Match<'a> {
    duel: Duel,
    engine: Rollback<Duel>,
    recorder: Recorder,
    unrecorded: Option<RecordError>,
    hands: [Hand; 2],
    rules: Rules,
    show: Show<'a>,
}

/// Plays until the match is over or someone leaves.
pub fn local(screen: &Screen, options: &Options, hands: [Hand; 2]) -> Ending {
    let duel = Duel::new(options.seed);
    let mut game = Match {
        engine: Rollback::new(RollbackConfig::default(), &duel),
        recorder: Recorder::new(options.seed),
        unrecorded: None,
        show: Show::new(screen, &duel, options.names.clone(), options.net),
        duel,
        hands,
        rules: options.rules,
    };
    let mut beat = Beat::start();
    let left = loop {
        let hands = game.show.hands();
        if leaves(&hands) {
            break true;
        }
        if game.frame(&hands) == Advance::Ended {
            break false;
        }
        beat.wait(FRAME);
    };
    let mut ending = game.ending(options, left);
    if options.timings {
        ending.lines.push(screen.timings());
    }
    ending
}

impl Match<'_> {
    fn frame(&mut self, hands: &Hands) -> Advance {
        let shown = self.duel;
        let mut buttons =
            Player::BOTH.map(|player| self.hands[player.index()].buttons(&shown, player, hands));
        // Whoever closes the rematch question closes it for both.
        if matches!(shown.phase, Phase::MatchOver { .. }) && hands.presses.contains(&Key::Char('q')) {
            buttons[0] |= LEAVE;
        }
        for player in Player::BOTH {
            self.engine.press(player, 0, buttons[player.index()]);
        }
        let advanced = self.engine.advance(&mut Bout { duel: &mut self.duel, rules: self.rules });
        let recorded = self.recorder.record_settled(&self.engine);
        self.unrecorded = self.unrecorded.or(recorded.err());
        self.show.net.push(NetSample::default());
        self.show.frame(&self.duel, self.engine.cues());
        advanced
    }

    fn ending(self, options: &Options, left: bool) -> Ending {
        let name = |player: Player| &options.names[player.index()];
        let result = match self.duel.phase {
            Phase::Done { winner: Some(player) } | Phase::MatchOver { winner: Some(player) } => {
                format!("{} wins.", name(player))
            }
            Phase::Done { winner: None } | Phase::MatchOver { winner: None } => "A draw.".to_owned(),
            _ if left => "Left before the match was decided.".to_owned(),
            _ => "Stopped before the match was decided.".to_owned(),
        };
        let replay = self.recorder.finish();
        let frames = replay.inputs.len();
        let mut ending =
            Ending::of([result, format!("{frames} frames, checksum {:08X}", checksum(&self.duel))]);
        if let Some(folder) = &options.record
            && frames > 0
        {
            ending.lines.extend(record::save(&replay, self.unrecorded, folder));
        }
        ending
    }
}
