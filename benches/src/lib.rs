//! The loads of the benches: a game of a given size, the engine on a schedule of late inputs, and a loop written by hand that
//! does the same saves, restores and steps.

use rebout::rollback::{EngineConfig, Rollback};
use rebout::{Buttons, Cues, Frame, Game, Input, Inputs, Player, Save, fields};
use std::hint::black_box;

/// Player two's inputs come this late, so that every change of them costs a rollback of 3 frames. How often they
/// change is the `CHANGE` of each load: every 15 frames as people do, or in every frame.
pub const LAG: u32 = 3;

/// A state of `8 + 4 * N` bytes, with the least step that a game of that size could have: it changes one word in every
/// 64 bytes, so that what is around it shows.
#[derive(Clone, Copy)]
pub struct Load<const N: usize> {
    frame: u32,
    sum: u32,
    words: [u32; N],
}
fields!(Load<const N: usize> { frame, sum, words });

impl<const N: usize> Load<N> {
    pub const BYTES: usize = size_of::<Self>();

    pub fn start() -> Self {
        Self { frame: 0, sum: 1, words: [7; N] }
    }
}

impl<const N: usize> Game for Load<N> {
    // Both runners call it, and neither may pull it apart: they are to differ in what is around it alone.
    #[inline(never)]
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.sum = self.sum.rotate_left(5)
            ^ u32::from(inputs.0[0].buttons().0)
            ^ u32::from(inputs.0[1].buttons().0) << 16;
        for line in self.words.chunks_mut(16) {
            line[0] = line[0].rotate_left(3).wrapping_add(self.sum);
        }
        self.sum ^= self.words[N - 1];
        self.frame += 1;
    }
}

/// The buttons of both players in a frame.
#[inline]
pub fn held<const CHANGE: u32>(frame: u32) -> Inputs {
    Inputs::from([Buttons((frame & 3) as u16), Buttons((frame / CHANGE) as u16 & 7)])
}

/// The engine as a session drives it: inputs in, a frame forward.
pub struct WithEngine<const N: usize, const CHANGE: u32> {
    game: Box<Load<N>>,
    engine: Rollback<Load<N>>,
}

impl<const N: usize, const CHANGE: u32> WithEngine<N, CHANGE> {
    pub fn start() -> Self {
        let game = Box::new(Load::start());
        let engine = Rollback::new(EngineConfig::default(), &*game);
        Self { game, engine }
    }

    /// Puts the state elsewhere in memory.
    pub fn move_to(&mut self, mut game: Box<Load<N>>) {
        *game = *self.game;
        self.game = game;
    }

    #[inline(never)]
    pub fn run(&mut self, frames: u32) -> u32 {
        let (game, engine) = (&mut *self.game, &mut self.engine);
        let from = engine.current().0;
        for now in from..from + frames {
            let one = black_box(held::<CHANGE>(now)[Player::One]);
            engine.confirm(Player::One, Frame(now), one).expect("in order");
            if let Some(late) = now.checked_sub(LAG) {
                let two = black_box(held::<CHANGE>(late)[Player::Two]);
                engine.confirm(Player::Two, Frame(late), two).expect("in order");
            }
            black_box(engine.advance(black_box(&mut *game)));
            black_box((engine.cues(), engine.newly_settled()));
        }
        game.sum
    }

    pub fn rollbacks(&self) -> u64 {
        self.engine.stats().rollbacks
    }
}

/// The same saves, restores and steps by hand: no queues, no tags, no cues, nothing checked.
pub struct ByHand<const N: usize, const CHANGE: u32> {
    game: Box<Load<N>>,
    snapshots: Box<[Load<N>]>,
    believed: Input,
    now: u32,
    rollbacks: u64,
}

/// As many as an engine has whose window is 8.
const SLOTS: usize = 16;
/// The state is copied, which never fails.
const COPIED: &str = "a copy never fails";

impl<const N: usize, const CHANGE: u32> ByHand<N, CHANGE> {
    pub fn start() -> Self {
        let game = Box::new(Load::start());
        let snapshots = (0..SLOTS).map(|_| *game).collect();
        Self { game, snapshots, believed: Input::NEUTRAL, now: 0, rollbacks: 0 }
    }

    /// Puts the state elsewhere in memory.
    pub fn move_to(&mut self, mut game: Box<Load<N>>) {
        *game = *self.game;
        self.game = game;
    }

    #[inline(never)]
    pub fn run(&mut self, frames: u32) -> u32 {
        let (game, snapshots, believed) = (&mut *self.game, &mut self.snapshots, &mut self.believed);
        let mut cues = Cues::new();
        for now in self.now..self.now + frames {
            let one = black_box(held::<CHANGE>(now)[Player::One]);
            if let Some(late) = now.checked_sub(LAG) {
                let two = black_box(held::<CHANGE>(late)[Player::Two]);
                if two != *believed {
                    *believed = two;
                    self.rollbacks += 1;
                    game.restore(&snapshots[late as usize % SLOTS]).expect(COPIED);
                    for again in late..now {
                        if again > late {
                            game.save(&mut snapshots[again as usize % SLOTS]).expect(COPIED);
                        }
                        game.step(Inputs([held::<CHANGE>(again)[Player::One], two]), &mut cues);
                    }
                }
            }
            game.save(&mut snapshots[now as usize % SLOTS]).expect(COPIED);
            black_box(&mut *game).step(Inputs([one, *believed]), &mut cues);
        }
        self.now += frames;
        game.sum
    }
}

/// Whether both play the same match with as many rollbacks: otherwise nothing is compared.
pub fn assert_alike<const N: usize, const CHANGE: u32>() {
    let (mut engine, mut by_hand) = (WithEngine::<N, CHANGE>::start(), ByHand::<N, CHANGE>::start());
    assert_eq!(engine.run(1_000), by_hand.run(1_000));
    assert_eq!(engine.rollbacks(), by_hand.rollbacks);
    assert!(by_hand.rollbacks >= u64::from(1_000 / CHANGE - LAG - 1));
}

pub type Bytes64 = Load<14>;
