//! Checks whether a core is fit for rollback.
//!
//! | file | |
//! |---|---|
//! | `states` | two fresh cores, a state handed over, bytes that a core does not write, times |
//! | `trials` | the sync test, and the stress test of the lab on copies of the core |
//! | `pool` | copies of a core that are used again, because a stress test makes many machines |
//!
//! A core that fails is tried again with other [rules](crate::machine::Rules): with the bytes set to 0 that differ and lead to
//! nothing, with a save in every step, and without the buttons that it takes. It is fit with these rules if all tests pass with them.

mod pool;
mod states;
mod trials;

pub use states::Times;
pub use trials::Fault;

use std::fmt;
use std::ops::Range;

use crate::pads::{Bot, names};
use crate::setup::Setup;

/// Rounds of adding bytes to those that are not compared.
const MAX_ROUNDS: usize = 8;
/// More bytes than this are no leftover, but state.
const MAX_IGNORED: usize = 256;

/// How much is tested.
#[derive(Clone, Debug)]
pub struct Plan {
    pub bot: Bot,
    /// The frames of the sync test.
    pub sync_frames: u32,
    /// The frames of each match of the stress test; 0 is none.
    pub match_frames: u32,
}

/// Whether a core is fit for rollback.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// As it is.
    Fit,
    /// With bytes that are not compared, or a save in each step.
    FitWith { arguments: String, why: Vec<String> },
    /// In no way that was tried.
    Unfit { why: Vec<String> },
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons = |f: &mut fmt::Formatter<'_>, why: &[String]| {
            why.iter()
                .try_for_each(|reason| reason.lines().take(12).try_for_each(|line| write!(f, "\n  {line}")))
        };
        match self {
            Self::Fit => f.write_str("fit for rollback"),
            Self::FitWith { arguments, why } => {
                write!(f, "fit for rollback with {arguments}; without it:")?;
                reasons(f, why)
            }
            Self::Unfit { why } => {
                f.write_str("not fit for rollback:")?;
                reasons(f, why)
            }
        }
    }
}

/// Checks a core, and tells what it finds as it goes.
///
/// # Errors
/// A sentence, if the core cannot be used at all.
pub fn check(setup: &Setup, plan: &Plan, tell: &mut dyn FnMut(String)) -> Result<Verdict, String> {
    let mut setup = setup.clone();
    let findings = states::look(&setup, plan, tell)?;
    let mut why: Vec<String> = Vec::new();
    let given = setup.rules.clone();
    for _ in 0..MAX_ROUNDS {
        let Some(fault) = trials::run(&setup, plan, tell)? else {
            return Ok(match setup.rules == given {
                true => Verdict::Fit,
                false => Verdict::FitWith { arguments: arguments(&setup), why },
            });
        };
        tell(fault.text.clone());
        why.push(fault.text.clone());
        let ignored: usize = setup.rules.ignored.iter().map(Range::len).sum();
        if (fault.is_of_save || findings.polls_in_serialize) && !setup.rules.saves_in_step {
            setup.rules.saves_in_step = true;
            tell("again, with a save at the end of each step".to_owned());
            continue;
        }
        // A fault that comes without a press is none of a button.
        let culprits =
            if trials::is_faulty_at_rest(&setup, plan) { 0 } else { trials::culprits(&setup, plan) };
        if culprits != 0 && culprits != setup.rules.buttons {
            setup.rules.buttons &= !culprits;
            tell(format!("it takes one of these buttons: {}; again, without them", names(culprits)));
        } else if !fault.offsets.is_empty() && ignored + fault.offsets.len() <= MAX_IGNORED {
            setup.rules.ignored = joined(&setup.rules.ignored, &fault.offsets);
            tell(format!("again, without comparing {}", ranges(&setup.rules.ignored)));
        } else {
            break;
        }
    }
    if findings.polls_in_serialize {
        why.push("the core reads its pads while it saves its state".to_owned());
    }
    Ok(Verdict::Unfit { why })
}

/// The arguments of the command line that give these rules.
fn arguments(setup: &Setup) -> String {
    let mut words = Vec::new();
    if !setup.rules.ignored.is_empty() {
        words.push(format!("--ignore {}", ranges(&setup.rules.ignored)));
    }
    if setup.rules.buttons != u16::MAX {
        words.push(format!("--without {}", names(!setup.rules.buttons)));
    }
    if setup.rules.saves_in_step {
        words.push("--save-in-step".to_owned());
    }
    words.join(" ")
}

/// Ranges as they are written on the command line: `0x10-0x13,0x20`.
pub fn ranges(ranges: &[Range<usize>]) -> String {
    let range = |range: &Range<usize>| match range.len() {
        1 => format!("{:#x}", range.start),
        _ => format!("{:#x}-{:#x}", range.start, range.end - 1),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

/// Reads ranges of the command line.
///
/// # Errors
/// The part that is no range.
pub fn parse_ranges(text: &str) -> Result<Vec<Range<usize>>, String> {
    let number = |text: &str| {
        let hex = text.trim().strip_prefix("0x");
        hex.map_or_else(|| text.trim().parse().ok(), |hex| usize::from_str_radix(hex, 16).ok())
    };
    text.split(',')
        .map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            match (number(first), number(last)) {
                (Some(first), Some(last)) if first <= last && last < crate::ffi::MAX_STATE => {
                    Ok(first..last + 1)
                }
                _ => Err(format!("{part:?} is no range of bytes such as 0x10-0x13")),
            }
        })
        .collect()
}

/// The ranges with more bytes in them, in order and as few as possible.
fn joined(ranges: &[Range<usize>], offsets: &[usize]) -> Vec<Range<usize>> {
    let mut all: Vec<usize> = ranges.iter().cloned().flatten().chain(offsets.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let mut joined: Vec<Range<usize>> = Vec::new();
    for at in all {
        match joined.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => joined.push(at..at + 1),
        }
    }
    joined
}
