//! The simulation: two fighters on a line, in whole numbers. 1000 units are one world unit, 60 frames a second.

pub mod script;

#[cfg(feature = "lab")]
use rebout::lab::{Play, every_fourth};
use rebout::{Buttons, Cue, Cues, Game, Inputs, Player, Rng, fields};

pub const LEFT: Buttons = Buttons(1);
pub const RIGHT: Buttons = Buttons(2);
pub const JUMP: Buttons = Buttons(4);
pub const ATTACK: Buttons = Buttons(8);

/// The cue of each player's attack that lands: a sound, a flash. The engine says when it is certain.
pub const HIT: [Cue; 2] = [Cue(1), Cue(2)];

/// The playground as the lab plays it, with buttons that change every fourth frame. Seeds of the lab are odd.
#[cfg(feature = "lab")]
pub const PLAY: Play<Playground> =
    Play { build: |seed| Playground::new(seed).expect("a seed is not 0"), script: every_fourth };

const WALK_SPEED: i32 = 300;
const JUMP_SPEED: i32 = 500;
const GRAVITY: i32 = 40;
const STAGE_RIGHT: i32 = 19_400;
const BODY: (i32, i32) = (600, 900);
const REACH: (i32, i32) = (700, 700);
const ATTACK_FRAMES: i32 = 5;
const COOLDOWN_FRAMES: i32 = 30;
const HITSTUN_FRAMES: i32 = 20;
const DAMAGE: i32 = 25;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Idle,
    Run,
    Jump,
    Attack,
    Hitstun,
}
fields!(
    enum Action {
        Idle,
        Run,
        Jump,
        Attack,
        Hitstun,
    }
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fighter {
    pub x: i32,
    pub y: i32,
    pub vx: i32,
    pub vy: i32,
    pub facing: i8,
    pub action: Action,
    pub hitstun: i32,
    pub hp: i32,
    pub cooldown: i32,
    pub active: i32,
    pub has_hit: bool,
}
// The whole state, in the order in which it is hashed. A field that is left out does not compile.
fields!(Fighter { x, y, vx, vy, facing, action, hitstun, hp, cooldown, active, has_hit });

/// The whole state: a `Copy` type with `fields!`, so that there is nothing to write for saving and restoring it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Playground {
    pub frame: u32,
    pub fighters: [Fighter; 2],
    pub rng: Rng,
}
fields!(Playground { frame, fighters, rng });

impl Game for Playground {
    /// A pure function of the state and the inputs. Player one comes before player two within each phase.
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.frame = self.frame.wrapping_add(1);
        self.fighters.iter_mut().for_each(Fighter::recover);
        for player in Player::BOTH {
            let fighter = &mut self.fighters[player.index()];
            fighter.begin_attack(inputs[player].buttons());
            fighter.walk_and_jump(inputs[player].buttons());
            fighter.fall();
            fighter.end_attack();
        }
        // Both hits are judged before either counts, so that two attacks in one frame both land.
        let [one, two] = &mut self.fighters;
        let lands = [one.hits(two), two.hits(one)];
        if lands[0] {
            one.strike(two);
            cues.emit(HIT[0]);
        }
        if lands[1] {
            two.strike(one);
            cues.emit(HIT[1]);
        }
    }
}

impl Playground {
    /// The first state; `None` for seed 0, which is no seed.
    pub fn new(seed: u32) -> Option<Self> {
        let fighter = |x, facing| Fighter {
            x,
            y: 0,
            vx: 0,
            vy: 0,
            facing,
            action: Action::Idle,
            hitstun: 0,
            hp: 100,
            cooldown: 0,
            active: 0,
            has_hit: false,
        };
        Some(Self { frame: 0, fighters: [fighter(4_000, 1), fighter(16_000, -1)], rng: Rng::new(seed)? })
    }
}

impl Fighter {
    fn recover(&mut self) {
        self.cooldown = (self.cooldown - 1).max(0);
        if self.hitstun > 0 {
            self.hitstun -= 1;
            if self.hitstun == 0 {
                self.action = Action::Idle;
            }
        }
    }

    fn begin_attack(&mut self, held: Buttons) {
        if self.action != Action::Hitstun && held.holds(ATTACK) && self.cooldown == 0 {
            self.action = Action::Attack;
            (self.active, self.cooldown, self.has_hit) = (ATTACK_FRAMES, COOLDOWN_FRAMES, false);
        }
    }

    fn walk_and_jump(&mut self, held: Buttons) {
        if self.action == Action::Hitstun {
            return;
        }
        let direction = if held.holds(RIGHT) { 1 } else { -i8::from(held.holds(LEFT)) };
        let busy = matches!(self.action, Action::Jump | Action::Attack);
        if direction != 0 {
            self.x += WALK_SPEED * i32::from(direction);
            self.facing = direction;
        }
        if !busy {
            self.action = if direction == 0 { Action::Idle } else { Action::Run };
        }
        if held.holds(JUMP) && self.y == 0 && self.action != Action::Jump {
            self.vy = JUMP_SPEED;
            self.action = Action::Jump;
        }
        self.x = self.x.clamp(0, STAGE_RIGHT);
    }

    fn fall(&mut self) {
        self.vy -= GRAVITY;
        self.y += self.vy;
        if self.y <= 0 {
            (self.y, self.vy) = (0, 0);
            if self.action == Action::Jump {
                self.action = Action::Idle;
            }
        }
    }

    fn end_attack(&mut self) {
        if self.active > 0 {
            self.active -= 1;
            if self.active == 0 && self.action == Action::Attack {
                self.action = Action::Idle;
            }
        }
    }

    fn hits(&self, other: &Self) -> bool {
        let from = if self.facing > 0 { self.x + BODY.0 } else { self.x - REACH.0 };
        let overlap = |a: i32, a_len: i32, b: i32, b_len: i32| a < b + b_len && b < a + a_len;
        self.active > 0
            && !self.has_hit
            && overlap(from, REACH.0, other.x, BODY.0)
            && overlap(self.y, REACH.1, other.y, BODY.1)
    }

    fn strike(&mut self, other: &mut Self) {
        self.has_hit = true;
        other.hp = (other.hp - DAMAGE).max(0);
        (other.hitstun, other.action) = (HITSTUN_FRAMES, Action::Hitstun);
    }
}
