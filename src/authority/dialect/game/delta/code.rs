//! One body as the difference to an earlier one, its baseline. Without one the baseline is a body of zeros in the same frame.
//!
//! Both sides move the baseline along its velocity for the frames in between, by the same additions. Velocity and health are
//! sent where they changed; if the velocity did, so is the number of frames since, and the body is moved along the new one
//! for those. A position is then sent as its difference to that. The result has the very bits of the body.
//!
//! | bits | |
//! |---|---|
//! | 0 | velocity and health are the baseline's |
//! | 1, 3 flags | x of the velocity, y of it and the health changed; the *float* of each that did; 6 bits: frames since the velocity changed, if it did |
//!
//! | position, x and then y | |
//! |---|---|
//! | 0 | as predicted |
//! | 10, 4 bits | 1 to 8 floats above the prediction (0 to 7) or below it (8 to 15) |
//! | 110 | the baseline's |
//! | 1110, 16 bits | so many floats above the prediction, as a signed number |
//! | 1111 | its *float* |
//!
//! A *float* is two bits, one less than the number of bytes that follow: the first ones of the `f32`, the others are 0.

use super::bits::{BitReader, BitWriter};
use crate::authority::Body;

/// A baseline is moved for at most this many frames.
const MAX_MOVED: u32 = 63;
const MOVED_BITS: u32 = 6;

/// The longest code: 1 + 3 + 3 * 34 + 6 + 2 * 38 bits.
const MAX_BYTES: usize = 24;

/// The bits of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Code {
    bytes: [u8; MAX_BYTES],
    bits: u8,
}

/// The earlier body, the frames in between, and the length of a frame in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Baseline<'a> {
    pub(super) body: &'a Body,
    pub(super) frames: u32,
    pub(super) frame_seconds: f32,
}

/// The place of a float in the order of all of them. Neighbours are one apart.
#[inline]
fn rank(value: f32) -> i32 {
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

fn of_rank(rank: i32) -> f32 {
    f32::from_bits((rank ^ ((rank >> 31).cast_unsigned() >> 1).cast_signed()).cast_unsigned())
}

#[inline]
fn is_same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits()
}

impl Baseline<'_> {
    fn moved_frames(&self) -> u32 {
        self.frames.min(MAX_MOVED)
    }

    /// The place that a body has reached which took this velocity `since` frames ago.
    #[inline]
    fn predicted(&self, velocity: (f32, f32), since: u32) -> (f32, f32) {
        let (mut x, mut y) = (self.body.x, self.body.y);
        let mut go = |(vx, vy): (f32, f32), frames| {
            let (dx, dy) = (vx * self.frame_seconds, vy * self.frame_seconds);
            for _ in 0..frames {
                (x, y) = (x + dx, y + dy);
            }
        };
        go((self.body.velocity_x, self.body.velocity_y), self.moved_frames().saturating_sub(since));
        go(velocity, since);
        (x, y)
    }

    /// The number of frames since a body took its new velocity, as its place tells it.
    fn turned_since(&self, body: &Body) -> u32 {
        let (frames, before) = (self.moved_frames(), self.body);
        let since = |at: f32, from: f32, old: f32, new: f32| {
            let off = at - from - old * self.frame_seconds * frames as f32;
            (off / ((new - old) * self.frame_seconds)).round()
        };
        let (x, y) = (body.velocity_x - before.velocity_x, body.velocity_y - before.velocity_y);
        let since = if x.abs() >= y.abs() {
            since(body.x, before.x, before.velocity_x, body.velocity_x)
        } else {
            since(body.y, before.y, before.velocity_y, body.velocity_y)
        };
        // A quotient that is no number becomes 0.
        (since as u32).min(frames)
    }
}

fn put_float(writer: &mut BitWriter<'_>, value: f32) {
    let bits = value.to_bits();
    let unused = (bits.trailing_zeros() / 8).min(3);
    writer.put(3 - unused, 2);
    writer.put(bits >> (unused * 8), 32 - unused * 8);
}

fn take_float(reader: &mut BitReader<'_>) -> Option<f32> {
    let unused = 3 - reader.take(2)?;
    Some(f32::from_bits(reader.take(32 - unused * 8)? << (unused * 8)))
}

fn put_place(writer: &mut BitWriter<'_>, value: f32, predicted: f32, before: f32) {
    let off = rank(value).wrapping_sub(rank(predicted));
    match off {
        0 => writer.put(0, 1),
        1..=8 => writer.put(0b10 << 4 | (off - 1).cast_unsigned(), 6),
        -8..=-1 => writer.put(0b10 << 4 | (7 - off).cast_unsigned(), 6),
        _ if is_same(value, before) => writer.put(0b110, 3),
        _ => match i16::try_from(off) {
            Ok(off) => writer.put(0b1110 << 16 | u32::from(off.cast_unsigned()), 20),
            Err(_) => {
                writer.put(0b1111, 4);
                put_float(writer, value);
            }
        },
    }
}

fn take_place(reader: &mut BitReader<'_>, predicted: f32, before: f32) -> Option<f32> {
    let off = if !reader.flag()? {
        0
    } else if !reader.flag()? {
        match reader.take(4)?.cast_signed() {
            above @ 0..=7 => above + 1,
            below => 7 - below,
        }
    } else if !reader.flag()? {
        return Some(before);
    } else if !reader.flag()? {
        i32::from((reader.take(16)? as u16).cast_signed())
    } else {
        return take_float(reader);
    };
    Some(of_rank(rank(predicted).wrapping_add(off)))
}

impl Code {
    pub(super) const EMPTY: Self = Self { bytes: [0; MAX_BYTES], bits: 0 };

    /// The code of a body.
    pub(super) fn of(body: &Body, baseline: &Baseline<'_>) -> Self {
        let mut code = Self::EMPTY;
        let mut writer = BitWriter::new(&mut code.bytes);
        let before = baseline.body;
        let x_turned = !is_same(body.velocity_x, before.velocity_x);
        let y_turned = !is_same(body.velocity_y, before.velocity_y);
        let is_hurt = !is_same(body.health, before.health);
        let mut since = 0;
        if x_turned || y_turned || is_hurt {
            writer.put(8 | u32::from(x_turned) << 2 | u32::from(y_turned) << 1 | u32::from(is_hurt), 4);
            let values = [(x_turned, body.velocity_x), (y_turned, body.velocity_y), (is_hurt, body.health)];
            values
                .iter()
                .filter(|(changed, _)| *changed)
                .for_each(|(_, value)| put_float(&mut writer, *value));
            if x_turned || y_turned {
                since = baseline.turned_since(body);
                writer.put(since, MOVED_BITS);
            }
        } else {
            writer.put(0, 1);
        }
        let (x, y) = baseline.predicted((body.velocity_x, body.velocity_y), since);
        put_place(&mut writer, body.x, x, before.x);
        put_place(&mut writer, body.y, y, before.y);
        let bits = writer.bits();
        let written = writer.finish();
        debug_assert!(written.is_some(), "a code of {bits} bits");
        code.bits = bits as u8;
        code
    }

    pub(super) fn bits(&self) -> usize {
        self.bits.into()
    }

    /// Writes the code behind others.
    #[inline]
    pub(super) fn put(&self, writer: &mut BitWriter<'_>) {
        let mut left = u32::from(self.bits);
        for word in self.bytes.as_chunks().0 {
            let (word, bits) = (u32::from_be_bytes(*word), left.min(32));
            if bits == 0 {
                return;
            }
            writer.put(word >> (32 - bits), bits);
            left -= bits;
        }
    }

    /// Takes a body from its code; `None` if the code is cut, or the body not finite.
    pub(super) fn take(reader: &mut BitReader<'_>, baseline: &Baseline<'_>) -> Option<Body> {
        let (mut body, mut since) = (*baseline.body, 0);
        if reader.flag()? {
            let (x_turned, y_turned, is_hurt) = (reader.flag()?, reader.flag()?, reader.flag()?);
            let values = [
                (x_turned, &mut body.velocity_x),
                (y_turned, &mut body.velocity_y),
                (is_hurt, &mut body.health),
            ];
            for (_, value) in values.into_iter().filter(|(changed, _)| *changed) {
                *value = take_float(reader)?;
            }
            if x_turned || y_turned {
                since = reader.take(MOVED_BITS)?;
            }
        }
        let (x, y) = baseline.predicted((body.velocity_x, body.velocity_y), since);
        body.x = take_place(reader, x, baseline.body.x)?;
        body.y = take_place(reader, y, baseline.body.y)?;
        Some(body).filter(Body::is_finite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: f32 = 1.0 / 60.0;

    fn bits_of(body: &Body) -> [u32; 5] {
        [body.x, body.y, body.velocity_x, body.velocity_y, body.health].map(f32::to_bits)
    }

    /// The number of bits of a body, which comes back as it was.
    fn survives(body: &Body, before: &Body, frames: u32) -> usize {
        let baseline = Baseline { body: before, frames, frame_seconds: FRAME };
        let code = Code::of(body, &baseline);
        let mut buf = [0; MAX_BYTES];
        let mut writer = BitWriter::new(&mut buf);
        code.put(&mut writer);
        let len = writer.finish().unwrap();
        let mut reader = BitReader::new(&buf[..len]);
        let back = Code::take(&mut reader, &baseline).expect("a code");
        assert_eq!(bits_of(&back), bits_of(body), "{body:?} after {before:?}");
        assert_eq!(reader.rest(), Some(&[][..]));
        code.bits()
    }

    /// A body that walks at `velocity`, one frame at a time.
    fn walked(mut body: Body, velocity: (f32, f32), frames: u32) -> Body {
        (body.velocity_x, body.velocity_y) = velocity;
        for _ in 0..frames {
            (body.x, body.y) = (body.x + velocity.0 * FRAME, body.y + velocity.1 * FRAME);
        }
        body
    }

    #[test]
    fn body_on_its_way_is_three_bits() {
        let start = walked(Body::at(17.3, 5.9), (18.0, -12.727_922), 7);
        for frames in [0, 1, 3, 18, 63] {
            assert_eq!(survives(&walked(start, (18.0, -12.727_922), frames), &start, frames), 3);
        }
        let stands = Body::at(17.3, 5.9);
        assert_eq!(survives(&stands, &stands, 200), 3, "as long as it likes");
        assert!(survives(&walked(start, (18.0, 0.0), 0), &start, 3) < 60);
    }

    #[test]
    fn turn_is_told_by_its_frame() {
        let start = walked(Body::at(17.3, 5.9), (18.0, 0.0), 2);
        for since in 0..=9 {
            let turned = walked(walked(start, (18.0, 0.0), 9 - since), (0.0, -18.0), since);
            // Flags, a zero in one byte, -18 in two, the frame, and two places as predicted.
            let bits = survives(&turned, &start, 9);
            assert!(bits == 4 + 10 + 18 + 6 + 2 || since == 0, "{bits} bits, turned {since} frames ago");
        }
    }

    #[test]
    fn wall_is_the_place_of_the_baseline() {
        let wall = Body { velocity_x: 18.0, ..Body::at(78.0, 3.0) };
        assert_eq!(survives(&wall, &wall, 3), 1 + 3 + 1);
    }

    #[test]
    fn any_bits_survive() {
        let values = [0.0, -0.0, 1.0, -1.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, -1e-45, 78.0, 0.1];
        let mut seed = 1_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = f32::from_bits((seed >> 32) as u32);
            let value = values[(seed >> 20) as usize % values.len()];
            if random.is_finite() && seed >> 60 < 9 { random } else { value }
        };
        let mut body =
            || Body { x: next(), y: next(), velocity_x: next(), velocity_y: next(), health: next() };
        let mut longest = 0;
        for frames in 0..20_000 {
            let (from, to) = (body(), body());
            longest = longest.max(survives(&to, &from, frames % 80));
            survives(&to, &Body::default(), 0);
        }
        assert!((180..=MAX_BYTES * 8).contains(&longest), "{longest}");
    }

    #[test]
    fn neighbours_cost_six_bits_and_near_ones_20() {
        let body = Body::at(1.0, 2.0);
        for (off, bits) in
            [(0, 1), (1, 6), (8, 6), (-1, 6), (-8, 6), (9, 20), (-9, 20), (32_767, 20), (-32_768, 20)]
        {
            let moved = Body { x: of_rank(rank(body.x) + off), ..body };
            assert_eq!(survives(&moved, &body, 0), 2 + bits, "{off}");
        }
        assert!(survives(&Body { x: of_rank(rank(1.0) + 32_768), ..body }, &body, 0) > 22);
    }

    #[test]
    fn cut_codes_and_bodies_without_end_are_refused() {
        let baseline = Baseline { body: &Body::default(), frames: 0, frame_seconds: FRAME };
        let mut bytes = [0; MAX_BYTES];
        let mut writer = BitWriter::new(&mut bytes);
        let code =
            Code::of(&Body { x: 0.1, y: 0.2, velocity_x: 0.3, velocity_y: 0.7, health: 0.9 }, &baseline);
        code.put(&mut writer);
        let len = writer.finish().unwrap();
        for cut in 0..len {
            assert_eq!(Code::take(&mut BitReader::new(&bytes[..cut]), &baseline), None, "{cut} of {len}");
        }
        // Health alone changes, to infinity.
        let mut writer = BitWriter::new(&mut bytes);
        writer.put(0b1001, 4);
        put_float(&mut writer, f32::INFINITY);
        let len = writer.finish().unwrap();
        assert_eq!(Code::take(&mut BitReader::new(&bytes[..len]), &baseline), None);
        // A velocity that leads beyond every number within the frames.
        let fast = Body { velocity_x: f32::MAX, ..Body::at(f32::MAX, 0.0) };
        let baseline = Baseline { body: &fast, frames: 63, frame_seconds: FRAME };
        assert_eq!(Code::take(&mut BitReader::new(&[0]), &baseline), None);
    }
}
