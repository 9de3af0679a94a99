//! The games that matches are played with, and what the stress tester asks of one.

use games::duel::buttons as duel_buttons;
use games::duel::{Duel, FULL_HEALTH};
use games::playground::{ATTACK, JUMP, LEFT, Playground, RIGHT};
use games::swarm::Swarm;
use rebout::{Buttons, Cues, Frame, Game, Input, Inputs, Player, Save};

/// A game under test.
pub(crate) trait Trial: Game + Sized + 'static {
    /// The first state of a match.
    fn build(seed: u32) -> Self;

    /// The next match in the same process.
    #[must_use]
    fn again(self, seed: u32, seat: Player) -> Self {
        let _ = seat;
        Self::build(seed)
    }

    /// The input of a player in a frame: a pure function, so that a match can be played again.
    fn script(player: Player, frame: u32, seed: u32) -> Input;

    /// Changes the game before every frame, like the program around it might.
    fn before_frame(&mut self, frame: Frame, held: Input) {
        let _ = (frame, held);
    }

    /// How many frames were stepped, as the state knows it.
    fn frame(&self) -> u32;

    /// How many blows have landed, as far as the state knows it.
    fn blows(&self) -> u32;
}

/// A trial that is over after a number of frames, so that every match comes to a verdict.
pub(crate) struct Timed<G> {
    pub(crate) game: G,
    pub(crate) end: u32,
}

impl<G: Trial> Save for Timed<G> {
    type Snapshot = G::Snapshot;

    fn snapshot(&self) -> G::Snapshot {
        self.game.snapshot()
    }

    #[inline]
    fn save(&self, slot: &mut G::Snapshot) {
        self.game.save(slot);
    }

    #[inline]
    fn restore(&mut self, snapshot: &G::Snapshot) {
        self.game.restore(snapshot);
    }
}

impl<G: Trial> Game for Timed<G> {
    #[inline]
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.game.step(inputs, cues);
    }

    #[inline]
    fn finished(&self) -> bool {
        self.game.frame() >= self.end || self.game.finished()
    }
}

/// A number from which nothing can be guessed about its neighbours.
pub(crate) fn mix(a: u32, b: u32) -> u32 {
    let mut mixed = a.wrapping_mul(0x9E37_79B9) ^ b.wrapping_mul(0x85EB_CA6B).rotate_left(13);
    mixed = (mixed ^ mixed >> 15).wrapping_mul(0x2C1B_3C6D);
    mixed = (mixed ^ mixed >> 12).wrapping_mul(0x297A_2D39);
    mixed ^ mixed >> 15
}

/// Walk up to each other, strike, and then do anything for a few frames at a time.
pub(crate) fn brawl(player: Player, frame: u32, seed: u32) -> Buttons {
    let (toward, away) = if player == Player::One { (RIGHT, LEFT) } else { (LEFT, RIGHT) };
    match frame {
        0..18 => return toward,
        18..22 => return ATTACK,
        _ => {}
    }
    let drawn = mix(seed ^ player.index() as u32, frame / (3 + seed % 5));
    match drawn >> 28 {
        0..4 => toward,
        4..8 => away,
        8..11 => ATTACK,
        11 => toward | ATTACK,
        12 => away | ATTACK,
        13 => toward | JUMP,
        14 => JUMP | ATTACK,
        _ => Buttons::NONE,
    }
}

impl Trial for Playground {
    fn build(seed: u32) -> Self {
        Self::new(seed).expect("a match never has seed 0")
    }

    fn script(player: Player, frame: u32, seed: u32) -> Input {
        brawl(player, frame, seed).into()
    }

    fn frame(&self) -> u32 {
        self.frame
    }

    fn blows(&self) -> u32 {
        self.fighters.iter().filter(|fighter| fighter.hp < 100).count() as u32
    }
}

impl Trial for Duel {
    fn build(seed: u32) -> Self {
        Self::new(seed)
    }

    /// Forward and strike, most of the time; and now and then everything else, a wish for a rematch included.
    fn script(player: Player, frame: u32, seed: u32) -> Input {
        use duel_buttons::{DOWN, HEAVY, LEFT, LIGHT, RIGHT, SPECIAL, START, THROW, UP};
        let (toward, away) = if player == Player::One { (RIGHT, LEFT) } else { (LEFT, RIGHT) };
        let drawn = mix(seed ^ player.index() as u32, frame / (4 + seed % 5));
        let moves = [toward, toward, toward, toward | UP, away, away | DOWN, DOWN, Buttons::NONE];
        let acts = [LIGHT, LIGHT, HEAVY, SPECIAL, THROW, START, Buttons::NONE, Buttons::NONE];
        (moves[(drawn >> 29) as usize] | acts[(drawn >> 20 & 7) as usize]).into()
    }

    fn frame(&self) -> u32 {
        self.age
    }

    fn blows(&self) -> u32 {
        let fresh_round = u32::from(self.round) - 1;
        let hurt = self.fighters.iter().filter(|fighter| fighter.health < FULL_HEALTH).count() as u32;
        fresh_round + hurt
    }
}

impl Trial for Swarm {
    fn build(seed: u32) -> Self {
        Self::new(seed)
    }

    fn again(mut self, seed: u32, _: Player) -> Self {
        self.reset(seed);
        self
    }

    fn script(player: Player, frame: u32, seed: u32) -> Input {
        Buttons((mix(seed ^ player.index() as u32, frame / (2 + seed % 6)) >> 28) as u16).into()
    }

    fn frame(&self) -> u32 {
        self.frame
    }

    fn blows(&self) -> u32 {
        self.hits[0] + self.hits[1]
    }
}
