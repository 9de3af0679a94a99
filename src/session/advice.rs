//! The input delay to suggest for a link.

use super::config::Config;
use crate::FrameRate;
use core::time::Duration;

/// The average wait of an arrived input until the next frame is stepped.
const HALF_A_FRAME: f64 = 0.5;

/// The number of predicted frames that most players do not notice.
const UNNOTICED_FRAMES: f64 = 3.0;
/// The most frames of delay that are suggested to reach [`UNNOTICED_FRAMES`].
const MAX_FOR_COMFORT: f64 = 3.0;

/// The accepted chance of a stall in a frame, as a negative power of ten.
const STALL_EXPONENT: f64 = 4.0;

/// The packet loss that is assumed where it is not measured: it leaves room for two lost packets in a row.
pub(super) const ASSUMED_LOSS: f64 = 0.01;

/// A suggested input delay, and the prediction that remains with it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DelayAdvice {
    /// The suggested input delay.
    pub delay_frames: u8,
    /// The number of frames that will be predicted on average with this delay.
    pub expected_predicted_frames: f64,
}

/// Suggests an input delay for the 95th percentile of the RTT, a packet loss from 0 to 1, and a window.
///
/// The delay is the greater of two: the one that leaves few frames predicted, and the one with which a run of lost
/// packets does not exhaust the window and stall the match. It is within 0..=24. The window and
/// the delay together have to cover the way, so that a far link needs a longer window or more delay.
///
/// ```
/// use core::time::Duration;
/// use rebout::{FrameRate, advise_delay};
///
/// let advice = advise_delay(Duration::from_millis(80), 0.01, 8, FrameRate::hz(60));
/// assert_eq!(advice.delay_frames, 0);
/// assert!((advice.expected_predicted_frames - 2.9).abs() < 0.1);
/// assert_eq!(advise_delay(Duration::from_millis(160), 0.2, 8, FrameRate::hz(60)).delay_frames, 3);
///
/// let far = |window| advise_delay(Duration::from_millis(600), 0.05, window, FrameRate::hz(60)).delay_frames;
/// assert_eq!((far(8), far(16), far(22)), (14, 6, 3));
/// ```
#[must_use]
pub fn advise_delay(
    round_trip_95: Duration,
    loss: f64,
    window_frames: u8,
    frame_rate: FrameRate,
) -> DelayAdvice {
    let hz = f64::from(frame_rate.numerator()) / f64::from(frame_rate.denominator().max(1));
    for_link(round_trip_95.as_secs_f64() / 2.0 * hz, loss, window_frames)
}

/// The delay with which the window is enough for the time of one way in frames and two packets lost in a row.
pub(super) fn needed_delay(one_way_frames: f64, window_frames: u8) -> u8 {
    needed(one_way_frames, ASSUMED_LOSS, window_frames).clamp(0.0, f64::from(Config::MAX_DELAY_FRAMES)) as u8
}

fn needed(one_way_frames: f64, loss: f64, window_frames: u8) -> f64 {
    // A run of this many lost packets is rarer than the accepted chance of a stall.
    let run = if loss > 0.0 { (STALL_EXPONENT / -loss.log10()).ceil() } else { 0.0 };
    (one_way_frames + run - f64::from(window_frames)).ceil()
}

/// The suggestion for the time of one way in frames.
pub(super) fn for_link(one_way_frames: f64, loss: f64, window_frames: u8) -> DelayAdvice {
    let loss = if loss.is_finite() { loss.clamp(0.0, 0.9) } else { 0.0 };
    let comfort = (one_way_frames + HALF_A_FRAME - UNNOTICED_FRAMES).ceil().clamp(0.0, MAX_FOR_COMFORT);
    let delay = comfort
        .max(needed(one_way_frames, loss, window_frames))
        .clamp(0.0, f64::from(Config::MAX_DELAY_FRAMES));
    let waiting_for_lost = loss / (1.0 - loss);
    let predicted = one_way_frames + HALF_A_FRAME + waiting_for_lost - delay;
    DelayAdvice { delay_frames: delay as u8, expected_predicted_frames: predicted.max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delay(rtt_ms: u64, loss: f64, window: u8) -> u8 {
        advise_delay(Duration::from_millis(rtt_ms), loss, window, FrameRate::hz(60)).delay_frames
    }

    #[test]
    fn comfort_asks_for_at_most_three_frames() {
        // ceil(0.03 * rtt + 0.5 - 3), within 0..=3
        for (rtt, expected) in [(0, 0), (83, 0), (84, 1), (116, 1), (117, 2), (150, 2), (151, 3), (180, 3)] {
            assert_eq!(delay(rtt, 0.0, 8), expected, "{rtt} ms");
        }
    }

    #[test]
    fn small_window_and_loss_ask_for_more() {
        // need = ceil(0.03 * rtt + k - window), k = ceil(4 / -log10 q)
        assert_eq!(delay(100, 0.0, 0), 3, "lockstep needs the whole way");
        assert_eq!(delay(100, 0.1, 0), 7, "k = 4");
        assert_eq!(delay(100, 0.2, 8), 1, "k = 6: 3 + 6 - 8");
        assert_eq!(delay(200, 0.2, 8), 4, "k = 6: 6 + 6 - 8");
        assert_eq!(delay(350, 0.0, 8), 3, "10.5 - 8");
        assert_eq!(delay(600, 0.05, 0), 22, "k = 4: lockstep of a far match");
        assert_eq!(delay(600, 0.05, 8), 14);
        assert_eq!(delay(600, 0.2, 22), 3, "k = 6: 18 + 6 - 22 is 2, less than for comfort");
        assert_eq!(delay(5_000, 0.5, 8), 24, "never more than a config takes");
    }

    #[test]
    fn needed_delay_leaves_comfort_out() {
        for (one_way, window, delay) in
            [(5.0, 8, 0), (6.0, 8, 0), (6.1, 8, 1), (16.2, 8, 11), (2.0, 0, 4), (99.0, 8, 24)]
        {
            assert_eq!(needed_delay(one_way, window), delay, "{one_way} frames, window {window}");
        }
    }

    #[test]
    fn predicted_frames_are_latency_and_loss_minus_delay() {
        let predicted = |rtt_ms, loss| {
            let advice = advise_delay(Duration::from_millis(rtt_ms), loss, 8, FrameRate::hz(60));
            (advice.delay_frames, (advice.expected_predicted_frames * 100.0).round() as i32)
        };
        assert_eq!(predicted(100, 0.0), (1, 250), "3 + 0.5 - 1");
        assert_eq!(predicted(100, 0.2), (1, 275), "and 0.2 / 0.8 more");
        assert_eq!(predicted(100, 0.75), (24, 0), "never less than nothing");
        assert_eq!(predicted(300, 0.0), (3, 650), "9 + 0.5 - 3");
        assert_eq!(predicted(300, 0.5), (15, 0), "9 + 14 - 8 for a run of losses");
    }

    #[test]
    fn invalid_loss_counts_as_zero() {
        for loss in [f64::NAN, f64::INFINITY, -3.0] {
            assert_eq!(delay(80, loss, 8), 0);
        }
    }
}
