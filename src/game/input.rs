//! The input of a frame: buttons, axes or pads, and both players' inputs together.

use core::fmt;
use core::ops::{Index, IndexMut};

use crate::game::Player;

/// The buttons that one player holds in one frame, one bit for each. The game decides what each bit means.
///
/// ```
/// use rebout::Buttons;
///
/// const LEFT: Buttons = Buttons(1);
/// const FIRE: Buttons = Buttons(8);
/// let held = LEFT | FIRE;
/// assert!(held.holds(FIRE));
/// assert!(!LEFT.holds(held));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Buttons(pub u16);

impl Buttons {
    /// No button held: the neutral input.
    pub const NONE: Self = Self(0);

    /// Whether every button of `wanted` is held.
    #[inline]
    #[must_use]
    pub const fn holds(self, wanted: Self) -> bool {
        self.0 & wanted.0 == wanted.0
    }
}

impl core::ops::BitOr for Buttons {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl core::ops::BitOrAssign for Buttons {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl core::ops::BitAnd for Buttons {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl core::ops::Not for Buttons {
    type Output = Self;
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl fmt::LowerHex for Buttons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

/// The most axes that an [`Input`] has: two sticks and two triggers, or three 16-bit aims.
pub const MAX_AXES: u8 = 6;

/// The most pads of an [`Input`].
pub(crate) const MAX_PADS: u8 = 4;

/// The distance from the centre, out of 32,767, below which [`Input::stick`] takes a stick as released. Worn sticks rest
/// up to a tenth away from their centre.
const DEAD_ZONE: i32 = 6_554;

/// The input of one machine in one frame: 16 buttons and up to six axes of 8 bits, or up to four pads of 16 buttons.
///
/// A game that has only buttons passes [`Buttons`] wherever an input is asked for, and asks an input whether it
/// [`holds`](Self::holds) them. Axes are agreed on in [`GameConfig::axes`](crate::GameConfig::axes); those beyond the agreed
/// number are dropped before they are used, at both machines. Pads are agreed on in
/// [`GameConfig::pads`](crate::GameConfig::pads) in the same way. Pads after the first take the bits of the axes, so that a
/// game has either.
///
/// ```
/// use rebout::{Buttons, Input};
///
/// const FIRE: Buttons = Buttons(8);
/// let [x, y] = Input::stick(-32_768, 400, 4);          // the raw position of a stick, as a gamepad reports it
/// let input = Input::from(FIRE).with_axis(0, x).with_axis(1, y);
/// assert!(input.holds(FIRE));
/// assert_eq!((input.axis(0), input.axis(1)), (-127, 0));
///
/// let two_players = Input::from(FIRE).with_pad(1, Buttons(2));
/// assert_eq!((two_players.pad(0), two_players.pad(1)), (FIRE, Buttons(2)));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Input(u64);

impl Input {
    /// No button of any pad is held, and every axis is at rest.
    pub const NEUTRAL: Self = Self(0);

    const BUTTON_BITS: u32 = 16;

    /// An input of buttons, with every axis at rest. The same as `Input::from`, for constants.
    #[inline]
    #[must_use]
    pub const fn new(buttons: Buttons) -> Self {
        Self(buttons.0 as u64)
    }

    /// The buttons.
    #[inline]
    #[must_use]
    pub const fn buttons(self) -> Buttons {
        Buttons(self.0 as u16)
    }

    /// Whether every button of `wanted` is held.
    #[inline]
    #[must_use]
    pub const fn holds(self, wanted: Buttons) -> bool {
        self.buttons().holds(wanted)
    }

    /// The same axes with other buttons.
    #[inline]
    #[must_use]
    pub const fn with_buttons(self, buttons: Buttons) -> Self {
        Self(self.0 >> Self::BUTTON_BITS << Self::BUTTON_BITS | buttons.0 as u64)
    }

    /// The buttons of pad `index`, of which 0 is the first. A fifth pad has none.
    #[inline]
    #[must_use]
    pub const fn pad(self, index: usize) -> Buttons {
        if index < MAX_PADS as usize {
            Buttons((self.0 >> (Self::BUTTON_BITS * index as u32)) as u16)
        } else {
            Buttons::NONE
        }
    }

    /// The same input with other buttons of pad `index`. A fifth pad changes nothing.
    #[inline]
    #[must_use]
    pub const fn with_pad(self, index: usize, buttons: Buttons) -> Self {
        if index >= MAX_PADS as usize {
            return self;
        }
        let shift = Self::BUTTON_BITS * index as u32;
        Self(self.0 & !(0xFFFF << shift) | (buttons.0 as u64) << shift)
    }

    /// The same buttons on each of the first `pads` pads.
    pub(crate) fn on_pads(buttons: Buttons, pads: u8) -> Self {
        (0..usize::from(pads)).fold(Self::NEUTRAL, |input, pad| input.with_pad(pad, buttons))
    }

    /// The number of axes whose bits hold everything but the first pad. Pads travel and are recorded as such.
    pub(crate) const fn axes_of(axes: u8, pads: u8) -> u8 {
        axes + 2 * pads.saturating_sub(1)
    }

    /// The position of axis `index`, of which 0 is the first: 0 at rest, a trigger 0 to 127. There is nothing beyond
    /// [`MAX_AXES`], and 0 is returned for it.
    #[inline]
    #[must_use]
    pub const fn axis(self, index: usize) -> i8 {
        if index < MAX_AXES as usize { (self.0 >> Self::shift(index)) as i8 } else { 0 }
    }

    /// The same input with axis `index` at `value`. An index beyond [`MAX_AXES`] changes nothing.
    #[inline]
    #[must_use]
    pub const fn with_axis(self, index: usize, value: i8) -> Self {
        if index >= MAX_AXES as usize {
            return self;
        }
        let shift = Self::shift(index);
        Self(self.0 & !(0xFF << shift) | (value as u8 as u64) << shift)
    }

    /// The 16-bit aim in the axes `2 * index` and `2 * index + 1`, for a mouse or a gun that 8 bits are too coarse for.
    #[inline]
    #[must_use]
    pub const fn aim(self, index: usize) -> i16 {
        let first = index.saturating_mul(2);
        i16::from_le_bytes([self.axis(first) as u8, self.axis(first.saturating_add(1)) as u8])
    }

    /// The same input with a 16-bit aim in the axes `2 * index` and `2 * index + 1`.
    #[inline]
    #[must_use]
    pub const fn with_aim(self, index: usize, value: i16) -> Self {
        let first = index.saturating_mul(2);
        let [low, high] = value.to_le_bytes();
        self.with_axis(first, low as i8).with_axis(first.saturating_add(1), high as i8)
    }

    /// The same input without the axes from `axes` on.
    #[inline]
    #[must_use]
    pub const fn with_axes_up_to(self, axes: u8) -> Self {
        self.masked(Self::mask(axes))
    }

    /// The bits of the buttons and the first `axes` axes.
    pub(crate) const fn mask(axes: u8) -> u64 {
        if axes >= MAX_AXES { u64::MAX } else { (1 << Self::shift(axes as usize)) - 1 }
    }

    /// The same input without the bits that are not in `mask`.
    #[inline]
    pub(crate) const fn masked(self, mask: u64) -> Self {
        Self(self.0 & mask)
    }

    /// Both inputs together.
    #[inline]
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The number of axes up to the last that is not at rest.
    #[inline]
    #[must_use]
    pub const fn axes_used(self) -> u8 {
        let bits = u64::BITS - (self.0 >> Self::BUTTON_BITS).leading_zeros();
        bits.div_ceil(8) as u8
    }

    /// Quantises the raw position of a stick, -32,768 to 32,767 on each axis, to the values for two axes.
    ///
    /// A raw stick trembles and so changes in every frame, and every change is a misprediction that rolls back. With
    /// `steps` positions from the centre to the edge it changes only when it is really moved. A stick within a fifth of
    /// the centre is at rest. A library that reports floats: `(x * 32_767.0) as i16`.
    ///
    /// ```
    /// use rebout::Input;
    ///
    /// assert_eq!(Input::stick(3_000, -2_000, 8), [0, 0], "dead zone");
    /// assert_eq!(Input::stick(32_767, 0, 8), [127, 0]);
    /// assert_eq!(Input::stick(20_000, 0, 8), Input::stick(20_500, 100, 8), "trembling changes nothing");
    /// assert_eq!(Input::stick(-23_000, 23_000, 1), [-127, 127], "eight directions");
    /// ```
    #[must_use]
    pub fn stick(x: i16, y: i16, steps: u8) -> [i8; 2] {
        let (x, y) = (i32::from(x).max(-32_767), i32::from(y).max(-32_767));
        let length = (x * x + y * y).isqrt();
        if length <= DEAD_ZONE {
            return [0, 0];
        }
        let steps = i32::from(steps.clamp(1, 127));
        // The length beyond the dead zone is stretched to the whole range, so that no step is lost to the zone.
        let stretched = ((length - DEAD_ZONE) * 32_767 / (32_767 - DEAD_ZONE)).min(32_767);
        let quantise = |part: i32| {
            let part = i64::from(part) * i64::from(stretched) / i64::from(length);
            let step = (part.abs() * i64::from(steps) * 2 + 32_767) / (2 * 32_767);
            let value = (step * 127 + i64::from(steps) / 2) / i64::from(steps);
            (value * part.signum()) as i8
        };
        [quantise(x), quantise(y)]
    }

    /// Every button and axis changed, for a trial whether inputs have any effect.
    pub(crate) const fn inverted(self) -> Self {
        Self(!self.0)
    }

    /// All of it as one number: the buttons in the low 16 bits, then the axes or the other pads from the first on. Its first
    /// bytes, little-endian, are the input on the wire.
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    /// The input in the bytes of the wire: buttons, then axes, little-endian. Axes that are not there are at rest.
    pub(crate) fn from_wire(bytes: &[u8]) -> Self {
        let mut whole = [0; 8];
        for (slot, byte) in whole.iter_mut().zip(bytes) {
            *slot = *byte;
        }
        Self(u64::from_le_bytes(whole))
    }

    #[inline]
    const fn shift(index: usize) -> u32 {
        Self::BUTTON_BITS + 8 * index as u32
    }
}

impl From<Buttons> for Input {
    #[inline]
    fn from(buttons: Buttons) -> Self {
        Self::new(buttons)
    }
}

/// The buttons in hexadecimal, followed by the axes up to the last that is not at rest: `0x0003`, `0x0003 [12, -127]`.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x}", self.buttons())?;
        let used = usize::from(self.axes_used());
        if used == 0 {
            return Ok(());
        }
        let axes: [i8; MAX_AXES as usize] = core::array::from_fn(|index| self.axis(index));
        write!(f, " {:?}", &axes[..used])
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Input({self})")
    }
}

/// Both players' inputs for one frame.
///
/// ```
/// use rebout::{Buttons, Inputs, Player};
///
/// let inputs = Inputs::from([Buttons(1), Buttons(2)]);
/// assert!(inputs[Player::Two].holds(Buttons(2)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inputs(pub [Input; 2]);

impl Inputs {
    /// The buttons of pad `index` of a player's machine, of which 0 is the first. With two pads at each machine, a game for
    /// four has `pad(Player::One, 0)`, `pad(Player::One, 1)`, `pad(Player::Two, 0)` and `pad(Player::Two, 1)`.
    #[inline]
    #[must_use]
    pub fn pad(self, player: Player, index: usize) -> Buttons {
        self[player].pad(index)
    }
}

impl<I: Into<Input>> From<[I; 2]> for Inputs {
    #[inline]
    fn from(players: [I; 2]) -> Self {
        Self(players.map(Into::into))
    }
}

impl Index<Player> for Inputs {
    type Output = Input;
    #[inline]
    fn index(&self, player: Player) -> &Input {
        &self.0[player.index()]
    }
}

impl IndexMut<Player> for Inputs {
    #[inline]
    fn index_mut(&mut self, player: Player) -> &mut Input {
        &mut self.0[player.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_and_buttons_do_not_touch_each_other() {
        let mut input = Input::new(Buttons(0xFFFF));
        for (axis, value) in [(0, -1), (5, i8::MIN), (2, 127), (0, 3)] {
            input = input.with_axis(axis, value);
        }
        let axes: [i8; 6] = core::array::from_fn(|axis| input.axis(axis));
        assert_eq!((axes, input.buttons()), ([3, 0, 127, 0, 0, i8::MIN], Buttons(0xFFFF)));
        assert_eq!(input.with_buttons(Buttons(2)).axis(5), i8::MIN);
        assert_eq!(input.with_buttons(Buttons(2)).buttons(), Buttons(2));
        assert_eq!((input.axis(6), input.with_axis(6, 9)), (0, input));
        assert_eq!((input.axis(usize::MAX), input.aim(usize::MAX), input.aim(3)), (0, 0, 0));
        assert_eq!(core::mem::size_of::<Input>(), 8);
    }

    #[test]
    fn axes_beyond_the_agreed_number_are_dropped() {
        let input = (0..6).fold(Input::new(Buttons(7)), |input, axis| input.with_axis(axis, -5));
        for axes in 0..=7_u8 {
            let kept = input.with_axes_up_to(axes);
            assert_eq!((kept.axes_used(), kept.buttons()), (axes.min(6), Buttons(7)));
            assert!((0..6).all(|axis| kept.axis(axis) == if axis < usize::from(axes) { -5 } else { 0 }));
        }
        assert_eq!(Input::NEUTRAL.with_axis(3, 1).axes_used(), 4);
    }

    #[test]
    fn pads_do_not_touch_each_other() {
        let held = [0x8001, 0xFFFF, 0, 0x1234].map(Buttons);
        let input = (0..4).fold(Input::NEUTRAL, |input, pad| input.with_pad(pad, held[pad]));
        assert_eq!([0, 1, 2, 3].map(|pad| input.pad(pad)), held);
        assert_eq!(input.with_pad(1, Buttons(2)).pad(1), Buttons(2));
        assert_eq!(input.with_pad(1, Buttons(2)).with_pad(1, held[1]), input);
        assert_eq!(
            (input.buttons(), input.pad(4), input.pad(usize::MAX)),
            (held[0], Buttons::NONE, Buttons::NONE)
        );
        assert_eq!(input.with_pad(4, Buttons(1)), input);
        assert_eq!(Inputs([Input::NEUTRAL, input]).pad(Player::Two, 3), held[3]);
        for pads in 1..=4 {
            let kept = input.with_axes_up_to(Input::axes_of(0, pads));
            let expected = |pad| if pad < usize::from(pads) { held[pad] } else { Buttons::NONE };
            assert_eq!([0, 1, 2, 3].map(|pad| kept.pad(pad)), [0, 1, 2, 3].map(expected));
        }
    }

    #[test]
    fn aim_has_every_value_of_16_bits() {
        for value in i16::MIN..=i16::MAX {
            let input = Input::new(Buttons(1)).with_aim(1, value).with_aim(0, -value.saturating_add(1));
            assert_eq!((input.aim(1), input.buttons()), (value, Buttons(1)));
        }
    }

    #[test]
    fn stick_has_as_many_positions_as_steps_and_reaches_both_ends() {
        for steps in [1, 2, 4, 8, 127] {
            let mut seen: Vec<i8> = (i16::MIN..=i16::MAX).map(|x| Input::stick(x, 0, steps)[0]).collect();
            assert!(seen.is_sorted(), "{steps} steps");
            seen.dedup();
            assert_eq!(seen.len(), 2 * usize::from(steps) + 1);
            assert_eq!((seen[0], seen[seen.len() - 1]), (-127, 127));
        }
        assert_eq!(Input::stick(i16::MIN, i16::MIN, 0), Input::stick(-32_767, -32_767, 1), "at least a step");
        assert_eq!(Input::stick(0, 6_554, 127), [0, 0]);
        assert_eq!(Input::stick(0, -6_700, 127), [0, -1]);
    }

    #[test]
    fn axes_at_rest_are_not_shown() {
        assert_eq!(Input::new(Buttons(3)).to_string(), "0x0003");
        assert_eq!(Input::NEUTRAL.with_axis(1, -127).to_string(), "0x0000 [0, -127]");
        assert_eq!(format!("{:?}", Input::new(Buttons(3))), "Input(0x0003)");
    }
}
