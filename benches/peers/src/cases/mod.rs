//! The cases, in the order in which they are measured.

pub(crate) mod counts;
mod links;
mod servers;
mod sessions;
mod times;
mod udp;

use crate::figures::Figures;

/// A case: measures and adds its figures.
type Run = fn(&mut Figures, Effort);

/// The cases by name, in the order in which they are run. Counting comes first, because it needs no quiet machine.
pub(crate) const ALL: [(&str, Run); 10] = [
    ("counts", counts::run),
    ("sync-test", counts::run_sync_tests),
    ("servers", servers::run),
    ("links", links::run),
    ("blackouts", links::run_blackouts),
    ("sessions", sessions::run),
    ("states", times::run),
    ("rollback", times::run_rollbacks),
    ("largest", times::run_largest),
    ("udp", udp::run),
];

/// How much is measured: more makes random figures steadier.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Seconds of virtual time of each match on a link.
    pub(crate) seconds: u64,
    /// How often each measurement of time is repeated.
    pub(crate) rounds: usize,
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
