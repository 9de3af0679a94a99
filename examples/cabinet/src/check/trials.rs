//! The sync test, and the stress test of the lab, on a core.

use rebout::lab::stress::{Plan as Matches, Stress};
use rebout::{Difference, Player, SyncTest, SyncTestError};

use super::Plan;
use super::pool::Pool;
use super::states::named;
use crate::setup::Setup;

/// The greatest depth of a rollback in the sync test.
const DEPTH: u32 = 8;

/// The frames in which a single button is tried.
const CULPRIT_FRAMES: u32 = 90;

/// A test that failed.
#[derive(Clone, Debug)]
pub struct Fault {
    pub text: String,
    /// The offsets in the save state that differ, if nothing else does.
    pub offsets: Vec<usize>,
    /// Whether the save itself changes the core.
    pub is_of_save: bool,
}

/// Runs both tests; the first fault.
pub(super) fn run(setup: &Setup, plan: &Plan, tell: &mut dyn FnMut(String)) -> Result<Option<Fault>, String> {
    if let Some(fault) = sync_test(setup, plan, tell)? {
        return Ok(Some(fault));
    }
    if plan.match_frames == 0 {
        return Ok(None);
    }
    stress(setup, plan, tell)
}

fn sync_test(setup: &Setup, plan: &Plan, tell: &mut dyn FnMut(String)) -> Result<Option<Fault>, String> {
    let mut machine = setup.machine().map_err(|error| error.to_string())?;
    let mut test = SyncTest::new(&machine, DEPTH, 1);
    for frame in 0..plan.sync_frames {
        let inputs = Player::BOTH.map(|player| plan.bot.at(player, frame));
        if let Err(error) = test.advance(&mut machine, inputs) {
            return Ok(Some(fault_of(&error)));
        }
    }
    match test.finish() {
        Ok(report) => {
            let (frames, again) = (report.frames, report.resimulated_frames);
            tell(format!("sync test: {frames} frames, {again} of them stepped again, all alike"));
            Ok(None)
        }
        // The content is at fault here, and no rule would help.
        Err(error) => Err(format!("the sync test proves nothing: {error}")),
    }
}

/// Whether the sync test fails if no button is ever pressed.
pub(super) fn is_faulty_at_rest(setup: &Setup, plan: &Plan) -> bool {
    is_faulty_with(setup, plan, 0)
}

/// The buttons with each of which alone the sync test fails.
pub(super) fn culprits(setup: &Setup, plan: &Plan) -> u16 {
    let buttons = (0..u16::BITS).map(|at| 1 << at).filter(|button| setup.rules.buttons & button != 0);
    buttons
        .filter(|button| is_faulty_with(setup, plan, *button))
        .fold(0, |culprits, button| culprits | button)
}

fn is_faulty_with(setup: &Setup, plan: &Plan, buttons: u16) -> bool {
    let plan = Plan { sync_frames: plan.sync_frames.min(CULPRIT_FRAMES), ..plan.clone() };
    let mut only = setup.clone();
    only.rules.buttons = buttons;
    // A button without an effect proves nothing, which is no fault here.
    matches!(sync_test(&only, &plan, &mut |_| {}), Ok(Some(_)))
}

fn fault_of(error: &SyncTestError) -> Fault {
    let (what, fields): (String, &[Difference]) = match error {
        SyncTestError::Restore { frame, fields, .. } => {
            (format!("sync test, frame {frame}: a restored state is not the one that was saved"), fields)
        }
        SyncTestError::Resimulation { frame, fields, .. } => {
            (format!("sync test, frame {frame}: the same inputs led to another state"), fields)
        }
        SyncTestError::Unsaved { frame, fields, .. } => {
            (format!("sync test, frame {frame}: the state depends on how often it was saved"), fields)
        }
        SyncTestError::Trial { frame, fields } => {
            (format!("sync test, frame {frame}, other buttons: two steps of one state differ"), fields)
        }
        SyncTestError::Shown { frame, fields } => (
            format!("sync test, frame {frame}: the state depends on whether picture and sound are wanted"),
            fields,
        ),
        other => (format!("sync test: {other}"), &[]),
    };
    let is_of_save = matches!(error, SyncTestError::Unsaved { .. });
    let length = fields.iter().find(|field| field.path == "state.len");
    let what = match length.map(|field| (field.left.as_deref(), field.right.as_deref())) {
        Some((Some(before), Some(after))) => {
            format!("{what}: the states of the core grow: {before} bytes, then {after}")
        }
        _ => what,
    };
    Fault {
        text: if fields.is_empty() { what } else { format!("{what}: {}", named(fields)) },
        offsets: offsets(fields.iter().map(|field| &*field.path)),
        is_of_save,
    }
}

/// The offsets of fields in the save state; none if another field is among them, because memory that differs is no leftover.
fn offsets<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let offset = |path: &str| {
        let hex = path.strip_prefix("state[0x")?.strip_suffix(']')?;
        usize::from_str_radix(hex, 16).ok()
    };
    paths.map(offset).collect::<Option<_>>().unwrap_or_default()
}

fn stress(setup: &Setup, plan: &Plan, tell: &mut dyn FnMut(String)) -> Result<Option<Fault>, String> {
    let pool = Pool::new(setup)?;
    let bot = plan.bot.clone();
    // A machine of the pool goes from match to match, as in a rematch.
    let without = vec!["rematch".to_owned()];
    let matches = Matches { match_frames: plan.match_frames, without, ..Matches::default() };
    let links = matches.links.len() as u64;
    let frames = links * 2 * u64::from(plan.match_frames);
    let stress = Stress::new(move |_| pool.take())
        .name("core")
        .pads(plan.bot.pads)
        .press(move |turn| bot.at(turn.player, turn.frame.0))
        .plan(matches);
    let report = stress.run(frames);
    if report.is_well() {
        let resimulated: u64 = report.outcomes.iter().map(|outcome| outcome.figures.resimulated).sum();
        let played = report.cases.len();
        tell(format!(
            "stress test: {played} matches on {links} links, {resimulated} frames stepped again, all agree"
        ));
        return Ok(None);
    }
    let Some(failure) = &report.failure else { return Err(report.to_string()) };
    let fields = failure.autopsy().map(|autopsy| &autopsy.fields[..]).unwrap_or_default();
    Ok(Some(Fault {
        text: format!("stress test: {failure}"),
        offsets: offsets(fields.iter().map(|field| &*field.path)),
        is_of_save: false,
    }))
}
