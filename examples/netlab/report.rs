//! The links of the lab, what is to be reached on them, and how the figures are shown.

use crate::measure::{Figures, Trial, frames, measure};
use rebout::lab::link::{Bandwidth, Chance, LinkConfig};
use std::fmt;
use std::io::{self, Write};

/// The figures of other libraries on the same link and at the same depth of rollbacks, as `cargo run --release -p peers`
/// measures them; `None` where it does not.
type Others = Option<[&'static str; 2]>;

/// The limit that a figure has to keep.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// The maximum of packets and bytes a second.
    Traffic { packets: f64, bytes: f64 },
    /// The percentage of stalled frames must be lower.
    Stalled { percent: f64 },
    /// The maximum of the 99th percentile of frames for which a blackout freezes the match.
    Frozen { frames: u64 },
    /// No figure; the machines must not diverge.
    None,
}

impl Goal {
    fn met(self, figures: &Figures) -> bool {
        match self {
            Self::Traffic { packets, bytes } => {
                figures.packets_per_s() <= packets && figures.bytes_per_s() <= bytes
            }
            Self::Stalled { percent } => figures.stalled_pct() < percent,
            Self::Frozen { frames } => figures.frozen_frames() <= frames,
            Self::None => true,
        }
    }

    /// The figure that the goal is about.
    fn reached(self, figures: &Figures) -> String {
        match self {
            Self::Traffic { .. } => {
                format!("{:.1} packets/s, {:.0} bytes/s", figures.packets_per_s(), figures.bytes_per_s())
            }
            Self::Stalled { .. } | Self::None => format!("{:.4} % stalled", figures.stalled_pct()),
            Self::Frozen { .. } => {
                format!("{} frames, at worst {}", figures.frozen_frames(), figures.longest_freeze())
            }
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Traffic { packets, bytes } => write!(f, "<= {packets}, {bytes}"),
            Self::Stalled { percent } => write!(f, "< {percent} %"),
            Self::Frozen { frames } => write!(f, "<= {frames}"),
            Self::None => f.write_str("-"),
        }
    }
}

/// A link of the lab.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) latency_frames: f64,
    pub(crate) jitter_frames: f64,
    pub(crate) loss_pct: f64,
    pub(crate) bandwidth: Option<Bandwidth>,
    pub(crate) blackout_frames: u32,
    /// Without extensions of the protocol.
    pub(crate) plain: bool,
    pub(crate) seconds: u32,
    pub(crate) seeds: std::ops::RangeInclusive<u64>,
    pub(crate) others: Others,
    pub(crate) goal: Goal,
}

impl Row {
    /// A link that does nothing but take time. Ten matches of five minutes show a stall in 360,000 frames.
    pub(crate) fn new(latency_frames: f64, jitter_frames: f64, loss_pct: f64) -> Self {
        let mut name = format!("latency {latency_frames}");
        if jitter_frames > 0.0 {
            name += &format!(", jitter {jitter_frames}");
        }
        name += &if loss_pct > 0.0 { format!(", loss {loss_pct} %") } else { ", no loss".to_owned() };
        Self {
            name,
            latency_frames,
            jitter_frames,
            loss_pct,
            bandwidth: None,
            blackout_frames: 0,
            plain: false,
            seconds: 300,
            seeds: 1..=10,
            others: None,
            goal: Goal::None,
        }
    }

    fn stalls(self, others: Others, percent: f64) -> Self {
        Self { others, goal: Goal::Stalled { percent }, ..self }
    }

    fn blackout(blackout_frames: u32, others: Others, frames: u64) -> Self {
        let name = format!("latency 4, blackout of {blackout_frames}");
        // Fifty blackouts at random phases of the frames in each match.
        Self { name, blackout_frames, others, goal: Goal::Frozen { frames }, ..Self::new(4.0, 0.0, 0.0) }
    }

    /// The links for which figures of other libraries are known, and those that break an engine which sends too much.
    pub(crate) fn all() -> Vec<Self> {
        let traffic = Goal::Traffic { packets: 63.0, bytes: 4_000.0 };
        let narrow = Bandwidth { bits_per_s: 64_000, queue_bytes: 4_096 };
        vec![
            Self { others: Some(["131, 8798", "131, 9180"]), goal: traffic, ..Self::new(4.0, 0.0, 0.0) },
            Self::new(4.0, 0.0, 20.0).stalls(Some(["0.06 %", "0.06 %"]), 0.05),
            Self::new(6.0, 0.0, 20.0).stalls(Some(["1.3 %", "1.3 %"]), 0.3),
            Self::new(4.0, 3.0, 10.0).stalls(None, 0.1),
            Self {
                name: "64 kbit/s, 4 kB queue, latency 3.8, loss 10 %".to_owned(),
                bandwidth: Some(narrow),
                ..Self::new(3.8, 0.0, 10.0).stalls(None, 0.1)
            },
            Self::blackout(10, Some(["12", "12"]), 7),
            Self::blackout(20, Some(["25", "25"]), 17),
            Self::blackout(40, Some(["38", "38"]), 37),
        ]
    }

    fn trial(&self) -> Trial {
        // Both are within range: the rows' own, and the caller's, which were checked.
        let loss = Chance::from_percent(self.loss_pct).unwrap_or_default();
        let (latency, jitter) = (frames(self.latency_frames), frames(self.jitter_frames));
        let link = LinkConfig { jitter, loss, bandwidth: self.bandwidth, ..LinkConfig::new(latency) };
        let (seconds, seeds) = (self.seconds, self.seeds.clone());
        let (blackout_frames, plain) = (self.blackout_frames, self.plain);
        let (pause, delay_frames) = (core::time::Duration::ZERO, Some(0));
        Trial { link, blackout_frames, pause, plain, window_frames: 8, delay_frames, seconds, seeds }
    }
}

/// Runs the links and shows each as it is done. The reasons why something was not as it must be.
pub(crate) fn report(rows: &[Row], json: bool, out: &mut impl Write) -> io::Result<Vec<String>> {
    let mut failures = Vec::new();
    write!(out, "{}", if json { "[" } else { HEAD })?;
    for (index, row) in rows.iter().enumerate() {
        let [one, two] = measure(&row.trial());
        let figures = one.and(two);
        if json {
            let comma = if index == 0 { "" } else { "," };
            write!(out, "{comma}\n  {}", object(row, &figures))?;
        } else {
            writeln!(out, "{}", line(row, &figures))?;
        }
        out.flush()?;
        if let Some((seed, flaw)) = &figures.flaw {
            failures.push(format!("{}, seed {seed}: {flaw}", row.name));
        } else if !row.goal.met(&figures) {
            failures.push(format!("{}: {} is not {}", row.name, row.goal.reached(&figures), row.goal));
        }
    }
    if json {
        writeln!(out, "\n]")?;
    }
    Ok(failures)
}

const HEAD: &str = "\
Two machines in a simulated network, virtual time: 60 frames/s, window 8, delay 0, buttons change every 4th frame.
Figures per machine, the first 2 s left out; frames are 1/60 s, one way; bytes with UDP/IPv4 headers.
Every confirmed frame of both machines was compared with a direct simulation of the true inputs.

link                                          | GGRS 0.13 | Fortress 0.13 | goal         | here                          | met | stalled  | packets/s | bytes/s | rollbacks/frame | depth mean, max | Hz     | lead mean, max | seconds
----------------------------------------------|-----------|---------------|--------------|-------------------------------|-----|----------|-----------|---------|-----------------|-----------------|--------|----------------|--------
";

fn line(row: &Row, figures: &Figures) -> String {
    let [ggrs, fortress] = row.others.unwrap_or(["-", "-"]);
    let met = match (&figures.flaw, row.goal) {
        (Some((_, flaw)), _) if flaw.is_divergence() => "DIVERGED",
        (Some(_), _) => "PROVED NOTHING",
        (None, Goal::None) => "-",
        (None, goal) if goal.met(figures) => "yes",
        (None, _) => "NO",
    };
    format!(
        "{:<45} | {ggrs:<9} | {fortress:<13} | {:<12} | {:<29} | {met:<3} | {:>6.4} % | {:>9.2} | {:>7.0} \
         | {:>15.4} | {:>10.3}, {:>3} | {:>6.3} | {:>+7.4}, {:>5.2} | {:>7.0}",
        row.name,
        row.goal.to_string(),
        row.goal.reached(figures),
        figures.stalled_pct(),
        figures.packets_per_s(),
        figures.bytes_per_s(),
        figures.rollbacks_per_frame(),
        figures.mean_depth(),
        figures.max_depth,
        figures.frame_rate_hz(),
        figures.lead_mean(),
        figures.lead_max,
        figures.seconds(),
    )
}

/// One object of the array, with the keys that scripts read.
fn object(row: &Row, figures: &Figures) -> String {
    let number = |value: f64| format!("{}", (value * 1e6).round() / 1e6);
    let members = [
        ("link", format!("\"{}\"", row.name)),
        ("latency_frames", number(row.latency_frames)),
        ("jitter_frames", number(row.jitter_frames)),
        ("loss_pct", number(row.loss_pct)),
        ("stalled_pct", number(figures.stalled_pct())),
        ("packets_per_s", number(figures.packets_per_s())),
        ("bytes_per_s", number(figures.bytes_per_s())),
        ("rollbacks_per_frame", number(figures.rollbacks_per_frame())),
        ("mean_depth", number(figures.mean_depth())),
        ("max_depth", figures.max_depth.to_string()),
        ("blackout_frames", row.blackout_frames.to_string()),
        ("frozen_frames", figures.frozen_frames().to_string()),
        ("frame_rate_hz", number(figures.frame_rate_hz())),
        ("lead_mean", number(figures.lead_mean())),
        ("lead_max", number(figures.lead_max)),
        ("diverged", figures.diverged().to_string()),
    ];
    let members = members.map(|(key, value)| format!("\"{key}\": {value}"));
    format!("{{{}}}", members.join(", "))
}
