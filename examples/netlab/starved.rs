//! Matches in which one machine does not run for a part of the time: whether it carries that itself, or the healthy one does.

use crate::measure::{Figures, Trial, measure};
use core::time::Duration;
use rebout::lab::link::LinkConfig;
use std::io::{self, Write};

const ROUND_TRIPS_MS: [u64; 4] = [0, 40, 80, 160];

/// How long the second machine stops in every 100 ms.
const PAUSES_MS: [u64; 4] = [0, 20, 40, 60];

/// Of each match.
const SECONDS: u32 = 60;

const HEAD: &str = "\
Two machines in a simulated network, virtual time: 60 frames/s, 3,600 frames after the first 2 s, healthy and starved. The
starved machine does not run for a part of every 100 ms. Every confirmed frame was compared with a direct simulation.

round trip | stops of 100 ms | stalls       | Hz             | rollbacks/frame | resimulated/frame | lead, greatest
-----------|-----------------|--------------|----------------|-----------------|-------------------|---------------
";

/// Plays the matches and shows each as it is done. The reasons why something was not as it must be.
pub(crate) fn report(out: &mut impl Write) -> io::Result<Vec<String>> {
    let mut failures = Vec::new();
    write!(out, "{HEAD}")?;
    for rtt_ms in ROUND_TRIPS_MS {
        for pause_ms in PAUSES_MS {
            let [healthy, starved] = measure(&trial(rtt_ms, pause_ms));
            writeln!(out, "{}", line(rtt_ms, pause_ms, [&healthy, &starved]))?;
            out.flush()?;
            let row = format!("{rtt_ms} ms, stops for {pause_ms} of 100 ms");
            if let Some((seed, flaw)) = &healthy.flaw {
                failures.push(format!("{row}, seed {seed}: {flaw}"));
            }
            if healthy.stalled() > 0 {
                failures.push(format!("{row}: the healthy machine stalled {} times", healthy.stalled()));
            }
        }
    }
    Ok(failures)
}

fn trial(rtt_ms: u64, pause_ms: u64) -> Trial {
    Trial {
        link: LinkConfig::new(Duration::from_millis(rtt_ms) / 2),
        blackout_frames: 0,
        pause: Duration::from_millis(pause_ms),
        plain: false,
        window_frames: 8,
        delay_frames: None,
        seconds: SECONDS,
        seeds: 1..=1,
    }
}

fn line(rtt_ms: u64, pause_ms: u64, [one, two]: [&Figures; 2]) -> String {
    format!(
        "{rtt_ms:>7} ms | {pause_ms:>12} ms | {:>5}, {:>5} | {:>6.3}, {:>6.3} | {:>6.3}, {:>7.3} | {:>7.3}, {:>8.3} | {:>6.2}, {:>6.2}",
        one.stalled(),
        two.stalled(),
        one.frame_rate_hz(),
        two.frame_rate_hz(),
        one.rollbacks_per_frame(),
        two.rollbacks_per_frame(),
        one.resimulated_per_frame(),
        two.resimulated_per_frame(),
        one.lead_max,
        two.lead_max,
    )
}
