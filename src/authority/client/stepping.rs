//! The steps of a client: their start, the replay before them, and the inputs that are sent.

use super::pace::Pace;
use super::{Client, Phase, nanos};
use crate::authority::dialect::SpeaksToServer;
use crate::authority::world::{Command, World};
use crate::protocol::time::{Span, Time};

/// A server that has not said its terms by now says none.
const TERMS_WITHIN: Span = Span::from_secs(1);

/// The number of inputs in a packet, and the number when losses come in bursts.
const REDUNDANCY: u64 = 4;
const MAX_REDUNDANCY: u64 = 8;

impl Client {
    /// Begins to step once the clock is there and it is known how inputs are numbered.
    pub(super) fn begin_stepping(&mut self, now: Time) {
        let Phase::Playing { since } = self.phase else { return };
        let decided = self.has_terms || now.since(since) > TERMS_WITHIN;
        if self.pace.is_some() || !decided || self.baseline.is_none() {
            return;
        }
        let pace = Pace::begin(nanos(now), self.clock.target(now), self.clock.frame_nanos());
        self.history.begin_after(pace.step());
        if self.has_terms {
            self.link.queue_numbered(now, (pace.step() + 1) as u32);
        } else {
            self.base = pace.step();
        }
        self.pace = Some(pace);
    }

    pub(super) fn reconcile<W: World>(&mut self, world: &W) {
        let (Some(baseline), true) = (self.baseline, self.pace.is_some()) else { return };
        self.baseline = None;
        let applied = if self.has_terms {
            // The server has stepped all frames up to this one, with our inputs or with what it held.
            baseline.frame
        } else {
            self.base + u64::from(baseline.applied.unwrap_or(0))
        };
        self.history.reconcile(world, applied, baseline.body);
    }

    pub(super) fn take_steps<W: World>(&mut self, now: Time, world: &W, command: Command) {
        let (Some(pace), target) = (&mut self.pace, self.clock.target(now)) else { return };
        let command = Command::new(command.x, command.y, command.actions);
        let steps = pace.advance(nanos(now), target);
        for _ in 0..steps {
            let step = pace.take_step();
            self.history.step(world, step, command);
        }
        self.inputs_due += steps;
        self.stats.steps += steps;
    }

    /// The number of inputs in the next packet.
    pub(super) fn redundancy(&self) -> u64 {
        match u64::from(self.link.recent_loss_run()) {
            0..2 => REDUNDANCY,
            run => (REDUNDANCY + run).min(MAX_REDUNDANCY),
        }
    }
}
