//! The colours of an animation: at most 255, chosen by cutting the colours that occur at their medians.

use std::collections::BTreeMap;

/// The place that stands for "as it was".
pub(crate) const TRANSPARENT: u8 = 255;
const COLORS: usize = 255;
/// Squares of the differences of red, green and blue, added up.
const UNSEEN: u32 = 110;

/// Colours by place, and the places that were found already.
pub(crate) struct Palette {
    colors: Vec<[u8; 3]>,
    found: BTreeMap<[u8; 3], u8>,
}

impl Palette {
    pub(crate) fn of<'a>(pixels: impl Iterator<Item = &'a [u8; 3]>) -> Self {
        let mut counts: BTreeMap<[u8; 3], u32> = BTreeMap::new();
        for pixel in pixels {
            // Colours closer than this are one to the eye, and a box of them needs no cut.
            *counts.entry(pixel.map(|part| part & 0xFC)).or_default() += 1;
        }
        let mut boxes = vec![counts.into_iter().collect::<Vec<_>>()];
        while boxes.len() < COLORS {
            let Some(widest) = (0..boxes.len()).max_by_key(|index| spread(&boxes[*index]).1) else { break };
            let (part, weight) = spread(&boxes[widest]);
            if weight == 0 {
                break;
            }
            let mut colors = boxes.swap_remove(widest);
            colors.sort_by_key(|(color, _)| color[part]);
            let upper = colors.split_off(median(&colors));
            boxes.extend([colors, upper]);
        }
        Self { colors: boxes.iter().map(|colors| mean(colors)).collect(), found: BTreeMap::new() }
    }

    /// The place of the colour that is least unlike this one.
    pub(crate) fn nearest(&mut self, color: [u8; 3]) -> u8 {
        let key = color.map(|part| part & 0xFC);
        let colors = &self.colors;
        *self.found.entry(key).or_insert_with(|| {
            (0..colors.len()).min_by_key(|place| difference(colors[*place], color)).unwrap_or(0) as u8
        })
    }

    /// Whether the colours of two places are so close that nobody sees one become the other.
    pub(crate) fn is_alike(&self, one: u8, two: u8) -> bool {
        difference(self.colors[usize::from(one)], self.colors[usize::from(two)]) < UNSEEN
    }

    /// Red, green and blue of each place, and of the transparent one.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut colors = self.colors.clone();
        colors.resize(COLORS + 1, [0; 3]);
        colors.concat()
    }

    /// The opacity of each place.
    pub(crate) fn opacities(&self) -> Vec<u8> {
        let mut opacities = vec![255; COLORS];
        opacities.push(0);
        opacities
    }
}

fn difference(one: [u8; 3], two: [u8; 3]) -> u32 {
    one.iter().zip(two).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

/// The colour part that differs most in a box, and how much that matters.
fn spread(colors: &[([u8; 3], u32)]) -> (usize, u64) {
    let width = |part: usize| {
        let values = || colors.iter().map(|(color, _)| color[part]);
        u64::from(values().max().unwrap_or(0) - values().min().unwrap_or(0))
    };
    let part = (0..3).max_by_key(|part| width(*part)).unwrap_or(0);
    let count: u64 = colors.iter().map(|(_, count)| u64::from(*count)).sum();
    (part, width(part) * width(part) * count.isqrt())
}

/// Where to cut, so that each side has as many pixels; both sides have a colour.
fn median(colors: &[([u8; 3], u32)]) -> usize {
    let all: u64 = colors.iter().map(|(_, count)| u64::from(*count)).sum();
    let mut seen = 0;
    let half = colors.iter().position(|(_, count)| {
        seen += u64::from(*count);
        seen * 2 >= all
    });
    half.map_or(1, |index| index + 1).clamp(1, colors.len() - 1)
}

fn mean(colors: &[([u8; 3], u32)]) -> [u8; 3] {
    let all: u64 = colors.iter().map(|(_, count)| u64::from(*count)).sum();
    core::array::from_fn(|part| {
        let sum: u64 = colors.iter().map(|(color, count)| u64::from(color[part]) * u64::from(*count)).sum();
        (sum / all.max(1)) as u8
    })
}
