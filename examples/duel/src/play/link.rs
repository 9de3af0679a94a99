//! The bad link between you and the bot, and the keys that change it during the match.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::relay::RelayHandle;

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
/// The values that a key goes through; after the last it begins again.
const ROUND_TRIPS: [u32; 8] = [0, 40, 80, 120, 160, 200, 300, 500];
const LOSSES: [u32; 7] = [0, 1, 3, 5, 10, 20, 40];
const JITTERS: [u32; 6] = [0, 5, 10, 20, 40, 80];

/// The keys of the link: far from those of the fight.
const CUT_KEY: Key = Key::F(5);
const ROUND_TRIP_KEY: Key = Key::F(6);
const LOSS_KEY: Key = Key::F(7);
const JITTER_KEY: Key = Key::F(8);

/// The value after `now`.
fn after(values: &[u32], now: f64) -> u32 {
    values.iter().copied().find(|value| f64::from(*value) > now).unwrap_or(values[0])
}

impl LinkSetting {
    /// A link of this round trip, loss and jitter.
    ///
    /// # Errors
    /// A loss that is no share of a hundred.
    pub fn new(round_trip_millis: u32, loss_percent: f64, jitter_millis: u32) -> Result<Self, String> {
        let loss = Chance::from_percent(loss_percent).map_err(|error| error.to_string())?;
        Ok(Self { round_trip_millis, loss, loss_percent, jitter_millis })
    }

    pub fn config(&self) -> LinkConfig {
        LinkConfig {
            jitter: Duration::from_millis(self.jitter_millis.into()),
            keep_order: true,
            loss: self.loss,
            ..LinkConfig::new(Duration::from_micros(u64::from(self.round_trip_millis) * 500))
        }
    }

    /// The setting that a key makes of this one, if the key does.
    #[must_use]
    pub fn changed_by(mut self, key: Key) -> Option<Self> {
        match key {
            ROUND_TRIP_KEY => {
                self.round_trip_millis = after(&ROUND_TRIPS, self.round_trip_millis.into());
            }
            LOSS_KEY => self.loss_percent = after(&LOSSES, self.loss_percent).into(),
            JITTER_KEY => self.jitter_millis = after(&JITTERS, self.jitter_millis.into()),
            _ => return None,
        }
        self.loss = Chance::from_percent(self.loss_percent).unwrap_or(self.loss);
        Some(self)
    }
}

/// The keys of the link in words, for a sheet.
pub fn link_keys() -> String {
    format!("{CUT_KEY} cut, {ROUND_TRIP_KEY} round trip, {LOSS_KEY} loss, {JITTER_KEY} jitter")
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
    /// The bot at the other end rests.
    paused: Arc<AtomicBool>,
}

impl Link {
    pub fn new(setting: LinkSetting, handle: RelayHandle, paused: Arc<AtomicBool>) -> Self {
        Self { setting, cut: false, handle, paused }
    }

    /// Lets the bot rest, or play on.
    pub fn pause(&self, is_paused: bool) {
        self.paused.store(is_paused, Ordering::Relaxed);
    }

    /// How to restore the connection, while it is cut.
    pub fn cut_words(&self) -> Option<String> {
        self.cut.then(|| format!("you cut the connection: {CUT_KEY} restores it"))
    }

    /// Acts on a key, and says what it did.
    pub fn press(&mut self, key: Key) -> Option<String> {
        if key == CUT_KEY {
            self.cut = !self.cut;
            self.handle.set_down(self.cut);
            return Some(self.cut_words().unwrap_or_else(|| "you restored the connection".to_owned()));
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
