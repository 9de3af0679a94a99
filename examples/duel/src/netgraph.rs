//! The contents of the net graph. The match loop fills it in; the views only read it, and know nothing of a session.

use std::collections::VecDeque;

use rebout::Player;

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

/// How the link and the rollbacks are doing.
#[derive(Clone, Debug, Default)]
pub struct NetGraph {
    pub round_trip_millis: f32,
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

    /// The figures as short lines of a label and a value.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let last = self.samples.back().copied().unwrap_or_default();
        let mut lines = vec![
            ("round trip", format!("{:.0} ms", self.round_trip_millis)),
            ("frame lead", format!("{:+.1}", self.lead_frames)),
            ("delay", frames(self.delay_frames)),
            ("predicted", frames(last.predicted_frames)),
            ("rollbacks", format!("{}, deepest {}", self.rollbacks, self.deepest_frames)),
            ("stalls", self.stalls.to_string()),
            ("lost", format!("{:.1}% out {:.1}% in", self.lost_out_percent, self.lost_in_percent)),
            ("packets", format!("{} out {} in", self.packets_out, self.packets_in)),
            ("bytes", format!("{} out {} in", kilobytes(self.bytes_out), kilobytes(self.bytes_in))),
        ];
        if !self.link.is_empty() {
            lines.push(("link", self.link.clone()));
        }
        lines
    }
}

fn frames(count: u32) -> String {
    format!("{count} frame{}", if count == 1 { "" } else { "s" })
}

fn kilobytes(bytes: u64) -> String {
    if bytes < 10_000 { format!("{bytes} B") } else { format!("{} kB", bytes / 1000) }
}
