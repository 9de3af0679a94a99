//! One match and its rematch: what is played, and what came of it.

use crate::sample::{self, Sample, Sampler};
use crate::subjects::{Timed, Trial, mix};
use core::time::Duration;
use rebout::lab::sim::Clock;
use rebout::lab::{Bout, Contestant, Play, Setup};
use rebout::net::link::{Chance, LinkConfig};
use rebout::rollback::MAX_WINDOW;
use rebout::{Autopsy, Config, Event, Fields, Frame, Inputs, Player, Session, Verdict, Visitor};
use std::fmt;
use std::rc::Rc;

/// A state that changes in fewer than one look of so many hardly changes.
const LOOKS_PER_CHANGE: u32 = 20;

/// A match to be played: everything that comes of it is a function of this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) link_name: &'static str,
    pub(crate) link: LinkConfig,
    pub(crate) frames: u32,
    pub(crate) seed: u64,
    /// Delays, windows and clocks of the two machines differ, drawn from the seed.
    pub(crate) variety: bool,
    /// A second, shorter match follows in the same process.
    pub(crate) rematch: bool,
}

/// The records of a match besides its figures.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keep {
    /// Samples of every frame, for the plots.
    pub(crate) sample: bool,
    /// The inputs, for a replay.
    pub(crate) inputs: bool,
}

/// The failure of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A machine came to another state than the true inputs lead to.
    Diverged { frame: Frame, player: Player, inputs_differ: bool, reported: bool },
    /// A machine reported a difference where there was none.
    FalseAlarm { frame: Frame },
    /// The match did not come to its end.
    Unfinished { how: String },
    /// The match proved nothing.
    Vacuous { why: &'static str },
}

impl Trouble {
    /// Troubles of one kind count as the same while a failure is shrunk.
    pub(crate) fn kind(&self) -> u8 {
        match self {
            Self::Diverged { reported: true, .. } => 0,
            Self::Diverged { reported: false, .. } => 1,
            Self::FalseAlarm { .. } => 2,
            Self::Unfinished { .. } => 3,
            Self::Vacuous { .. } => 4,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverged { frame, player, inputs_differ, reported } => {
                let what = if *inputs_differ { "was given other inputs" } else { "came to another state" };
                let told = if *reported { "reported" } else { "NOT reported by either machine" };
                write!(f, "the machine of {player} {what} in frame {frame}; {told}")
            }
            Self::FalseAlarm { frame } => {
                write!(f, "a difference in frame {frame} was reported, and there is none")
            }
            Self::Unfinished { how } => write!(f, "the match did not come to its end: {how}"),
            Self::Vacuous { why } => write!(f, "vacuous: {why}"),
        }
    }
}

/// The figures of one match or many, of both machines together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Frames stepped, each once, by both machines: peer-frames.
    pub(crate) frames: u64,
    pub(crate) stalled: u64,
    pub(crate) rollbacks: u64,
    pub(crate) resimulated: u64,
    pub(crate) depths: [u64; MAX_WINDOW as usize + 1],
    pub(crate) bytes: u64,
    /// Virtual time that machines have played for.
    pub(crate) played: Duration,
    pub(crate) refused: u64,
    pub(crate) checksums: u64,
}

impl Figures {
    pub(crate) fn add(&mut self, other: &Self) {
        self.frames += other.frames;
        self.stalled += other.stalled;
        self.rollbacks += other.rollbacks;
        self.resimulated += other.resimulated;
        self.depths.iter_mut().zip(other.depths).for_each(|(sum, count)| *sum += count);
        self.bytes += other.bytes;
        self.played += other.played;
        self.refused += other.refused;
        self.checksums += other.checksums;
    }
}

/// The outcome of a match and its rematch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) figures: Figures,
    pub(crate) trouble: Option<Trouble>,
    /// Whether the trouble is that of the rematch.
    pub(crate) in_rematch: bool,
    /// The link flips bits: what it does to a match has to be reported, and then is no failure.
    pub(crate) excused: bool,
    /// The first frame that was reported as different.
    pub(crate) desync: Option<Frame>,
    pub(crate) autopsies: [Option<Box<Autopsy>>; 2],
    pub(crate) samples: [Sample; 2],
    /// The seed that the game was built from, and what was played; of the match that had trouble.
    pub(crate) game_seed: u32,
    pub(crate) inputs: Vec<Inputs>,
}

impl Outcome {
    /// Whether this makes the whole run a failure.
    pub(crate) fn failed(&self) -> bool {
        self.trouble.is_some() && !self.excused
    }
}

/// Makes a game for a seat, or for the oracle, which has none.
pub(crate) type Maker<G> = Rc<dyn Fn(u32, Option<Player>) -> G>;

/// Plays a match and its rematch.
pub(crate) fn play<G: Trial>(case: &Case, keep: Keep, make: &Maker<G>) -> Outcome {
    let (mut outcome, game) = play_one(case, keep, make, None);
    if case.rematch && outcome.trouble.is_none() {
        // One machine goes on in the process that it has, against one that was just started, and takes the other seat.
        let second = Case {
            seed: case.seed ^ 0x0052_454D_4154_4348,
            frames: (case.frames / 4).max(300).min(case.frames),
            ..case.clone()
        };
        let (again, _) = play_one(&second, Keep { sample: false, ..keep }, make, game);
        outcome.figures.add(&again.figures);
        let again_vacuous = matches!(again.trouble, Some(Trouble::Vacuous { .. }));
        if again.trouble.is_some() && !again_vacuous {
            let (figures, samples) = (outcome.figures, outcome.samples);
            outcome = Outcome { figures, samples, in_rematch: true, ..again };
        }
    }
    outcome
}

fn play_one<G: Trial>(case: &Case, keep: Keep, make: &Maker<G>, before: Option<G>) -> (Outcome, Option<G>) {
    let play = Play { build: |seed| Timed { game: G::build(seed), end: u32::MAX }, script: G::script };
    let setup = setup(case, before.is_some());
    let expects_rollbacks = expects_rollbacks(case, &setup.configs);
    let mut bout = Bout::new(setup, play);
    let end = case.frames;
    let direct = make.clone();
    bout.make_direct(move |seed| Timed { game: direct(seed, None), end });
    let mut before = before;
    let mut samplers = [None, None];
    for (id, slot) in samplers.iter_mut().enumerate() {
        let (make, before) = (make.clone(), before.take());
        let machine = bout.world.machine_mut(id);
        machine.make = Some(Box::new(move |seed, seat| {
            let game = before.map_or_else(|| make(seed, Some(seat)), |game| game.again(seed, seat));
            Timed { game, end }
        }));
        machine.before = Some(|timed, frame, held| timed.game.before_frame(frame, held));
        if keep.sample {
            let sampler = sample::shared();
            *slot = Some(sampler.clone());
            let mut watch = Sampler::new(sampler);
            machine.watch = Some(Box::new(move |now, advanced, session: &Session<_>, _| {
                watch.look(now, advanced, &session.stats());
            }));
        }
    }
    if keep.inputs {
        bout.record();
    }
    let life = run(&mut bout, case.frames);
    let mut outcome = examine(&bout, case, &life, expects_rollbacks);
    outcome.samples = samplers.map(|sampler| sampler.map(sample::taken).unwrap_or_default());
    outcome.inputs = bout.take_record();
    let game = bout.world.machine_mut(0).take_game().map(|timed| timed.game);
    (outcome, game)
}

/// How much the state lived, looked at a few times a second.
#[derive(Default)]
struct Life {
    looks: u32,
    changes: u32,
}

fn run<G: Trial>(bout: &mut Bout<Timed<G>>, frames: u32) -> Life {
    let limit = Duration::from_secs(60 + u64::from(frames) / 5);
    let (mut life, mut words, mut last) = (Life::default(), Vec::new(), Vec::new());
    let ended = |bout: &Bout<Timed<G>>| {
        (0..2).all(|id| bout.machine(id).ended()) || (0..2).any(|id| bout.machine(id).error.is_some())
    };
    while !ended(bout) && bout.world.now() < limit {
        bout.run_for(Duration::from_millis(500));
        if let Some(direct) = bout.direct() {
            std::mem::swap(&mut words, &mut last);
            Words::collect(&rebout::Save::snapshot(direct), &mut words);
            life.looks += 1;
            // A counter of frames alone is no life.
            let changed = words.iter().zip(&last).filter(|(a, b)| a != b).count();
            life.changes += u32::from(changed > 1 || words.len() != last.len());
        }
    }
    life
}

struct Words<'a>(&'a mut Vec<u32>);

impl Words<'_> {
    fn collect<S: Fields>(state: &S, words: &mut Vec<u32>) {
        words.clear();
        state.visit(&mut Words(words));
    }
}

impl Visitor for Words<'_> {
    fn leaf(&mut self, words: &[u32], _: &dyn fmt::Display) {
        self.0.extend_from_slice(words);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes.iter().map(|byte| u32::from(*byte)));
    }
}

/// Two machines as different as machines are.
fn setup(case: &Case, rematch: bool) -> Setup {
    let mut setup = Setup::new(case.seed, case.link);
    let drawn = |what: u32, below: u32| mix(case.seed as u32 ^ (case.seed >> 32) as u32, what) % below;
    let game_seed = mix(case.seed as u32, (case.seed >> 32) as u32 ^ 0x5EED).max(1);
    for (id, (config, clock)) in setup.configs.iter_mut().zip(&mut setup.clocks).enumerate() {
        config.seed = Some(game_seed);
        config.seat = if rematch { Player::Two } else { Player::One };
        if case.variety {
            let id = id as u32 * 16;
            config.delay_frames = Some([0, 0, 1, 2][drawn(id, 4) as usize]);
            config.window_frames = 6 + drawn(id + 1, 5) as u8;
            let skew_ppm = drawn(id + 2, 401).cast_signed() - 200;
            *clock = Clock::new(Duration::from_millis(u64::from(drawn(id + 3, 1_000_000))), skew_ppm);
        }
    }
    setup
}

/// Whether there must be something to predict: neither machine has a delay, so that the one that is ahead never has the
/// other's input in time; or the way is longer than what the delays cover.
fn expects_rollbacks(case: &Case, configs: &[Config; 2]) -> bool {
    let delays = configs.each_ref().map(|config| u32::from(config.delay_frames.unwrap_or(0)));
    delays == [0, 0] || case.link.latency > configs[0].frame_length() * (delays[0].min(delays[1]) + 1)
}

fn examine<G: Trial>(bout: &Bout<Timed<G>>, case: &Case, life: &Life, expects_rollbacks: bool) -> Outcome {
    let machines = [0, 1].map(|id| bout.machine(id));
    let mut figures = Figures::default();
    for machine in machines {
        figures.add(&figures_of(machine));
    }
    let events = || machines.into_iter().flat_map(|machine| machine.events.iter().map(|(_, event)| event));
    let desync = events().find_map(reported_frame);
    let conflict = events().any(|event| matches!(event, Event::InputConflict { .. }));
    let trouble = if let Some(found) = bout.divergence() {
        // The oracle says which step went wrong; what differs is the state after it.
        let (frame, player, inputs_differ) = (found.frame.next(), found.player, found.inputs_differ);
        let reported = desync.is_some() || conflict;
        Some(Trouble::Diverged { frame, player, inputs_differ, reported })
    } else if let Some(frame) = desync {
        Some(Trouble::FalseAlarm { frame })
    } else if let Some(how) = unfinished(&machines, case.frames, bout.checked()) {
        Some(Trouble::Unfinished { how })
    } else {
        let blows = bout.direct().map_or(0, |direct| direct.game.blows());
        let why = if expects_rollbacks && figures.rollbacks == 0 {
            Some("nothing was predicted wrongly")
        } else if blows == 0 {
            Some("no blow landed")
        } else if life.changes * LOOKS_PER_CHANGE < life.looks {
            Some("the state hardly changed")
        } else {
            None
        };
        why.map(|why| Trouble::Vacuous { why })
    };
    let silent = matches!(trouble, Some(Trouble::Diverged { reported: false, .. } | Trouble::Vacuous { .. }));
    Outcome {
        figures,
        in_rematch: false,
        excused: case.link.corrupt != Chance::NEVER && trouble.is_some() && !silent,
        trouble,
        desync,
        autopsies: machines.map(autopsy),
        samples: Default::default(),
        game_seed: machines[0].agreed().map_or(0, |agreed| agreed.seed),
        inputs: Vec::new(),
    }
}

/// The frame of which a machine said that its state differs.
fn reported_frame(event: &Event) -> Option<Frame> {
    match event {
        Event::Desync(desync) => Some(desync.frame),
        Event::Ended(Verdict::Differs { frame, .. }) => Some(*frame),
        _ => None,
    }
}

fn autopsy<G: Trial>(machine: &Contestant<Timed<G>>) -> Option<Box<Autopsy>> {
    machine.events.iter().find_map(|(_, event)| match event {
        Event::Autopsy(autopsy) => Some(autopsy.clone()),
        _ => None,
    })
}

fn figures_of<G: Trial>(machine: &Contestant<Timed<G>>) -> Figures {
    let stats = machine.stats();
    let last = machine.events.last().map_or(Duration::ZERO, |(at, _)| *at);
    Figures {
        // The step that ends a match is told as its end, and not counted there.
        frames: stats.frames.max(machine.session().map_or(0, |session| u64::from(session.current().0))),
        stalled: stats.stalled_frames,
        rollbacks: stats.rollback.rollbacks,
        resimulated: stats.rollback.resimulated_frames,
        depths: stats.rollback.depths,
        bytes: stats.bytes_out,
        played: machine.started_at.map_or(Duration::ZERO, |start| last.saturating_sub(start)),
        refused: stats.refused.total(),
        checksums: stats.checksums_compared,
    }
}

/// Why the match is not one that both machines agree to have ended as it should.
fn unfinished<G: Trial>(
    machines: &[&Contestant<Timed<G>>; 2],
    frames: u32,
    checked: Frame,
) -> Option<String> {
    let mut ends = Vec::new();
    for (machine, name) in machines.iter().zip(["the host", "the joiner"]) {
        if let Some(error) = &machine.error {
            return Some(format!("{name} found no match: {error}"));
        }
        let Some((_, last)) = machine.events.last().filter(|_| machine.ended()) else {
            let at = machine.session().map_or(Frame::ZERO, Session::current);
            return Some(format!("{name} was still in frame {at} when time was up"));
        };
        match last {
            Event::Ended(Verdict::Agreed { frame, checksum }) => ends.push((*frame, *checksum)),
            Event::Ended(verdict) => return Some(format!("the verdict of {name}: {verdict}")),
            Event::Disconnected { reason } => return Some(format!("{name}: {reason}")),
            other => return Some(format!("the last event of {name} is {other:?}")),
        }
    }
    let [one, two] = ends[..] else { return Some("a machine has no end".to_owned()) };
    if one != two || one.0 > Frame(frames) {
        return Some(format!("the host ended at frame {}, the joiner at {}, of {frames}", one.0, two.0));
    }
    (checked != one.0).then(|| format!("only {checked} of {} frames were confirmed by both", one.0))
}
