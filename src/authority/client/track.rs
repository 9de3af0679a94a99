//! The track of one entity: its last samples from snapshots, and its place between them.

use crate::authority::world::Body;
use crate::protocol::time::{Span, Time};

/// The number of snapshots kept for an entity.
const KEPT: usize = 16;

/// Beyond the newest snapshot a body is extrapolated for at most this long, then stops.
const MAX_EXTRAPOLATION: Span = Span::from_millis(250);

/// The source of a drawn body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Drawing {
    /// Render time is before the first snapshot: the first is held.
    Held,
    /// Between two snapshots.
    Interpolated,
    /// After the newest snapshot, along its velocity.
    Extrapolated,
    /// Long after the newest snapshot: it has stopped.
    Frozen,
}

/// The last samples of one entity, in order of their times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Track {
    samples: [(Time, Body); KEPT],
    len: usize,
}

impl Track {
    pub(super) const EMPTY: Self = Self { samples: [(Time::ZERO, Body::at(0.0, 0.0)); KEPT], len: 0 };

    fn kept(&self) -> &[(Time, Body)] {
        &self.samples[..self.len]
    }

    /// Takes in a sample, which may be older than others. A sample older than all that are kept is dropped.
    pub(super) fn insert(&mut self, at: Time, body: Body) {
        let place = self.kept().partition_point(|(known, _)| *known < at);
        if self.kept().get(place).is_some_and(|(known, _)| *known == at) {
            return;
        }
        if self.len == KEPT {
            if place == 0 {
                return;
            }
            self.samples.copy_within(1..place, 0);
            self.samples[place - 1] = (at, body);
        } else {
            self.samples.copy_within(place..self.len, place + 1);
            self.samples[place] = (at, body);
            self.len += 1;
        }
    }

    /// Forgets what is from before `at`: another entity had the id.
    pub(super) fn forget_before(&mut self, at: Time) {
        let old = self.kept().partition_point(|(known, _)| *known < at);
        self.samples.copy_within(old..self.len, 0);
        self.len -= old;
    }

    pub(super) fn newest(&self) -> Option<&(Time, Body)> {
        self.kept().last()
    }

    /// The body at render time.
    pub(super) fn at(&self, render: Time) -> Option<(Body, Drawing)> {
        let kept = self.kept();
        let (newest, last) = kept.last()?;
        let after = kept.partition_point(|(at, _)| *at <= render);
        if after == 0 {
            return Some((kept[0].1, Drawing::Held));
        }
        if let Some((to_at, to)) = kept.get(after) {
            let (from_at, from) = kept[after - 1];
            let part = render.since(from_at).nanos() as f64 / to_at.since(from_at).nanos() as f64;
            return Some((from.towards(to, part as f32), Drawing::Interpolated));
        }
        let beyond = render.since(*newest);
        let drawing = match beyond {
            Span::ZERO => Drawing::Interpolated,
            beyond if beyond <= MAX_EXTRAPOLATION => Drawing::Extrapolated,
            _ => Drawing::Frozen,
        };
        Some((last.extrapolated(beyond.min(MAX_EXTRAPOLATION).seconds()), drawing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving(x: f32) -> Body {
        Body { velocity_x: 50.0, ..Body::at(x, 0.0) }
    }

    /// The time of a frame of 20 ms.
    fn at(frame: f64) -> Time {
        Time::ZERO.shifted((frame * 20e6) as i64)
    }

    fn track(frames: &[u64]) -> Track {
        let mut track = Track::EMPTY;
        frames.iter().for_each(|frame| track.insert(at(*frame as f64), moving(*frame as f32)));
        track
    }

    fn x(track: &Track, render: f64) -> (f32, Drawing) {
        let (body, drawing) = track.at(at(render)).unwrap();
        (body.x, drawing)
    }

    #[test]
    fn body_is_held_interpolated_extrapolated_and_frozen() {
        let track = track(&[13, 10, 16]);
        assert_eq!(x(&track, 9.0), (10.0, Drawing::Held));
        assert_eq!(x(&track, 11.5), (11.5, Drawing::Interpolated));
        assert_eq!(x(&track, 16.0), (16.0, Drawing::Interpolated));
        assert_eq!(x(&track, 20.0), (20.0, Drawing::Extrapolated));
        assert_eq!(x(&track, 100.0), (28.5, Drawing::Frozen), "a quarter of a second on");
        assert!(Track::EMPTY.at(at(1.0)).is_none());
    }

    #[test]
    fn sixteen_samples_are_kept_sorted_by_frame() {
        let frames: Vec<u64> = (0..40).map(|n| n * 3).collect();
        let mut shuffled = frames.clone();
        shuffled.chunks_mut(3).for_each(<[u64]>::reverse);
        let mut track = track(&shuffled);
        let kept: Vec<Time> = frames[24..].iter().map(|frame| at(*frame as f64)).collect();
        assert_eq!(track.kept().iter().map(|(at, _)| *at).collect::<Vec<_>>(), kept);
        track.insert(at(5.0), moving(0.0));
        assert_eq!(track.kept()[0].0, at(72.0), "too old");
        track.forget_before(at(100.0));
        assert_eq!(track.kept()[0].0, at(102.0));
    }

    #[test]
    fn first_sample_of_a_frame_counts() {
        let mut track = track(&[10]);
        track.insert(at(10.0), moving(99.0));
        assert_eq!((track.len, x(&track, 10.0)), (1, (10.0, Drawing::Interpolated)));
    }
}
