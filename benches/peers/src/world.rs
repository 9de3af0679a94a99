//! The game that all libraries play: two players, a state of any size, and the same small step whatever the size.

use rebout::{Cues, Fields, Game, Inputs, Pages, Save, StateError, checksum, fields};

/// How many words a step changes, far apart. A step that touched more would hide the library behind the game.
const WORDS_A_STEP: u32 = 8;

/// A state that every library can save, restore and step.
pub(crate) trait World: Game<Snapshot = Self> + Fields + Clone + 'static {
    fn new(bytes: usize) -> Self;

    fn step_on(&mut self, buttons: [u16; 2]);

    fn checksum(&self) -> u32 {
        checksum(self)
    }

    /// The least that a game could compare.
    fn two_words(&self) -> u32;
}

/// 64 bytes: a plain value.
#[derive(Clone, Copy)]
pub(crate) struct Small {
    frame: u32,
    sum: u32,
    words: [u64; 7],
}
fields!(Small { frame, sum, words });

/// A state on the heap.
#[derive(Clone)]
pub(crate) struct Large<T> {
    frame: u32,
    sum: u32,
    words: Vec<T>,
}
fields!(Large<T> { frame, sum, words });

/// The game of [`Large<u64>`] on a memory that knows which of its pages were written: eight pages a step, or fewer.
#[derive(Clone)]
pub(crate) struct Paged {
    frame: u32,
    sum: u32,
    memory: Pages,
}
fields!(Paged { frame, sum, memory });

/// A word of a large state.
pub(crate) trait Word: Fields + Copy + From<u32> + 'static {
    fn mix(self, sum: u32) -> Self;
}

impl Word for u32 {
    fn mix(self, sum: u32) -> Self {
        self.rotate_left(3).wrapping_add(sum)
    }
}

impl Word for u64 {
    fn mix(self, sum: u32) -> Self {
        self.rotate_left(3).wrapping_add(u64::from(sum))
    }
}

/// The sum after the inputs of a frame.
fn stir(sum: u32, buttons: [u16; 2]) -> u32 {
    sum.rotate_left(5) ^ u32::from(buttons[0]) ^ u32::from(buttons[1]) << 16
}

/// The words that the step of a frame changes, of so many.
fn changed(frame: u32, len: usize) -> impl Iterator<Item = usize> {
    let spread = move |k| frame.wrapping_mul(WORDS_A_STEP).wrapping_add(k).wrapping_mul(0x9E37_79B1);
    (0..WORDS_A_STEP).map(move |k| spread(k) as usize % len)
}

/// The step of both, on their parts: each changed word is found by the frame.
#[inline(never)]
fn aside_step<T: Word>(frame: &mut u32, sum: &mut u32, words: &mut [T], buttons: [u16; 2]) {
    *sum = stir(*sum, buttons);
    for at in changed(*frame, words.len()) {
        words[at] = words[at].mix(*sum);
    }
    *frame += 1;
}

impl World for Small {
    fn new(_: usize) -> Self {
        Self { frame: 0, sum: 1, words: [7; 7] }
    }

    fn step_on(&mut self, buttons: [u16; 2]) {
        aside_step(&mut self.frame, &mut self.sum, &mut self.words, buttons);
    }

    fn two_words(&self) -> u32 {
        checksum(&(self.frame, self.sum))
    }
}

impl<T: Word> World for Large<T> {
    fn new(bytes: usize) -> Self {
        Self { frame: 0, sum: 1, words: vec![T::from(7); bytes / size_of::<T>() - 1] }
    }

    fn step_on(&mut self, buttons: [u16; 2]) {
        aside_step(&mut self.frame, &mut self.sum, &mut self.words, buttons);
    }

    fn two_words(&self) -> u32 {
        checksum(&(self.frame, self.sum))
    }
}

const WORD: usize = size_of::<u64>();

impl Paged {
    fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.memory[at * WORD..][..WORD].try_into().expect("eight bytes"))
    }
}

impl World for Paged {
    fn new(bytes: usize) -> Self {
        let words = vec![7_u64.to_le_bytes(); bytes / WORD - 1];
        Self { frame: 0, sum: 1, memory: Pages::from(words.concat()) }
    }

    fn step_on(&mut self, buttons: [u16; 2]) {
        self.sum = stir(self.sum, buttons);
        for at in changed(self.frame, self.memory.len() / WORD) {
            let word = self.word(at).mix(self.sum);
            self.memory.write(at * WORD, &word.to_le_bytes());
        }
        self.frame += 1;
    }

    /// That of the same state in words.
    fn checksum(&self) -> u32 {
        let words: Vec<u64> = (0..self.memory.len() / WORD).map(|at| self.word(at)).collect();
        checksum(&Large { frame: self.frame, sum: self.sum, words })
    }

    fn two_words(&self) -> u32 {
        checksum(&(self.frame, self.sum))
    }
}

impl Save for Paged {
    type Snapshot = Self;

    fn snapshot(&self) -> Self {
        self.clone()
    }

    fn save(&self, slot: &mut Self) -> Result<(), StateError> {
        (slot.frame, slot.sum) = (self.frame, self.sum);
        self.memory.save(&mut slot.memory)
    }

    fn restore(&mut self, snapshot: &Self) -> Result<(), StateError> {
        (self.frame, self.sum) = (snapshot.frame, snapshot.sum);
        self.memory.restore(&snapshot.memory)
    }
}

impl Game for Paged {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.step_on(buttons_of(inputs));
    }
}

impl<T: Word> Save for Large<T> {
    type Snapshot = Self;

    fn snapshot(&self) -> Self {
        self.clone()
    }

    fn save(&self, slot: &mut Self) -> Result<(), StateError> {
        (slot.frame, slot.sum) = (self.frame, self.sum);
        slot.words.copy_from_slice(&self.words);
        Ok(())
    }

    fn restore(&mut self, snapshot: &Self) -> Result<(), StateError> {
        (self.frame, self.sum) = (snapshot.frame, snapshot.sum);
        self.words.copy_from_slice(&snapshot.words);
        Ok(())
    }
}

fn buttons_of(inputs: Inputs) -> [u16; 2] {
    inputs.0.map(|input| input.buttons().0)
}

impl Game for Small {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.step_on(buttons_of(inputs));
    }
}

impl<T: Word> Game for Large<T> {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.step_on(buttons_of(inputs));
    }
}

/// The buttons that both players press.
#[derive(Clone, Copy)]
pub(crate) struct Script {
    /// They change once in this many frames.
    pub(crate) change_every: u32,
    /// From this frame on they do not change any more, so that every prediction is right at the end.
    pub(crate) quiet_from: u32,
}

impl Script {
    pub(crate) fn held(self, player: usize, frame: u32) -> u16 {
        let turn = frame.min(self.quiet_from) / self.change_every + 1;
        // Never the same twice in a row, so that every change is one.
        let drawn = (turn ^ (player as u32) << 20).wrapping_mul(0x9E37_79B9).wrapping_mul(0xC2B2_AE35) >> 29;
        (drawn * 2 + turn % 2) as u16
    }

    /// The state of a frame, stepped directly.
    pub(crate) fn state_of<W: World>(self, bytes: usize, frame: u32) -> u32 {
        let mut world = W::new(bytes);
        (0..frame).for_each(|frame| world.step_on([self.held(0, frame), self.held(1, frame)]));
        world.checksum()
    }
}
