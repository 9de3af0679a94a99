//! The arena in a terminal.

use games::arena::{DRONE, HEIGHT, WIDTH};
use rebout::authority::{Client, GameWire};
use std::fmt::Write as _;
use std::io::Write as _;

/// Draws the arena: predicted and interpolated over raw.
pub(crate) fn draw(client: &Client<GameWire>, raw: bool, kills: u32) {
    let (columns, rows) = (WIDTH as usize + 1, HEIGHT as usize + 1);
    let mut picture = vec![vec![' '; columns]; rows];
    let mut put = |x: f32, y: f32, what: char| {
        let (x, y) = (x.round().clamp(0.0, WIDTH) as usize, y.round().clamp(0.0, HEIGHT) as usize);
        picture[y][x] = what;
    };
    if raw {
        let own = client.id().and_then(|id| client.raw(id));
        own.into_iter().for_each(|body| put(body.x, body.y, '+'));
        client.others().filter_map(|seen| client.raw(seen.id)).for_each(|body| put(body.x, body.y, 'o'));
    }
    client
        .render_frame()
        .into_iter()
        .flat_map(|at| client.shots(at))
        .for_each(|shot| put(shot.x, shot.y, '*'));
    for seen in client.others() {
        let what = if seen.kind == DRONE {
            'D'
        } else if seen.body.health > 0.0 {
            'O'
        } else {
            'x'
        };
        put(seen.body.x, seen.body.y, what);
    }
    let health = client.own().map_or(0.0, |own| own.health);
    if let Some(own) = client.own() {
        put(own.x, own.y, if own.health > 0.0 { '@' } else { 'x' });
    }
    let (stats, rule) = (client.stats(), "-".repeat(columns));
    let mut text = format!("\x1b[H\x1b[2J{rule}\n");
    for row in picture {
        text.extend(row);
        text.push('\n');
    }
    let _ = write!(
        text,
        "{rule}\nhealth {:.0} %  kills {kills}  round trip {:.0} ms  delay {:.0} ms  corrected {}  r: raw  q: leave\n",
        health.max(0.0) * 100.0,
        stats.round_trip.as_secs_f64() * 1e3,
        stats.delay.as_secs_f64() * 1e3,
        stats.prediction.compared - stats.prediction.exact,
    );
    print!("{text}");
    let _ = std::io::stdout().flush();
}
