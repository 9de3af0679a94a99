//! Line plots as SVG, with logarithmic axes where asked.

use std::fmt::Write as _;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
pub(crate) struct Plot<'a> {
    pub(crate) title: &'a str,
    pub(crate) x: Axis<'a>,
    pub(crate) y: Axis<'a>,
    pub(crate) lines: Vec<Line<'a>>,
}

pub(crate) struct Line<'a> {
    /// Stands beside the line, so that no colour is needed to tell it.
    pub(crate) name: &'a str,
    pub(crate) colour: &'a str,
    pub(crate) points: Vec<(f64, f64)>,
}

pub(crate) struct Axis<'a> {
    pub(crate) label: &'a str,
    pub(crate) log: bool,
    /// Where a number stands, and its text.
    pub(crate) marks: Vec<(f64, String)>,
}

impl Axis<'_> {
    /// The place of a value between 0 and 1.
    fn place(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.log { value.max(1e-9).ln() } else { value };
        let ends = (self.marks.first().map_or(0.0, |m| m.0), self.marks.last().map_or(1.0, |m| m.0));
        let (low, high) = (scale(ends.0), scale(ends.1));
        ((scale(value) - low) / (high - low)).clamp(0.0, 1.0)
    }
}

impl Plot<'_> {
    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let across = LEFT + self.x.place(x) * (WIDTH - LEFT - RIGHT);
        (across, HEIGHT - BOTTOM - self.y.place(y) * (HEIGHT - TOP - BOTTOM))
    }

    pub(crate) fn svg(&self) -> String {
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{}</text>\n",
            self.title
        );
        self.grid(&mut text);
        let mut labels: Vec<(f64, usize)> = Vec::new();
        for (index, Line { colour, points, .. }) in self.lines.iter().enumerate() {
            let placed: Vec<(f64, f64)> = points.iter().map(|point| self.at(*point)).collect();
            let path: Vec<String> = placed.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(
                text,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                path.join(" ")
            );
            for (x, y) in &placed {
                let _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
            }
            labels.extend(placed.last().map(|(_, y)| (*y, index)));
        }
        self.names(&mut text, labels);
        text + "</svg>\n"
    }

    fn grid(&self, text: &mut String) {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        for (value, label) in &self.x.marks {
            let x = LEFT + self.x.place(*value) * (right - LEFT);
            let _ = writeln!(
                text,
                "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"#dddddd\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
                bottom + 17.0
            );
        }
        for (value, label) in &self.y.marks {
            let y = bottom - self.y.place(*value) * (bottom - TOP);
            let _ = writeln!(
                text,
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                LEFT - 6.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            (LEFT + right) / 2.0,
            HEIGHT - 12.0,
            self.x.label,
            (TOP + bottom) / 2.0,
            self.y.label
        );
    }

    /// The name of each line at its right end, moved apart where two would overlap.
    fn names(&self, text: &mut String, mut labels: Vec<(f64, usize)>) {
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut free = TOP;
        for (y, index) in labels {
            let y = y.max(free);
            free = y + 14.0;
            let _ = writeln!(
                text,
                "<text x=\"{}\" y=\"{:.1}\" fill=\"{}\">{}</text>",
                WIDTH - RIGHT + 10.0,
                y + 4.0,
                self.lines[index].colour,
                self.lines[index].name
            );
        }
    }
}
