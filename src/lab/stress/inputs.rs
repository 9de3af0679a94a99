//! The inputs of a player: the moment at which they are asked for, and random ones.

use crate::{Buttons, Frame, Input, Player};

/// The moment at which a player presses: all that a script, a bot or [`random`] may look at.
///
/// The pressed buttons must be a function of it, so that a match can be played again.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a, G> {
    /// The game as the player's own machine shows it, predictions included.
    pub game: &'a G,
    /// The player.
    pub player: Player,
    /// The frame that is about to be played.
    pub frame: Frame,
    /// The seed of the game, equal on both machines.
    pub seed: u32,
}

impl<G> Turn<'_, G> {
    /// A random number of this player and match: the same for the same `number`. A number that changes every few frames,
    /// such as `frame / 8`, gives buttons that are held for this long.
    #[must_use]
    pub fn draw(&self, number: u32) -> u32 {
        mix(self.seed ^ self.player.index() as u32, number)
    }
}

/// Random inputs: for a quarter of a second at a time, nothing is pressed, a few of `buttons` are held, or they are
/// mashed. The first `axes` axes are now and then pushed somewhere, to their end, or let go.
///
/// ```
/// use rebout::lab::stress::{Turn, random};
/// use rebout::{Buttons, Frame, Player};
///
/// let game = ();
/// let turn = Turn { game: &game, player: Player::One, frame: Frame(7), seed: 1 };
/// let input = random(&turn, Buttons(0b11), 2);
/// assert_eq!((input.buttons() & !Buttons(0b11), input.axis(2)), (Buttons::NONE, 0));
/// ```
#[must_use]
pub fn random<G>(turn: &Turn<'_, G>, buttons: Buttons, axes: u8) -> Input {
    let frame = frame_of(turn, 0);
    (0..usize::from(axes)).fold(pressed(turn, 0, buttons).into(), |input: Input, index| {
        // Numbers far from those of the buttons, and others for each axis.
        let drawn = turn.draw(!(frame / 11 * 8 + index as u32));
        let value = match drawn >> 30 {
            0 | 1 => 0,
            2 => [-127, 127][(drawn & 1) as usize],
            _ => drawn as i8,
        };
        input.with_axis(index, value)
    })
}

/// [`random`] inputs on the same `buttons` of each of `pads` pads, which press at different times.
#[must_use]
pub fn random_pads<G>(turn: &Turn<'_, G>, buttons: Buttons, pads: u8) -> Input {
    (0..pads)
        .fold(Input::NEUTRAL, |input, pad| input.with_pad(pad.into(), pressed(turn, pad.into(), buttons)))
}

/// A frame number for drawing. The players and their pads change at other times: a rollback then has one to blame.
fn frame_of<G>(turn: &Turn<'_, G>, pad: u32) -> u32 {
    turn.frame.0.wrapping_add(turn.player.index() as u32 * 7 + pad * 4)
}

/// The buttons of a pad: at rest, held or mashed for a quarter of a second.
fn pressed<G>(turn: &Turn<'_, G>, pad: u32, buttons: Buttons) -> Buttons {
    let frame = frame_of(turn, pad);
    let drawn = turn.draw((frame / 15) ^ (pad << 29));
    let few = (drawn & drawn.rotate_left(7)) as u16 | 1 << (drawn >> 28);
    let held = Buttons(few & buttons.0);
    match drawn >> 16 & 7 {
        0 | 1 => Buttons::NONE,
        2..6 => held,
        _ if frame % 4 < 2 => held,
        _ => Buttons::NONE,
    }
}

/// A number from which nothing can be guessed about its neighbours.
pub(super) fn mix(a: u32, b: u32) -> u32 {
    let mut mixed = a.wrapping_mul(0x9E37_79B9) ^ b.wrapping_mul(0x85EB_CA6B).rotate_left(13);
    mixed = (mixed ^ mixed >> 15).wrapping_mul(0x2C1B_3C6D);
    mixed = (mixed ^ mixed >> 12).wrapping_mul(0x297A_2D39);
    mixed ^ mixed >> 15
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(player: Player, seed: u32, buttons: Buttons, axes: u8) -> Vec<Input> {
        let turn = |frame| Turn { game: &(), player, frame: Frame(frame), seed };
        (0..3_600).map(|frame| random(&turn(frame), buttons, axes)).collect()
    }

    #[test]
    fn random_inputs_hold_mash_and_rest_and_use_every_button() {
        for buttons in [Buttons(u16::MAX), Buttons(0b1011)] {
            let held = given(Player::One, 5, buttons, 0);
            let used = held.iter().fold(Buttons::NONE, |used, input| used | input.buttons());
            assert_eq!(used, buttons);
            assert!(held.iter().all(|input| input.axes_used() == 0));
            let resting = held.iter().filter(|input| **input == Input::NEUTRAL).count();
            assert!((600..3_000).contains(&resting), "{resting} frames of 3,600");
            let changes = held.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!((150..1_200).contains(&changes), "{changes} changes");
        }
    }

    #[test]
    fn random_inputs_push_every_axis() {
        let given = given(Player::Two, 5, Buttons::NONE, 3);
        for index in 0..3 {
            let seen = |value: i8| given.iter().filter(|input| input.axis(index) == value).count();
            assert!(seen(0) > 900 && seen(127) > 90 && seen(-127) > 90, "axis {index}");
            let elsewhere = 3_600 - seen(0) - seen(127) - seen(-127);
            assert!(elsewhere > 300, "{elsewhere} frames of 3,600");
        }
        assert!(given.iter().all(|input| input.axes_used() <= 3 && input.buttons() == Buttons::NONE));
        assert!(given.iter().any(|input| input.axis(0) != input.axis(1)));
    }

    #[test]
    fn random_inputs_press_every_button_of_every_pad() {
        let turn = |frame| Turn { game: &(), player: Player::Two, frame: Frame(frame), seed: 5 };
        let given: Vec<Input> =
            (0..3_600).map(|frame| random_pads(&turn(frame), Buttons(0xFFF), 3)).collect();
        for pad in 0..4 {
            let used = given.iter().fold(Buttons::NONE, |used, input| used | input.pad(pad));
            assert_eq!(used, if pad < 3 { Buttons(0xFFF) } else { Buttons::NONE }, "pad {pad}");
        }
        let alike = given.iter().filter(|input| input.pad(0) == input.pad(1) || input.pad(1) == input.pad(2));
        assert!(alike.count() < 1_200, "the pads press alike");
        assert!(
            (0..3_600)
                .all(|frame| random_pads(&turn(frame), Buttons(7), 1) == random(&turn(frame), Buttons(7), 0))
        );
    }

    #[test]
    fn players_and_seeds_press_differently() {
        let given = |player, seed| given(player, seed, Buttons(u16::MAX), 2);
        assert_ne!(given(Player::One, 5), given(Player::Two, 5));
        assert_ne!(given(Player::One, 5), given(Player::One, 6));
    }
}
