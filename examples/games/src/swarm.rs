//! A game with heap memory: two cannons and as many shots in the air as they have fired. Its snapshot is a list that
//! grows and shrinks, of some four kilobytes: too large for every frame of it to be kept for an autopsy.

use rebout::{Cue, Cues, Game, Inputs, Player, Rng, Save, StateError, fields};

const LEFT: u16 = 1;
const RIGHT: u16 = 2;
const FIRE: u16 = 8;

/// The stage is as wide as this, and the two move on its two sides.
const WIDTH: i32 = 64_000;
const SPEED: i32 = 400;
const BODY: i32 = 2_500;
const MAX_SHOTS: usize = 256;

#[derive(Clone, Copy, Debug)]
pub struct Shot {
    x: i32,
    /// From player one's side at 0 to player two's at 60,000.
    y: i32,
    vx: i32,
    vy: i32,
}
fields!(Shot { x, y, vx, vy });

#[derive(Debug)]
pub struct Swarm {
    pub frame: u32,
    pub hits: [u32; 2],
    at: [i32; 2],
    rng: Rng,
    shots: Vec<Shot>,
}

/// The same fields, in a type of its own: a game with heap memory is not its own snapshot.
#[derive(Debug)]
pub struct SwarmSnapshot {
    frame: u32,
    hits: [u32; 2],
    at: [i32; 2],
    rng: Rng,
    shots: Vec<Shot>,
}
fields!(SwarmSnapshot { frame, hits, at, rng, shots });

impl Swarm {
    pub fn new(seed: u32) -> Self {
        let mut shots = Vec::with_capacity(MAX_SHOTS);
        shots.clear();
        let rng = Rng::new(seed).expect("a match never has seed 0");
        Self { frame: 0, hits: [0; 2], at: [WIDTH / 2; 2], rng, shots }
    }

    /// Another match in the same memory.
    pub fn reset(&mut self, seed: u32) {
        (self.frame, self.hits, self.at) = (0, [0; 2], [WIDTH / 2; 2]);
        self.rng = Rng::new(seed).expect("a match never has seed 0");
        self.shots.clear();
    }

    fn fire(&mut self, player: Player) {
        if self.shots.len() < MAX_SHOTS {
            let vx = self.rng.range(-300, 300);
            let vy = self.rng.range(350, 700);
            let (y, vy) = if player == Player::One { (0, vy) } else { (60_000, -vy) };
            self.shots.push(Shot { x: self.at[player.index()], y, vx, vy });
        }
    }
}

impl Save for Swarm {
    type Snapshot = SwarmSnapshot;

    fn snapshot(&self) -> SwarmSnapshot {
        let mut shots = Vec::with_capacity(MAX_SHOTS);
        shots.extend_from_slice(&self.shots);
        SwarmSnapshot { frame: self.frame, hits: self.hits, at: self.at, rng: self.rng, shots }
    }

    fn save(&self, slot: &mut SwarmSnapshot) -> Result<(), StateError> {
        (slot.frame, slot.hits, slot.at, slot.rng) = (self.frame, self.hits, self.at, self.rng);
        slot.shots.clear();
        slot.shots.extend_from_slice(&self.shots);
        Ok(())
    }

    fn restore(&mut self, snapshot: &SwarmSnapshot) -> Result<(), StateError> {
        (self.frame, self.hits, self.at, self.rng) =
            (snapshot.frame, snapshot.hits, snapshot.at, snapshot.rng);
        self.shots.clear();
        self.shots.extend_from_slice(&snapshot.shots);
        Ok(())
    }
}

impl Game for Swarm {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.frame = self.frame.wrapping_add(1);
        for player in Player::BOTH {
            let held = inputs[player].buttons().0;
            let moves = i32::from(held & RIGHT != 0) - i32::from(held & LEFT != 0);
            let at = &mut self.at[player.index()];
            *at = (*at + moves * SPEED).clamp(0, WIDTH);
            if held & FIRE != 0 && (self.frame + player.index() as u32).is_multiple_of(2) {
                self.fire(player);
            }
        }
        let (at, hits) = (self.at, &mut self.hits);
        // In order, and keeping it: `swap_remove` would do as well, being the same on every machine.
        self.shots.retain_mut(|shot| {
            shot.x += shot.vx;
            shot.y += shot.vy;
            if shot.x < 0 || shot.x > WIDTH {
                shot.vx = -shot.vx;
            }
            let there = match shot.y {
                ..0 => 0,
                0..=60_000 => return true,
                _ => 1,
            };
            if at[there].abs_diff(shot.x) < BODY.unsigned_abs() {
                hits[1 - there] += 1;
                cues.emit(Cue(there as u32 + 1));
            }
            false
        });
    }
}
