//! Frame pacing of two machines: the lead of one over the other is removed and stays removed on any playable link.

use crate::round::{ENDLESS, Round};
use core::time::Duration;
use rebout::lab::forge::{Knows, message};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::Clock;
use rebout::lab::wire::message::{Message, Ordered};
use rebout::lab::{HOST, JOINER, Setup, SimMatch, addresses};
use rebout::wire::WireFrame;
use rebout::{Advanced, Event, FrameRate, Reason};
use std::cell::RefCell;
use std::rc::Rc;
use support::repeats;

const FRAME: Duration = Duration::from_nanos(16_666_667);

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// A round trip of 60 ms, and up to 10 ms more each way.
fn usual() -> LinkConfig {
    LinkConfig { jitter: ms(10), ..LinkConfig::new(ms(30)) }
}

/// Clocks that run this many parts of a million too fast.
fn clocks(skews_ppm: [i32; 2]) -> [Clock; 2] {
    skews_ppm.map(|skew| Clock::new(Duration::ZERO, skew))
}

/// The observations of a machine in a frame that was due.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// On its own clock.
    at: Duration,
    stepped: bool,
    lead: f32,
    trim_micros: i32,
    /// How many frames were predicted after it.
    gap: u32,
}

type Log = Rc<RefCell<Vec<Sample>>>;

/// A simulated match and what both machines measured.
struct Watched {
    sim: SimMatch<Round>,
    logs: [Log; 2],
}

impl Watched {
    fn new(setup: Setup) -> Self {
        let mut sim = SimMatch::new(setup, ENDLESS);
        let logs = [0, 1].map(|id| {
            let log = Log::default();
            let writer = Rc::clone(&log);
            sim.world.machine_mut(id).watch = Some(Box::new(move |at, advanced, session, _| {
                let stats = session.stats();
                writer.borrow_mut().push(Sample {
                    at,
                    stepped: advanced == Advanced::Stepped,
                    lead: stats.frame_lead,
                    trim_micros: stats.trim_micros,
                    gap: stats.predicted_frames,
                });
            }));
            log
        });
        Self { sim, logs }
    }

    /// One machine begins so late that the other has gone as far ahead as its window lets it.
    fn with_late(setup: Setup, late: usize) -> Self {
        let mut watched = Self::new(setup);
        watched.sim.world.machine_mut(late).begin_at = secs(3);
        watched
    }

    /// Runs until both machines have stepped their first frame.
    fn run_until_both_play(&mut self) {
        let playing = |sim: &SimMatch<Round>| (0..2).all(|id| sim.machine(id).stats().frames > 0);
        assert!(self.sim.run_until(secs(10), playing), "the match never began");
    }

    /// How many frames the first machine is ahead of the second at this very moment, fractions included.
    fn true_lead(&self) -> f64 {
        let [one, two] = [0, 1].map(|id| self.position(id));
        one - two
    }

    /// How far a machine has come.
    fn position(&self, id: usize) -> f64 {
        let session = self.sim.machine(id).session().expect("a match");
        f64::from(session.current().0) + f64::from(session.phase(self.sim.world.local_now(id)))
    }

    /// Runs for `time`; the largest true lead met on the way, to either side.
    fn largest_true_lead(&mut self, time: Duration) -> f64 {
        let end = self.sim.world.now() + time;
        let mut largest: f64 = 0.0;
        while self.sim.world.now() < end {
            self.sim.run_for(ms(53));
            largest = largest.max(self.true_lead().abs());
        }
        largest
    }

    fn forget(&self) {
        self.logs.iter().for_each(|log| log.borrow_mut().clear());
    }

    fn largest_lead(&self) -> f32 {
        self.fold(0.0, |largest, sample| largest.max(sample.lead.abs()))
    }

    fn largest_trim_micros(&self) -> i32 {
        self.fold(0, |largest, sample| largest.max(sample.trim_micros.abs()))
    }

    fn fold<T>(&self, init: T, mut with: impl FnMut(T, &Sample) -> T) -> T {
        self.logs.iter().fold(init, |value, log| log.borrow().iter().fold(value, &mut with))
    }

    fn mean_gap(&self, id: usize) -> f64 {
        let log = self.logs[id].borrow();
        let stepped = log.iter().filter(|sample| sample.stepped);
        let (sum, count) = stepped.fold((0, 0), |(sum, count), sample| (sum + sample.gap, count + 1));
        f64::from(sum) / f64::from(count)
    }

    /// Frames a second of true time over the next `seconds`, for both machines.
    fn frame_rates(&mut self, seconds: u32) -> [f64; 2] {
        let before = [0, 1].map(|id| self.position(id));
        self.sim.run_for(secs(u64::from(seconds)));
        [0, 1].map(|id| (self.position(id) - before[id]) / f64::from(seconds))
    }

    fn assert_sound(&self) {
        assert_eq!(self.sim.flaw(true), None);
    }
}

#[test]
fn lead_settles_within_half_a_frame_in_two_seconds() {
    for (seed, skews) in [[1_000, -1_000], [-1_000, 1_000], [1_000, 0]].into_iter().enumerate() {
        for late in 0..2 {
            let setup = Setup { clocks: clocks(skews), ..Setup::new(seed as u64, usual()) };
            let mut watched = Watched::with_late(setup, late);
            watched.run_until_both_play();
            let begun = watched.sim.machine(late).started_at.expect("a match");
            watched.sim.run_for((begun + secs(2)).saturating_sub(watched.sim.world.local_now(late)));
            assert!(watched.largest_lead() > 3.0, "no offset to begin with: {}", watched.largest_lead());
            assert_eq!(watched.largest_trim_micros(), 2_000, "as fast as is allowed, and no faster");
            watched.forget();
            let true_lead = watched.largest_true_lead(secs(60));
            let lead = watched.largest_lead();
            assert!(lead < 0.5, "seed {seed}, {skews:?}, {late} late: the machines see a lead of {lead}");
            assert!(true_lead < 0.5, "seed {seed}, {skews:?}, {late} late: the lead is {true_lead}");
            watched.assert_sound();
        }
    }
}

#[test]
fn both_sides_keep_the_rate_of_a_console() {
    for (seed, (frames, seconds)) in [(39_375_000, 655_171), (4_194_304, 70_224)].into_iter().enumerate() {
        let mut setup = Setup::new(seed as u64, usual());
        for config in &mut setup.configs {
            config.game.frame_rate = FrameRate::ratio(frames, seconds);
        }
        let mut watched = Watched::new(setup);
        if seed == 1 {
            watched.sim.seal(1);
        }
        watched.run_until_both_play();
        watched.sim.run_for(secs(5));
        for rate in watched.frame_rates(120) {
            let exact = f64::from(frames) / f64::from(seconds);
            assert!((rate - exact).abs() < 0.005, "{rate} Hz instead of {exact}");
        }
        watched.assert_sound();
    }
}

#[test]
fn both_sides_resimulate_as_much() {
    let setup = Setup { clocks: clocks([1_000, -1_000]), ..Setup::new(5, usual()) };
    let mut watched = Watched::with_late(setup, 1);
    watched.run_until_both_play();
    watched.sim.run_for(secs(300));
    watched.assert_sound();
    let [one, two] = [0, 1].map(|id| watched.sim.machine(id).stats().rollback.resimulated_frames as f64);
    assert!(one > 5_000.0, "hardly any: {one}");
    assert!((one - two).abs() < 0.1 * one.min(two), "{one} and {two}");
    assert!(watched.largest_trim_micros() <= 2_000);
}

#[test]
fn frame_rate_of_both_sides_is_the_mean_of_both_clocks() {
    let lossy = LinkConfig { loss: Chance::percent(20), ..usual() };
    for (name, link) in [("usual", usual()), ("clean", LinkConfig::clean()), ("lossy", lossy)] {
        for skews in [[1_000, -1_000], [1_000, 1_000], [-1_000, 0], [0, 0]] {
            let setup = Setup { clocks: clocks(skews), ..Setup::new(9, link) };
            let mut watched = Watched::new(setup);
            watched.run_until_both_play();
            watched.sim.run_for(secs(3));
            let expected = 60.0 * (1.0 + f64::from(skews[0] + skews[1]) / 2e6);
            for rate in watched.frame_rates(60) {
                let off_percent = (rate / expected - 1.0) * 100.0;
                assert!(
                    off_percent.abs() < 0.1,
                    "{name}, {skews:?}: {rate} Hz instead of {expected}, {off_percent:+.3} %"
                );
            }
            watched.assert_sound();
        }
    }
}

#[test]
fn no_round_trip_makes_the_pacing_oscillate() {
    for rtt_micros in [500, 20_000, 60_000, 150_000, 250_000, 400_000, 600_000, 650_000] {
        let link = LinkConfig::new(Duration::from_micros(rtt_micros / 2));
        // The delay that the link asks for: a round trip of 250 ms alone fills the window.
        let setup = Setup::new(rtt_micros, link).configure(|config| config.rollback.delay_frames = None);
        let mut watched = Watched::with_late(setup, (rtt_micros / 500 % 2) as usize);
        watched.run_until_both_play();
        watched.sim.run_for(secs(4) + Duration::from_micros(rtt_micros) * 10);
        watched.forget();
        let first = watched.largest_true_lead(secs(10));
        let (first_lead, first_trim) = (watched.largest_lead(), watched.largest_trim_micros());
        watched.forget();
        let second = watched.largest_true_lead(secs(20));
        let (second_lead, second_trim) = (watched.largest_lead(), watched.largest_trim_micros());
        let figures = format!(
            "{rtt_micros} us: true lead {first:.3} then {second:.3}, seen {first_lead:.3} then {second_lead:.3}, \
             trim {first_trim} then {second_trim} us"
        );
        assert!(first < 0.6 && second < 0.6, "{figures}");
        assert!(first_lead < 0.7 && second_lead < 0.7, "{figures}");
        assert!(second_trim <= 360, "{figures}");
        assert_eq!(watched.sim.divergence(), None);
    }
}

#[test]
fn unequal_delays_and_paths_leave_both_sides_with_equal_gaps() {
    for (delays, there, back) in
        [([0, 0], 30, 90), ([0, 0], 90, 30), ([4, 0], 60, 60), ([0, 3], 30, 90), ([3, 1], 90, 30)]
    {
        let jitter = |latency| LinkConfig { jitter: ms(4), ..LinkConfig::new(ms(latency)) };
        let mut setup =
            Setup { links: [jitter(there), jitter(back)], ..Setup::new(there + back * 2, usual()) };
        for (config, delay) in setup.configs.iter_mut().zip(delays) {
            config.rollback.delay_frames = Some(delay);
        }
        let mut watched = Watched::new(setup);
        watched.run_until_both_play();
        watched.sim.run_for(secs(4));
        watched.forget();
        watched.sim.run_for(secs(60));
        let [one, two] = [0, 1].map(|id| watched.mean_gap(id));
        assert!(
            (one - two).abs() < 0.25,
            "delays {delays:?}, {there} ms and {back} ms: gaps {one} and {two}"
        );
        // Half of what the path and the delays take, each: nobody gets the better part.
        let expected = (there + back) as f64 / 2_000.0 * 60.0 - f64::from(delays[0] + delays[1]) / 2.0;
        assert!((one - expected).abs() < 1.2, "delays {delays:?}: a gap of {one}, not about {expected}");
        watched.assert_sound();
    }
}

#[test]
fn pause_causes_no_catch_up_spiral() {
    for (seed, pause_ms) in [100, 300, 700, 2_000, 10_000].into_iter().enumerate() {
        let mut watched = Watched::new(Setup::new(seed as u64, usual()));
        watched.run_until_both_play();
        watched.sim.run_for(secs(3));
        watched.forget();
        let (paused, at) = (seed % 2, watched.sim.world.now() + ms(5));
        watched.sim.world.pause(paused, at, ms(pause_ms));
        watched.sim.run_for(ms(pause_ms) + secs(3));
        for (id, log) in watched.logs.iter().enumerate() {
            let log = log.borrow();
            let stepped: Vec<Duration> =
                log.iter().filter(|sample| sample.stepped).map(|sample| sample.at).collect();
            // No frame is shorter than the greatest trim allows, but for one that had waited, and for those that the machine makes up
            // for: the other one can have stepped a window of them.
            let made_up = if id == paused { 8 } else { 0 };
            let fastest = stepped.windows(60).map(|second| second[59] - second[0]).min().expect("a second");
            assert!(
                fastest >= (FRAME - ms(2)) * (57 - made_up),
                "{pause_ms} ms: 60 frames in {fastest:?} at machine {id}"
            );
        }
        watched.forget();
        let true_lead = watched.largest_true_lead(secs(5));
        assert!(true_lead < 0.5, "{pause_ms} ms: a lead of {true_lead} is left");
        let rates = watched.frame_rates(10);
        assert!(rates.iter().all(|rate| (rate - 60.0).abs() < 0.1), "{pause_ms} ms: {rates:?}");
        watched.assert_sound();
        let told = (0..2).flat_map(|id| watched.sim.machine(id).events.iter());
        let interrupted = told.filter(|(_, event)| matches!(event, Event::Interrupted { .. })).count();
        // Only the machine that ran has waited, and it says so only if it was long.
        assert_eq!(interrupted, usize::from(pause_ms > 750), "{pause_ms} ms");
    }
}

/// A machine stops for a part of every 100 ms: it makes up for the frames that it missed, and the other one keeps its rate.
#[test]
fn starved_machine_carries_its_own_pauses() {
    for (seed, (rtt, stops)) in [(0, 40), (20, 40), (40, 60), (80, 40), (120, 40)].into_iter().enumerate() {
        let starved = seed % 2;
        let link = LinkConfig { jitter: ms(4), ..LinkConfig::new(ms(rtt / 2)) };
        let mut watched = Watched::new(Setup::new(seed as u64, link));
        watched.run_until_both_play();
        watched.sim.run_for(secs(2));
        let begun = watched.sim.world.now();
        for pause in 0..120 {
            watched.sim.world.pause(starved, begun + ms(pause * 100), ms(stops));
        }
        watched.sim.run_for(secs(2));
        watched.forget();
        let counts = |watched: &Watched| {
            [0, 1].map(|id| {
                let stats = watched.sim.machine(id).stats();
                [stats.stalled_frames, stats.rollback.rollbacks, stats.rollback.resimulated_frames]
            })
        };
        let before = counts(&watched);
        let rates = watched.frame_rates(9);
        let after = counts(&watched);
        let [healthy, late] =
            [1 - starved, starved].map(|id| [0, 1, 2].map(|n| after[id][n] - before[id][n]));
        let (gaps, lead) = ([0, 1].map(|id| watched.mean_gap(id)), watched.largest_lead());
        let what = format!(
            "{rtt} ms, stops for {stops} ms: {rates:?} Hz; stalls, rollbacks, frames resimulated {healthy:?} and late {late:?}; \
             gaps {gaps:?}, lead {lead}"
        );
        assert!(rates.iter().all(|rate| (rate - 60.0).abs() < 0.5), "{what}");
        assert_eq!(healthy[0], 0, "{what}");
        assert!((gaps[0] - gaps[1]).abs() < 0.7 && lead < 2.5, "{what}");
        watched.assert_sound();
    }
}

#[test]
fn machine_at_55_frames_a_second_slows_the_match() {
    for slow in 0..2 {
        let mut watched = Watched::new(Setup::new(11, usual()));
        watched.sim.world.machine_mut(slow).min_frame_length = secs(1) / 55;
        watched.run_until_both_play();
        watched.sim.run_for(secs(5));
        for rate in watched.frame_rates(60) {
            assert!((rate - 55.0).abs() < 0.1, "machine {slow} is slow: {rate} Hz");
        }
        let stalled = watched.sim.machine(1 - slow).stats().stalled_frames;
        assert_eq!(stalled, 0, "the fast one slows down before it has to wait");
        watched.assert_sound();
        let told: Vec<&Event> = watched.sim.told(1 - slow).collect();
        let [Event::PeerSlow { rate_permille }] = told[..] else {
            panic!("machine {slow} is slow: {told:?}")
        };
        assert!((850..=990).contains(rate_permille), "{rate_permille}");
        assert_eq!(watched.sim.told(slow).count(), 0, "the slow one follows nobody");
        // It can keep up again.
        watched.sim.world.machine_mut(slow).min_frame_length = Duration::ZERO;
        watched.sim.run_for(secs(20));
        for rate in watched.frame_rates(30) {
            assert!((rate - 60.0).abs() < 0.3, "machine {slow} was slow: {rate} Hz");
        }
        assert_eq!(watched.sim.told(1 - slow).last(), Some(&Event::PeerRecovered));
        assert_eq!(watched.sim.told(1 - slow).count(), 2);
    }
}

/// Lets `liar` claim a delay that it does not play with, and answers the frame rates of both over ten minutes.
fn rates_with_a_claim(seed: u64, liar: usize, played: u8, claimed: u8) -> ([f64; 2], Vec<Event>) {
    let mut setup = Setup::new(seed, usual());
    setup.configs[liar].rollback.delay_frames = Some(played);
    let mut watched = Watched::new(setup);
    watched.sim.eavesdrop();
    watched.run_until_both_play();
    watched.sim.run_for(secs(1));
    let knows = Knows::of(&watched.sim, 1 - liar);
    let claim = Ordered::Delay { from_frame: WireFrame(knows.known), delay_frames: claimed };
    let claim = message(knows.header, &Message::Ordered { number: knows.first_number, body: claim });
    watched.sim.inject(1 - liar, addresses()[liar], &claim);
    watched.sim.world.network_mut().drop_recording();
    watched.sim.run_for(secs(15));
    let rates = watched.frame_rates(600);
    assert_eq!(watched.sim.divergence(), None);
    let told = watched.sim.told(1 - liar).cloned().collect();
    (rates, told)
}

#[test]
fn thinned_packets_show_no_false_lead() {
    // A path that becomes 300 ms longer looks like a queue for up to a minute.
    for seed in 0..4 {
        let setup = Setup::new(seed, usual()).configure(|config| config.rollback.window_frames = 16);
        let mut watched = Watched::new(setup);
        watched.run_until_both_play();
        watched.sim.run_for(secs(3));
        for (from, to) in [(0, 1), (1, 0)] {
            let link = LinkConfig { jitter: ms(10), ..LinkConfig::new(ms(180)) };
            watched.sim.world.network_mut().set_link(from, to, link);
        }
        watched.sim.run_for(secs(8));
        let sent = watched.sim.machine(0).stats().packets_out;
        for rate in watched.frame_rates(20) {
            assert!((rate - 60.0).abs() < 0.06, "seed {seed}: {rate} Hz");
        }
        let sent = watched.sim.machine(0).stats().packets_out - sent;
        assert!(sent < 700, "{sent} packets: this test shows nothing");
        watched.assert_sound();
    }
}

#[test]
fn claimed_delay_does_not_set_the_speed_of_a_match() {
    // The greatest lie of each direction first, one at each side.
    let lies = [(0, 16), (8, 0), (0, 8), (4, 0)].into_iter().zip([HOST, JOINER, JOINER, HOST]);
    let lies = lies.clone().chain(lies.map(|(lie, liar)| (lie, 1 - liar)));
    for ((played, claimed), liar) in lies.take(repeats(8)) {
        let (rates, told) = rates_with_a_claim(liar as u64, liar, played, claimed);
        for rate in rates {
            let off_percent = (rate / 60.0 - 1.0) * 100.0;
            assert!(
                off_percent.abs() < 0.5,
                "{liar} plays with {played} and claims {claimed}: {rate} Hz, {off_percent:+.3} %"
            );
        }
        assert_eq!(told, [Event::PeerDelay { delay_frames: claimed }], "nobody is slow");
    }
}

#[test]
fn input_every_nine_and_a_half_seconds_is_no_progress() {
    for slow in [HOST, JOINER] {
        let mut watched = Watched::new(Setup::new(12, usual()));
        watched.run_until_both_play();
        watched.sim.run_for(secs(5));
        watched.sim.world.machine_mut(slow).min_frame_length = ms(9_500);
        let since = watched.sim.world.now();
        assert!(watched.sim.run_until(secs(60), |sim| sim.ending(1 - slow).is_some()));
        let took = watched.sim.world.now() - since;
        assert_eq!(watched.sim.ending(1 - slow), Some(&Event::Disconnected { reason: Reason::NoProgress }));
        assert!((secs(28)..secs(40)).contains(&took), "{took:?}");
    }
}

#[test]
fn pacing_does_not_depend_on_the_clocks_offset() {
    let figures = |offsets: [Duration; 2]| {
        let clocks = [Clock::new(offsets[0], 300), Clock::new(offsets[1], -200)];
        let mut watched = Watched::new(Setup { clocks, ..Setup::new(4, usual()) });
        watched.run_until_both_play();
        watched.sim.run_for(secs(20));
        watched.assert_sound();
        [0, 1].map(|id| {
            let stats = watched.sim.machine(id).stats();
            (stats.frames, stats.rollback.resimulated_frames, stats.frame_lead.to_bits())
        })
    };
    let at_zero = figures([Duration::ZERO; 2]);
    assert!(at_zero[0].0 > 1_000);
    assert_eq!(figures([secs(1_000_000), Duration::ZERO]), at_zero);
    assert_eq!(figures([Duration::from_nanos(123_456_789), secs(77_777)]), at_zero);
}
