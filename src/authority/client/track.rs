//! The track of one entity: its last samples from snapshots, and its place between them.

use crate::authority::world::Body;

/// The number of snapshots kept for an entity.
const KEPT: usize = 16;

/// Beyond the newest snapshot a body goes on for at most this long, and stands then.
const MAX_EXTRAPOLATION_SECONDS: f64 = 0.25;

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
    /// Long after the newest snapshot: it stands.
    Frozen,
}

/// The last samples of one entity, in order of their frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Track {
    samples: [(u64, Body); KEPT],
    len: usize,
}

impl Track {
    pub(super) const EMPTY: Self = Self { samples: [(0, Body::at(0.0, 0.0)); KEPT], len: 0 };

    fn kept(&self) -> &[(u64, Body)] {
        &self.samples[..self.len]
    }

    /// Takes in a sample, which may be older than others. A sample older than all that are kept is dropped.
    pub(super) fn insert(&mut self, frame: u64, body: Body) {
        let place = self.kept().partition_point(|(known, _)| *known < frame);
        if self.kept().get(place).is_some_and(|(known, _)| *known == frame) {
            return;
        }
        if self.len == KEPT {
            if place == 0 {
                return;
            }
            self.samples.copy_within(1..place, 0);
            self.samples[place - 1] = (frame, body);
        } else {
            self.samples.copy_within(place..self.len, place + 1);
            self.samples[place] = (frame, body);
            self.len += 1;
        }
    }

    /// Forgets what is from before `frame`: another entity had the id.
    pub(super) fn forget_before(&mut self, frame: u64) {
        let old = self.kept().partition_point(|(known, _)| *known < frame);
        self.samples.copy_within(old..self.len, 0);
        self.len -= old;
    }

    pub(super) fn newest(&self) -> Option<&(u64, Body)> {
        self.kept().last()
    }

    /// The body at a time in frames.
    pub(super) fn at(&self, render: f64, frame_rate: u16) -> Option<(Body, Drawing)> {
        let kept = self.kept();
        let (newest, last) = kept.last()?;
        let after = kept.partition_point(|(frame, _)| *frame as f64 <= render);
        if after == 0 {
            return Some((kept[0].1, Drawing::Held));
        }
        if let Some((to_frame, to)) = kept.get(after) {
            let (from_frame, from) = kept[after - 1];
            let part = (render - from_frame as f64) / (to_frame - from_frame) as f64;
            return Some((from.towards(to, part as f32), Drawing::Interpolated));
        }
        let seconds = (render - *newest as f64) / f64::from(frame_rate);
        let drawing = match seconds {
            ..=0.0 => Drawing::Interpolated,
            ..=MAX_EXTRAPOLATION_SECONDS => Drawing::Extrapolated,
            _ => Drawing::Frozen,
        };
        Some((last.extrapolated(seconds.min(MAX_EXTRAPOLATION_SECONDS) as f32), drawing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving(x: f32) -> Body {
        Body { velocity_x: 60.0, ..Body::at(x, 0.0) }
    }

    fn track(frames: &[u64]) -> Track {
        let mut track = Track::EMPTY;
        frames.iter().for_each(|frame| track.insert(*frame, moving(*frame as f32)));
        track
    }

    fn x(track: &Track, render: f64) -> (f32, Drawing) {
        let (body, drawing) = track.at(render, 60).unwrap();
        (body.x, drawing)
    }

    #[test]
    fn a_body_is_held_interpolated_extrapolated_and_frozen() {
        let track = track(&[13, 10, 16]);
        assert_eq!(x(&track, 9.0), (10.0, Drawing::Held));
        assert_eq!(x(&track, 11.5), (11.5, Drawing::Interpolated));
        assert_eq!(x(&track, 16.0), (16.0, Drawing::Interpolated));
        assert_eq!(x(&track, 20.0), (20.0, Drawing::Extrapolated));
        assert_eq!(x(&track, 100.0), (31.0, Drawing::Frozen), "a quarter of a second on");
        assert!(Track::EMPTY.at(1.0, 60).is_none());
    }

    #[test]
    fn sixteen_samples_are_kept_sorted_by_frame() {
        let frames: Vec<u64> = (0..40).map(|n| n * 3).collect();
        let mut shuffled = frames.clone();
        shuffled.chunks_mut(3).for_each(<[u64]>::reverse);
        let mut track = track(&shuffled);
        assert_eq!(track.kept().iter().map(|(frame, _)| *frame).collect::<Vec<_>>(), frames[24..]);
        track.insert(5, moving(0.0));
        assert_eq!(track.kept()[0].0, 72, "too old");
        track.forget_before(100);
        assert_eq!(track.kept()[0].0, 102);
    }

    #[test]
    fn first_sample_of_a_frame_counts() {
        let mut track = track(&[10]);
        track.insert(10, moving(99.0));
        assert_eq!((track.len, x(&track, 10.0)), (1, (10.0, Drawing::Interpolated)));
    }
}
