//! Inputs as 64 bits: the buttons in the low 16, then six axes of 8 bits or three more pads of 16.

use rebout::{Buttons, Input, Inputs, MAX_AXES};

/// The input of these bits.
#[inline]
#[must_use]
pub fn from_bits(bits: u64) -> Input {
    (0..4).fold(Input::NEUTRAL, |input, pad| input.with_pad(pad, Buttons((bits >> (16 * pad)) as u16)))
}

/// The bits of an input.
#[inline]
#[must_use]
pub fn to_bits(input: Input) -> u64 {
    (0..4).fold(0, |bits, pad| bits | u64::from(input.pad(pad).0) << (16 * pad))
}

/// The bits of both players' inputs.
#[inline]
#[must_use]
pub fn both(inputs: Inputs) -> [u64; 2] {
    inputs.0.map(to_bits)
}

/// Random inputs for a test, held for a few frames each: a function of the seed, the player and the frame.
#[must_use]
pub fn random(seed: u64, player: u32, frame: u32, axes: u8, pads: u8) -> u64 {
    let at = u64::from(frame / (5 + player)) << 1 | u64::from(player & 1);
    let mut mixed = seed.wrapping_add((at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^= mixed >> 31;
    let bits = 16 + 8 * u32::from(axes.min(MAX_AXES)).max(2 * u32::from(pads.clamp(1, 4) - 1));
    if bits >= 64 { mixed } else { mixed & ((1 << bits) - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_an_input_are_buttons_then_axes() {
        let input = Input::new(Buttons(0x1234)).with_axis(0, -1).with_axis(5, i8::MIN);
        assert_eq!(to_bits(input), 0x8000_0000_00FF_1234);
        assert_eq!(from_bits(to_bits(input)), input);
        assert_eq!(to_bits(from_bits(u64::MAX)), u64::MAX);
    }

    #[test]
    fn random_inputs_use_the_agreed_bits() {
        let used =
            |axes, pads| (0..2_000).fold(0, |all, frame| all | random(1, frame & 1, frame, axes, pads));
        assert_eq!((used(0, 1), used(2, 1)), (0xFFFF, 0xFFFF_FFFF));
        assert_eq!((used(6, 1), used(0, 4), used(0, 2)), (u64::MAX, u64::MAX, 0xFFFF_FFFF));
    }
}
