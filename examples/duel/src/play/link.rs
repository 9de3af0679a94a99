//! The bad link between you and the bot, and the keys that change it during the match.

use std::fmt;
use std::time::Duration;

use rebout::net::link::{Chance, LinkConfig};
use rebout::net::relay::RelayHandle;

use stage::Key;

/// The settings of a bad link, in a player's units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSetting {
    /// There and back.
    pub round_trip_millis: u32,
    pub loss: Chance,
    pub loss_percent: f64,
    /// Each way takes up to this much longer.
    pub jitter_millis: u32,
}

pub const MAX_MILLIS: u32 = 1_000;
const ROUND_TRIP_STEP: u32 = 20;
const JITTER_STEP: u32 = 5;
const LOSS_STEP: f64 = 1.0;
const MAX_LOSS_PERCENT: f64 = 60.0;

impl LinkSetting {
    pub fn config(&self) -> LinkConfig {
        LinkConfig {
            jitter: Duration::from_millis(self.jitter_millis.into()),
            keep_order: true,
            loss: self.loss,
            ..LinkConfig::new(Duration::from_micros(u64::from(self.round_trip_millis) * 500))
        }
    }

    /// The setting that a key makes of this one, if the key does.
    fn changed_by(mut self, key: Key) -> Option<Self> {
        let step = |value: u32, by: u32, up: bool| {
            if up { (value + by).min(MAX_MILLIS) } else { value.saturating_sub(by) }
        };
        let (trip, jitter) = (self.round_trip_millis, self.jitter_millis);
        match key {
            Key::Char('+' | '=') => self.round_trip_millis = step(trip, ROUND_TRIP_STEP, true),
            Key::Char('-') => self.round_trip_millis = step(trip, ROUND_TRIP_STEP, false),
            Key::Char(']') => self.loss_percent = (self.loss_percent + LOSS_STEP).min(MAX_LOSS_PERCENT),
            Key::Char('[') => self.loss_percent = (self.loss_percent - LOSS_STEP).max(0.0),
            Key::Char('.') => self.jitter_millis = step(jitter, JITTER_STEP, true),
            Key::Char(',') => self.jitter_millis = step(jitter, JITTER_STEP, false),
            _ => return None,
        }
        self.loss = Chance::from_percent(self.loss_percent).unwrap_or(self.loss);
        Some(self)
    }
}

impl fmt::Display for LinkSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { round_trip_millis, loss_percent, jitter_millis, .. } = self;
        write!(f, "{round_trip_millis}")?;
        if *jitter_millis > 0 {
            write!(f, "+{jitter_millis}")?;
        }
        write!(f, " ms, {loss_percent}% lost")
    }
}

/// The link while it is in use.
pub struct Link {
    setting: LinkSetting,
    cut: bool,
    handle: RelayHandle,
}

impl Link {
    pub fn new(setting: LinkSetting, handle: RelayHandle) -> Self {
        Self { setting, cut: false, handle }
    }

    /// Acts on a key, and says what it did.
    pub fn press(&mut self, key: Key) -> Option<String> {
        if key == Key::Char('x') {
            self.cut = !self.cut;
            self.handle.set_down(self.cut);
            let text = if self.cut { "you cut the line: x mends it" } else { "you mended the line" };
            return Some(text.to_owned());
        }
        self.setting = self.setting.changed_by(key)?;
        self.handle.set(self.setting.config());
        let LinkSetting { round_trip_millis, loss_percent, jitter_millis, .. } = self.setting;
        Some(format!(
            "the link: {round_trip_millis} ms round trip, {loss_percent} % lost, up to {jitter_millis} ms of jitter"
        ))
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.cut { f.write_str("cut") } else { self.setting.fmt(f) }
    }
}
