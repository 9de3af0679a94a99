//! The states of a core before anything is played: fresh, handed over, and how long they take.

use std::time::{Duration, Instant};

use rebout::{FrameRate, Player, Save, diff};

use super::Plan;
use crate::ffi::fill_fresh_memory;
use crate::machine::Machine;
use crate::setup::Setup;

/// Differences that are named.
const NAMED: usize = 4;
/// Frames before the times are taken, and frames in which they are.
const WARM_UP: u32 = 60;
const TIMED: u32 = 120;

/// What was found out about states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Findings {
    pub(super) polls_in_serialize: bool,
}

/// How long a step, a save and a restore take on the processor: the mean of each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub run: Duration,
    pub hidden_run: Duration,
    pub save: Duration,
    pub restore: Duration,
}

impl Times {
    /// The frames of a rollback that fit a frame, with the save of each and the step that is shown.
    pub fn frames_in(&self, frame: Duration) -> u32 {
        let left = frame.saturating_sub(self.restore + self.run + self.save);
        let each = (self.hidden_run + self.save).max(Duration::from_nanos(1));
        u32::try_from(left.as_nanos() / each.as_nanos()).unwrap_or(u32::MAX)
    }
}

pub(super) fn look(setup: &Setup, plan: &Plan, tell: &mut dyn FnMut(String)) -> Result<Findings, String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    // Fresh memory differs, so that bytes which the core does not initialise do too.
    let filled = |byte| {
        fill_fresh_memory(byte);
        let machine = setup.machine();
        fill_fresh_memory(0);
        machine.map_err(|error| words(&error))
    };
    let (mut one, mut two) = (filled(0x55)?, filled(0xAA)?);
    let facts = one.core().facts().clone();
    let rate = FrameRate::from_f64(facts.fps);
    tell(format!("{} {}, {}", facts.name, facts.version, setup.content.name()));
    tell(format!("{rate} frames a second, sound at {} Hz", facts.sample_rate));
    tell(sizes(&one));

    let fresh = diff(&one.snapshot(), &two.snapshot());
    tell(match fresh.len() {
        0 => "two fresh cores are alike".to_owned(),
        count => format!(
            "two fresh cores differ in {count} bytes, and a match needs the host's first state: {}",
            named(&fresh)
        ),
    });
    let state = one.state().map_err(|error| words(&error))?;
    for machine in [&mut one, &mut two] {
        machine.begin(&state).map_err(|error| words(&error))?;
    }
    let handed = diff(&one.snapshot(), &two.snapshot());
    tell(match handed.len() {
        0 => "a state that is handed over is the same there".to_owned(),
        count => format!("a state that is handed over differs in {count} bytes there: {}", named(&handed)),
    });
    let times = timed(&mut one, plan).map_err(|error| words(&error))?;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    tell(format!(
        "a step takes {:.2} ms, unseen {:.2}, a save {:.3}, a restore {:.3}: a rollback of {} frames fits a frame",
        ms(times.run),
        ms(times.hidden_run),
        ms(times.save),
        ms(times.restore),
        times.frames_in(rate.frame_length()),
    ));
    let polls_in_serialize = one.frontend().polls_in_serialize() > 0;
    if polls_in_serialize {
        tell("it reads its pads while it saves its state, and gets those of the last frame".to_owned());
    }
    Ok(Findings { polls_in_serialize })
}

/// The first fields of a list.
pub(super) fn named(fields: &[rebout::Difference]) -> String {
    let some: Vec<String> = fields.iter().take(NAMED).map(ToString::to_string).collect();
    let rest = if fields.len() > NAMED { ", ..." } else { "" };
    format!("{}{rest}", some.join(", "))
}

/// The size of a state, the bytes of it that the core writes, and the regions of memory.
fn sizes(machine: &Machine) -> String {
    let core = machine.core();
    let size = core.state_size();
    let mut slots = [vec![0x00; size], vec![0xFF; size]];
    let are_saved = slots.iter_mut().all(|slot| core.serialize(slot));
    let unwritten =
        slots[0].iter().zip(&slots[1]).filter(|(zero, ones)| (**zero, **ones) == (0, 0xFF)).count();
    let mut text = format!("a state has {size} bytes");
    if are_saved && unwritten > 0 {
        text += &format!(", of which the core does not write {unwritten}");
    }
    for region in core.regions() {
        text += &format!("; {} has {}", region.name, region.len);
    }
    text
}

fn timed(machine: &mut Machine, plan: &Plan) -> Result<Times, rebout::StateError> {
    let mut slot = machine.snapshot();
    let pads = |frame| {
        let [one, two] = Player::BOTH.map(|player| plan.bot.at(player, frame).pad(0).0);
        [one, two, 0, 0]
    };
    for frame in 0..WARM_UP {
        machine.run(pads(frame), true);
    }
    let run = each(|frame| {
        machine.run(pads(frame), true);
        Ok(())
    })?;
    let hidden_run = each(|frame| {
        machine.run(pads(frame), false);
        Ok(())
    })?;
    // A core that runs on until it can be saved reads its pads in some frames only.
    for frame in 0..TIMED {
        machine.run(pads(frame), frame % 2 == 0);
        machine.save(&mut slot)?;
    }
    let save = each(|_| machine.save(&mut slot))?;
    let restore = each(|_| machine.restore(&slot))?;
    Ok(Times { run, hidden_run, save, restore })
}

/// The mean time of a call, on the processor: a machine that is busy with other things does not make a core slower.
fn each(mut call: impl FnMut(u32) -> Result<(), rebout::StateError>) -> Result<Duration, rebout::StateError> {
    let (start, on_processor) = (Instant::now(), processor_time());
    for frame in 0..TIMED {
        call(WARM_UP + frame)?;
    }
    let taken = match (on_processor, processor_time()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => start.elapsed(),
    };
    Ok(taken / TIMED)
}

/// The time that this thread has spent on a processor, where the system tells it.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
