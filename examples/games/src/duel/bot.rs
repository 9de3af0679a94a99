//! A bot that plays through the buttons only, and sees the other as late as a person would.

use rebout::{Buttons, Player, Rng};

use super::buttons::{DOWN, HEAVY, LEFT, LIGHT, RIGHT, SPECIAL, START, THROW, UP};
use super::moves::{Level as Height, Move};
use super::{Action, Duel, Facing, Fighter, Fx, Phase};

/// How well a bot plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Easy,
    Normal,
    Hard,
}

/// The parameters of a level. Chances are in percent.
#[derive(Clone, Copy, Debug)]
struct Skill {
    reaction_frames: usize,
    /// Blocks what it sees coming.
    guard: u32,
    /// Guards at the right height.
    height: u32,
    punish: u32,
    anti_air: u32,
    combo: u32,
    /// Slips out of a throw.
    escape: u32,
    /// Does nothing for a while instead of something.
    hesitate: u32,
}

impl Level {
    const fn skill(self) -> Skill {
        match self {
            Self::Easy => Skill {
                reaction_frames: 22,
                guard: 25,
                height: 50,
                punish: 15,
                anti_air: 8,
                combo: 10,
                escape: 5,
                hesitate: 45,
            },
            Self::Normal => Skill {
                reaction_frames: 15,
                guard: 55,
                height: 70,
                punish: 50,
                anti_air: 40,
                combo: 50,
                escape: 25,
                hesitate: 15,
            },
            Self::Hard => Skill {
                reaction_frames: 11,
                guard: 85,
                height: 90,
                punish: 90,
                anti_air: 75,
                combo: 90,
                escape: 50,
                hesitate: 3,
            },
        }
    }
}

/// The plan of the bot for a number of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    Wait,
    Advance,
    Retreat,
    Guard {
        low: bool,
    },
    /// One press, with a direction held.
    Press {
        button: Buttons,
        low: bool,
    },
    JumpIn,
    JumpBack,
    /// Walk up and grab.
    Grab,
}

const MEMORY: usize = 32;

/// A player made of habits and dice.
#[derive(Clone, Debug)]
pub struct Bot {
    skill: Skill,
    dice: Rng,
    /// The last states; the bot acts on an old one.
    memory: [Duel; MEMORY],
    frames_seen: usize,
    plan: Plan,
    age: u16,
    lasts: u16,
    /// The other's attack, jump or fireball that was already thought about.
    noticed: Option<Action>,
    noticed_ball: bool,
    noticed_since: u16,
}

impl Bot {
    pub fn new(seed: u32, level: Level) -> Self {
        Self {
            skill: level.skill(),
            dice: dice(seed),
            memory: [Duel::new(1); MEMORY],
            frames_seen: 0,
            plan: Plan::Wait,
            age: 0,
            lasts: 0,
            noticed: None,
            noticed_ball: false,
            noticed_since: 0,
        }
    }

    /// The buttons of the bot in this frame.
    pub fn buttons(&mut self, duel: &Duel, me: Player) -> Buttons {
        self.memory[self.frames_seen % MEMORY] = *duel;
        let age = self.skill.reaction_frames.min(self.frames_seen);
        let seen = self.memory[(self.frames_seen - age) % MEMORY];
        self.frames_seen += 1;
        match duel.phase {
            Phase::Fight => {}
            Phase::MatchOver { .. } if duel.since % 40 > 30 => return START,
            _ => {
                self.lasts = 0;
                return Buttons::NONE;
            }
        }
        if seen.phase != Phase::Fight {
            return Buttons::NONE;
        }
        let own = duel.fighter(me);
        let foe = *seen.fighter(me.other());
        let view = Sight { own, foe: &foe, gap: (own.x - foe.x).abs().to_num(), toward: duel.toward(me) };
        self.react(&view);
        if self.age >= self.lasts {
            self.choose(&view);
        }
        let buttons = self.act(&view);
        self.age += 1;
        buttons
    }

    fn roll(&mut self, below: u32) -> u32 {
        self.dice.below(below)
    }

    fn happens(&mut self, percent: u32) -> bool {
        self.roll(100) < percent
    }

    fn adopt(&mut self, plan: Plan, frames: u16) {
        self.plan = plan;
        self.age = 0;
        self.lasts = frames;
    }

    /// Answers what the other has begun, once for each thing it begins.
    fn react(&mut self, view: &Sight<'_>) {
        let foe = view.foe;
        if view.own.action == Action::Held && view.own.since == 2 && self.happens(self.skill.escape) {
            return self.adopt(Plan::Press { button: THROW, low: false }, 4);
        }
        self.follow_up(view);
        let ball_comes = foe.projectile.is_some_and(|ball| ball.approaches(view.own.x));
        let new_ball = ball_comes && !self.noticed_ball;
        self.noticed_ball = ball_comes;
        let busy = matches!(foe.action, Action::Attack(_) | Action::Air);
        let fresh = busy && (self.noticed != Some(foe.action) || foe.since < self.noticed_since);
        self.noticed = busy.then_some(foe.action);
        self.noticed_since = foe.since;
        if new_ball {
            self.answer_ball(view);
        } else if fresh {
            match foe.action {
                Action::Air => self.answer_jump(view),
                Action::Attack(attack) => self.answer_attack(attack, view),
                _ => {}
            }
        }
    }

    /// A blow of one's own has touched: go on into something better.
    fn follow_up(&mut self, view: &Sight<'_>) {
        let Action::Attack(attack) = view.own.action else { return };
        let data = attack.data();
        if view.own.connected && view.own.hitstop == data.hitstop.saturating_sub(2) && data.cancels {
            let hit = matches!(view.foe.action, Action::Hit | Action::Launched);
            if !self.happens(self.skill.combo) {
                return;
            }
            let next = match attack {
                Move::StandLight | Move::CrouchLight if hit || self.happens(30) => HEAVY,
                _ => SPECIAL,
            };
            let low = hit && next == SPECIAL && self.roll(3) == 0;
            self.adopt(Plan::Press { button: next, low }, 6);
        }
    }

    fn answer_ball(&mut self, view: &Sight<'_>) {
        if !self.happens(self.skill.guard + 10) {
        } else if view.gap > 130 && view.gap < 260 && self.happens(45) {
            self.adopt(Plan::JumpIn, 46);
        } else {
            self.adopt(Plan::Guard { low: false }, (view.gap / 6).clamp(16, 50) as u16);
        }
    }

    fn answer_jump(&mut self, view: &Sight<'_>) {
        let comes = view.foe.vx * (view.own.x - view.foe.x).signum() > Fx::ZERO;
        if !comes || view.gap > 170 {
            return;
        }
        if self.happens(self.skill.anti_air) {
            self.adopt(Plan::Press { button: SPECIAL, low: true }, 10);
        } else if self.happens(self.skill.guard) {
            self.adopt(Plan::Guard { low: false }, 30);
        }
    }

    fn answer_attack(&mut self, attack: Move, view: &Sight<'_>) {
        let data = attack.data();
        let near = i32::from(data.reach.far) + 24;
        if view.gap > near + 20 {
            // It is out of reach: the other is open afterwards.
            let open = data.total() > 20 && view.gap < near + 70;
            if open && attack != Move::Fireball && self.happens(self.skill.punish) {
                self.adopt(Plan::Advance, 8);
            }
        } else if matches!(attack, Move::Rising) {
            // Wait it out, and be there when it lands.
            self.adopt(Plan::Guard { low: false }, 26);
        } else if attack == Move::Throw {
            if self.happens(self.skill.escape) {
                self.adopt(Plan::Press { button: THROW, low: false }, 4);
            }
        } else if self.happens(self.skill.guard) {
            let right = self.happens(self.skill.height);
            let low = (data.level == Height::Low) == right;
            self.adopt(Plan::Guard { low }, 20);
        }
    }

    /// Nothing urgent: picks what to do next by the distance and the dice.
    fn choose(&mut self, view: &Sight<'_>) {
        let open = match view.foe.action {
            Action::Land => view.foe.stun > 6,
            Action::Attack(attack) => {
                let data = attack.data();
                view.foe.since >= data.startup + data.active && data.total() - view.foe.since > 12
            }
            _ => false,
        };
        if open && view.gap < 90 && self.happens(self.skill.punish) {
            let button = if view.gap < 70 { HEAVY } else { LIGHT };
            return self.adopt(Plan::Press { button, low: view.gap > 60 }, 8);
        }
        if self.happens(self.skill.hesitate) {
            let frames = 8 + self.roll(24) as u16;
            let plan = if self.roll(3) == 0 { Plan::Retreat } else { Plan::Wait };
            return self.adopt(plan, frames);
        }
        let guards = matches!(view.foe.action, Action::Guard | Action::Block | Action::Crouch);
        let dice = self.roll(100);
        let (plan, frames) = match view.gap {
            ..=48 if guards && dice < 55 => (Plan::Grab, 20),
            ..=48 => match dice {
                0..30 => (Plan::Press { button: LIGHT, low: dice < 15 }, 12),
                30..50 => (Plan::Press { button: HEAVY, low: dice < 40 }, 26),
                50..68 => (Plan::Grab, 18),
                68..84 => (Plan::Guard { low: dice.is_multiple_of(2) }, 14),
                84..92 => (Plan::Retreat, 16),
                _ => (Plan::JumpBack, 40),
            },
            49..=92 => match dice {
                0..22 => (Plan::Press { button: HEAVY, low: dice < 10 }, 26),
                22..38 => (Plan::Press { button: LIGHT, low: dice < 30 }, 14),
                38..66 => (Plan::Advance, 8),
                66..80 => (Plan::Guard { low: dice.is_multiple_of(2) }, 12),
                80..90 => (Plan::Retreat, 12),
                _ => (Plan::Grab, 22),
            },
            93..=170 => match dice {
                0..45 => (Plan::Advance, 12),
                45..62 => (Plan::JumpIn, 46),
                62..76 => (Plan::Press { button: SPECIAL, low: false }, 40),
                76..88 => (Plan::Retreat, 10),
                _ => (Plan::Wait, 8),
            },
            _ => match dice {
                0..38 => (Plan::Press { button: SPECIAL, low: false }, 42),
                38..86 => (Plan::Advance, 18),
                _ => (Plan::Wait, 10),
            },
        };
        self.adopt(plan, frames);
    }

    /// The plan as buttons.
    fn act(&mut self, view: &Sight<'_>) -> Buttons {
        let (ahead, back) = match view.toward {
            Facing::Right => (RIGHT, LEFT),
            Facing::Left => (LEFT, RIGHT),
        };
        // A press is a change: the first frame of a plan lets go of what the last one held.
        let presses = (1..4).contains(&self.age);
        match self.plan {
            Plan::Wait => Buttons::NONE,
            Plan::Advance => ahead,
            Plan::Retreat => back,
            Plan::Guard { low } => back | if low { DOWN } else { Buttons::NONE },
            Plan::Press { button, low } => {
                let stick = if low { DOWN } else { Buttons::NONE };
                stick | if presses { button } else { Buttons::NONE }
            }
            Plan::JumpIn if self.age < 6 => UP | ahead,
            Plan::JumpIn => {
                let falls = view.own.airborne() && view.own.vy < Fx::lit("-3.5");
                if falls && view.gap < 80 { HEAVY } else { Buttons::NONE }
            }
            Plan::JumpBack if self.age < 6 => UP | back,
            Plan::JumpBack => Buttons::NONE,
            Plan::Grab if view.gap > 42 => ahead,
            Plan::Grab => {
                if self.age % 6 < 3 {
                    THROW | ahead
                } else {
                    ahead
                }
            }
        }
    }
}

/// The view of the bot: itself as it is, the other as it was.
struct Sight<'a> {
    own: &'a Fighter,
    foe: &'a Fighter,
    gap: i32,
    toward: Facing,
}

/// Spreads the seed, and rolls a few times: neighbouring seeds begin alike otherwise.
fn dice(seed: u32) -> Rng {
    let spread = (seed ^ 0x9E37_79B9).wrapping_mul(0x85EB_CA6B) | 1;
    let mut dice = Rng::new(spread).expect("an odd number is not zero");
    for _ in 0..8 {
        dice.next_u32();
    }
    dice
}
