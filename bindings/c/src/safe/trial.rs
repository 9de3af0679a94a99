//! The sync test and the stress test of a game.

use super::codes::Status;
use super::fault::Fault;
use super::input;
use super::state::State;
use rebout::{Game, Inputs, SyncReport, SyncTest};

/// The numbers of a sync test.
#[derive(Clone, Copy, Debug)]
pub struct SyncPlan {
    /// Frames to play.
    pub frames: u32,
    /// The deepest rollback.
    pub depth: u32,
    /// The seed of depths and random inputs.
    pub seed: u32,
    /// The axes of an input.
    pub axes: u8,
    /// The pads at each machine.
    pub pads: u8,
}

/// The most frames of a sync test: a day at 60 frames a second.
const MAX_SYNC_FRAMES: u32 = 24 * 60 * 60 * 60;

/// Runs the sync test on `game`, with the inputs of `press` or random ones.
///
/// # Errors
/// The first fault that was found, or why the run proves nothing.
pub fn sync_test<G: Game<Snapshot = State>>(
    game: &mut G,
    plan: SyncPlan,
    press: Option<&dyn Fn(u32, u32) -> u64>,
) -> Result<SyncReport, Fault> {
    let SyncPlan { frames, depth, seed, axes, pads } = plan;
    if !(1..=MAX_SYNC_FRAMES).contains(&frames) || !(1..=SyncTest::<State>::MAX_DEPTH).contains(&depth) {
        return Err(Fault::invalid(format_args!(
            "a sync test has 1 to {MAX_SYNC_FRAMES} frames and a depth of 1 to {}, not {frames} and {depth}",
            SyncTest::<State>::MAX_DEPTH
        )));
    }
    if axes > 6 || !(1..=4).contains(&pads) || (axes > 0 && pads > 1) {
        return Err(Fault::invalid(format_args!("{axes} axes and {pads} pads do not fit an input")));
    }
    let mut test = SyncTest::new(game, depth, seed);
    let random = |player, frame| input::random(u64::from(seed), player, frame, axes, pads);
    for frame in 0..frames {
        let pressed =
            [0, 1].map(|player| press.map_or_else(|| random(player, frame), |press| press(player, frame)));
        test.advance(game, Inputs(pressed.map(input::from_bits))).map_err(Fault::failed)?;
        if game.finished() {
            break;
        }
    }
    test.finish().map_err(Fault::failed)
}

/// The plan of a stress test.
#[derive(Clone, Debug, Default)]
pub struct StressPlan {
    /// The name of the game, in the report.
    pub name: String,
    /// Frames to play, of all matches together.
    pub frames: u64,
    /// The seed of the run.
    pub seed: u64,
    /// Axes of an input.
    pub axes: u8,
    /// Pads at each machine.
    pub pads: u8,
    /// Where the files of a failure go.
    pub folder: Option<std::path::PathBuf>,
    /// One match instead of all, as a report tells it.
    pub again: Option<Again>,
}

/// A match to be played again.
#[derive(Clone, Debug, Default)]
pub struct Again {
    /// The name of the link.
    pub link: String,
    /// The impairments that are taken away.
    pub without: Vec<String>,
}

/// The report of a stress test: whether all is well, and the text.
pub struct StressReport {
    /// Whether every link was played, and no match failed.
    pub is_well: bool,
    /// The table, the sums, and the first failure.
    pub text: String,
}

/// The most frames of a stress test.
const MAX_STRESS_FRAMES: u64 = 1 << 32;

/// The game of a stress test: from a seed, for a seat or for the oracle.
pub type Make<G> = dyn Fn(u32, Option<u32>) -> G;
/// The input of a player in a frame of a match with a seed.
pub type Press = dyn Fn(u32, u32, u32) -> u64;

/// Hunts desyncs in the game that `make` makes.
///
/// # Errors
/// If the plan is not valid, the files cannot be written, or the library was built without the lab.
#[cfg(feature = "lab")]
pub fn stress<G: Game<Snapshot = State> + 'static>(
    plan: StressPlan,
    make: Box<Make<G>>,
    press: Option<Box<Press>>,
) -> Result<StressReport, Fault> {
    use rebout::lab::stress::{Case, Plan, Stress};
    let StressPlan { name, frames, seed, axes, pads, folder, again } = plan;
    if !(1..=MAX_STRESS_FRAMES).contains(&frames) {
        return Err(Fault::invalid(format_args!(
            "a stress test has 1 to {MAX_STRESS_FRAMES} frames, not {frames}"
        )));
    }
    if axes > 6 || !(1..=4).contains(&pads) || (axes > 0 && pads > 1) {
        return Err(Fault::invalid(format_args!("{axes} axes and {pads} pads do not fit an input")));
    }
    let made = move |seed, seat: Option<rebout::Player>| make(seed, seat.map(|seat| seat.index() as u32));
    let mut stress =
        Stress::seated(made).name(&name).axes(axes).pads(pads).plan(Plan { seed, ..Plan::default() });
    if let Some(press) = press {
        stress = stress.press(move |turn: &rebout::lab::stress::Turn<'_, G>| {
            input::from_bits(press(turn.player.index() as u32, turn.frame.0, turn.seed))
        });
    }
    let report = match &again {
        None => stress.run(frames),
        Some(Again { link, without }) => {
            let without: Vec<&str> = without.iter().map(String::as_str).collect();
            let frames = u32::try_from(frames).unwrap_or(u32::MAX);
            stress.again(link, seed, frames, &without)
        }
    };
    if report.cases.is_empty() {
        return Err(Fault::invalid(format_args!("there is no link {:?}", again.unwrap_or_default().link)));
    }
    if let (Some(folder), Some(failure)) = (&folder, &report.failure) {
        let files = failure.files().map_err(Fault::failed)?;
        let unwritten = |error| Fault::failed(format_args!("{}: {error}", folder.display()));
        rebout::net::folder::write(folder, &files).map_err(unwritten)?;
    }
    let case = |case: &Case| {
        let Case { link_name, seed, frames, without, .. } = case;
        format!("link = {link_name:?}, seed = {seed}, frames = {frames}, without = {:?}", without.join(","))
    };
    let failure = report.failure.as_ref().map(|failure| failure.describe(case)).unwrap_or_default();
    let text = format!("{}{}{failure}", report.tally.table(), report.tally.summary(None));
    Ok(StressReport { is_well: report.is_well(), text })
}

/// Hunts desyncs in the game that `make` makes.
///
/// # Errors
/// Always: the library was built without the lab.
#[cfg(not(feature = "lab"))]
pub fn stress<G: Game<Snapshot = State> + 'static>(
    _: StressPlan,
    _: Box<Make<G>>,
    _: Option<Box<Press>>,
) -> Result<StressReport, Fault> {
    let _ = MAX_STRESS_FRAMES;
    Err(Fault::new(Status::Unsupported, "this library was built without the feature lab"))
}

#[cfg(feature = "lab")]
const _: Status = Status::Unsupported;
