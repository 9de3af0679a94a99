//! A game of two sticks: each player steers a disc with one, aims with the other, and shoves with a trigger. It has axes, all
//! six of them, and one button.

use rebout::{Buttons, Cue, Cues, Game, Input, Inputs, Player, fields};

/// Puts a disc back into the middle.
pub const RECALL: Buttons = Buttons(1);

/// The axes of a player's input.
pub const AXES: u8 = 6;
const STEER: [usize; 2] = [0, 1];
const AIM: [usize; 2] = [2, 3];
const SHOVE: usize = 4;
const BRAKE: usize = 5;

/// A disc cannot leave the square from `-EDGE` to `EDGE`.
const EDGE: i32 = 1 << 18;
const REACH: i32 = 1 << 15;
const RELOAD_FRAMES: u8 = 12;

#[derive(Clone, Copy, Debug)]
struct Disc {
    at: [i32; 2],
    speed: [i32; 2],
    reload: u8,
    /// How often this disc was shoved.
    shoved: u32,
}
fields!(Disc { at, speed, reload, shoved });

/// The whole state.
#[derive(Clone, Copy, Debug)]
pub struct Tilt {
    pub frame: u32,
    discs: [Disc; 2],
    /// A number that all inputs go into, so that no bit of an axis is without effect.
    trace: u32,
}
fields!(Tilt { frame, discs, trace });

impl Tilt {
    pub fn new(seed: u32) -> Self {
        let at = |x| Disc { at: [x, 0], speed: [0; 2], reload: 0, shoved: 0 };
        Self { frame: 0, discs: [at(-REACH / 2), at(REACH / 2)], trace: seed }
    }

    /// How often each disc was shoved.
    pub fn shoves(&self) -> [u32; 2] {
        self.discs.map(|disc| disc.shoved)
    }

    fn steer(&mut self, player: Player, input: Input) {
        let disc = &mut self.discs[player.index()];
        let brake = 64 + i32::from(input.axis(BRAKE)).max(0);
        for (speed, axis) in disc.speed.iter_mut().zip(STEER) {
            *speed += i32::from(input.axis(axis)) * 2;
            *speed -= *speed * brake / 2_048;
        }
        for (at, speed) in disc.at.iter_mut().zip(disc.speed) {
            *at = (*at + speed).clamp(-EDGE, EDGE);
        }
        disc.reload = disc.reload.saturating_sub(1);
        if input.holds(RECALL) {
            (disc.at, disc.speed) = ([0; 2], [0; 2]);
        }
    }

    /// A pulled trigger shoves the other disc the way of the aim, if it is near.
    fn shove(&mut self, player: Player, input: Input, cues: &mut Cues) {
        let (pull, near) = (i32::from(input.axis(SHOVE)).max(0), self.are_near());
        let disc = &mut self.discs[player.index()];
        if pull < 32 || disc.reload > 0 {
            return;
        }
        disc.reload = RELOAD_FRAMES;
        if near {
            let other = &mut self.discs[player.other().index()];
            for (speed, axis) in other.speed.iter_mut().zip(AIM) {
                *speed += i32::from(input.axis(axis)) * pull / 8;
            }
            other.shoved += 1;
            cues.emit(Cue(1));
        }
    }

    fn are_near(&self) -> bool {
        let [one, two] = self.discs.map(|disc| disc.at);
        one.iter().zip(two).all(|(one, two)| (one - two).abs() < REACH)
    }
}

impl Game for Tilt {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        for player in Player::BOTH {
            let input = inputs[player];
            for axis in 0..usize::from(AXES) {
                self.trace = self.trace.rotate_left(5) ^ i32::from(input.axis(axis)) as u32;
            }
            self.steer(player, input);
            self.shove(player, input, cues);
        }
        self.frame += 1;
    }
}
