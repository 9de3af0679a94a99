//! Plots as SVG, drawn by hand: axes with round numbers, a grid, and a few kinds of marks.

use std::fmt::Write;

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 170.0;
const LEFT: f64 = 42.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 34.0;

/// How points are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    /// A line through all points.
    Line,
    /// A bar from zero up to each point.
    Bars,
    /// A bar from zero down by each point: what belongs to the second machine mirrors what belongs to the first.
    BarsDown,
}

/// Points of one colour.
pub(super) struct Series {
    /// A class of the page's style sheet.
    pub(super) class: &'static str,
    pub(super) marks: Marks,
    pub(super) points: Vec<(f64, f64)>,
}

/// One plot.
pub(super) struct Plot<'a> {
    pub(super) x_label: &'a str,
    pub(super) y_label: &'a str,
    pub(super) x: (f64, f64),
    pub(super) y: (f64, f64),
    /// The width of a bar, in units of x.
    pub(super) bar: f64,
    pub(super) series: Vec<Series>,
}

impl Plot<'_> {
    pub(super) fn svg(&self) -> String {
        let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">");
        self.grid(&mut svg);
        for series in &self.series {
            match series.marks {
                Marks::Line => self.line(&mut svg, series),
                Marks::Bars | Marks::BarsDown => self.bars(&mut svg, series),
            }
        }
        let zero = self.at_y(0.0_f64.clamp(self.y.0, self.y.1));
        let right = WIDTH - RIGHT;
        let _ = write!(svg, "<path class=\"axis\" d=\"M{LEFT} {zero:.1}H{right}\"/></svg>");
        svg
    }

    fn at_x(&self, x: f64) -> f64 {
        LEFT + (x - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - LEFT - RIGHT)
    }

    fn at_y(&self, y: f64) -> f64 {
        HEIGHT - BOTTOM - (y - self.y.0) / (self.y.1 - self.y.0) * (HEIGHT - TOP - BOTTOM)
    }

    fn grid(&self, svg: &mut String) {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        let mirrored = self.series.iter().any(|series| series.marks == Marks::BarsDown);
        for y in ticks(self.y, 4.0) {
            let at = self.at_y(y);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/>");
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 5.0,
                at + 4.0,
                shown(if mirrored { y.abs() } else { y })
            );
        }
        for x in ticks(self.x, 6.0) {
            let at = self.at_x(x);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{at:.1} {bottom}v4\"/>");
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                bottom + 15.0,
                shown(x)
            );
        }
        let _ = write!(
            svg,
            "<text class=\"label\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text class=\"label\" transform=\"translate(11 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(LEFT, right),
            HEIGHT - 4.0,
            self.x_label,
            f64::midpoint(TOP, bottom),
            self.y_label
        );
    }

    fn line(&self, svg: &mut String, series: &Series) {
        let _ = write!(svg, "<path class=\"line {}\" d=\"", series.class);
        for (index, (x, y)) in series.points.iter().enumerate() {
            let y = y.clamp(self.y.0, self.y.1);
            let pen = if index == 0 { 'M' } else { 'L' };
            let _ = write!(svg, "{pen}{:.1} {:.1}", self.at_x(*x), self.at_y(y));
        }
        svg.push_str("\"/>");
    }

    /// All bars of a series as one shape.
    fn bars(&self, svg: &mut String, series: &Series) {
        let _ = write!(svg, "<path class=\"bars {}\" d=\"", series.class);
        let zero = self.at_y(0.0);
        let sign = if series.marks == Marks::BarsDown { -1.0 } else { 1.0 };
        for (x, y) in series.points.iter().filter(|(_, y)| *y > 0.0) {
            let (left, right, top) =
                (self.at_x(*x), self.at_x(*x + self.bar), self.at_y(sign * y.min(self.y.1)));
            let _ = write!(svg, "M{left:.1} {zero:.1}V{top:.1}H{right:.1}V{zero:.1}Z");
        }
        svg.push_str("\"/>");
    }
}

/// Round numbers within a range, about so many.
fn ticks((low, high): (f64, f64), about: f64) -> Vec<f64> {
    let raw = ((high - low) / about).max(1e-9);
    let magnitude = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * magnitude >= raw * 0.999).unwrap_or(10.0);
    let step = step * magnitude;
    let (first, last) = ((low / step).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(|index| index as f64 * step).collect()
}

fn shown(value: f64) -> String {
    if value.abs() >= 10_000.0 {
        format!("{}k", value / 1_000.0)
    } else if (value - value.round()).abs() < 1e-9 {
        format!("{value:.0}")
    } else {
        // A minus sign, and no more digits than it takes.
        format!("{value:.2}").trim_end_matches('0').to_owned()
    }
}

/// The next round number above the greatest of these, and at least `least`.
pub(super) fn ceiling(values: impl Iterator<Item = f64>, least: f64) -> f64 {
    let most = values.fold(least, f64::max);
    let magnitude = 10_f64.powf(most.log10().floor());
    let rounds = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    rounds.into_iter().map(|round| round * magnitude).find(|round| *round >= most).unwrap_or(most)
}
