//! Text that a person pastes or a file brings: any of it is read or refused in a short line, and nothing of it moves a
//! cursor.

use duel::cli;
use duel::keys::Bindings;
use duel::menu::{App, Page};
use duel::pad_keys::PadBindings;
use duel::settings::Settings;
use rebout::{Answer, Offer};
use rebout::{Invite, Rng, shown};
use stage::menu::{Act, Edit, Grid, Layout};

/// Parts of right texts, and characters that do something to a terminal, to a parser or to the width of a line.
const PARTS: [&str; 44] = [
    "name",
    "keys.alone",
    "link.port",
    "link.delay",
    "link.window",
    "link.rendezvous",
    "sound.music",
    "colour.one",
    " = ",
    "=",
    "\n",
    "#",
    ",",
    "auto",
    "off",
    "0",
    "9",
    "255",
    "65536",
    "99999999999999999999",
    "-1",
    "[",
    "]",
    ":",
    "::",
    ".",
    "fe80::1%eth0",
    "::1:7000",
    "192.0.2.1",
    "rebout:2:",
    "rebout-offer:1:",
    "rebout-answer:1:",
    "ABCDEFGH0123456789",
    "\u{1b}[2J",
    "\u{1b}]52;c;QQ==\u{7}",
    "\u{0}",
    "\r",
    "\u{9b}",
    "\u{202e}",
    "\u{200b}",
    "e\u{301}",
    "\u{4f60}",
    "\u{1f600}",
    "\u{10ffff}",
];

fn text(rng: &mut Rng) -> String {
    let parts = if rng.chance(1, 50) { 2_000 } else { 1 + rng.below(12) };
    (0..parts).map(|_| PARTS[rng.below(PARTS.len() as u32) as usize]).collect()
}

#[test]
fn any_text_is_read_or_refused_in_words() {
    let mut rng = Rng::new(3).unwrap();
    let mut read = [0; 8];
    for _ in 0..6_000 {
        let text = text(&mut rng);
        let refusals = [
            Settings::read(&text).map(drop).map_err(|error| error.to_string()),
            stage::address::read(&text, 7_000).map(drop),
            text.parse::<Bindings>().map(drop).map_err(|error| error.to_string()),
            text.parse::<PadBindings>().map(drop),
            cli::name(&text).map(drop),
            text.parse::<Invite>().map(drop).map_err(|error| error.to_string()),
            text.parse::<Offer>().map(drop).map_err(|error| error.to_string()),
            text.parse::<Answer>().map(drop).map_err(|error| error.to_string()),
        ];
        for (at, refusal) in refusals.iter().enumerate() {
            match refusal {
                Ok(()) => read[at] += 1,
                Err(words) => {
                    let len = shown(words).chars().count();
                    assert!(
                        len < 400,
                        "reader {at}: {len} characters about {:?}",
                        &words[..60.min(words.len())]
                    );
                }
            }
        }
    }
    assert!([0, 1, 4].iter().all(|reader| read[*reader] > 100), "{read:?}");
}

/// Every page of the menu under arbitrary input.
#[test]
fn no_act_on_a_menu_panics() {
    let mut rng = Rng::new(5).unwrap();
    for _ in 0..30 {
        let mut app = App::new(Settings::default(), Page::Title);
        for _ in 0..200 {
            let item = rng.below(12) as usize;
            let act = match rng.below(14) {
                0 => Act::Up,
                1 | 2 => Act::Down,
                3 => Act::Left,
                4 => Act::Right,
                5 | 6 => Act::Confirm,
                7 if rng.chance(1, 4) => Act::Back,
                8 => Act::Edit(Edit::Erase),
                9 => Act::Point { item },
                10 => Act::Click { item, share: [f32::NAN, -1e30, 0.5, 1e30][item % 4] },
                11 => Act::Type(char::from_u32(rng.below(0x11_0000)).unwrap_or('\u{1b}')),
                _ => Act::Paste(text(&mut rng)),
            };
            let _ = app.act(&act);
            let Some(menu) = app.menu() else { break };
            for (columns, rows) in [(0, 0), (1, 1), (60, 18), (160, 50)] {
                let _ = Layout::of(menu, Grid::terminal(columns, rows));
            }
        }
    }
}
