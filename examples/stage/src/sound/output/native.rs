//! The sound of Windows and macOS, by `cpal`.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cpal::traits::{DeviceTrait, HostTrait, StreamTrait};
use cpal::{ErrorKind, SampleFormat, Stream};

use super::super::{Mixer, RATE};

/// How often the end of the game is looked for.
const WATCH: Duration = Duration::from_millis(200);

/// Plays until the device is gone; gives the mixer back, and why it ended.
pub(super) fn play(mixer: Mixer, tell: &dyn Fn(String)) -> (Mixer, String) {
    let shared = Arc::new(Mutex::new(Some(mixer)));
    let why = match watch(&shared, tell) {
        Ok(()) => "closed".to_owned(),
        Err(error) => format!("none, {error}"),
    };
    let mixer = locked(&shared).take().expect("only this thread takes the mixer out");
    (mixer, why)
}

type Shared = Arc<Mutex<Option<Mixer>>>;

fn locked(shared: &Shared) -> MutexGuard<'_, Option<Mixer>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch(shared: &Shared, tell: &dyn Fn(String)) -> Result<(), String> {
    let device = cpal::default_host().default_output_device().ok_or("no sound device found")?;
    let (failed, failures) = channel();
    let stream = open(&device, Arc::clone(shared), move |error: cpal::Error| {
        // Neither a late block nor a refused priority ends the stream.
        if !matches!(error.kind(), ErrorKind::DeviceChanged | ErrorKind::Xrun | ErrorKind::RealtimeDenied) {
            let _ = failed.send(error.to_string());
        }
    })?;
    stream.play().map_err(|error| error.to_string())?;
    tell(device.description().map_or_else(|_| "open".to_owned(), |about| about.name().to_owned()));
    while !locked(shared).as_ref().is_none_or(Mixer::is_left) {
        if let Ok(why) = failures.recv_timeout(WATCH) {
            return Err(why);
        }
    }
    Ok(())
}

fn open(
    device: &cpal::Device,
    shared: Shared,
    on_error: impl FnMut(cpal::Error) + Send + 'static,
) -> Result<Stream, String> {
    let config = device.default_output_config().map_err(|error| error.to_string())?;
    if config.sample_format() != SampleFormat::F32 {
        return Err(format!("the device wants samples of {}", config.sample_format()));
    }
    let config = config.config();
    let mut source = Source::new(config.sample_rate, usize::from(config.channels));
    let fill = move |out: &mut [f32], _: &cpal::OutputCallbackInfo| match locked(&shared).as_mut() {
        Some(mixer) => source.fill(mixer, out),
        None => out.fill(0.0),
    };
    device.build_output_stream(config, fill, on_error, None).map_err(|error| error.to_string())
}

/// The mix at the rate and with the channels of the device.
struct Source {
    /// Frames of the mix for each frame of the device.
    step: f64,
    part: f64,
    sides: [[f32; 2]; 2],
    channels: usize,
}

impl Source {
    fn new(rate: u32, channels: usize) -> Self {
        Self { step: f64::from(RATE) / f64::from(rate.max(1)), part: 1.0, sides: [[0.0; 2]; 2], channels }
    }

    fn fill(&mut self, mixer: &mut Mixer, out: &mut [f32]) {
        for frame in out.chunks_mut(self.channels.max(1)) {
            while self.part >= 1.0 {
                self.part -= 1.0;
                let mut next = [0.0; 2];
                mixer.render(&mut next);
                self.sides = [self.sides[1], next];
            }
            let [before, after] = self.sides;
            let side = |at: usize| before[at] + (after[at] - before[at]) * self.part as f32;
            match frame {
                [mono] => *mono = f32::midpoint(side(0), side(1)),
                [left, right, rest @ ..] => {
                    (*left, *right) = (side(0), side(1));
                    rest.fill(0.0);
                }
                [] => {}
            }
            self.part += self.step;
        }
    }
}
