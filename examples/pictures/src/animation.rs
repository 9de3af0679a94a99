//! Twenty seconds of a match as an animated PNG, which browsers show like any picture.
//!
//! Each picture holds only the rectangle that changed, in a palette of the film's own colours, and pixels that stayed are
//! left out as transparent ones: long runs of one value compress to almost nothing.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use duel::picture::Picture;

use crate::image::Image;
use crate::palette::{Palette, TRANSPARENT};

const SIZE: (u16, u16) = (480, 270);
/// One picture for this many frames of the match: 15 a second.
const EVERY: usize = 4;
const SECONDS: usize = 20;
/// Pictures that the colours are chosen from.
const SAMPLED: usize = 24;

/// Writes the last twenty seconds of the film.
pub(crate) fn save(film: &[Picture], path: &Path) -> Result<(), String> {
    let first = film.len().saturating_sub(SECONDS * 60);
    let images: Vec<Image> = film[first..]
        .iter()
        .step_by(EVERY)
        .map(|picture| Image::of_window(picture, SIZE.0, SIZE.1))
        .collect();
    let sampled = images.iter().step_by((images.len() / SAMPLED).max(1));
    let mut palette = Palette::of(sampled.flat_map(|image| &image.pixels));
    let frames = changes(&images, &mut palette);
    encode(&frames, &palette, path).map_err(|error| format!("{}: {error}", path.display()))
}

/// A rectangle of the picture, as places in the palette.
struct Change {
    corner: (usize, usize),
    size: (usize, usize),
    places: Vec<u8>,
}

fn changes(images: &[Image], palette: &mut Palette) -> Vec<Change> {
    let mut shown: Vec<u8> = Vec::new();
    images
        .iter()
        .map(|image| {
            let mut next: Vec<u8> = image.pixels.iter().map(|color| palette.nearest(*color)).collect();
            for (place, was) in next.iter_mut().zip(&shown) {
                if palette.is_alike(*place, *was) {
                    *place = *was;
                }
            }
            let change = change(&shown, &next, image.width);
            shown = next;
            change
        })
        .collect()
}

/// The difference of two pictures; the first one is whole.
fn change(shown: &[u8], next: &[u8], width: usize) -> Change {
    let height = next.len() / width;
    if shown.is_empty() {
        return Change { corner: (0, 0), size: (width, height), places: next.to_vec() };
    }
    let changed = |index: &usize| shown[*index] != next[*index];
    let places = || (0..next.len()).filter(changed);
    let left = places().map(|index| index % width).min().unwrap_or(0);
    let right = places().map(|index| index % width).max().unwrap_or(0);
    let top = places().next().unwrap_or(0) / width;
    let bottom = places().next_back().unwrap_or(0) / width;
    let rows = (top..=bottom).flat_map(|row| row * width + left..=row * width + right);
    let places = rows.map(|index| if changed(&index) { next[index] } else { TRANSPARENT }).collect();
    Change { corner: (left, top), size: (right - left + 1, bottom - top + 1), places }
}

fn encode(frames: &[Change], palette: &Palette, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let file = BufWriter::new(File::create(path)?);
    let mut encoder = png::Encoder::new(file, SIZE.0.into(), SIZE.1.into());
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.bytes());
    encoder.set_trns(palette.opacities());
    encoder.set_compression(png::Compression::Best);
    encoder.set_filter(png::FilterType::NoFilter);
    encoder.set_animated(frames.len() as u32, 0)?;
    encoder.set_frame_delay(EVERY as u16, 60)?;
    encoder.set_blend_op(png::BlendOp::Over)?;
    let mut writer = encoder.write_header()?;
    for Change { corner, size, places } in frames {
        // The size is checked against the position of the picture before.
        writer.set_frame_position(0, 0)?;
        writer.set_frame_dimension(size.0 as u32, size.1 as u32)?;
        writer.set_frame_position(corner.0 as u32, corner.1 as u32)?;
        writer.write_image_data(places)?;
    }
    writer.finish()?;
    Ok(())
}
