//! The report: one page that needs nothing but itself.

use super::heat;
use super::plot::{Marks, Plot, Series, ceiling};
use super::report::Report;
use super::sample::{Moment, Sample};
use super::tally::{COLUMNS, Row};
use crate::lab::html;
use crate::lab::link::{Chance, LinkConfig};
use crate::lab::text::{escaped, grouped};
use std::fmt::Write;

/// Into how many stretches the time of a match is divided for a plot.
const STRETCHES: usize = 300;

/// The parts of the page that a report does not know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'a> {
    /// The time that the run took, to show its speed.
    pub seconds: Option<f64>,
    /// The description of the failure, in place of the report's own.
    pub failure: Option<&'a str>,
    /// The verdict, for a run whose failures are expected.
    pub is_well: Option<bool>,
    /// HTML before the table of the links.
    pub section: &'a str,
}

pub(super) struct Page<'a> {
    pub(super) report: &'a Report,
    pub(super) extras: Extras<'a>,
}

impl Page<'_> {
    pub(super) fn html(&self) -> String {
        let mut html = String::new();
        self.head(&mut html);
        self.failure(&mut html);
        html.push_str(self.extras.section);
        self.table(&mut html);
        heat::map(&mut html, &self.report.tally.rows);
        self.plots(&mut html);
        html::page("Stress report", &html)
    }

    fn head(&self, html: &mut String) {
        let (report, total) = (self.report, self.report.tally.total());
        let (class, word) = if self.extras.is_well.unwrap_or(report.is_well()) {
            ("good", "All is well")
        } else {
            ("bad", "Not well")
        };
        let _ = write!(html, "<h1>Stress report</h1><p class=\"verdict {class}\">{word}</p><dl>");
        let per_s = |seconds: f64| grouped((total.figures.frames as f64 / seconds.max(1e-6)) as u64);
        let facts = [
            ("game", Some(escaped(&report.game))),
            ("seed", Some(report.seed.to_string())),
            ("matches", Some(grouped(u64::from(total.matches)))),
            ("frames", Some(grouped(total.figures.frames))),
            ("frames a second", self.extras.seconds.map(per_s)),
            ("resimulated", Some(grouped(total.figures.resimulated))),
            ("checksums compared", Some(grouped(total.figures.checksums))),
            ("diverged", Some(total.divergences.to_string())),
            ("vacuous", Some(total.vacuous.to_string())),
            (
                "links not played",
                (!report.tally.unplayed.is_empty()).then(|| report.tally.unplayed.join(", ")),
            ),
        ];
        for (name, value) in facts.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            let _ = write!(html, "<div><dt>{name}</dt><dd>{value}</dd></div>");
        }
        html.push_str("</dl>");
    }

    fn failure(&self, html: &mut String) {
        let Some(failure) = &self.report.failure else { return };
        let text = self.extras.failure.map_or_else(|| failure.to_string(), str::to_owned);
        let _ = write!(html, "<h2>The first failure</h2><pre>{}</pre>", escaped(&text));
        let Some(autopsy) = failure.outcome.autopsy() else { return };
        html.push_str(
            "<div class=\"wide\"><table class=\"words\"><thead><tr><th>field</th><th>player one</th><th>player two</th>\
             </tr></thead><tbody>",
        );
        for field in autopsy.fields.iter().take(50) {
            let shown = |side: &Option<String>| escaped(side.as_deref().unwrap_or("(absent)"));
            let _ = write!(
                html,
                "<tr><th><code>{}</code></th><td>{}</td><td>{}</td></tr>",
                escaped(&field.path),
                shown(&field.one),
                shown(&field.two)
            );
        }
        html.push_str("</tbody></table></div>");
    }

    fn table(&self, html: &mut String) {
        html.push_str("<h2>Links</h2><div class=\"wide\"><table><thead><tr>");
        for name in COLUMNS {
            let _ = write!(html, "<th>{name}</th>");
        }
        html.push_str("</tr></thead><tbody>");
        let (tally, total) = (&self.report.tally, self.report.tally.total());
        for row in tally.rows.iter().chain((tally.rows.len() > 1).then_some(&total)) {
            html.push_str(if row.name == total.name { "<tr class=\"total\">" } else { "<tr>" });
            for (at, cell) in row.cells().iter().enumerate() {
                let tag = if at == 0 { "th" } else { "td" };
                let _ = write!(html, "<{tag}>{cell}</{tag}>");
            }
            html.push_str("</tr>");
        }
        html.push_str(
            "</tbody></table></div><p class=\"note\">Frames are counted on both machines. Depth: how many frames a \
             rollback went back. Stalled: of the frames that were due, those that had to wait for the other side. \
             Bytes/s: what one machine sends, without the headers of UDP and IP.</p>",
        );
    }

    /// A match on each link over time: the worst link first and open, the others folded.
    fn plots(&self, html: &mut String) {
        html.push_str(
            "<h2>A match on each link, the worst first</h2><p class=\"legend\"><span class=\"one\"></span> the machine \
             that hosts, upward <span class=\"two\"></span> the one that joins, downward</p>",
        );
        let mut rows: Vec<&Row> = self.report.tally.rows.iter().collect();
        rows.sort_by(|a, b| {
            let worse = b.divergences.cmp(&a.divergences);
            worse.then(b.stalled_percent().total_cmp(&a.stalled_percent()))
        });
        let mut open = " open";
        for row in rows {
            let mut played = self.report.cases.iter().zip(&self.report.outcomes);
            let sampled =
                played.find(|(case, outcome)| case.link_name == row.name && !outcome.samples[0].0.is_empty());
            let Some((case, outcome)) = sampled else { continue };
            let _ = write!(
                html,
                "<details{open}><summary><h3>{}</h3><span class=\"note\">{}; seed {}</span><span class=\"figures\">\
                 depth p99 {}, {:.2} % stalled</span></summary><div class=\"plots\">",
                row.name,
                described(&case.link),
                case.seed,
                row.depth(99),
                row.stalled_percent()
            );
            over_time(html, &outcome.samples);
            html.push_str("</div></details>");
            open = "";
        }
    }
}

fn figure(html: &mut String, title: &str, plot: &Plot<'_>) {
    let _ = write!(html, "<figure><figcaption>{title}</figcaption>{}</figure>", plot.svg());
}

/// One value for each stretch of time, from the moments in it.
fn stretched(sample: &Sample, seconds: f64, value: impl Fn(&[Moment]) -> f64) -> Vec<(f64, f64)> {
    let mut points = Vec::with_capacity(STRETCHES);
    let mut rest = &sample.0[..];
    for stretch in 0..STRETCHES {
        let end = (stretch + 1) as f64 * seconds / STRETCHES as f64;
        let count = rest.partition_point(|moment| moment.at.as_secs_f64() < end);
        let (now, later) = rest.split_at(count);
        rest = later;
        if !now.is_empty() {
            points.push((stretch as f64 * seconds / STRETCHES as f64, value(now)));
        }
    }
    points
}

fn over_time(html: &mut String, samples: &[Sample; 2]) {
    let last = |sample: &Sample| sample.0.last().map_or(0.0, |moment| moment.at.as_secs_f64());
    let seconds = last(&samples[0]).max(last(&samples[1])).max(0.1);
    let both = |marks: [Marks; 2], value: &dyn Fn(&[Moment]) -> f64| -> Vec<Series> {
        let series = samples.iter().zip(["one", "two"]).zip(marks);
        series
            .map(|((sample, class), marks)| {
                let points = stretched(sample, seconds, value);
                Series { class, marks, points }
            })
            .collect()
    };
    let mirrored = [Marks::Bars, Marks::BarsDown];
    let values = |series: &[Series]| -> Vec<f64> {
        series.iter().flat_map(|series| series.points.iter().map(|(_, y)| *y)).collect()
    };
    let bar = seconds / STRETCHES as f64;
    let plot = |y_label: &'static str, y: (f64, f64), series: Vec<Series>| Plot {
        x_label: "seconds",
        y_label,
        x: (0.0, seconds),
        y,
        bar,
        series,
    };

    let depth = both(mirrored, &|now| f64::from(now.iter().map(|moment| moment.depth).max().unwrap_or(0)));
    let top = ceiling(values(&depth).into_iter(), 4.0);
    let title = format!("Rollback depth, the deepest in every {bar:.1} s");
    figure(html, &title, &plot("frames", (-top, top), depth));

    let stalls = both(mirrored, &|now| {
        now.iter().filter(|moment| moment.stalled).count() as f64 * 100.0 / now.len() as f64
    });
    let top = ceiling(values(&stalls).into_iter(), 10.0).min(100.0);
    figure(html, "Stalled, of the frames that were due", &plot("%", (-top, top), stalls));

    let lead = both([Marks::Line; 2], &|now| {
        now.iter().map(|moment| f64::from(moment.lead)).sum::<f64>() / now.len() as f64
    });
    let reach = ceiling(values(&lead).into_iter().map(f64::abs), 1.0);
    figure(html, "Frame lead (positive: ahead)", &plot("frames", (-reach, reach), lead));
}

/// The impairments of a link, in words.
fn described(link: &LinkConfig) -> String {
    let millis = |time: std::time::Duration| format!("{} ms", time.as_secs_f64() * 1e3);
    let mut parts = vec![format!("{} one way", millis(link.latency))];
    if !link.jitter.is_zero() {
        parts.push(format!("jitter {}", millis(link.jitter)));
    }
    let chances = [
        (link.loss, "lost"),
        (link.reorder, "held back"),
        (link.duplicate, "doubled"),
        (link.truncate, "cut short"),
        (link.corrupt, "with bits flipped"),
    ];
    let happening = chances.iter().filter(|(chance, _)| *chance != Chance::NEVER);
    parts.extend(happening.map(|(chance, what)| format!("{chance} {what}")));
    if let Some(burst) = link.burst {
        let (length, gap) = (millis(burst.mean_length), burst.mean_gap.as_secs_f64());
        parts.push(format!("bursts of some {length}, some {gap} s apart, with {} lost", burst.loss));
    }
    if let Some(bandwidth) = link.bandwidth {
        parts.push(format!("{} kbit/s", bandwidth.bits_per_s / 1_000));
    }
    parts.join(", ")
}
