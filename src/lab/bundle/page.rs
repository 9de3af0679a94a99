//! The page of a bundle.

use crate::lab::html;
use crate::lab::text::escaped;
use crate::{Autopsy, Bundle, FieldDifference, Frame, Inputs, OwnedLeaf, PhaseDifference, Player};
use core::fmt::Write;
use std::collections::BTreeMap;

/// The most frames of inputs that are drawn: those before the divergence.
const MAX_INPUTS: usize = 90;
/// The most fields in one table.
const MAX_FIELDS: usize = 2_000;

/// A bundle as an HTML page that needs nothing but itself: the match as a bar, the inputs before the divergence, the fields
/// that differ, both states, and the command that plays it again. `viewer` is the URL of a page that plays replays, if there is one
/// for the game.
#[must_use]
pub fn page(bundle: &Bundle, viewer: Option<&str>) -> String {
    let mut html = String::new();
    head(&mut html, bundle);
    timeline(&mut html, bundle);
    inputs(&mut html, bundle.autopsy());
    fields(&mut html, bundle.autopsy());
    phase_fields(&mut html, bundle.autopsy());
    states(&mut html, bundle.autopsy());
    html.push_str(
        "<h2>Play it again</h2><p>In the sources of the library, with the folder of the bundle:</p>\
         <pre>cargo run --release --example autopsy -- FOLDER</pre><p class=\"note\">A game of your own re-runs it with \
         <code>Bundle::rerun</code>; the inputs are in <code>inputs.rplk</code>.</p>",
    );
    if let Some(viewer) = viewer.map(escaped) {
        let _ = write!(
            html,
            "<p>To watch the match in a browser, open <a href=\"{viewer}\">{viewer}</a> and drop <code>inputs.rplk</code> of \
             the bundle on the page.</p>"
        );
    }
    html::page(&format!("Desync in {}", bundle.game()), &html)
}

// Writing to a string cannot fail: the results of `write!` are dropped.

fn head(html: &mut String, bundle: &Bundle) {
    let (autopsy, replay) = (bundle.autopsy(), bundle.replay());
    let _ = write!(
        html,
        "<h1>Desync in {}</h1><p class=\"verdict bad\">frame {}</p><p>{}.</p>",
        escaped(bundle.game()),
        autopsy.first_divergence,
        escaped(&sentence(&autopsy.verdict.to_string()))
    );
    if let Some(phase) = &autopsy.phase {
        let _ = write!(html, "<p>{}.</p>", escaped(&sentence(&phase.to_string())));
    }
    let last_match = autopsy.last_match.map_or("none".to_owned(), |frame| frame.to_string());
    let exact = if autopsy.exact { "" } else { " or before" };
    let facts = [
        ("seen by", autopsy.local.to_string()),
        ("last frame alike", last_match),
        ("first frame that differs", format!("{}{exact}", autopsy.first_divergence)),
        ("frames of the match", replay.inputs.len().to_string()),
        ("seed", replay.seed.to_string()),
        ("fields that differ", autopsy.fields.len().to_string()),
    ];
    html.push_str("<dl>");
    for (name, value) in facts {
        let _ = write!(html, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    html.push_str("</dl>");
    if !autopsy.complete {
        html.push_str("<p class=\"note\">Incomplete: the other machine did not tell everything.</p>");
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The match as a bar: alike, not known, different.
fn timeline(html: &mut String, bundle: &Bundle) {
    const WIDTH: f64 = 1_000.0;
    let autopsy = bundle.autopsy();
    let frames = (bundle.replay().inputs.len() as u32).max(autopsy.first_divergence.0).max(1);
    let x = |frame: u32| f64::from(frame) / f64::from(frames) * WIDTH;
    let alike = autopsy.last_match.map_or(0, |frame| frame.0);
    let parts = [
        ("agreed", 0, alike),
        ("gap", alike, autopsy.first_divergence.0),
        ("diverged", autopsy.first_divergence.0, frames),
    ];
    let _ = write!(html, "<h2>The match</h2><svg viewBox=\"-2 0 {} 54\" role=\"img\">", WIDTH + 4.0);
    for (class, from, to) in parts {
        // A single frame of a long match is still to be seen.
        let wide = (x(to) - x(from)).max(2.0);
        let _ = write!(
            html,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"8\" width=\"{wide:.1}\" height=\"20\"/>",
            x(from).min(WIDTH - 2.0)
        );
    }
    let middle = autopsy.first_divergence.0;
    for (frame, anchor) in [(0, "start"), (middle, "middle"), (frames, "end")] {
        let is_crowded = frame == middle && !(60.0..=WIDTH - 60.0).contains(&x(middle));
        if !is_crowded {
            let _ = write!(
                html,
                "<text class=\"tick\" x=\"{:.1}\" y=\"46\" text-anchor=\"{anchor}\">frame {frame}</text>",
                x(frame)
            );
        }
    }
    html.push_str(
        "</svg><p class=\"legend\"><span class=\"agreed\"></span> alike <span class=\"gap\"></span> not compared \
         <span class=\"diverged\"></span> different</p>",
    );
}

/// The buttons that were held before the divergence, a column for each frame.
fn inputs(html: &mut String, autopsy: &Autopsy) {
    // The input of a frame leads to the state after it.
    let before = autopsy.inputs.partition_point(|(frame, _)| *frame < autopsy.first_divergence);
    let shown = &autopsy.inputs[before.saturating_sub(MAX_INPUTS)..before];
    let (Some((first, _)), Some((last, _))) = (shown.first(), shown.last()) else { return };
    let _ = write!(html, "<h2>Inputs of frames {first} to {last}</h2>");
    let lanes = lanes(shown);
    if lanes.is_empty() {
        html.push_str("<p class=\"note\">No button was held.</p>");
        return;
    }
    let (cell, names) = (10.0, 170.0);
    let (width, height) = (names + cell * MAX_INPUTS as f64, 18.0 * lanes.len() as f64 + 4.0);
    let _ = write!(html, "<svg viewBox=\"0 0 {width} {height}\" role=\"img\">");
    for (index, (player, bit)) in lanes.iter().enumerate() {
        let (y, class) = (18.0 * index as f64 + 2.0, ["one", "two"][player.index()]);
        let _ = write!(
            html,
            "<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{player}, button {bit}</text><path class=\"bars {class}\" d=\"",
            names - 8.0,
            y + 12.0
        );
        for (column, (_, inputs)) in shown.iter().enumerate() {
            if holds(inputs, *player, *bit) {
                let _ =
                    write!(html, "M{} {y}h{}v14h-{}z", names + cell * column as f64, cell - 1.0, cell - 1.0);
            }
        }
        html.push_str("\"/>");
    }
    html.push_str("</svg>");
}

fn holds(inputs: &Inputs, player: Player, bit: u32) -> bool {
    inputs[player].buttons().0 >> bit & 1 == 1
}

/// The buttons that are held in any of these frames.
fn lanes(shown: &[(Frame, Inputs)]) -> Vec<(Player, u32)> {
    let all = Player::BOTH.into_iter().flat_map(|player| (0..16).map(move |bit| (player, bit)));
    all.filter(|(player, bit)| shown.iter().any(|(_, inputs)| holds(inputs, *player, *bit))).collect()
}

const TABLE: &str = "<div class=\"wide\"><table class=\"words\"><thead><tr><th>field</th><th>player one</th>\
                     <th>player two</th></tr></thead><tbody>";

fn row(html: &mut String, class: &str, path: &str, sides: [Option<&str>; 2]) {
    let [one, two] = sides.map(|side| escaped(side.unwrap_or("(absent)")));
    let _ =
        write!(html, "<tr{class}><th><code>{}</code></th><td>{one}</td><td>{two}</td></tr>", escaped(path));
}

fn table(html: &mut String, fields: &[FieldDifference]) {
    html.push_str(TABLE);
    for field in fields.iter().take(MAX_FIELDS) {
        row(html, "", &field.path, [field.one.as_deref(), field.two.as_deref()]);
    }
    html.push_str("</tbody></table></div>");
}

/// The fields of the first marked value that differs.
fn phase_fields(html: &mut String, autopsy: &Autopsy) {
    if let Some(PhaseDifference { index, one: Some(name), fields, .. }) = &autopsy.phase
        && !fields.is_empty()
    {
        let name = escaped(name);
        let _ = write!(html, "<h2>Fields that differ after {name}, mark {index} of the step</h2>");
        table(html, fields);
    }
}

fn fields(html: &mut String, autopsy: &Autopsy) {
    let _ = write!(html, "<h2>Fields that differ in frame {}</h2>", autopsy.first_divergence);
    if autopsy.fields.is_empty() {
        html.push_str("<p class=\"note\">None is known.</p>");
    } else {
        table(html, &autopsy.fields);
    }
    if !autopsy.not_compared.is_empty() {
        let names = escaped(&autopsy.not_compared.join(", "));
        let _ = write!(html, "<p class=\"note\">Restored, but never compared: {names}.</p>");
    }
}

/// Both states beside each other, in the order of player one's.
fn states(html: &mut String, autopsy: &Autopsy) {
    let values = |leaves: &[OwnedLeaf]| -> BTreeMap<String, String> {
        leaves.iter().map(|leaf| (leaf.path.clone(), leaf.shown.clone())).collect()
    };
    let sides = autopsy.states.each_ref().map(|leaves| values(leaves));
    let only_two = autopsy.states[1].iter().filter(|leaf| !sides[0].contains_key(&leaf.path));
    let paths: Vec<&str> =
        autopsy.states[0].iter().chain(only_two).map(|leaf| &*leaf.path).take(MAX_FIELDS).collect();
    let _ = write!(
        html,
        "<h2>Both states</h2><details><summary>All {} fields that were exchanged, those that differ marked</summary>{TABLE}",
        paths.len()
    );
    for path in paths {
        let [one, two] = sides.each_ref().map(|side| side.get(path).map(String::as_str));
        row(html, if one == two { "" } else { " class=\"differs\"" }, path, [one, two]);
    }
    html.push_str("</tbody></table></div></details>");
}
