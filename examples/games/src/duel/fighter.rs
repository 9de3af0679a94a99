//! One fighter: what it is doing, and how it moves by itself.

use rebout::{Cues, Player, fields};

use super::action::{Action, Facing};
use super::buttons::{Controls, DOWN, HEAVY, LIGHT, SPECIAL, THROW, UP};
use super::character::Character;
use super::effects::{Effect, emit};
use super::moves::{Move, MoveData};
use super::projectile::Projectile;
use super::{FULL_HEALTH, Fx, STAGE_HALF_WIDTH};

const GRAVITY: Fx = Fx::lit("0.5");
/// The speed that a pushed fighter loses every frame. Subtracted, not multiplied: a product rounds differently
/// to the left and to the right, and one side of the stage would be better than the other.
const FRICTION: Fx = Fx::lit("0.3");
const RISING_SPEED: Fx = Fx::lit("8.2");
const RISING_DRIFT: Fx = Fx::lit("1.3");
const HEEL_SPEED: Fx = Fx::lit("5.5");
const HEEL_DRIFT: Fx = Fx::lit("2.4");

/// Frames from one foot to the other.
const STRIDE_FRAMES: u16 = 15;
const SQUAT_FRAMES: u16 = 4;
const LANDING_FRAMES: u8 = 3;
const RISING_LANDING_FRAMES: u8 = 18;
/// The frame in which the heel leaves the ground.
const HEEL_HOP_FRAME: u16 = 5;
const HEEL_LANDING_FRAMES: u8 = 10;
const DOWN_FRAMES: u16 = 26;
pub(super) const RISE_FRAMES: u16 = 16;
const FIREBALL_DISTANCE: Fx = Fx::lit("34");
/// Within this distance a held back button raises the guard instead of walking.
const THREAT_DISTANCE: Fx = Fx::lit("120");

/// One fighter.
#[derive(Clone, Copy, Debug)]
pub struct Fighter {
    pub character: Character,
    pub x: Fx,
    /// Above the floor.
    pub y: Fx,
    pub vx: Fx,
    pub vy: Fx,
    pub facing: Facing,
    pub action: Action,
    /// Frames in this action, hitstop not counted.
    pub since: u16,
    pub crouching: bool,
    pub health: i16,
    pub hitstop: u8,
    /// Frames left of a stun or a landing.
    pub stun: u8,
    /// The attack of now has touched the other, and cannot again.
    pub connected: bool,
    /// The one attack of this jump has been used.
    pub air_spent: bool,
    /// Hits taken without getting free in between.
    pub combo_hits: u8,
    pub combo_damage: i16,
    /// Hits taken since leaving the ground.
    pub juggle_hits: u8,
    pub projectile: Option<Projectile>,
    pub controls: Controls,
    /// Rounds won in this match.
    pub rounds: u8,
    /// Matches won since the duel began.
    pub matches: u16,
}
fields!(Fighter {
    character,
    x,
    y,
    vx,
    vy,
    facing,
    action,
    since,
    crouching,
    health,
    hitstop,
    stun,
    connected,
    air_spent,
    combo_hits,
    combo_damage,
    juggle_hits,
    projectile,
    controls,
    rounds,
    matches,
});

impl Fighter {
    /// A fighter at its mark, as a round begins.
    pub fn at_mark(player: Player, character: Character) -> Self {
        let facing = match player {
            Player::One => Facing::Right,
            Player::Two => Facing::Left,
        };
        Self {
            character,
            x: Fx::from_num(-75 * facing.sign()),
            y: Fx::ZERO,
            vx: Fx::ZERO,
            vy: Fx::ZERO,
            facing,
            action: Action::Stand,
            since: 0,
            crouching: false,
            health: FULL_HEALTH,
            hitstop: 0,
            stun: 0,
            connected: false,
            air_spent: false,
            combo_hits: 0,
            combo_damage: 0,
            juggle_hits: 0,
            projectile: None,
            controls: Controls::default(),
            rounds: 0,
            matches: 0,
        }
    }

    /// Back to the mark for the next round, with what has been won.
    pub fn reset(&mut self, player: Player) {
        *self = Self {
            rounds: self.rounds,
            matches: self.matches,
            controls: self.controls,
            ..Self::at_mark(player, self.character)
        };
    }

    /// The line of its move table.
    pub const fn data(&self, attack: Move) -> &'static MoveData {
        self.character.data(attack)
    }

    pub fn airborne(&self) -> bool {
        self.y > Fx::ZERO || self.vy > Fx::ZERO
    }

    /// On the feet and free to do anything.
    pub fn is_free(&self) -> bool {
        matches!(
            self.action,
            Action::Stand | Action::WalkForward | Action::WalkBack | Action::Crouch | Action::Guard
        )
    }

    /// Nothing can touch it now.
    pub fn is_safe(&self) -> bool {
        match self.action {
            Action::Down | Action::Rise | Action::Holding | Action::Held => true,
            Action::Attack(Move::Rising | Move::Heel) => self.since < self.character.build().safe_frames,
            _ => false,
        }
    }

    pub fn enter(&mut self, action: Action) {
        self.action = action;
        self.since = 0;
    }

    /// Keeps on with `action`, or begins it.
    fn keep(&mut self, action: Action) {
        if self.action != action {
            self.enter(action);
        }
    }

    /// Decides what to do this frame. `foe` is the other as the frame began; `toward` is where it is.
    pub fn decide(&mut self, player: Player, foe: &Self, toward: Facing, cues: &mut Cues) {
        self.since = self.since.saturating_add(1);
        match self.action {
            Action::JumpSquat if self.since >= SQUAT_FRAMES => self.take_off(player, cues),
            Action::Air => self.decide_in_the_air(),
            Action::Attack(attack) => self.go_on_attacking(player, attack, foe, toward, cues),
            Action::Land | Action::Block | Action::Hit => {
                self.stun = self.stun.saturating_sub(1);
                if self.stun == 0 {
                    self.act(foe, toward);
                }
            }
            Action::Down if self.since >= DOWN_FRAMES && self.health > 0 => self.enter(Action::Rise),
            Action::Rise if self.since >= RISE_FRAMES => self.act(foe, toward),
            _ if self.is_free() => self.act(foe, toward),
            _ => {}
        }
    }

    /// Free on the ground: the buttons decide.
    fn act(&mut self, foe: &Self, toward: Facing) {
        self.combo_hits = 0;
        self.combo_damage = 0;
        self.juggle_hits = 0;
        self.facing = toward;
        self.vx = Fx::ZERO;
        self.crouching = self.controls.holds(DOWN);
        let away = self.controls.holds_away(toward);
        if let Some(attack) = self.wanted_attack() {
            self.begin(attack);
        } else if self.controls.holds(UP) {
            self.enter(Action::JumpSquat);
        } else if away && foe.threatens(self.x) {
            self.keep(Action::Guard);
        } else if self.crouching {
            self.keep(Action::Crouch);
        } else if away {
            self.keep(Action::WalkBack);
            self.vx = self.character.build().walk_back * -toward.sign();
        } else if self.controls.holds_toward(toward) {
            self.keep(Action::WalkForward);
            self.vx = self.character.build().walk_forward * toward.sign();
        } else {
            self.keep(Action::Stand);
        }
    }

    fn wanted_attack(&self) -> Option<Move> {
        let pick = |stand, crouch| if self.crouching { crouch } else { stand };
        if self.controls.wants(THROW) {
            Some(Move::Throw)
        } else if let Some(special) = self.wanted_special() {
            Some(special)
        } else if self.controls.wants(HEAVY) {
            Some(pick(Move::StandHeavy, Move::CrouchHeavy))
        } else if self.controls.wants(LIGHT) {
            Some(pick(Move::StandLight, Move::CrouchLight))
        } else {
            None
        }
    }

    fn wanted_special(&self) -> Option<Move> {
        if !self.controls.wants(SPECIAL) {
            None
        } else if self.controls.holds(DOWN) {
            Some(self.character.low_special())
        } else {
            // One fireball on the stage at a time; the press goes on waiting.
            self.projectile.is_none().then_some(self.character.special())
        }
    }

    fn begin(&mut self, attack: Move) {
        self.controls.spend();
        self.connected = false;
        self.enter(Action::Attack(attack));
    }

    fn take_off(&mut self, player: Player, cues: &mut Cues) {
        self.enter(Action::Air);
        self.crouching = false;
        self.air_spent = false;
        let build = self.character.build();
        self.vy = build.jump_speed;
        self.vx = build.jump_drift * self.controls.direction();
        emit(cues, Effect::Jump, player, self.x, Fx::ZERO);
    }

    fn decide_in_the_air(&mut self) {
        let attack = if self.controls.wants(HEAVY) {
            Move::AirHeavy
        } else if self.controls.wants(LIGHT) {
            Move::AirLight
        } else {
            return;
        };
        if !self.air_spent {
            self.air_spent = true;
            self.begin(attack);
        }
    }

    fn go_on_attacking(&mut self, player: Player, attack: Move, foe: &Self, toward: Facing, cues: &mut Cues) {
        let data = self.data(attack);
        let airborne = self.airborne();
        if self.since >= data.total() {
            if airborne {
                self.enter(Action::Air);
            } else {
                self.act(foe, toward);
            }
            return;
        }
        if self.connected && data.cancels && !airborne {
            self.crouching = self.controls.holds(DOWN);
            // A touch by any normal goes on into a special; a light also goes on into a heavy.
            let next = self.wanted_special().or_else(|| {
                (attack.is_light() && self.controls.wants(HEAVY)).then_some(if self.crouching {
                    Move::CrouchHeavy
                } else {
                    Move::StandHeavy
                })
            });
            if let Some(next) = next {
                self.facing = toward;
                self.begin(next);
                return;
            }
        }
        if !airborne {
            let runs = if attack == Move::Charge { data.startup + data.active } else { data.startup };
            // A charge stops at whom it touches.
            let is_running = self.since < runs && !(attack == Move::Charge && self.connected);
            self.vx = if is_running { data.lunge * self.facing.sign() } else { Fx::ZERO };
        }
        if attack == Move::Heel && self.since == HEEL_HOP_FRAME {
            self.hop(player, cues);
        }
        if self.since == data.startup {
            self.strike(player, attack, cues);
        }
    }

    /// The heel leaves the ground.
    fn hop(&mut self, player: Player, cues: &mut Cues) {
        self.crouching = false;
        self.vy = HEEL_SPEED;
        self.vx = HEEL_DRIFT * self.facing.sign();
        emit(cues, Effect::Jump, player, self.x, Fx::ZERO);
    }

    /// The first active frame.
    fn strike(&mut self, player: Player, attack: Move, cues: &mut Cues) {
        let ahead = self.x + FIREBALL_DISTANCE * self.facing.sign();
        match attack {
            Move::Fireball => {
                let projectile = Projectile::cast(ahead, self.facing);
                emit(cues, Effect::Cast, player, projectile.x, projectile.y);
                self.projectile = Some(projectile);
            }
            Move::Rising => {
                self.vy = RISING_SPEED;
                self.vx = RISING_DRIFT * self.facing.sign();
                self.crouching = false;
                emit(cues, Effect::Jump, player, self.x, Fx::ZERO);
            }
            _ => {
                let reach = self.data(attack).reach;
                emit(cues, Effect::Swing, player, ahead, self.y + Fx::from_num((reach.low + reach.high) / 2));
            }
        }
    }

    /// Whether a fighter at `x` should raise its guard.
    fn threatens(&self, x: Fx) -> bool {
        let near = |from: Fx| (from - x).abs() < THREAT_DISTANCE;
        let swings = match self.action {
            Action::Attack(attack) => {
                let data = self.data(attack);
                self.since < data.startup + data.active && near(self.x)
            }
            _ => false,
        };
        swings || self.projectile.is_some_and(|ball| near(ball.x) && ball.approaches(x))
    }

    /// Moves by the speed it has. Answers how far the wall kept it from going: what is left of a push is the other's.
    pub fn travel(&mut self, player: Player, cues: &mut Cues) -> Fx {
        let wanted = self.x + self.vx;
        self.x = wanted.clamp(-STAGE_HALF_WIDTH, STAGE_HALF_WIDTH);
        if self.airborne() {
            self.y += self.vy;
            self.vy -= GRAVITY;
            if self.y <= Fx::ZERO {
                self.touch_down(player, cues);
            }
        } else {
            self.vx = slowed(self.vx);
            let walks = matches!(self.action, Action::WalkForward | Action::WalkBack);
            if walks && self.since % STRIDE_FRAMES == STRIDE_FRAMES / 2 {
                emit(cues, Effect::Step, player, self.x, Fx::ZERO);
            }
        }
        wanted - self.x
    }

    fn touch_down(&mut self, player: Player, cues: &mut Cues) {
        self.y = Fx::ZERO;
        self.vy = Fx::ZERO;
        if self.action == Action::Launched {
            self.enter(Action::Down);
            emit(cues, Effect::Slam, player, self.x, Fx::ZERO);
        } else {
            self.stun = match self.action {
                Action::Attack(Move::Rising) => RISING_LANDING_FRAMES,
                Action::Attack(Move::Heel) => HEEL_LANDING_FRAMES,
                _ => LANDING_FRAMES,
            };
            self.vx = Fx::ZERO;
            self.enter(Action::Land);
            emit(cues, Effect::Land, player, self.x, Fx::ZERO);
        }
    }
}

fn slowed(speed: Fx) -> Fx {
    if speed.abs() <= FRICTION { Fx::ZERO } else { speed - FRICTION * speed.signum().to_num::<i32>() }
}
