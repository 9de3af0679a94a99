//! The keys that are down.
//!
//! A window, and a terminal that speaks the kitty protocol, tell presses and releases. Any other terminal tells only
//! presses, and repeats the *last* key while it is held. From that alone:
//!
//! - A press counts as held until its first repeat could have come, then each repeat keeps it up a little longer. How
//!   long the first repeat takes is learnt from the keyboard at hand.
//! - A blow is a tap: it is up again at once, so that hammering a key gives as many presses.
//! - Another key ends the repeats of a direction although the finger is still on it. A direction that was down therefore
//!   stays down as long as any key shows life, until its opposite is pressed or no key is pressed.

use std::time::{Duration, Instant};

use crate::Key;

/// Keyboards wait 250 to 660 ms before the first repeat; until we know, most.
const FIRST_REPEAT: Duration = Duration::from_millis(450);
/// Repeats come every 25 to 50 ms; a late one must not let go of a guard.
const REPEAT: Duration = Duration::from_millis(110);
const TAP: Duration = Duration::from_millis(50);
/// A jump is a short press: held longer it would be two.
const JUMP: Duration = Duration::from_millis(130);
/// The time that a direction stays down after a press of another key.
const CARRIED: Duration = Duration::from_millis(350);

/// The role of a key while it is held; only a keyboard without releases has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Held for a while; its opposite ends it.
    Direction(Key),
    Jump,
    Tap,
}

#[derive(Clone, Copy, Debug)]
struct Latch {
    key: Key,
    role: Role,
    pressed: Instant,
    until: Instant,
    repeats: bool,
}

/// The keys of one terminal or window.
#[derive(Debug, Default)]
pub struct Keyboard {
    releases: bool,
    held: Vec<Key>,
    latches: Vec<Latch>,
    first_repeat: Option<Duration>,
    presses: Vec<Key>,
    /// When the first of the presses came.
    pressed_at: Option<Instant>,
}

/// No player presses more in a frame, and a stream of nonsense must not grow without end.
const PRESS_LIMIT: usize = 64;

impl Keyboard {
    /// `releases`: whether the keyboard tells when a key is let go.
    pub fn new(releases: bool) -> Self {
        Self { releases, ..Self::default() }
    }

    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn reports_releases(&self) -> bool {
        self.releases
    }

    pub fn press(&mut self, key: Key, role: Role, now: Instant) {
        if self.releases {
            if !self.held.contains(&key) && self.held.len() < PRESS_LIMIT {
                self.held.push(key);
                self.note(key, now);
            }
        } else {
            self.latch(key, role, now);
        }
    }

    pub fn release(&mut self, key: Key) {
        self.held.retain(|held| *held != key);
    }

    /// Lets go of everything: the window has lost the keyboard.
    pub fn release_all(&mut self) {
        self.held.clear();
        self.latches.clear();
    }

    /// The keys that are down now.
    pub fn held(&mut self, now: Instant) -> Vec<Key> {
        self.latches.retain(|latch| latch.until > now);
        self.held.iter().copied().chain(self.latches.iter().map(|latch| latch.key)).collect()
    }

    /// The keys that were pressed since the last call, in order.
    pub fn presses(&mut self) -> Vec<Key> {
        std::mem::take(&mut self.presses)
    }

    /// When the first press since the last call came.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn take_pressed_at(&mut self) -> Option<Instant> {
        self.pressed_at.take()
    }

    fn note(&mut self, key: Key, now: Instant) {
        self.pressed_at.get_or_insert(now);
        if self.presses.len() < PRESS_LIMIT {
            self.presses.push(key);
        }
    }

    fn latch(&mut self, key: Key, role: Role, now: Instant) {
        self.latches.retain(|latch| latch.until > now);
        if let Role::Direction(opposite) = role {
            self.latches.retain(|latch| latch.key != opposite);
        }
        for latch in &mut self.latches {
            if latch.key != key && matches!(latch.role, Role::Direction(_)) {
                latch.until = latch.until.max(now + CARRIED);
            }
        }
        let first_repeat = self.first_repeat.unwrap_or(FIRST_REPEAT);
        let Some(latch) = self.latches.iter_mut().find(|latch| latch.key == key) else {
            let lasts = match role {
                Role::Direction(_) => first_repeat + REPEAT / 2,
                Role::Jump => JUMP,
                Role::Tap => TAP,
            };
            if self.latches.len() < PRESS_LIMIT {
                self.latches.push(Latch { key, role, pressed: now, until: now + lasts, repeats: false });
            }
            return self.note(key, now);
        };
        if !latch.repeats {
            latch.repeats = true;
            let took = now - latch.pressed;
            if (Duration::from_millis(180)..Duration::from_millis(800)).contains(&took) {
                self.first_repeat = Some(took);
            }
        }
        latch.until = latch.until.max(now + if role == Role::Tap { TAP } else { REPEAT });
    }
}
