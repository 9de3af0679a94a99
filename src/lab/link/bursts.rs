//! Loss in bursts of time: a Gilbert-Elliott model with exponentially distributed phases.

use super::{Burst, Chance, Seeded, nanos};

/// The most phases that one datagram skips. A link that was idle for longer draws its phase again, which bounds the work
/// and, after so many phases, has the same distribution.
const MAX_PHASES_SKIPPED: u32 = 1_024;

/// The alternation between bursts and the gaps between them.
///
/// It has a random stream of its own: when bursts begin and end is a function of the seed and of time, whatever is sent
/// in between.
#[derive(Clone, Debug)]
pub(super) struct Bursts {
    rng: Seeded,
    /// `None` until the first datagram, and after a change of the configuration.
    phase: Option<Phase>,
}

#[derive(Clone, Copy, Debug)]
struct Phase {
    in_burst: bool,
    ends_at: u64,
}

impl Bursts {
    pub(super) fn new(rng: Seeded) -> Self {
        Self { rng, phase: None }
    }

    /// Begins again with a gap at the next datagram.
    pub(super) fn restart(&mut self) {
        self.phase = None;
    }

    /// The chance that a datagram at `now` is lost to a burst.
    #[inline]
    pub(super) fn loss_at(&mut self, now: u64, burst: Option<Burst>) -> Chance {
        match burst {
            Some(burst) if self.phase_at(now, burst).in_burst => burst.loss,
            _ => Chance::NEVER,
        }
    }

    fn phase_at(&mut self, now: u64, burst: Burst) -> Phase {
        let [gap, length] = [burst.mean_gap, burst.mean_length].map(nanos);
        let mean = |in_burst| if in_burst { length } else { gap };
        let mut phase = match self.phase {
            Some(phase) => phase,
            None => Phase { in_burst: false, ends_at: now.saturating_add(self.rng.exponential(gap)) },
        };
        for _ in 0..MAX_PHASES_SKIPPED {
            if now < phase.ends_at {
                return *self.phase.insert(phase);
            }
            let in_burst = !phase.in_burst;
            let ends_at = phase.ends_at.saturating_add(self.rng.exponential(mean(in_burst)));
            phase = Phase { in_burst, ends_at };
        }
        // An exponential phase has no memory: what is left of it is distributed like the whole.
        let in_burst = self.rng.below(gap.saturating_add(length)) < length;
        let ends_at = now.saturating_add(self.rng.exponential(mean(in_burst)));
        *self.phase.insert(Phase { in_burst, ends_at })
    }
}
