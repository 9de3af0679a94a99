//! The statistics of a match.

use crate::Refusals;
use crate::rollback::{Costs, RollbackStats};
use core::time::Duration;

/// The statistics of a match so far.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// The smoothed RTT; `None` before the first pong.
    pub round_trip: Option<Duration>,
    /// The variation of the RTT.
    pub jitter: Duration,
    /// The loss of our input packets, 0 to 1; `None` before the peer has reported it.
    pub loss_out: Option<f32>,
    /// The loss of the peer's input packets, 0 to 1.
    pub loss_in: Option<f32>,
    /// The frame lead: how many frames this machine is ahead of the peer, negative if it is behind.
    pub frame_lead: f32,
    /// The age of the peer's inputs: how long after this machine has stepped a frame the input for it comes, on average.
    /// 0 in lockstep, where a late input is a stalled frame.
    pub input_age: Duration,
    /// By how much the peer's inputs are older than half the RTT of control packets explains. Pacing shares a delay between
    /// both machines: a peer that holds its inputs back by 100 ms shows about 50 ms here.
    pub input_excess: Duration,
    /// The time by which the last frame was made longer to reduce the lead, negative if it was made shorter.
    pub trim_micros: i32,
    /// Frames stepped, without resimulations and those that were undone.
    pub frames: u64,
    /// Frames that had to wait for a missing input.
    pub stalled_frames: u64,
    /// The number of stepped frames that are predicted at present.
    pub predicted_frames: u32,
    /// Rollbacks and resimulated frames.
    pub rollback: RollbackStats,
    /// The measured cost of a step, a save and a restore on this machine. `None` without a
    /// [stopwatch](crate::RollbackConfig::stopwatch), and in the first second.
    pub costs: Option<Costs>,
    /// Cues that settled frames had to leave out.
    pub cues_left_out: u64,
    /// Checksums compared with the peer's.
    pub checksums_compared: u64,
    /// Datagrams sent.
    pub packets_out: u64,
    /// Bytes sent, without the headers of UDP and IP.
    pub bytes_out: u64,
    /// Datagrams received, including dropped ones.
    pub packets_in: u64,
    /// Bytes received, without the headers of UDP and IP.
    pub bytes_in: u64,
    /// Second copies of input packets, counted in `packets_out` too.
    pub copies_out: u64,
    /// Dropped datagrams by reason.
    pub refused: Refusals,
}
