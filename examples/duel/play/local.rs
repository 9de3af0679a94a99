//! A match on one machine, through the same engine as any other. The second seat's buttons can be made to arrive
//! late, so that one can feel what prediction and rollback do.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::Path;

use rebout::replay::{Recorder, Replay};
use rebout::rollback::{Advance, MAX_WINDOW, Rollback, RollbackConfig};
use rebout::{Buttons, Frame, Player, checksum};

use super::show::{Show, leaves};
use super::{Beat, Ending, FRAME, Hand, Options, attract};
use crate::keys::Key;
use crate::netgraph::NetSample;
use crate::picture::{Panel, Tone};
use crate::sim::buttons::LEAVE;
use crate::sim::{Duel, Phase};
use crate::view::{Hands, Screen};

/// Who plays, and how late the second one's buttons arrive.
#[derive(Clone, Debug)]
pub struct Seats {
    pub hands: [Hand; 2],
    pub late_frames: u32,
}

/// The most that the second seat may be late: more than the engine predicts would only stall.
const MOST_LATE_FRAMES: u32 = MAX_WINDOW - 1;

/// From here on most players see the rollbacks.
const FELT_LATE_FRAMES: u32 = 7;

struct Match<'a> {
    duel: Duel,
    engine: Rollback<Duel>,
    recorder: Recorder,
    seats: Seats,
    /// Buttons of the second seat that are still on their way, with the frame at which they arrive.
    on_the_way: VecDeque<(u32, Frame, Buttons)>,
    show: Show<'a>,
    resimulated: u64,
    age: u32,
}

/// Plays until the match is over or someone leaves.
pub fn local(screen: &Screen, options: &Options, seats: Seats, panel: &Panel) -> Ending {
    if !options.at_once && !attract::wait(screen, panel, &seats.hands, options.seed, &options.names) {
        return Ending { lines: Vec::new() };
    }
    let duel = Duel::new(options.seed);
    let config = RollbackConfig { window: MAX_WINDOW, ..RollbackConfig::default() };
    let mut game = Match {
        engine: Rollback::new(config, &duel),
        recorder: Recorder::new(options.seed),
        show: Show::new(screen, &duel, options.names.clone(), options.net),
        duel,
        seats,
        on_the_way: VecDeque::new(),
        resimulated: 0,
        age: 0,
    };
    let mut beat = Beat::start();
    let left = loop {
        let hands = game.show.hands();
        if leaves(&hands) {
            break true;
        }
        game.change_link(&hands);
        if game.frame(&hands) == Advance::Ended || options.frames.is_some_and(|frames| game.age >= frames) {
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
        self.age += 1;
        let shown = self.duel;
        let current = self.engine.current();
        if self.engine.may_step() {
            let mut buttons =
                Player::BOTH.map(|player| self.seats.hands[player.index()].buttons(&shown, player, hands));
            // Whoever closes the rematch question closes it for both.
            if matches!(shown.phase, Phase::MatchOver { .. }) && hands.presses.contains(&Key::Char('q')) {
                buttons[0] |= LEAVE;
            }
            self.engine.press(Player::One, 0, buttons[0]);
            self.on_the_way.push_back((self.age + self.seats.late_frames, current, buttons[1]));
        }
        while let Some((arrives, frame, buttons)) = self.on_the_way.front().copied() {
            if arrives > self.age {
                break;
            }
            self.on_the_way.pop_front();
            // In order and without a gap: nothing here can be refused.
            let taken = self.engine.confirm(Player::Two, frame, buttons);
            debug_assert!(taken.is_ok(), "{taken:?}");
        }
        let advanced = self.engine.advance(&mut self.duel);
        self.recorder.record_settled(&self.engine);
        self.note(&shown, current, advanced);
        if advanced == Advance::Stalled {
            self.show.say(format!("waiting for {}'s buttons", self.other()), Tone::Alarm);
        }
        self.show.frame(&self.duel, self.engine.cues());
        advanced
    }

    /// Fills in the net graph.
    fn note(&mut self, shown: &Duel, current: Frame, advanced: Advance) {
        let stats = self.engine.stats();
        let rollback_frames = (stats.resimulated_frames - self.resimulated) as u32;
        self.resimulated = stats.resimulated_frames;
        let net = &mut self.show.net;
        net.rollbacks = stats.rollbacks;
        net.deepest_frames = net.deepest_frames.max(rollback_frames);
        net.round_trip_millis = self.seats.late_frames as f32 * 2.0 * 1000.0 / 60.0;
        net.stalls += u64::from(advanced == Advance::Stalled);
        let moved = rollback_frames > 0
            && self.engine.snapshot(current).is_some_and(|truth| net.mark_moved(shown, truth));
        net.push(NetSample {
            rollback_frames,
            predicted_frames: self.engine.current().since(self.engine.settled()),
            stalled: advanced == Advance::Stalled,
            moved,
        });
    }

    /// `-` and `+` make the second seat's buttons arrive sooner or later.
    fn change_link(&mut self, hands: &Hands) {
        for key in &hands.presses {
            let late = match key {
                Key::Char('+' | '=') => (self.seats.late_frames + 1).min(MOST_LATE_FRAMES),
                Key::Char('-') => self.seats.late_frames.saturating_sub(1),
                _ => continue,
            };
            self.seats.late_frames = late;
            let millis = late * 1000 / 60;
            let tone = if late > FELT_LATE_FRAMES { Tone::Warning } else { Tone::Calm };
            let text = format!("{}'s buttons now arrive {late} frames ({millis} ms) late", self.other());
            self.show.say(text, tone);
        }
    }

    fn other(&self) -> &'static str {
        match self.seats.hands[1] {
            Hand::Bot(_) => "the bot",
            Hand::Keys(_) => "player two",
        }
    }

    fn ending(self, options: &Options, left: bool) -> Ending {
        let mut lines = Vec::new();
        let name = |player: Player| &options.names[player.index()];
        lines.push(match self.duel.phase {
            Phase::Done { winner: Some(player) } | Phase::MatchOver { winner: Some(player) } => {
                format!("{} wins.", name(player))
            }
            Phase::Done { winner: None } | Phase::MatchOver { winner: None } => "A draw.".to_owned(),
            _ if left => "Left before the match was decided.".to_owned(),
            _ => "Stopped before the match was decided.".to_owned(),
        });
        let replay = self.recorder.finish();
        let frames = replay.inputs.len();
        // The state that the recorded inputs lead to; what comes after it is still a guess.
        let settled = self.engine.snapshot(self.engine.settled()).unwrap_or(&self.duel);
        lines.push(format!("{frames} frames, checksum {:08X}", checksum(settled)));
        if let Some(folder) = &options.record
            && frames > 0
        {
            lines.push(match save(&replay, folder) {
                Ok(path) => format!("Recorded to {path}"),
                Err(error) => format!("Not recorded to {}: {error}", folder.display()),
            });
        }
        Ending { lines }
    }
}

/// Writes the replay under a name that is not taken yet.
fn save(replay: &Replay, folder: &Path) -> io::Result<String> {
    fs::create_dir_all(folder)?;
    let mut number = 1;
    loop {
        let path = folder.join(format!("duel-{:08x}-{number}.rplk", replay.seed));
        match fs::File::create_new(&path) {
            Ok(file) => {
                let mut writer = io::BufWriter::new(file);
                replay.write(&mut writer).map_err(io::Error::other)?;
                io::Write::flush(&mut writer)?;
                return Ok(path.display().to_string());
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}
