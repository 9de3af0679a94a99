//! Where two fighters meet: pushes, blows, fireballs and throws.
//!
//! Both sides of a meeting are worked out on the same state before either is changed, so that nobody gains by
//! sitting on the first seat.

use rebout::{Cues, Player};

use super::action::{Action, Facing};
use super::area::Area;
use super::buttons::{DOWN, THROW};
use super::effects::{Effect, emit};
use super::fighter::Fighter;
use super::moves::{Level, Move, MoveData, OnHit};
use super::{Duel, Fx, STAGE_HALF_WIDTH};

/// How far a frame may shift a fighter that stands inside the other.
const PUSH_LIMIT: Fx = Fx::lit("4");
/// The damage of a combo's hits, in percent: later hits count less.
const SCALING: [i16; 6] = [100, 85, 70, 55, 40, 30];
/// Every hit of a combo pushes this much harder, so that no combo goes on for ever.
const PUSH_PER_HIT: Fx = Fx::lit("0.5");
/// After so many hits the next one knocks down.
const COMBO_LIMIT: u8 = 8;
/// How often a fighter can be hit while it falls.
const JUGGLE_LIMIT: u8 = 2;
const ESCAPE_FRAMES: u16 = 9;
const RELEASE_FRAME: u16 = 22;
const THROWER_RECOVERY_FRAMES: u16 = 40;
const KO_HITSTOP: u8 = 24;

/// A blow that lands this frame.
#[derive(Clone, Copy)]
struct Blow {
    data: &'static MoveData,
    light: bool,
    direction: Facing,
    blocked: bool,
    at: (Fx, Fx),
}

impl Duel {
    /// Keeps the fighters from standing in each other.
    pub(super) fn push_apart(&mut self) {
        let [one, two] = &mut self.fighters;
        let passes = |fighter: &Fighter| matches!(fighter.action, Action::Launched | Action::Down);
        let (a, b) = (one.push_area(), two.push_area());
        if passes(one) || passes(two) || !a.overlaps(&b) {
            return;
        }
        let (left, right) = if self.one_is_left { (one, two) } else { (two, one) };
        let overlap = left.push_area().right - right.push_area().left;
        let shift = (overlap / 2).min(PUSH_LIMIT);
        let (from_left, from_right) = (left.x, right.x);
        left.x = (left.x - shift).max(-STAGE_HALF_WIDTH);
        right.x = (right.x + shift).min(STAGE_HALF_WIDTH);
        // A fighter at the wall cannot give way; the other gives way for both.
        let left_lacks = shift - (from_left - left.x);
        let right_lacks = shift - (right.x - from_right);
        left.x = (left.x - right_lacks).max(-STAGE_HALF_WIDTH);
        right.x = (right.x + left_lacks).min(STAGE_HALF_WIDTH);
    }

    /// Blows, fireballs and grabs of this frame.
    pub(super) fn meet(&mut self, cues: &mut Cues) {
        let strikes = Player::BOTH.map(|player| self.strike_of(player));
        let balls = Player::BOTH.map(|player| self.ball_of(player));
        let grabs = Player::BOTH.map(|player| self.grabs(player));
        let struck = |victim: Player| {
            let by = victim.other().index();
            strikes[by].is_some() || balls[by].is_some()
        };
        for player in Player::BOTH {
            let [attacker, victim] = self.pair(player);
            if let Some(blow) = strikes[player.index()] {
                attacker.connected = true;
                attacker.hitstop = attacker.hitstop.max(blow.data.hitstop);
                land(victim, player, blow, cues);
            }
        }
        for player in Player::BOTH {
            let [attacker, victim] = self.pair(player);
            // One blow a frame: a ball that arrives together with a fist waits for the next frame.
            if let Some(blow) = balls[player.index()].filter(|_| strikes[player.index()].is_none()) {
                attacker.projectile = None;
                land(victim, player, blow, cues);
            }
        }
        // A blow breaks a grab of the same frame, and two grabs break each other.
        match grabs {
            [true, true] => self.escape(cues),
            [one, two] if (one || two) && !Player::BOTH.into_iter().any(struck) => {
                let thrower = if one { Player::One } else { Player::Two };
                let [holder, held] = self.pair(thrower);
                holder.enter(Action::Holding);
                held.enter(Action::Held);
                held.crouching = false;
                held.facing = holder.facing.opposite();
                for fighter in [holder, held] {
                    fighter.vx = Fx::ZERO;
                    fighter.connected = true;
                }
                let x = self.fighters[thrower.index()].x;
                emit(cues, Effect::Grab, thrower, x, Fx::from_num(70));
            }
            _ => {}
        }
    }

    /// The fireballs of both, one frame on. Two that meet burn each other out.
    pub(super) fn move_projectiles(&mut self, cues: &mut Cues) {
        for fighter in &mut self.fighters {
            fighter.projectile = fighter.projectile.and_then(super::Projectile::moved);
        }
        let [Some(one), Some(two)] = [0, 1].map(|seat: usize| self.fighters[seat].projectile) else { return };
        if one.area().overlaps(&two.area()) {
            let (x, y) = one.area().meeting_point(&two.area());
            emit(cues, Effect::Clash, Player::One, x, y);
            self.fighters.iter_mut().for_each(|fighter| fighter.projectile = None);
        }
    }

    fn strike_of(&self, player: Player) -> Option<Blow> {
        let attacker = &self.fighters[player.index()];
        let victim = &self.fighters[player.other().index()];
        if attacker.hitstop > 0 {
            return None;
        }
        let (attack, area) = attacker.hit_area()?;
        blow_on(victim, attacker, attack, area, attacker.facing)
    }

    fn ball_of(&self, player: Player) -> Option<Blow> {
        let attacker = &self.fighters[player.index()];
        let ball = attacker.projectile?;
        let victim = &self.fighters[player.other().index()];
        blow_on(victim, attacker, Move::Fireball, ball.area(), ball.facing)
    }

    fn grabs(&self, player: Player) -> bool {
        let thrower = &self.fighters[player.index()];
        let victim = &self.fighters[player.other().index()];
        let data = thrower.data(Move::Throw);
        let reaches = thrower.action == Action::Attack(Move::Throw)
            && thrower.hitstop == 0
            && !thrower.connected
            && data.is_active(thrower.since)
            && (thrower.x - victim.x).abs() <= Fx::from_num(data.reach.far);
        let stunned = matches!(
            victim.action,
            Action::Hit
                | Action::Block
                | Action::Launched
                | Action::JumpSquat
                | Action::Victory
                | Action::Defeat
        );
        reaches && !stunned && !victim.airborne() && !victim.is_safe()
    }

    /// A hold goes on: the held one slips out by a throw of its own, or is thrown.
    pub(super) fn go_on_holding(&mut self, cues: &mut Cues) {
        for player in Player::BOTH {
            let [holder, held] = self.pair(player);
            if holder.action != Action::Holding {
                continue;
            }
            if held.action == Action::Held {
                if held.since <= ESCAPE_FRAMES && held.controls.wants(THROW) {
                    self.escape(cues);
                    return;
                }
                if holder.since >= RELEASE_FRAME {
                    release(holder, held, player, cues);
                }
            } else if holder.since >= THROWER_RECOVERY_FRAMES {
                holder.enter(Action::Stand);
            }
        }
    }

    /// Both let go and stumble apart.
    fn escape(&mut self, cues: &mut Cues) {
        let [one, two] = &mut self.fighters;
        let middle = (one.x + two.x) / 2;
        for fighter in [one, two] {
            fighter.enter(Action::Block);
            fighter.controls.spend();
            fighter.crouching = false;
            fighter.stun = 18;
            fighter.vx = const { Fx::lit("4") } * -fighter.facing.sign();
        }
        emit(cues, Effect::Escape, Player::One, middle, Fx::from_num(66));
    }

    /// The player's fighter and the other.
    fn pair(&mut self, player: Player) -> [&mut Fighter; 2] {
        let [one, two] = &mut self.fighters;
        match player {
            Player::One => [one, two],
            Player::Two => [two, one],
        }
    }
}

/// The throw itself: forward, or over the shoulder if the thrower holds back.
fn release(holder: &mut Fighter, held: &mut Fighter, player: Player, cues: &mut Cues) {
    if holder.controls.holds_away(holder.facing) {
        holder.facing = holder.facing.opposite();
    }
    let away = holder.facing.sign();
    held.x = (holder.x + Fx::from_num(30) * away).clamp(-STAGE_HALF_WIDTH, STAGE_HALF_WIDTH);
    held.y = Fx::from_num(24);
    held.vx = const { Fx::lit("3.4") } * away;
    held.vy = const { Fx::lit("4.5") };
    held.facing = holder.facing.opposite();
    held.enter(Action::Launched);
    held.juggle_hits = JUGGLE_LIMIT;
    hurt(held, holder.data(Move::Throw).damage);
    if held.health == 0 {
        holder.hitstop = KO_HITSTOP;
        held.hitstop = KO_HITSTOP;
    }
    emit(cues, Effect::HeavyHit, player, held.x, Fx::from_num(60));
}

fn blow_on(
    victim: &Fighter,
    attacker: &Fighter,
    attack: Move,
    area: Area,
    direction: Facing,
) -> Option<Blow> {
    let falling = victim.action == Action::Launched && victim.juggle_hits >= JUGGLE_LIMIT;
    if victim.is_safe() || falling {
        return None;
    }
    let touched = victim.hurt_areas().into_iter().find(|body| body.overlaps(&area))?;
    let data = attacker.data(attack);
    Some(Blow {
        data,
        light: attack.is_light(),
        direction,
        blocked: blocks(victim, data.level, direction),
        at: area.meeting_point(&touched),
    })
}

/// Whether the victim's guard is up, and at the right height.
fn blocks(victim: &Fighter, level: Level, direction: Facing) -> bool {
    // One block holds until its stun is over; otherwise the stick must point away from the blow.
    let guards = victim.action == Action::Block
        || (victim.is_free() && victim.controls.direction() == direction.sign());
    let low = victim.controls.holds(DOWN);
    guards
        && !victim.airborne()
        && match level {
            Level::High => !low,
            Level::Mid => true,
            Level::Low => low,
        }
}

fn land(victim: &mut Fighter, by: Player, blow: Blow, cues: &mut Cues) {
    let data = blow.data;
    let away = blow.direction.sign();
    let (x, y) = blow.at;
    victim.hitstop = victim.hitstop.max(data.hitstop);
    if blow.blocked {
        victim.crouching = victim.controls.holds(DOWN);
        victim.enter(Action::Block);
        victim.stun = data.block_stun;
        victim.vx = data.push_block * away;
        victim.health = (victim.health - data.chip).max(1);
        emit(cues, Effect::Block, by, x, y);
        return;
    }
    let airborne = victim.airborne() || victim.action == Action::Launched;
    if victim.action == Action::Launched {
        victim.juggle_hits += 1;
    }
    hurt(victim, data.damage);
    victim.facing = blow.direction.opposite();
    let hard_push = data.push_hit + PUSH_PER_HIT * i32::from(victim.combo_hits.saturating_sub(1));
    let (rise, drift) = match data.on_hit {
        _ if victim.health == 0 => (const { Fx::lit("6.5") }, const { Fx::lit("3.6") }),
        OnHit::Launch => (const { Fx::lit("8") }, data.push_hit),
        OnHit::Sweep => (const { Fx::lit("3.2") }, data.push_hit),
        OnHit::Stagger if airborne || victim.combo_hits > COMBO_LIMIT => {
            (const { Fx::lit("4.6") }, const { Fx::lit("2.6") })
        }
        OnHit::Stagger => {
            victim.enter(Action::Hit);
            victim.stun = data.hit_stun;
            victim.vx = hard_push * away;
            let effect = if blow.light { Effect::LightHit } else { Effect::HeavyHit };
            emit(cues, effect, by, x, y);
            return;
        }
    };
    victim.enter(Action::Launched);
    victim.crouching = false;
    victim.vx = drift * away;
    victim.vy = rise;
    if victim.health == 0 {
        victim.hitstop = KO_HITSTOP;
    }
    emit(cues, Effect::HeavyHit, by, x, y);
}

/// Takes health, less for every hit of a combo.
fn hurt(victim: &mut Fighter, damage: i16) {
    let step = usize::from(victim.combo_hits).min(SCALING.len() - 1);
    let scaled = (damage * SCALING[step] / 100).max(1);
    victim.combo_hits = victim.combo_hits.saturating_add(1);
    victim.combo_damage = victim.combo_damage.saturating_add(scaled);
    victim.health = (victim.health - scaled).max(0);
}
