//! Two bots over loopback UDP, with nothing to see but the figures at the end.

use std::path::Path;

use rebout::{Finish, Player, Verdict};

use super::link::LinkSetting;
use super::machine::Machine;
use super::opponent::{self, Opponent, Orders, Report};
use super::rules::{Preferences, Rules};
use super::{Ending, Failure, exit};
use crate::netgraph::counted;
use games::duel::bot::Bot;

/// Plays the match and sums it up, for people or for programs.
///
/// # Errors
/// If there was no match.
pub fn bots(
    preferences: &Preferences,
    bots: [Bot; 2],
    setting: LinkSetting,
    record: Option<&Path>,
    json: bool,
    bare: bool,
) -> Result<Ending, Failure> {
    let [one, two] = bots;
    let honest = Rules { desync_at: None, ..preferences.rules };
    let config = |name: &str| Preferences { name: name.to_owned(), ..preferences.clone() }.config();
    let host = Opponent::start(config("Bot one"), Player::One, one, honest, setting, bare, record)?;
    let connection = host.join(bare)?;
    let link = if connection.is_encrypted() { "sealed" } else { "bare" };
    let machine = Machine::new(connection, config("Bot two"), preferences.rules, None, None, false)
        .map_err(Failure::of)?;
    let joined = opponent::play(machine, two, &Orders::default());
    // A host whose joiner failed would wait for ever.
    let hosted = host.finish(joined.is_err());
    let reports = [hosted.map_err(Failure::of)?, joined.map_err(Failure::of)?];
    let code = if agree(&reports) { exit::PLAYED } else { exit::FAILED };
    if json {
        let file = reports[0].recording.as_deref();
        if record.is_some() && file.is_none() {
            return Err(Failure::of(reports[0].notices.join(" ")));
        }
        return Ok(Ending { code, ..Ending::of([to_json(preferences, &reports, link, file)]) });
    }
    let mut lines = to_lines(preferences, &reports);
    lines.extend(reports[0].recording.iter().map(|path| format!("Recorded to {}", path.display())));
    lines.extend_from_slice(&reports[0].notices);
    Ok(Ending { lines, code, ..Ending::of([]) })
}

fn agree([one, two]: &[Report; 2]) -> bool {
    one.checksum == two.checksum
        && one.frames == two.frames
        && [one, two].iter().all(|side| matches!(side.finish, Finish::Played(Verdict::Agreed { .. })))
}

fn verdict(report: &Report) -> &'static str {
    match report.finish {
        Finish::Played(Verdict::Agreed { .. }) => "agreed",
        Finish::Played(Verdict::Differs { .. }) => "differs",
        Finish::Played(_) => "unconfirmed",
        _ => "disconnected",
    }
}

/// The worse of the two: a match is as good as what both say of it.
fn joint_verdict(reports: &[Report; 2]) -> &'static str {
    let words = ["differs", "disconnected", "unconfirmed"];
    let told = reports.each_ref().map(verdict);
    words.into_iter().find(|word| told.contains(word)).unwrap_or("agreed")
}

struct Figures {
    frames: u32,
    rollbacks: u64,
    resimulated: u64,
    max_depth: usize,
    stalled_percent: f64,
    round_trip_millis: f64,
    desyncs: u32,
}

impl Figures {
    fn of(reports: &[Report; 2]) -> Self {
        let [one, two] = reports.each_ref().map(|report| &report.stats);
        let deepest = |depths: &[u64]| depths.iter().rposition(|count| *count > 0).unwrap_or(0);
        let (stalled, stepped) = (one.stalled_frames + two.stalled_frames, one.frames + two.frames);
        let millis = |trip: Option<core::time::Duration>| trip.unwrap_or_default().as_secs_f64() * 1e3;
        Self {
            frames: reports[0].frames.min(reports[1].frames),
            rollbacks: one.rollback.rollbacks + two.rollback.rollbacks,
            resimulated: one.rollback.resimulated_frames + two.rollback.resimulated_frames,
            max_depth: deepest(&one.rollback.depths).max(deepest(&two.rollback.depths)),
            stalled_percent: stalled as f64 / (stalled + stepped).max(1) as f64 * 100.0,
            round_trip_millis: f64::midpoint(millis(one.round_trip), millis(two.round_trip)),
            desyncs: reports[0].desyncs.max(reports[1].desyncs),
        }
    }
}

fn to_json(preferences: &Preferences, reports: &[Report; 2], link: &str, file: Option<&Path>) -> String {
    let figures = Figures::of(reports);
    let [one, two] = reports.each_ref().map(|report| report.checksum);
    let field = reports.iter().find_map(|report| report.autopsy.as_ref()?.fields.first());
    let or_null = |text: Option<String>| text.map_or_else(|| "null".to_owned(), |text| quoted(&text));
    let field = or_null(field.map(ToString::to_string));
    let file = or_null(file.map(|path| path.display().to_string()));
    format!(
        "{{\"frames\":{},\"checksum_one\":\"{one:08X}\",\"checksum_two\":\"{two:08X}\",\"verdict\":\"{}\",\
         \"rollbacks\":{},\"resimulated\":{},\"max_depth\":{},\"stalled_pct\":{:.3},\"rtt_ms\":{:.2},\
         \"desyncs\":{},\"first_field\":{field},\"replay\":{file},\"seed\":{},\"frame_rate\":{},\
         \"link\":\"{link}\"}}",
        figures.frames,
        joint_verdict(reports),
        figures.rollbacks,
        figures.resimulated,
        figures.max_depth,
        figures.stalled_percent,
        figures.round_trip_millis,
        figures.desyncs,
        reports[0].seed,
        preferences.frame_rate,
    )
}

/// A string of JSON, with everything but plain characters escaped: it may be read in a terminal.
fn quoted(text: &str) -> String {
    let mut shown = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => shown.extend(['\\', character]),
            ' '..='~' => shown.push(character),
            _ => character
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| shown.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    shown.push('"');
    shown
}

fn to_lines(preferences: &Preferences, reports: &[Report; 2]) -> Vec<String> {
    let figures = Figures::of(reports);
    let mut lines = vec![format!(
        "{} at {} a second, seed {}: {}",
        counted(figures.frames.into(), "frame"),
        preferences.frame_rate,
        reports[0].seed,
        joint_verdict(reports)
    )];
    for (report, name) in reports.iter().zip(["one", "two"]) {
        let stats = &report.stats;
        lines.push(format!(
            "player {name}: checksum {:08X}, {}, {} resimulated, {} stalled, {} out, {} in",
            report.checksum,
            counted(stats.rollback.rollbacks, "rollback"),
            counted(stats.rollback.resimulated_frames, "frame"),
            stats.stalled_frames,
            counted(stats.packets_out, "packet"),
            stats.packets_in,
        ));
    }
    lines.push(format!(
        "round trip {:.1} ms, deepest rollback {}, {:.2} % of frames stalled, {}",
        figures.round_trip_millis,
        counted(figures.max_depth as u64, "frame"),
        figures.stalled_percent,
        counted(figures.desyncs.into(), "desync")
    ));
    if let Some(autopsy) = reports.iter().find_map(|report| report.autopsy.as_ref()) {
        lines.extend(autopsy.to_string().lines().map(str::to_owned));
    }
    lines
}
