//! Letters as strokes on a grid of four by six, so that one alphabet serves a window at any size and a terminal
//! whose letters are seven pixels tall.

use crate::{Canvas, Color, Point, at};

/// From one letter to the next, in grid units.
const ADVANCE: f32 = 6.0;
const TALL: f32 = 6.0;

/// The strokes of a letter: runs of points, two digits each (across, down), parted by spaces.
const fn strokes(letter: char) -> &'static str {
    match letter {
        'A' => "0602204246 0444",
        'B' => "00063645443303 0030414233",
        'C' => "4130100105163645",
        'D' => "00062644422000",
        'E' => "40000646 0333",
        'F' => "400006 0333",
        'G' => "41301001051636454323",
        'H' => "0006 4046 0343",
        'I' => "1030 1636 2026",
        'J' => "4045361605",
        'K' => "0006 4003 0346",
        'L' => "000646",
        'M' => "0600234046",
        'N' => "06004640",
        'O' => "103041453616050110",
        'P' => "06003041423303",
        'Q' => "103041453616050110 2446",
        'R' => "06003041423303 2346",
        'S' => "413010010213334445361605",
        'T' => "0040 2026",
        'U' => "000516364540",
        'V' => "002640",
        'W' => "0016233640",
        'X' => "0046 4006",
        'Y' => "002340 2326",
        'Z' => "00400646",
        '0' => "103041453616050110",
        '1' => "112026 1636",
        '2' => "01103041420646",
        '3' => "01103041423323 334445361605",
        '4' => "300444 3036",
        '5' => "400003334445361605",
        '6' => "4130100105163645443303",
        '7' => "004016",
        '8' => "103041423313020110 133344453616050413",
        '9' => "4313020110304145361605",
        '!' => "2024 2626",
        '?' => "01103041422324 2626",
        '.' => "2626",
        ',' => "2617",
        ':' => "2222 2525",
        ';' => "2222 2516",
        '-' => "1333",
        '+' => "0343 2125",
        '/' => "0640",
        '%' => "0640 0010110100 3545463635",
        '(' => "30121436",
        ')' => "10323416",
        '[' => "30101636",
        ']' => "10303616",
        '\'' => "2021",
        '_' => "0646",
        '=' => "0242 0444",
        '<' => "410345",
        '>' => "014305",
        '*' => "1135 3115",
        '#' => "1016 3036 0242 0444",
        '@' => "33231424343301103041443616",
        ' ' => "",
        // Anything else is a box: better an honest box than nothing.
        _ => "0040460600",
    }
}

/// How a line of letters looks.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Pixels from one grid line to the next; a letter is six of these tall.
    pub unit: f32,
    pub stroke: f32,
    pub color: Color,
    /// How far the top of a letter leans to the right, in units of its height.
    pub slant: f32,
}

impl Style {
    pub const fn new(unit: f32, stroke: f32, color: Color) -> Self {
        Self { unit, stroke, color, slant: 0.0 }
    }

    pub const fn slanted(self, slant: f32) -> Self {
        Self { slant, ..self }
    }
}

/// The width of `text`, from the first stroke to the last.
pub fn width(text: &str, unit: f32) -> f32 {
    (text.chars().count() as f32 * ADVANCE - 2.0).max(0.0) * unit
}

/// Writes `text` with its top left corner at `corner`; small letters as capitals.
pub fn write(canvas: &mut dyn Canvas, text: &str, corner: Point, style: Style) {
    let point = |digits: &[u8], origin: f32| {
        let [across, down] = [digits[0], digits[1]].map(|digit| f32::from(digit.saturating_sub(b'0')));
        at(origin + (across + (TALL - down) * style.slant) * style.unit, corner.y + down * style.unit)
    };
    for (index, letter) in text.chars().enumerate() {
        let origin = corner.x + index as f32 * ADVANCE * style.unit;
        for run in strokes(letter.to_ascii_uppercase()).split_ascii_whitespace() {
            let digits = run.as_bytes();
            for ends in digits.windows(4).step_by(2) {
                let (from, to) = (point(&ends[..2], origin), point(&ends[2..], origin));
                if from == to {
                    // A dot as thin as a stroke would hardly be seen.
                    canvas.disc(from, style.stroke * 0.7, style.color);
                } else {
                    canvas.line(from, to, style.stroke, style.color);
                }
            }
        }
    }
}

/// Writes `text` centred on `middle.x`, its top at `middle.y`.
pub fn write_centered(canvas: &mut dyn Canvas, text: &str, middle: Point, style: Style) {
    write(canvas, text, at(middle.x - width(text, style.unit) / 2.0, middle.y), style);
}

/// Writes `text` so that it ends at `corner.x`.
pub fn write_ending(canvas: &mut dyn Canvas, text: &str, corner: Point, style: Style) {
    write(canvas, text, at(corner.x - width(text, style.unit), corner.y), style);
}
