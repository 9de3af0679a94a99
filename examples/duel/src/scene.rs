//! The scene: the state of the duel, and the state that only the views need. Sparks, flashes and shakes come from cues
//! alone; a cancelled cue takes all of them with it.

use rebout::{CueChange, CueEvent, CueId, Player};

use crate::art::camera::CameraTarget;
use crate::art::figure::{OUTFITS, Outfit};
use crate::art::pose::{Pose, target_of};
use games::duel::effects::{Effect, Shown};
use games::duel::{Action, Duel, FULL_HEALTH};
use stage::at;

/// More sparks than this at once are nobody's loss.
const SPARK_LIMIT: usize = 48;
/// How long the lost part of a health bar stays red before it shrinks.
const TRAIL_WAIT_FRAMES: u16 = 34;
const COMBO_SHOWN_FRAMES: u16 = 70;

/// An effect that is on the screen now.
#[derive(Clone, Copy, Debug)]
pub struct Spark {
    pub id: CueId,
    pub shown: Shown,
    pub age: u32,
}

impl Spark {
    pub const fn lasts(effect: Effect) -> u32 {
        match effect {
            Effect::HeavyHit | Effect::Clash | Effect::Slam => 24,
            Effect::Ko => 60,
            Effect::LightHit | Effect::Escape => 16,
            Effect::Swing => 6,
            _ => 18,
        }
    }
}

/// The state of the views about one fighter.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// The pose that is shown, on its way to the one of the state.
    pub pose: Pose,
    /// The health that the bar still shows in red.
    pub trail: f32,
    trail_wait: u16,
    /// Hits of the combo that this side has landed, and for how long to show it.
    pub combo_hits: u8,
    pub combo_damage: i16,
    pub combo_frames: u16,
    /// Frames that a guard, a hit and so on have been seen; drives small touches.
    pub drift: f32,
}

/// The duel as it is to be seen.
#[derive(Clone, Debug)]
pub struct Scene {
    pub duel: Duel,
    pub names: [String; 2],
    pub sides: [Side; 2],
    pub sparks: Vec<Spark>,
    pub camera_target: CameraTarget,
    /// Frames shown.
    pub age: u32,
    /// What each fighter wears, an index into the outfits.
    pub outfits: [usize; 2],
}

impl Scene {
    pub fn new(duel: &Duel, names: [String; 2]) -> Self {
        let sides = [0, 1].map(|seat: usize| Side {
            pose: target_of(&duel.fighters[seat], 0).pose,
            trail: f32::from(FULL_HEALTH),
            trail_wait: TRAIL_WAIT_FRAMES,
            combo_hits: 0,
            combo_damage: 0,
            combo_frames: 0,
            drift: 0.0,
        });
        Self {
            duel: *duel,
            names,
            sides,
            sparks: Vec::new(),
            camera_target: CameraTarget::wide(),
            age: 0,
            outfits: [0, 1],
        }
    }

    /// The colours of a fighter. Where both have the same ones, those of player two are the next in the list.
    pub fn outfit(&self, player: Player) -> &'static Outfit {
        let [one, two] = self.outfits;
        let index = match player {
            Player::One => one,
            Player::Two if one == two => (two + 1) % OUTFITS.len(),
            Player::Two => two,
        };
        OUTFITS.get(index).unwrap_or(&OUTFITS[player.index()])
    }

    /// One frame on: the state as it is now, and what became of the cues.
    pub fn advance(&mut self, duel: &Duel, events: &[CueEvent]) {
        self.duel = *duel;
        self.age = self.age.wrapping_add(1);
        for spark in &mut self.sparks {
            spark.age += 1;
        }
        events.iter().for_each(|event| self.hear(event));
        self.sparks.retain(|spark| spark.age < Spark::lasts(spark.shown.effect));
        self.advance_sides();
        self.camera_target.follow(duel);
        self.shake();
    }

    fn hear(&mut self, event: &CueEvent) {
        match event.change {
            CueChange::Start { late_by } => {
                let Some(shown) = Shown::unpack(event.cue) else { return };
                if self.sparks.len() < SPARK_LIMIT {
                    self.sparks.push(Spark { id: event.id, shown, age: late_by });
                }
            }
            CueChange::Cancel => self.sparks.retain(|spark| spark.id != event.id),
            // It is on the screen already, and now it is true as well.
            CueChange::Confirm => {}
        }
    }

    fn advance_sides(&mut self) {
        for player in Player::BOTH {
            let fighter = *self.duel.fighter(player);
            let foe = *self.duel.fighter(player.other());
            let side = &mut self.sides[player.index()];
            let target = target_of(&fighter, self.age.wrapping_add(player.index() as u32 * 29));
            side.pose = side.pose.toward(&target.pose, target.quickness);
            side.drift += (fighter.vx.to_num::<f32>() - side.drift) * 0.25;

            let health = f32::from(fighter.health);
            let stunned = matches!(fighter.action, Action::Hit | Action::Launched | Action::Held);
            if health >= side.trail || stunned {
                side.trail = side.trail.max(health);
                side.trail_wait = TRAIL_WAIT_FRAMES;
            } else if side.trail_wait > 0 {
                side.trail_wait -= 1;
            } else {
                side.trail = (side.trail - 9.0).max(health);
            }
            if fighter.health == FULL_HEALTH {
                side.trail = health;
            }
            if foe.combo_hits >= 2 {
                side.combo_hits = foe.combo_hits;
                side.combo_damage = foe.combo_damage;
                side.combo_frames = COMBO_SHOWN_FRAMES;
            } else {
                side.combo_frames = side.combo_frames.saturating_sub(1);
            }
        }
    }

    /// How white a blow has just made `player`.
    pub fn flash(&self, player: Player) -> f32 {
        let by_blow = |spark: &Spark| match spark.shown.effect {
            Effect::HeavyHit | Effect::LightHit if spark.shown.player != player => {
                0.85 - spark.age as f32 * 0.17
            }
            Effect::Block if spark.shown.player != player => 0.30 - spark.age as f32 * 0.08,
            _ => 0.0,
        };
        self.sparks.iter().map(by_blow).fold(0.0, f32::max)
    }

    /// How bright the whole picture is after a knockout.
    pub fn glare(&self) -> f32 {
        let by_spark = |spark: &Spark| match spark.shown.effect {
            Effect::Ko => 0.55 - spark.age as f32 * 0.05,
            Effect::Clash => 0.12 - spark.age as f32 * 0.03,
            _ => 0.0,
        };
        self.sparks.iter().map(by_spark).fold(0.0, f32::max)
    }

    fn shake(&mut self) {
        let strength = |spark: &Spark| {
            let (strong, frames) = match spark.shown.effect {
                Effect::HeavyHit => (4.0, 12.0),
                Effect::Slam => (3.2, 14.0),
                Effect::Ko => (6.5, 30.0),
                Effect::LightHit => (1.2, 6.0),
                Effect::Block => (0.8, 5.0),
                _ => (0.0, 1.0),
            };
            strong * (1.0 - spark.age as f32 / frames).max(0.0)
        };
        let strength = self.sparks.iter().map(strength).fold(0.0, f32::max);
        let phase = self.age as f32;
        self.camera_target.shake = at((phase * 2.1).sin() * strength, (phase * 2.9).cos() * strength * 0.7);
    }
}
