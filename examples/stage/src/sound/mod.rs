//! Sound: clips made by code, a mixer without a device, and the device in a thread of its own.
//!
//! A game describes its sounds as a [`Bank`] and plays them through a [`Sound`], which never waits: an order goes into a
//! queue, and the thread of the device takes it out. Without a device the orders are obeyed unheard, and the device is
//! looked for again every few seconds.
//!
//! ```
//! use stage::sound::{Bank, Clip, Play, Sound, SoundId};
//! use std::time::Duration;
//!
//! const HIT: SoundId = SoundId(0);
//! let bank = Bank::default().with(HIT, Clip::make(0.2, |t| (t * 700.0).sin() * (1.0 - t * 5.0)));
//! let (sound, mut mixer) = Sound::in_memory(bank);
//! // A hit that a rollback found three frames late begins three frames into its clip.
//! sound.play(Play::of(HIT).late(Duration::from_millis(50)).marked(7));
//! // The same hit turns out never to have happened.
//! sound.cancel(7);
//! let mut frame = [0.0; 1_600];
//! mixer.render(&mut frame);
//! assert_eq!(mixer.voices(), 0);
//! ```

mod clip;
mod levels;
mod mixer;
mod output;
mod performance;
mod score;
pub mod speech;
mod stream;
pub mod synth;
pub mod ui;
mod voice;

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use clip::{Bank, Clip, RATE, SoundId};
pub use levels::{Levels, MAX_PERCENT};
pub use mixer::Mixer;
#[cfg(target_os = "linux")]
pub use output::PulseMessage;
pub use score::{Piece, Score};
pub use stream::{Feed, FeedStats};

use levels::SharedLevels;
use stream::Ring;

/// Orders that wait for the device at most. One more is dropped: a game never waits for its sound.
const MAX_WAITING: usize = 512;

/// One start of a sound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Play {
    pub sound: SoundId,
    /// The factor of its loudness.
    pub gain: f32,
    /// -1 is left, 1 is right.
    pub pan: f32,
    /// The factor of its speed and its pitch.
    pub pitch: f32,
    /// How long ago it should have begun: that part of the clip is skipped, and the rest is in time.
    pub late: Duration,
    /// The number by which it can be cancelled.
    pub mark: Option<u64>,
}

impl Play {
    /// The sound as it is, in the middle, from its beginning.
    pub const fn of(sound: SoundId) -> Self {
        Self { sound, gain: 1.0, pan: 0.0, pitch: 1.0, late: Duration::ZERO, mark: None }
    }

    /// The same with another loudness.
    #[must_use]
    pub const fn gain(self, gain: f32) -> Self {
        Self { gain, ..self }
    }

    /// The same at another place.
    #[must_use]
    pub const fn pan(self, pan: f32) -> Self {
        Self { pan, ..self }
    }

    /// The same with another pitch.
    #[must_use]
    pub const fn pitch(self, pitch: f32) -> Self {
        Self { pitch, ..self }
    }

    /// The same, begun so long ago.
    #[must_use]
    pub const fn late(self, late: Duration) -> Self {
        Self { late, ..self }
    }

    /// The same with a number to cancel it by.
    #[must_use]
    pub const fn marked(self, mark: u64) -> Self {
        Self { mark: Some(mark), ..self }
    }
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Play(Play),
    Cancel(u64),
    Stop,
    Music(Option<SoundId>),
}

/// A game's end of the sound. A copy speaks to the same mixer; no call ever waits.
#[derive(Clone, Debug)]
pub struct Sound {
    orders: Option<SyncSender<Order>>,
    levels: Arc<SharedLevels>,
    device: Arc<Mutex<String>>,
    ring: Arc<Ring>,
}

impl Sound {
    /// Sound on the device of this machine. The bank is made in the thread of the device, and what is ordered until then
    /// is heard a little late.
    pub fn open(bank: impl FnOnce() -> Bank + Send + 'static) -> Self {
        let (orders, queue) = sync_channel(MAX_WAITING);
        let sound = Self { orders: Some(orders), ..Self::silent() };
        sound.tell_device("being opened".to_owned());
        let (worker, levels) = (sound.device.clone(), Arc::clone(&sound.levels));
        let ring = Arc::clone(&sound.ring);
        let start = move || output::run(Mixer::new(bank(), queue, levels, ring), &worker);
        if let Err(error) = std::thread::Builder::new().name("sound".to_owned()).spawn(start) {
            sound.tell_device(format!("none, {error}"));
        }
        sound
    }

    /// No sound at all, for a game that nobody sees.
    pub fn silent() -> Self {
        let device = Arc::new(Mutex::new("none".to_owned()));
        Self { orders: None, levels: Arc::default(), device, ring: Arc::default() }
    }

    /// Sound into memory: the mixer renders what this end orders.
    pub fn in_memory(bank: Bank) -> (Self, Mixer) {
        let (orders, queue) = sync_channel(MAX_WAITING);
        let sound = Self { orders: Some(orders), ..Self::silent() };
        let mixer = Mixer::new(bank, queue, Arc::clone(&sound.levels), Arc::clone(&sound.ring));
        (sound, mixer)
    }

    /// Starts a sound.
    pub fn play(&self, play: Play) {
        self.order(Order::Play(play));
    }

    /// Fades out every sound that was started with this mark, in a hundredth of a second.
    pub fn cancel(&self, mark: u64) {
        self.order(Order::Cancel(mark));
    }

    /// Fades out every effect, as when a match is left.
    pub fn stop(&self) {
        self.order(Order::Stop);
    }

    /// Plays a piece of the bank in a loop, or none. A piece that plays already goes on, and another one fades out.
    pub fn music(&self, id: Option<SoundId>) {
        self.order(Order::Music(id));
    }

    /// The end of a stream of samples that the game makes itself, such as the sound of an emulator, at this rate.
    pub fn feed(&self, rate: f64) -> Feed {
        Feed::new(Arc::clone(&self.ring), rate)
    }

    /// The volumes as they are set.
    pub fn levels(&self) -> Levels {
        self.levels.load()
    }

    /// Sets the volumes; the mix glides there.
    pub fn set_levels(&self, levels: Levels) {
        self.levels.store(levels);
    }

    /// Mutes everything, or lets it be heard again; answers whether it is muted now.
    pub fn toggle_mute(&self) -> bool {
        let levels = self.levels();
        self.set_levels(Levels { muted: !levels.muted, ..levels });
        !levels.muted
    }

    /// The device in words, or why there is none, for the settings.
    pub fn device(&self) -> String {
        self.device.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tell_device(&self, text: String) {
        *self.device.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // A full queue means that the device stands still: what nobody hears may be lost.
            let _ = orders.try_send(order);
        }
    }
}
