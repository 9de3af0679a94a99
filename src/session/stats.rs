//! The figures of a match.

use crate::Refusals;
use crate::rollback::RollbackStats;
use core::time::Duration;

/// What a match has measured so far.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// The round trip, smoothed; `None` before the first pong.
    pub round_trip: Option<Duration>,
    /// How much the round trip varies.
    pub jitter: Duration,
    /// The part of our input packets that is lost on the way, 0 to 1; `None` before it has been reported.
    pub loss_out: Option<f32>,
    /// The part of the other side's input packets that is lost on the way here.
    pub loss_in: Option<f32>,
    /// How many frames this machine is ahead; negative if it is behind.
    pub frame_lead: f32,
    /// By how much the last frame was made longer to correct that.
    pub trim_micros: i32,
    /// Frames stepped, each once.
    pub frames: u64,
    /// Frames that had to wait.
    pub stalled_frames: u64,
    /// How many of the frames stepped so far are still predicted.
    pub predicted_frames: u32,
    /// Rollbacks, resimulated frames, and how deep.
    pub rollback: RollbackStats,
    /// Cues that settled frames had to leave out.
    pub cues_left_out: u64,
    /// Checksums compared with the other side's.
    pub checksums_compared: u64,
    /// Datagrams sent, and bytes in them.
    pub packets_out: u64,
    /// Bytes sent, without the headers of UDP and IP.
    pub bytes_out: u64,
    /// Datagrams received, whatever they were.
    pub packets_in: u64,
    /// Bytes received, without the headers of UDP and IP.
    pub bytes_in: u64,
    /// Second copies of input packets among those sent.
    pub copies_out: u64,
    /// Datagrams that were dropped, by reason.
    pub refused: Refusals,
}
