//! The figures as JSON, for programs.

use crate::cli::{Args, USUAL_MATCHES};
use crate::planting::Planting;
use rebout::lab::stress::{Condition, Row, Tally};
use rebout::lab::text::quoted;
use std::fmt::Write;

fn optional<T>(value: Option<T>, shown: impl Fn(T) -> String) -> String {
    value.map_or("null".to_owned(), shown)
}

fn link(row: &Row) -> String {
    format!(
        "{{\"link\":{},\"matches\":{},\"frames\":{},\"rollbacks\":{},\"depth_p50\":{},\"depth_p99\":{},\
         \"stalled_percent\":{:.4},\"bytes_per_s\":{:.1},\"refused\":{},\"divergences\":{},\"vacuous\":{},\
         \"stalled\":{},\"resimulated\":{},\"bytes\":{},\"played_ns\":{},\"checksums\":{},\"depths\":[{}]}}",
        quoted(row.name),
        row.matches,
        row.figures.frames,
        row.figures.rollbacks,
        row.depth(50),
        row.depth(99),
        row.stalled_percent(),
        row.bytes_per_s(),
        row.figures.refused,
        row.divergences,
        row.vacuous,
        row.figures.stalled,
        row.figures.resimulated,
        row.figures.bytes,
        row.figures.played.as_nanos(),
        row.figures.checksums,
        row.figures.depths.map(|count| count.to_string()).join(","),
    )
}

/// The run that a report is of.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) args: &'a Args,
    /// The description of the first failure.
    pub(crate) failure: Option<&'a str>,
}

impl Run<'_> {
    /// The arguments that all shards of a run have in common.
    fn arguments(&self) -> String {
        let args = self.args;
        #[cfg(feature = "seal")]
        let sealed = args.sealed;
        #[cfg(not(feature = "seal"))]
        let sealed = false;
        let conditions: Vec<_> = args.conditions().iter().map(Condition::name).collect();
        format!(
            "{{\"game\":{},\"link\":{},\"seed\":\"{}\",\"matches\":{},\"frames\":{},\"sealed\":{sealed},\
             \"conditions\":{},\"drawn\":{},\"without\":{}}}",
            quoted(&args.game),
            quoted(&args.link),
            args.seed,
            args.matches.unwrap_or(USUAL_MATCHES),
            args.frames,
            quoted(&conditions.join(",")),
            args.drawn,
            quoted(&args.without.join(",")),
        )
    }
}

fn planted(planting: &Planting) -> String {
    let frame = |found: Option<u32>| optional(found, |frame| frame.to_string());
    format!(
        "{{\"name\":{},\"caught\":{},\"by\":{},\"frames\":{},\"field\":{},\"side\":{},\"right\":{},\
         \"sync_test\":{},\"oracle\":{},\"checksum\":{}}}",
        quoted(planting.name),
        planting.is_caught(),
        quoted(&planting.by().join(", ")),
        frame(planting.frames()),
        optional(planting.field.as_deref(), quoted),
        optional(planting.side, quoted),
        planting.is_right(),
        frame(planting.sync_test),
        frame(planting.oracle),
        frame(planting.checksum),
    )
}

/// Everything as one object.
pub(crate) fn object(
    tally: &Tally,
    run: Option<Run<'_>>,
    plantings: Option<&[Planting]>,
    seconds: f64,
) -> String {
    let total = tally.total();
    let links: Vec<String> = tally.rows.iter().map(link).collect();
    let mut object = format!(
        "{{\"matches\":{},\"frames\":{},\"divergences\":{},\"vacuous\":{},\"frames_per_s\":{:.0},\"links\":[{}],\"unplayed\":[{}]",
        total.matches,
        total.figures.frames,
        total.divergences,
        total.vacuous,
        total.figures.frames as f64 / seconds.max(1e-6),
        links.join(","),
        tally.unplayed.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(","),
    );
    let _ = write!(
        object,
        ",\"failures\":{},\"excused\":{},\"seconds\":{seconds:.3}",
        tally.failures, tally.excused
    );
    if let Some(run) = run {
        let shard = optional(run.args.shard, |shard| format!("[{},{}]", shard.number, shard.of));
        let failure = optional(run.failure, quoted);
        let _ = write!(object, ",\"run\":{},\"shard\":{shard},\"failure\":{failure}", run.arguments());
    }
    if let Some(plantings) = plantings {
        let planted: Vec<String> = plantings.iter().map(planted).collect();
        let _ = write!(object, ",\"planted\":[{}]", planted.join(","));
    }
    object.push('}');
    object
}
