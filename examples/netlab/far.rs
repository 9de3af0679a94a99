//! Matches at round trips from 0 to 600 ms: whether both machines keep the frame rate, and whether they share the work.

use crate::measure::{Figures, Trial, measure};
use core::time::Duration;
use rebout::lab::link::{Chance, LinkConfig};
use std::io::{self, Write};

const ROUND_TRIPS_MS: [u64; 9] = [0, 50, 100, 200, 300, 350, 400, 500, 600];

/// Of each match: 20,000 frames.
const SECONDS: u32 = 333;

/// The settings of both machines, and the loss each way in percent.
#[derive(Clone, Copy)]
struct Settings {
    name: &'static str,
    window_frames: u8,
    delay_frames: Option<u8>,
    loss_percent: u32,
}

const SETTINGS: [Settings; 3] = [
    Settings { name: "window 8, suggested delay", window_frames: 8, delay_frames: None, loss_percent: 0 },
    Settings { name: "the same, loss 5 %", window_frames: 8, delay_frames: None, loss_percent: 5 },
    Settings {
        name: "window 22, delay 8, loss 5 %",
        window_frames: 22,
        delay_frames: Some(8),
        loss_percent: 5,
    },
];

const HEAD: &str = "\
Two machines in a simulated network, virtual time: 60 frames/s, 20,000 frames after the first 2 s, host and joiner.
Every confirmed frame of both machines was compared with a direct simulation of the true inputs.

round trip | settings                     | stalls       | Hz             | resimulated/frame | lead, greatest
-----------|------------------------------|--------------|----------------|-------------------|---------------
";

/// Plays the matches and shows each as it is done. The reasons why something was not as it must be.
pub(crate) fn report(out: &mut impl Write) -> io::Result<Vec<String>> {
    let mut failures = Vec::new();
    write!(out, "{HEAD}")?;
    for settings in SETTINGS {
        for rtt_ms in ROUND_TRIPS_MS {
            let [one, two] = measure(&settings.trial(rtt_ms));
            writeln!(out, "{}", line(rtt_ms, settings.name, [&one, &two]))?;
            out.flush()?;
            let row = format!("{rtt_ms} ms, {}", settings.name);
            if let Some((seed, flaw)) = &one.flaw {
                failures.push(format!("{row}, seed {seed}: {flaw}"));
            }
            for figures in [one, two] {
                let rate = figures.frame_rate_hz();
                if !(59.9..=60.1).contains(&rate) {
                    failures.push(format!("{row}: {rate:.3} Hz is not within 59.9 and 60.1"));
                }
            }
        }
    }
    Ok(failures)
}

impl Settings {
    fn trial(&self, rtt_ms: u64) -> Trial {
        let latency = Duration::from_millis(rtt_ms) / 2;
        Trial {
            link: LinkConfig { loss: Chance::percent(self.loss_percent), ..LinkConfig::new(latency) },
            blackout_frames: 0,
            pause: Duration::ZERO,
            plain: false,
            window_frames: self.window_frames,
            delay_frames: self.delay_frames,
            seconds: SECONDS,
            seeds: 1..=1,
        }
    }
}

fn line(rtt_ms: u64, name: &str, [one, two]: [&Figures; 2]) -> String {
    format!(
        "{rtt_ms:>7} ms | {name:<28} | {:>5}, {:>5} | {:>6.3}, {:>6.3} | {:>7.3}, {:>8.3} | {:>6.2}, {:>6.2}",
        one.stalled(),
        two.stalled(),
        one.frame_rate_hz(),
        two.frame_rate_hz(),
        one.resimulated_per_frame(),
        two.resimulated_per_frame(),
        one.lead_max,
        two.lead_max,
    )
}
