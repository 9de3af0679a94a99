//! Runs matches over one link and takes their figures.

use core::time::Duration;
use games::playground::{PLAY, Playground};
use rebout::Extensions;
use rebout::Stats;
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::Traffic;
use rebout::lab::{Flaw, Setup, SimMatch};
use std::cell::RefCell;
use std::rc::Rc;

/// Left out of the figures: the machines meet, find one clock and learn what the link loses.
const WARM_UP: Duration = Duration::from_secs(2);

/// How long two machines may take to meet.
const MAX_MEETING: Duration = Duration::from_secs(12);

/// From one blackout to the next: long enough for the match to be as it was before.
const BLACKOUT_EVERY: Duration = Duration::from_secs(6);

/// From one pause of a machine to the next.
const PAUSE_EVERY: Duration = Duration::from_millis(100);

/// A time in frames of 1/60 s.
pub(crate) fn frames(frames: f64) -> Duration {
    Duration::from_secs_f64(frames / 60.0)
}

/// The matches to run on one link.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) link: LinkConfig,
    pub(crate) blackout_frames: u32,
    /// How long the second machine is suspended in every `PAUSE_EVERY`.
    pub(crate) pause: Duration,
    /// Without extensions of the protocol.
    pub(crate) plain: bool,
    pub(crate) window_frames: u8,
    /// `None` uses the delay that the link suggests.
    pub(crate) delay_frames: Option<u8>,
    /// Of each match, after the warm-up.
    pub(crate) seconds: u32,
    /// One match for each.
    pub(crate) seeds: std::ops::RangeInclusive<u64>,
}

/// The figures of a link: sums over all its matches, of one machine or of both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    /// The sum over both machines, in seconds.
    seconds: f64,
    frames: u64,
    stalled: u64,
    packets: u64,
    bytes: u64,
    rollbacks: u64,
    resimulated: u64,
    pub(crate) max_depth: usize,
    /// How long each blackout froze each machine.
    freezes: Vec<u64>,
    lead_sum: f64,
    lead_samples: u64,
    pub(crate) lead_max: f64,
    /// Why the figures are invalid, if they are, and the seed that shows it.
    pub(crate) flaw: Option<(u64, Flaw)>,
}

impl Figures {
    pub(crate) fn diverged(&self) -> bool {
        self.flaw.as_ref().is_some_and(|(_, flaw)| flaw.is_divergence())
    }

    pub(crate) fn stalled_pct(&self) -> f64 {
        100.0 * ratio(self.stalled as f64, (self.stalled + self.frames) as f64)
    }

    pub(crate) fn packets_per_s(&self) -> f64 {
        ratio(self.packets as f64, self.seconds)
    }

    /// With the headers of UDP and IPv4.
    pub(crate) fn bytes_per_s(&self) -> f64 {
        ratio(self.bytes as f64, self.seconds)
    }

    pub(crate) fn rollbacks_per_frame(&self) -> f64 {
        ratio(self.rollbacks as f64, self.frames as f64)
    }

    pub(crate) fn mean_depth(&self) -> f64 {
        ratio(self.resimulated as f64, self.rollbacks as f64)
    }

    pub(crate) fn frame_rate_hz(&self) -> f64 {
        ratio(self.frames as f64, self.seconds)
    }

    /// The mean over both machines: a true lead cancels out, and a bias, which changes the frame rate, remains.
    pub(crate) fn lead_mean(&self) -> f64 {
        ratio(self.lead_sum, self.lead_samples as f64)
    }

    /// The 99th percentile of the time for which a blackout freezes a machine.
    ///
    /// Not the longest: a machine that is just catching up sends eleven packets in ten frames' time, so that once in
    /// a thousand a blackout swallows one more than its frames.
    pub(crate) fn frozen_frames(&self) -> u64 {
        let mut freezes = self.freezes.clone();
        freezes.sort_unstable();
        let rank = (freezes.len() * 99).div_ceil(100);
        freezes.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    }

    /// How long the worst of all blackouts froze a machine.
    pub(crate) fn longest_freeze(&self) -> u64 {
        self.freezes.iter().copied().max().unwrap_or(0)
    }

    /// The virtual time that was measured, as the sum over both machines.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Frames that had to wait.
    pub(crate) fn stalled(&self) -> u64 {
        self.stalled
    }

    /// Frames stepped again, a frame.
    pub(crate) fn resimulated_per_frame(&self) -> f64 {
        ratio(self.resimulated as f64, self.frames as f64)
    }

    /// The figures of both machines together.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.seconds += other.seconds;
        self.frames += other.frames;
        self.stalled += other.stalled;
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.rollbacks += other.rollbacks;
        self.resimulated += other.resimulated;
        self.max_depth = self.max_depth.max(other.max_depth);
        self.freezes.extend(other.freezes);
        self.lead_sum += other.lead_sum;
        self.lead_samples += other.lead_samples;
        self.lead_max = self.lead_max.max(other.lead_max);
        if let Some((seed, flaw)) = other.flaw {
            self.note(seed, flaw);
        }
        self
    }

    fn add(&mut self, stretch: &Stretch, seconds: f64) {
        let (before, after) = (&stretch.before, &stretch.after);
        self.seconds += seconds;
        self.frames += after.frames - before.frames;
        self.stalled += after.stalled_frames - before.stalled_frames;
        self.packets += stretch.sent[1].datagrams - stretch.sent[0].datagrams;
        self.bytes += stretch.sent[1].wire_bytes() - stretch.sent[0].wire_bytes();
        self.rollbacks += after.rollback.rollbacks - before.rollback.rollbacks;
        self.resimulated += after.rollback.resimulated_frames - before.rollback.resimulated_frames;
        let depths = after.rollback.depths.iter().zip(&before.rollback.depths);
        let deepest = depths.enumerate().rfind(|(_, (after, before))| after > before);
        self.max_depth = self.max_depth.max(deepest.map_or(0, |(depth, _)| depth));
    }

    fn note(&mut self, seed: u64, flaw: Flaw) {
        // That two machines differ is worse than that nothing was shown.
        if self.flaw.is_none() || flaw.is_divergence() && !self.diverged() {
            self.flaw = Some((seed, flaw));
        }
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// One machine's counters at both ends of the time that counts.
struct Stretch {
    before: Stats,
    after: Stats,
    sent: [Traffic; 2],
}

/// Plays every match of a trial; the figures of each machine.
pub(crate) fn measure(trial: &Trial) -> [Figures; 2] {
    let mut figures = [Figures::default(), Figures::default()];
    for seed in trial.seeds.clone() {
        if let Some(flaw) = play(trial, seed, &mut figures) {
            figures[0].note(seed, flaw);
        }
    }
    figures
}

/// Plays one match; what was wrong with it.
fn play(trial: &Trial, seed: u64, figures: &mut [Figures; 2]) -> Option<Flaw> {
    let setup = Setup::new(seed, trial.link).configure(|config| {
        config.rollback.window_frames = trial.window_frames;
        config.rollback.delay_frames = trial.delay_frames;
        if trial.plain {
            config.lobby.extensions = Extensions::NONE;
        }
    });
    let mut sim = SimMatch::new(setup, PLAY);
    if !sim.run_until(MAX_MEETING, |sim| (0..2).all(|id| sim.machine(id).session().is_some())) {
        return Some(Flaw::NoMatch);
    }
    if !trial.pause.is_zero() {
        starve(&mut sim, trial);
    }
    sim.run_for(WARM_UP);
    let leads = watch_leads(&mut sim);
    let before = [0, 1].map(|id| sim.machine(id).stats());
    let sent_before = [0, 1].map(|id| sim.world.network().sent(id));
    let begun = sim.world.now();
    run(&mut sim, trial, figures);
    let seconds = (sim.world.now() - begun).as_secs_f64();
    for (id, figures) in figures.iter_mut().enumerate() {
        let after = sim.machine(id).stats();
        let sent = [sent_before[id], sim.world.network().sent(id)];
        figures.add(&Stretch { before: before[id], after, sent }, seconds);
        let leads = leads[id].borrow();
        figures.lead_sum += leads.sum;
        figures.lead_samples += leads.samples;
        figures.lead_max = figures.lead_max.max(leads.max);
    }
    // A delay that covers the latency leaves nothing to predict.
    sim.flaw(trial.link.latency >= frames(1.0 + f64::from(trial.delay_frames.unwrap_or(0))))
}

/// Stops the second machine again and again, for as long as the match lasts.
fn starve(sim: &mut SimMatch<Playground>, trial: &Trial) {
    let begun = sim.world.now();
    let end = begun + WARM_UP + Duration::from_secs(u64::from(trial.seconds));
    for n in (0..).take_while(|n| begun + PAUSE_EVERY * *n < end) {
        sim.world.pause(1, begun + PAUSE_EVERY * n, trial.pause);
    }
}

/// Lets the match run, with blackouts if there are any, and notes how long each froze each machine.
fn run(sim: &mut SimMatch<Playground>, trial: &Trial, figures: &mut [Figures; 2]) {
    let end = sim.world.now() + Duration::from_secs(u64::from(trial.seconds));
    while trial.blackout_frames > 0 && sim.world.now() + BLACKOUT_EVERY <= end {
        let stalled = [0, 1].map(|id| sim.machine(id).stats().stalled_frames);
        // At any phase of the frames.
        let start = sim.world.now() + sim.world.draw(frames(60.0));
        let stop = start + frames(f64::from(trial.blackout_frames));
        sim.world.network_mut().cut_both(0, 1, start, stop);
        sim.run_for(BLACKOUT_EVERY);
        for (id, before) in stalled.into_iter().enumerate() {
            figures[id].freezes.push(sim.machine(id).stats().stalled_frames - before);
        }
    }
    sim.run_for(end.saturating_sub(sim.world.now()));
}

#[derive(Default)]
struct Leads {
    sum: f64,
    samples: u64,
    max: f64,
}

/// Gathers the frame lead of each machine, as it sees it in every frame.
fn watch_leads(sim: &mut SimMatch<Playground>) -> [Rc<RefCell<Leads>>; 2] {
    [0, 1].map(|id| {
        let leads = Rc::new(RefCell::new(Leads::default()));
        let writer = Rc::clone(&leads);
        sim.world.machine_mut(id).watch = Some(Box::new(move |_, _, session, _| {
            let lead = f64::from(session.stats().frame_lead);
            let mut leads = writer.borrow_mut();
            leads.sum += lead;
            leads.samples += 1;
            leads.max = leads.max.max(lead.abs());
        }));
        leads
    })
}
