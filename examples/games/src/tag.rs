//! A game of tag for four: two pads at each of two machines.

use rebout::{Buttons, Cue, Cues, Game, Inputs, Player, fields};

/// The buttons of each pad.
pub const LEFT: Buttons = Buttons(1);
pub const RIGHT: Buttons = Buttons(2);
pub const UP: Buttons = Buttons(4);
pub const DOWN: Buttons = Buttons(8);
/// Tags the nearest runner within reach, if this one is it.
pub const TAG: Buttons = Buttons(16);

/// The pads at each machine.
pub const PADS: u8 = 2;
/// The runners: those of player one first.
pub const RUNNERS: usize = 4;

/// A runner cannot leave the square from `-EDGE` to `EDGE`.
const EDGE: i32 = 400;
const REACH: i32 = 60;
/// Frames in which the runner who was tagged cannot tag.
const REST_FRAMES: u8 = 20;

/// The whole state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    pub frame: u32,
    /// The match ends after this many frames.
    last: u32,
    runners: [[i32; 2]; RUNNERS],
    it: u8,
    rest: u8,
    /// How often each runner was tagged.
    pub tagged: [u32; RUNNERS],
    /// A number that all inputs go into, so that no button of any pad is without effect.
    trace: u32,
}
fields!(Tag { frame, last, runners, it, rest, tagged, trace });

impl Tag {
    pub fn new(seed: u32) -> Self {
        Self::until(seed, u32::MAX)
    }

    /// A match of this many frames.
    pub fn until(seed: u32, last: u32) -> Self {
        let runners = [[-EDGE / 2, 0], [0, EDGE / 2], [EDGE / 2, 0], [0, -EDGE / 2]];
        let it = (seed % RUNNERS as u32) as u8;
        Self { frame: 0, last, runners, it, rest: 0, tagged: [0; RUNNERS], trace: seed }
    }

    fn run(&mut self, runner: usize, held: Buttons) {
        let along = |more, less| i32::from(held.holds(more)) - i32::from(held.holds(less));
        let speed = if runner == usize::from(self.it) { 7 } else { 6 };
        let way = [along(RIGHT, LEFT), along(DOWN, UP)];
        for (at, way) in self.runners[runner].iter_mut().zip(way) {
            *at = (*at + way * speed).clamp(-EDGE, EDGE);
        }
    }

    fn tag(&mut self, cues: &mut Cues) {
        let it = usize::from(self.it);
        let distance = |other: usize| {
            let [x, y] = [0, 1].map(|axis| self.runners[it][axis] - self.runners[other][axis]);
            x * x + y * y
        };
        let near = (0..RUNNERS).filter(|other| *other != it && distance(*other) <= REACH * REACH);
        if let Some(caught) = near.min_by_key(|other| distance(*other)) {
            (self.it, self.rest) = (caught as u8, REST_FRAMES);
            self.tagged[caught] += 1;
            cues.emit(Cue(1));
        }
    }
}

impl Game for Tag {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.rest = self.rest.saturating_sub(1);
        let mut tags = false;
        for runner in 0..RUNNERS {
            let held = inputs.pad(Player::BOTH[runner / 2], runner % 2);
            self.trace = self.trace.rotate_left(5) ^ u32::from(held.0);
            self.run(runner, held);
            tags |= runner == usize::from(self.it) && held.holds(TAG);
        }
        if tags && self.rest == 0 {
            self.tag(cues);
        }
        self.frame += 1;
    }

    fn finished(&self) -> bool {
        self.frame >= self.last
    }
}
