//! The mixer: orders in, samples out. It knows no device and no clock, so that a test renders a match to memory.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};

use super::levels::SharedLevels;
use super::performance::Performance;
use super::stream::Ring;
use super::voice::Voice;
use super::{Bank, Order, Play};

/// Voices that sound at once; one more cuts the oldest.
const MAX_VOICES: usize = 32;
/// Voices with those that fade out: the memory of the mixer.
const MAX_SLOTS: usize = 2 * MAX_VOICES;
/// Orders that are obeyed in one block, so that a flood of them cannot hold up the device.
const MAX_ORDERS: usize = 256;
/// Samples in which a volume goes from one value to the next.
const GLIDE: f32 = 4_800.0;
/// Samples in which a piece of music fades in and out.
const MUSIC_FADE: f32 = 14_400.0;
/// Pieces that sound at once, those that fade out among them; one more cuts the oldest.
const MAX_PIECES: usize = 4;
/// Below this the mix stays as it is; above, it is bent so that it never reaches 1.
const KNEE: f32 = 0.7;

/// Mixes the voices of a game to stereo at [`RATE`](super::RATE).
#[derive(Debug)]
pub struct Mixer {
    bank: Bank,
    orders: Receiver<Order>,
    levels: Arc<SharedLevels>,
    /// The factors of effects and music as they are now, on their way to those of the levels.
    gains: [f32; 2],
    voices: Vec<Voice>,
    music: Vec<Performance>,
    ring: Arc<Ring>,
    is_left: bool,
}

impl Mixer {
    pub(super) fn new(
        bank: Bank,
        orders: Receiver<Order>,
        levels: Arc<SharedLevels>,
        ring: Arc<Ring>,
    ) -> Self {
        let gains = levels.load().gains();
        Self {
            bank,
            orders,
            levels,
            gains,
            voices: Vec::with_capacity(MAX_SLOTS),
            music: Vec::with_capacity(MAX_PIECES),
            ring,
            is_left: false,
        }
    }

    /// Fills `out` with the next samples, left and right in turn.
    pub fn render(&mut self, out: &mut [f32]) {
        for _ in 0..MAX_ORDERS {
            match self.orders.try_recv() {
                Ok(order) => self.obey(order),
                Err(gone) => {
                    self.is_left = gone == TryRecvError::Disconnected;
                    break;
                }
            }
        }
        let targets = self.levels.load().gains();
        // The stream goes first, so that its lock is held for one copy and not for the mix.
        self.ring.take(out);
        for frame in out.chunks_mut(2) {
            for (gain, target) in self.gains.iter_mut().zip(targets) {
                *gain += (target - *gain).clamp(-1.0 / GLIDE, 1.0 / GLIDE);
            }
            let mut sum = [0.0; 2];
            for (sum, sample) in sum.iter_mut().zip(frame.iter()) {
                *sum = sample * self.gains[0];
            }
            let [effects, music] = self.gains;
            let heard = self.voices.iter_mut().map(|voice| (voice.next(), effects));
            for (sides, gain) in heard.chain(self.music.iter_mut().map(|piece| (piece.next(), music))) {
                sum[0] += sides[0] * gain;
                sum[1] += sides[1] * gain;
            }
            for (sample, sum) in frame.iter_mut().zip(sum) {
                *sample = bent(sum);
            }
        }
        self.voices.retain(|voice| !voice.is_over());
        self.music.retain(|piece| !piece.is_over());
    }

    /// Begins again from silence, for a device that opens in the middle of a sound.
    pub fn fade_in(&mut self) {
        self.gains = [0.0; 2];
    }

    /// How many effects sound now, those that fade out among them.
    pub fn voices(&self) -> usize {
        self.voices.len()
    }

    /// Whether the game has dropped its end and the last effect is over.
    pub fn is_left(&self) -> bool {
        self.is_left && self.voices.is_empty()
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Play(play) => self.start(&play),
            Order::Cancel(mark) => {
                self.voices.iter_mut().filter(|voice| voice.mark == Some(mark)).for_each(Voice::cut);
            }
            Order::Stop => self.voices.iter_mut().for_each(Voice::cut),
            Order::Music(id) => {
                let wanted = id.and_then(|id| self.bank.music(id));
                let same = |playing: &Performance| wanted.is_some_and(|piece| playing.plays(piece));
                self.music
                    .iter_mut()
                    .filter(|playing| !same(playing))
                    .for_each(|playing| playing.fade(MUSIC_FADE));
                if let Some(piece) = wanted.filter(|_| !self.music.iter().any(same)) {
                    if self.music.len() >= MAX_PIECES {
                        self.music.remove(0);
                    }
                    self.music.push(Performance::of(piece, MUSIC_FADE));
                }
            }
        }
    }

    fn start(&mut self, play: &Play) {
        let Some(clip) = self.bank.get(play.sound) else { return };
        if self.voices.len() >= MAX_SLOTS {
            return;
        }
        if self.voices.iter().filter(|voice| !voice.is_cut()).count() >= MAX_VOICES
            && let Some(oldest) = self.voices.iter_mut().find(|voice| !voice.is_cut())
        {
            oldest.cut();
        }
        self.voices.push(Voice::of(clip, play));
    }
}

/// Bends what is too loud: no sum of voices is clipped.
fn bent(sample: f32) -> f32 {
    let over = sample.abs() - KNEE;
    if over <= 0.0 { sample } else { (KNEE + (1.0 - KNEE) * (over / (1.0 - KNEE)).tanh()).copysign(sample) }
}
