//! The contents of the net graph. The match loop fills it in from its session; the views only read it.

use std::collections::VecDeque;

use rebout::{Advanced, Frame, Player, Session};

use games::duel::Duel;
use stage::{Point, at};

/// How much of the past is plotted: four seconds.
pub const PLOTTED_FRAMES: usize = 240;
const MARK_FRAMES: u32 = 30;
/// A shift smaller than this is not worth a mark, in units of the stage.
const VISIBLE_SHIFT: f32 = 1.0;

/// One frame of the plot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NetSample {
    /// Frames that were resimulated; 0 if none.
    pub rollback_frames: u32,
    /// Frames of the other that are still guessed.
    pub predicted_frames: u32,
    pub stalled: bool,
    /// A rollback put a fighter elsewhere than it was shown.
    pub moved: bool,
}

/// A place where a rollback moved a fighter, for a moment.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    pub player: Player,
    pub from: Point,
    pub to: Point,
    pub age: u32,
}

/// The outcome of a frame of a session.
#[derive(Clone, Copy, Debug)]
pub struct Played {
    pub advanced: Advanced,
    /// The state as it was last shown, and its frame.
    pub shown: Duel,
    pub frame: Frame,
    pub resimulated_frames: u32,
}

/// How the link and the rollbacks are doing.
#[derive(Clone, Debug, Default)]
pub struct NetGraph {
    /// `None` until it has been measured.
    pub round_trip_millis: Option<f32>,
    /// Positive: we are ahead of the other.
    pub lead_frames: f32,
    pub delay_frames: u32,
    /// Of what we sent, and of what the other sent.
    pub lost_out_percent: f32,
    pub lost_in_percent: f32,
    pub packets_out: u64,
    pub packets_in: u64,
    pub bytes_out: u64,
    pub bytes_in: u64,
    pub rollbacks: u64,
    pub deepest_frames: u32,
    pub stalls: u64,
    /// The settings of the simulated bad link, if there is one.
    pub link: String,
    /// How many watch the match.
    pub watchers: u16,
    samples: VecDeque<NetSample>,
    moved: Vec<Moved>,
}

impl NetGraph {
    /// Notes one frame.
    pub fn push(&mut self, sample: NetSample) {
        if self.samples.len() == PLOTTED_FRAMES {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
        self.moved.iter_mut().for_each(|mark| mark.age += 1);
        self.moved.retain(|mark| mark.age < MARK_FRAMES);
    }

    /// Marks the fighters that stand elsewhere in `now` than in `shown`: the same frame, guessed and then known.
    /// Answers whether any does.
    pub fn mark_moved(&mut self, shown: &Duel, now: &Duel) -> bool {
        let mut any = false;
        for player in Player::BOTH {
            let [from, to] = [shown, now].map(|duel| {
                let fighter = duel.fighter(player);
                at(fighter.x.to_num(), fighter.y.to_num())
            });
            if (from.x - to.x).hypot(from.y - to.y) >= VISIBLE_SHIFT {
                self.moved.push(Moved { player, from, to, age: 0 });
                any = true;
            }
        }
        any
    }

    /// The last frames, oldest first.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = &NetSample> {
        self.samples.iter()
    }

    pub fn moved(&self) -> &[Moved] {
        &self.moved
    }

    /// Takes over the figures of a session after a frame.
    pub fn note(&mut self, session: &Session<Duel>, played: &Played) {
        let stats = session.stats();
        let percent = |part: Option<f32>| part.unwrap_or(0.0) * 100.0;
        self.round_trip_millis = stats.round_trip.map(|trip| trip.as_secs_f32() * 1e3);
        self.lead_frames = stats.frame_lead;
        self.delay_frames = session.delay_frames().into();
        (self.lost_out_percent, self.lost_in_percent) = (percent(stats.loss_out), percent(stats.loss_in));
        (self.packets_out, self.packets_in) = (stats.packets_out, stats.packets_in);
        (self.bytes_out, self.bytes_in) = (stats.bytes_out, stats.bytes_in);
        self.rollbacks = stats.rollback.rollbacks;
        self.deepest_frames = self.deepest_frames.max(played.resimulated_frames);
        self.stalls = stats.stalled_frames;
        let moved = played.resimulated_frames > 0
            && session.snapshot(played.frame).is_some_and(|truth| self.mark_moved(&played.shown, truth));
        self.push(NetSample {
            rollback_frames: played.resimulated_frames,
            predicted_frames: stats.predicted_frames,
            stalled: played.advanced == Advanced::Stalled,
            moved,
        });
    }

    /// The connection in a few characters: how many watch, the round trip, and the deepest rollback of the last second. `None`
    /// before the first measurement.
    pub fn corner(&self) -> Option<String> {
        let deepest = self.samples.iter().rev().take(60).map(|sample| sample.rollback_frames).max();
        let watched =
            if self.watchers > 0 { format!("{} watching · ", self.watchers) } else { String::new() };
        Some(format!("{watched}{:.0} ms · {}f", self.round_trip_millis?, deepest.unwrap_or(0)))
    }

    /// The figures as short lines of a label and a value, the most important first.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let last = self.samples.back().copied().unwrap_or_default();
        let trip =
            self.round_trip_millis.map_or_else(|| "measuring".to_owned(), |trip| format!("{trip:.0} ms"));
        let side = if self.lead_frames < 0.0 { "behind" } else { "ahead" };
        let mut lines = vec![
            ("round trip", trip),
            ("input delay", counted(self.delay_frames.into(), "frame")),
            ("rolled back", format!("{}, at most {}f", counted(self.rollbacks, "time"), self.deepest_frames)),
            ("lost", format!("{:.1}% out, {:.1}% in", self.lost_out_percent, self.lost_in_percent)),
            ("waited", counted(self.stalls, "frame")),
            ("guessed", format!("{} ahead", counted(last.predicted_frames.into(), "frame"))),
            ("your clock", format!("{:.1} frames {side}", self.lead_frames.abs())),
            ("packets", format!("{} out, {} in", self.packets_out, self.packets_in)),
            ("data", format!("{} out, {} in", kilobytes(self.bytes_out), kilobytes(self.bytes_in))),
        ];
        if !self.link.is_empty() {
            lines.insert(5, ("link", self.link.clone()));
        }
        lines
    }
}

/// A number with its noun: `1 frame`, `2 frames`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn kilobytes(bytes: u64) -> String {
    if bytes < 10_000 { format!("{bytes} B") } else { format!("{} kB", bytes / 1000) }
}
