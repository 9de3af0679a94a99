//! Runs of lost packets.

use crate::wire::control::ControlHeader;

/// A packet counts as lost once this many later ones were acknowledged without it.
const SETTLED_BEHIND: u32 = 16;

/// Runs of lost packets, as the selective acks show them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    settled: Option<u16>,
    run: u32,
    recent_run: u32,
    since_run: u32,
}

/// A run is recent for this many packets: ten seconds of them.
const RECENT: u32 = 600;

impl Losses {
    pub(super) fn take_in(&mut self, header: ControlHeader) {
        // Packets that lie far enough behind the newest ack have arrived by now, or never will.
        let settled = header.ack.wrapping_sub(SETTLED_BEHIND as u16);
        let Some(before) = self.settled else {
            // Packets from before the server began to count were not lost.
            self.settled = Some(header.ack);
            return;
        };
        let fresh = settled.wrapping_sub(before).cast_signed();
        if fresh <= 0 {
            return;
        }
        // Further back than the bits reach nothing is known.
        for back in (0..u32::from(fresh.unsigned_abs()).min(32 - SETTLED_BEHIND)).rev() {
            let arrived = header.ack_bits >> (SETTLED_BEHIND + back - 1) & 1 == 1;
            self.run = if arrived { 0 } else { self.run + 1 };
            if self.run >= self.recent_run {
                (self.recent_run, self.since_run) = (self.run, 0);
            }
            self.since_run += 1;
            if self.since_run > RECENT {
                (self.recent_run, self.since_run) = (self.run, 0);
            }
        }
        self.settled = Some(settled);
    }

    /// The longest run of packets that were lost lately.
    pub(super) fn recent_run(&self) -> u32 {
        self.recent_run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_lost_packets_are_found_and_forgotten() {
        let mut losses = Losses::default();
        let mut arrived = [true; 2_000];
        arrived[100..104].fill(false);
        for ack in (40..2_000_u16).step_by(3) {
            let bits = (0..32).filter(|k| arrived[usize::from(ack) - 1 - k]).fold(0, |bits, k| bits | 1 << k);
            losses.take_in(ControlHeader { sequence: 0, ack, ack_bits: bits });
            if ack == 130 {
                assert_eq!(losses.recent_run, 4);
            }
        }
        assert_eq!(losses.recent_run, 0, "ten seconds later");
    }

    #[test]
    fn second_of_two_equal_runs_counts_from_its_own_time() {
        let mut losses = Losses::default();
        let arrived = |n: u16| !(100..104).contains(&n) && !(600..604).contains(&n);
        for ack in 40..1_100_u16 {
            let bits = (0..32).filter(|k| arrived(ack - 1 - k)).fold(0, |bits, k| bits | 1 << k);
            losses.take_in(ControlHeader { sequence: 0, ack, ack_bits: bits });
        }
        assert_eq!(losses.recent_run, 4, "eight seconds later");
    }

    #[test]
    fn single_losses_are_no_run() {
        let mut losses = Losses::default();
        for ack in 40..200_u16 {
            let bits = (0..32).filter(|k| (ack - 1 - k) % 3 != 0).fold(0, |bits, k| bits | 1 << k);
            losses.take_in(ControlHeader { sequence: 0, ack, ack_bits: bits });
        }
        assert_eq!(losses.recent_run, 1);
    }
}
