//! Levels: waves in patterns, a boss, and a pause; each level has more of them, and faster ones.

use super::{Arcade, BOTTOM, Ship, TOP, kind};
use rebout::authority::Stage;

/// The phases of a level. The number of a phase is that on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Nobody plays.
    Waiting = 0,
    /// The number of the level is announced.
    Intro = 1,
    Waves = 2,
    Boss = 3,
    /// The boss is beaten.
    Cleared = 4,
    /// No ship is left.
    Over = 5,
}

impl Phase {
    /// The phase of a board's number.
    #[must_use]
    pub const fn from_board(number: u16) -> Self {
        match number {
            1 => Self::Intro,
            2 => Self::Waves,
            3 => Self::Boss,
            4 => Self::Cleared,
            5 => Self::Over,
            _ => Self::Waiting,
        }
    }
}

pub const INTRO_FRAMES: u32 = 120;
pub const CLEARED_FRAMES: u32 = 200;
pub const OVER_FRAMES: u32 = 300;
/// Frames between the last wave and the boss.
pub const BOSS_FRAMES: u32 = 240;

/// Frames between two escorts of a boss.
const ESCORT_FRAMES: u32 = 280;

/// Where a level is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub(super) number: u16,
    pub(super) phase: Phase,
    /// Frames since the phase began.
    since: u32,
    waves_left: u16,
}

impl Level {
    pub(super) const fn waiting() -> Self {
        Self { number: 1, phase: Phase::Waiting, since: 0, waves_left: 0 }
    }

    pub(super) const fn first() -> Self {
        Self::of(1)
    }

    const fn of(number: u16) -> Self {
        let more = if number < 8 { number } else { 8 };
        Self { number, phase: Phase::Intro, since: 0, waves_left: 6 + more }
    }

    /// Whether a lost game has been shown for long enough.
    pub(super) const fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over) && self.since >= OVER_FRAMES
    }

    /// Frames between two waves.
    fn pause(&self) -> u32 {
        u32::from(190 - 8 * self.number.min(10))
    }

    fn enter(&mut self, phase: Phase) {
        (self.phase, self.since) = (phase, 0);
    }
}

/// Heights of the field, from its upper edge.
const HEIGHT: i16 = BOTTOM - TOP;

impl Arcade {
    pub(super) fn step_level(&mut self, stage: &mut Stage<'_>) {
        self.level.since += 1;
        let since = self.level.since;
        let can_be_lost = matches!(self.level.phase, Phase::Intro | Phase::Waves | Phase::Boss);
        if can_be_lost && !self.ships.iter().any(Ship::is_alive) {
            self.level.enter(Phase::Over);
        }
        match self.level.phase {
            Phase::Intro if since >= INTRO_FRAMES => self.level.enter(Phase::Waves),
            Phase::Waves if self.level.waves_left == 0 && since >= BOSS_FRAMES => {
                self.level.enter(Phase::Boss);
                self.spawn_enemy(stage, kind::BOSS, TOP + HEIGHT / 2, 40, 0);
            }
            Phase::Waves if self.level.waves_left > 0 && since >= self.level.pause() => {
                self.level.since = 0;
                self.level.waves_left -= 1;
                self.spawn_wave(stage);
            }
            Phase::Boss if !self.enemies.iter().any(|enemy| enemy.kind == kind::BOSS) => {
                self.level.enter(Phase::Cleared);
            }
            Phase::Boss if since.is_multiple_of(ESCORT_FRAMES) => {
                for n in 0..2 + (self.level.number / 2).min(2) as i16 {
                    let y = self.rng.range(30, i32::from(HEIGHT) - 30) as i16;
                    self.spawn_enemy(stage, kind::DART, TOP + y, n * 60, 0);
                }
            }
            Phase::Cleared if since >= CLEARED_FRAMES => self.next_level(),
            _ => {}
        }
    }

    /// The next level. Whoever is out of lives comes back with one.
    fn next_level(&mut self) {
        self.level = Level::of(self.level.number.saturating_add(1));
        self.ships.iter_mut().for_each(|ship| ship.lives = ship.lives.max(1));
    }

    fn spawn_wave(&mut self, stage: &mut Stage<'_>) {
        let more = (self.level.number as i16 / 2 + self.ships.len() as i16 - 1).clamp(0, 5);
        let low = self.rng.range(60, i32::from(HEIGHT) - 60) as i16;
        match self.rng.below(4) {
            // A row along one wave.
            0 => (0..4 + more).for_each(|n| {
                self.spawn_enemy(stage, kind::DRONE, TOP + low, n * 34, (n as u16).wrapping_mul(0xF000));
            }),
            // One after the other, each at another height.
            1 => (0..3 + more).for_each(|n| {
                let y = self.rng.range(30, i32::from(HEIGHT) - 30) as i16;
                self.spawn_enemy(stage, kind::DART, TOP + y, n * 70, 0);
            }),
            // The shape of an arrow.
            2 => {
                let wing = 1 + more / 3;
                (-wing..=wing).for_each(|n| {
                    let y = TOP + low.clamp(130, HEIGHT - 130) + n * 34;
                    self.spawn_enemy(stage, kind::WEAVER, y, n.abs() * 40, 0);
                });
            }
            // Guns above and below, and drones between them.
            _ => {
                for (y, phase) in [(70, 0), (HEIGHT - 70, 0x8000)] {
                    self.spawn_enemy(stage, kind::TURRET, TOP + y, 0, phase);
                }
                (0..1 + more).for_each(|n| {
                    self.spawn_enemy(stage, kind::DRONE, TOP + HEIGHT / 2, 60 + n * 34, 0x8000);
                });
            }
        }
    }
}
