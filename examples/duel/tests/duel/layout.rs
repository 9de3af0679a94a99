//! The layout of pictures in windows and terminals of many sizes: nothing is cut, covered or outside.

use duel::art::camera::{Camera, CameraTarget, Covered};
use duel::art::figure::Joints;
use duel::art::graph::{Columns, LEGEND, NET_HEIGHT, NET_ROWS};
use duel::art::pose::target_of;
use duel::art::sheet::Sheet;
use duel::art::wrap::wrap;
use duel::art::{hud, texts};
use duel::netgraph::{NetGraph, NetSample, PLOTTED_FRAMES, counted};
use duel::picture::{DrillView, Message, Panel, Picture, ReplayView, Tone};
use duel::scene::Scene;
use duel::training::Inputs;
use games::duel::{Action, Duel, Facing, Fx, Phase, RoundEnd};
use rebout::{Buttons, Player};
use stage::menu::{Grid, Item, Layout, Menu};
use stage::{Depth, Painter, at};

const TERMINALS: [(u16, u16); 7] = [(60, 18), (60, 20), (80, 24), (120, 20), (160, 18), (160, 24), (160, 50)];

fn names() -> [String; 2] {
    ["Ann".to_owned(), "Ben".to_owned()]
}

/// A fight with both fighters at these places.
fn fight(places: [(i16, i16); 2]) -> Duel {
    let mut duel = Duel::between(1, games::duel::Character::ALL);
    duel.phase = Phase::Fight;
    for (fighter, (x, y)) in duel.fighters.iter_mut().zip(places) {
        (fighter.x, fighter.y) = (Fx::from_num(x), Fx::from_num(y));
        fighter.action = if y > 0 { Action::Air } else { Action::Stand };
    }
    duel.fighters[0].facing = if places[0].0 < places[1].0 { Facing::Right } else { Facing::Left };
    duel.fighters[1].facing = if places[0].0 < places[1].0 { Facing::Left } else { Facing::Right };
    duel
}

/// Left, right, upper and lower edge of all bodies, in pixels.
fn extent(duel: &Duel, (width, height): (f32, f32), covered: Covered) -> [f32; 4] {
    let camera = Camera::new(CameraTarget::at(duel), width, height, covered);
    let mut extent = [f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY, f32::NEG_INFINITY];
    for fighter in &duel.fighters {
        let place = at(fighter.x.to_num(), fighter.y.to_num());
        let side = fighter.facing.sign() as f32;
        let joints =
            Joints::of(&target_of(fighter, 0).pose, fighter.character, place, side, fighter.airborne());
        let limbs = joints.near_arm.into_iter().chain(joints.far_arm);
        let legs = joints.near_leg.into_iter().chain(joints.far_leg);
        for point in limbs.chain(legs).chain([joints.head.plus(0.0, 8.8), joints.hips]) {
            let pixel = camera.project(point);
            extent[0] = extent[0].min(pixel.x);
            extent[1] = extent[1].max(pixel.x);
            extent[2] = extent[2].min(pixel.y);
            extent[3] = extent[3].max(pixel.y);
        }
    }
    extent
}

/// The canvases of the window and of all terminals, with and without a net graph: size and what is covered.
fn canvases() -> Vec<((f32, f32), Covered)> {
    let window = [0.0, NET_HEIGHT].map(|below| ((960.0, 540.0), Covered { above: hud::BARS, below }));
    let terminals = TERMINALS.into_iter().flat_map(|(columns, rows)| {
        [0.0, NET_ROWS as f32 * 2.0].map(|below| {
            let size = (f32::from(columns), f32::from(rows) * 2.0);
            (size, Covered { above: texts::BARS, below })
        })
    });
    window.into_iter().chain(terminals).collect()
}

#[test]
fn fighter_lying_at_a_wall_is_fully_visible() {
    for side in [-1, 1] {
        for other in [150, -225] {
            let mut duel = fight([(side * 225, 0), (side * other, 0)]);
            duel.fighters[0].action = Action::Down;
            for (size, covered) in canvases() {
                let [left, right, ..] = extent(&duel, size, covered);
                assert!(left >= 0.0 && right <= size.0, "{left} to {right} of {size:?}, other at {other}");
            }
        }
    }
}

#[test]
fn heads_are_below_the_bars_and_feet_above_the_net_graph() {
    for heights in [[0, 0], [90, 0], [60, 90]] {
        for apart in [30, 120, 225] {
            let duel = fight([(-apart, heights[0]), (apart, heights[1])]);
            for (size, covered) in canvases() {
                let [_, _, top, bottom] = extent(&duel, size, covered);
                let floor = size.1 - covered.below;
                assert!(top >= covered.above, "a head at {top} in {size:?}, jumping {heights:?}");
                assert!(bottom <= floor, "feet at {bottom} of {floor} in {size:?}");
            }
        }
    }
}

#[test]
fn camera_settles_at_its_target() {
    let mut duel = fight([(-225, 0), (-150, 0)]);
    duel.fighters[0].action = Action::Down;
    let mut camera_target = CameraTarget::wide();
    (0..200).for_each(|_| camera_target.follow(&duel));
    let aim = CameraTarget::at(&duel);
    assert!(
        (camera_target.x - aim.x).abs() < 1.0 && (camera_target.span - aim.span).abs() < 1.0,
        "{camera_target:?} instead of {aim:?}"
    );
}

#[test]
fn words_are_wrapped_between_words_and_only_long_ones_are_torn() {
    assert_eq!(wrap("a  b   c", 8), ["a  b   c"], "a line that fits stays as it is");
    assert_eq!(wrap("one two three", 8), ["one two", "three"]);
    assert_eq!(wrap("to abcdefghij", 4), ["to", "abcd", "efgh", "ij"]);
    assert_eq!(wrap("äöü äöü", 3), ["äöü", "äöü"]);
    assert_eq!(wrap("", 10), [""]);
}

fn panel() -> Panel {
    let lines = [
        ("your keys", "a d walk  w jump  s crouch"),
        (" ", "j light  k heavy  l special  i throw  enter start"),
        ("block", "hold back; crouch against low blows, stand against jumps"),
        ("throw", "close up, beats a block; throw back to escape"),
        ("", "a line without a label that is quite a bit longer than sixty characters, to see it wrapped"),
    ];
    Panel {
        title: "Rebout duel".to_owned(),
        lines: lines.map(|(label, text)| (label.to_owned(), text.to_owned())).to_vec(),
        footer: "press enter to fight, esc to leave".to_owned(),
    }
}

/// The rows of a picture in a terminal, as text.
fn rows(picture: &Picture, size: (u16, u16)) -> Vec<String> {
    let mut painter = Painter::new(Depth::Full);
    painter.paint(picture, size);
    (0..painter.cells().rows()).map(|row| painter.cells().text(row)).collect()
}

#[test]
fn every_word_of_a_sheet_is_on_the_screen() {
    let panel = panel();
    let picture = Picture {
        panel: Some(panel.clone()),
        ..Picture::of(Scene::new(&Duel::between(1, games::duel::Character::ALL), names()))
    };
    for size in TERMINALS {
        let shown = rows(&picture, size).join("\n");
        let words = panel.lines.iter().flat_map(|(label, text)| [label, text]).chain([&panel.footer]);
        for word in words.flat_map(|text| text.split_whitespace()) {
            assert!(shown.contains(word), "'{word}' is not on the sheet at {size:?}:\n{shown}");
        }
        let sheet = Sheet::of(&panel, size.0.into(), size.1.into());
        assert!(sheet.large || shown.contains("REBOUT DUEL"), "no title at {size:?}");
        assert!(sheet.top >= 0 && sheet.top + sheet.tall <= i32::from(size.1), "{sheet:?} at {size:?}");
    }
}

#[test]
fn sheet_that_is_too_long_says_so_and_keeps_its_footer() {
    let mut panel = panel();
    panel.lines = (0..40).map(|line| (" ".to_owned(), format!("line {line}"))).collect();
    let picture = Picture {
        panel: Some(panel),
        ..Picture::of(Scene::new(&Duel::between(1, games::duel::Character::ALL), names()))
    };
    let shown = rows(&picture, (60, 18)).join("\n");
    assert!(shown.contains("line 3") && shown.contains("...") && shown.contains("esc to leave"), "{shown}");
}

fn busy_net() -> NetGraph {
    let mut net = NetGraph::default();
    net.round_trip_millis = Some(84.4);
    (net.rollbacks, net.deepest_frames) = (12_345, 8);
    (net.lost_out_percent, net.lost_in_percent) = (12.5, 13.5);
    (net.packets_out, net.packets_in) = (123_456, 123_456);
    (net.bytes_out, net.bytes_in) = (12_345_678, 12_345_678);
    net.link = "300+80 ms, 40% lost".to_owned();
    for frame in 0..PLOTTED_FRAMES as u32 {
        net.push(NetSample {
            rollback_frames: frame % 3,
            predicted_frames: 3,
            stalled: frame == 100,
            moved: frame == 150,
        });
    }
    net
}

#[test]
fn figures_and_legend_of_the_net_graph_are_never_cut() {
    let picture = Picture {
        net: Some(busy_net()),
        ..Picture::of(Scene::new(&Duel::between(1, games::duel::Character::ALL), names()))
    };
    for size in TERMINALS {
        let rows = rows(&picture, size);
        let shown = rows[rows.len() - NET_ROWS..].join("\n");
        let figures = Columns::of(&busy_net(), size.0.into()).figures * NET_ROWS;
        for (label, value) in busy_net().lines().into_iter().take(figures) {
            assert!(shown.contains(label) && shown.contains(&value), "{label} {value} at {size:?}:\n{shown}");
        }
        let whole = LEGEND.iter().all(|(word, _)| shown.contains(word));
        let short = ["back", "guess", "wait", "jump"].iter().all(|word| shown.contains(word));
        assert!(whole || short, "a legend without all colours at {size:?}:\n{shown}");
        let axis = Columns::of(&busy_net(), size.0.into()).plot - 2;
        let numbers: String = shown.lines().filter_map(|row| row.chars().nth(axis)).collect();
        assert!(numbers.contains('f') && numbers.contains('4') && numbers.contains('0'), "no axis:\n{shown}");
    }
}

#[test]
fn corner_shows_round_trip_and_deepest_rollback() {
    let mut net = NetGraph::default();
    assert_eq!(net.corner(), None, "nothing is measured yet");
    net.round_trip_millis = Some(84.4);
    net.push(NetSample { rollback_frames: 7, ..NetSample::default() });
    net.push(NetSample { rollback_frames: 2, ..NetSample::default() });
    assert_eq!(net.corner().as_deref(), Some("84 ms · 7f"));
    (0..59).for_each(|_| net.push(NetSample::default()));
    assert_eq!(net.corner().as_deref(), Some("84 ms · 2f"));
    let picture = Picture {
        corner: net.corner(),
        ..Picture::of(Scene::new(&Duel::between(1, games::duel::Character::ALL), names()))
    };
    for size in TERMINALS {
        let shown = rows(&picture, size);
        assert!(shown.last().is_some_and(|row| row.ends_with(" 84 ms · 2f ")), "{shown:?}");
    }
}

#[test]
fn long_message_is_wrapped_and_lies_above_the_combos() {
    let mut scene = Scene::new(&Duel::between(1, games::duel::Character::ALL), names());
    for side in &mut scene.sides {
        (side.combo_hits, side.combo_damage, side.combo_frames) = (5, 312, 60);
    }
    let text = "you cut the connection: F5 restores it; waiting for Bartholomew, 24 s: Esc to leave";
    let message = Some(Message { text: text.to_owned(), tone: Tone::Alarm });
    let picture = Picture { message, ..Picture::of(scene) };
    for size in TERMINALS {
        let rows = rows(&picture, size);
        let shown = rows.join("\n");
        for word in text.split_whitespace() {
            assert!(shown.contains(word), "'{word}' is missing at {size:?}:\n{shown}");
        }
        let combo: Vec<_> = rows.iter().filter(|row| row.contains("5 HITS  312")).collect();
        assert!(combo.len() == 1 && combo[0].matches("5 HITS").count() == 2, "{size:?}:\n{shown}");
    }
}

#[test]
fn long_name_leaves_the_score_and_the_row_as_they_are() {
    let names = ["東京都東京都東京都東京都東京都東", "Bartholomew Long"].map(str::to_owned);
    let mut duel = Duel::between(1, games::duel::Character::ALL);
    for fighter in &mut duel.fighters {
        (fighter.rounds, fighter.matches) = (1, 12);
    }
    let picture = Picture::of(Scene::new(&duel, names));
    for size in TERMINALS {
        let row = &rows(&picture, size)[3];
        assert!(
            row.contains("東") && row.contains("12 won ● ○ ") && row.contains(" ● ○ 12 won"),
            "{size:?}: {row}"
        );
        assert_eq!(stage::characters::width(row), usize::from(size.0), "{row}");
    }
}

#[test]
fn winner_is_named_in_characters_that_the_terminal_has() {
    for (name, is_large) in [("Zoë", true), ("東京太郎", false), ("דוד", false)] {
        let mut duel = Duel::between(1, games::duel::Character::ALL);
        duel.phase = Phase::RoundOver { winner: Some(Player::One), end: RoundEnd::Time };
        duel.since = 90;
        let scene = Scene::new(&duel, [name.to_owned(), "Ben".to_owned()]);
        let words = duel::picture::banner(&scene).expect("a banner").text;
        assert!(words.contains(name), "{words}");
        let shown = rows(&Picture::of(scene), (80, 24)).join("\n");
        assert_ne!(shown.contains(&words), is_large, "{shown}");
    }
}

/// The rows of two pictures that differ in a terminal.
fn rows_that_differ(pictures: [&Picture; 2], size: (u16, u16)) -> Vec<usize> {
    let cells = pictures.map(|picture| {
        let mut painter = Painter::new(Depth::Full);
        painter.paint(picture, size);
        let cells = painter.cells();
        let row = |row| (0..cells.columns()).map(|column| cells.cell(column, row)).collect::<Vec<_>>();
        (0..cells.rows()).map(row).collect::<Vec<_>>()
    });
    let differs = |row: &usize| cells[0][*row] != cells[1][*row];
    (0..cells[0].len()).filter(differs).collect()
}

#[test]
fn messages_banners_sheets_and_names_do_not_overlap() {
    const NAMES: usize = 3;
    let mut duel = Duel::between(1, games::duel::Character::ALL);
    let bare = Picture::of(Scene::new(&duel, names()));
    duel.since = 40;
    let called = Picture::of(Scene::new(&duel, names()));
    let sheet = Picture { panel: Some(panel()), ..bare.clone() };
    let message = Some(Message { text: "the invite is on its way".to_owned(), tone: Tone::Calm });
    for size in TERMINALS {
        for covering in [&called, &sheet] {
            let covered = rows_that_differ([&bare, covering], size);
            let told = Picture { message: message.clone(), ..covering.clone() };
            let words = rows_that_differ([covering, &told], size);
            let is_whole = covered.len() >= usize::from(size.1) - 1;
            assert!(!words.is_empty(), "no message at {size:?}");
            assert!(
                is_whole || words.iter().all(|row| !covered.contains(row)),
                "a message in {words:?} over {covered:?} at {size:?}"
            );
        }
        let banner = rows_that_differ([&bare, &called], size);
        assert!(!banner.is_empty() && !banner.contains(&NAMES), "a banner in {banner:?} at {size:?}");
    }
}

#[test]
fn seek_bar_of_a_replay_does_not_cross_a_sheet() {
    let replay_view =
        Some(ReplayView { frame: 30, frames: 90, paused: true, speed: 1.0, state: None, marks: Vec::new() });
    let picture = Picture {
        replay_view,
        ..Picture::of(Scene::new(&Duel::between(1, games::duel::Character::ALL), names()))
    };
    for size in TERMINALS {
        assert!(rows(&picture, size).join("\n").contains("frame 30 of 90"));
        let told = Picture { panel: Some(panel()), ..picture.clone() };
        let alone = Picture { replay_view: None, ..told.clone() };
        assert_eq!(rows_that_differ([&told, &alone], size), [0; 0], "at {size:?}");
    }
}

#[test]
fn inputs_of_a_training_leave_the_combo_in_view() {
    let mut scene = Scene::new(&Duel::between(1, games::duel::Character::ALL), names());
    let side = &mut scene.sides[0];
    (side.combo_hits, side.combo_damage, side.combo_frames) = (5, 312, 60);
    let mut inputs = Inputs::default();
    (0..16).for_each(|bit| inputs.push(Buttons(1 << bit)));
    let drill = DrillView { inputs: inputs.iter().copied().collect(), ..DrillView::default() };
    let picture = Picture { drill: Some(drill), ..Picture::of(scene) };
    for size in TERMINALS {
        let shown = rows(&picture, size).join("\n");
        assert!(shown.contains(" 5 HITS  312 "), "{size:?}:\n{shown}");
    }
}

#[test]
fn page_of_the_colours_leaves_the_fighters_in_view() {
    let menu = Menu::new("Colours", ["Left", "Right", "Back"].map(Item::pick).into()).with_footer("esc");
    for (columns, rows) in TERMINALS {
        let grid = Grid::terminal(columns.into(), rows.into());
        let layout = Layout::of(&menu.clone().with_view(), grid);
        assert!(layout.top == 0 && layout.tall <= grid.rows / 2, "{layout:?}");
        assert!(Layout::of(&menu, grid).top > 0);
    }
}

#[test]
fn terminal_beyond_the_largest_picture_has_it_in_its_middle() {
    let picture = Picture::of(Scene::new(&Duel::between(1, games::duel::Character::ALL), names()));
    let mut painter = Painter::new(Depth::Full);
    painter.paint(&picture, (200, 60));
    let black = |column, row| {
        let (character, _, paper) = painter.cells().cell(column, row);
        character == ' ' && (paper.r, paper.g, paper.b) == (0, 0, 0)
    };
    assert!(
        (0..200).all(|column| black(column, 4) && black(column, 55)),
        "five rows above and below are free"
    );
    assert!((0..60).all(|row| black(19, row) && black(180, row)), "twenty columns at both sides are free");
    assert!((20..180).any(|column| !black(column, 5)) && (20..180).any(|column| !black(column, 54)));
    assert!((5..55).any(|row| !black(20, row)) && (5..55).any(|row| !black(179, row)));
}

#[test]
fn terminal_that_is_too_small_is_told_how_large_it_must_be() {
    assert!(Painter::has_room((60, 18)) && !Painter::has_room((59, 18)) && !Painter::has_room((60, 17)));
    let picture = Picture::of(Scene::new(&Duel::between(1, games::duel::Character::ALL), names()));
    for size in [(40, 10), (59, 50), (200, 17)] {
        let shown = rows(&picture, size).join("\n");
        assert!(
            shown.contains("needs 60 x 18") && shown.contains(&format!("this is {} x {}", size.0, size.1))
        );
    }
    // Nothing fits into these, and nothing breaks.
    for size in [(0, 0), (1, 1), (5, 1)] {
        rows(&picture, size);
    }
}

#[test]
fn without_colours_no_colour_is_sent_and_both_fighters_are_seen() {
    let environment = |set: &'static [(&str, &str)]| {
        move |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    assert_eq!(Depth::of(environment(&[("NO_COLOR", "1"), ("COLORTERM", "truecolor")])), Depth::Mono);
    assert_eq!(Depth::of(environment(&[("NO_COLOR", ""), ("COLORTERM", "truecolor")])), Depth::Full);
    assert_eq!(Depth::of(environment(&[("TERM", "xterm-256color")])), Depth::Palette);

    let duel = fight([(-60, 0), (60, 0)]);
    let mut scene = Scene::new(&duel, names());
    (0..60).for_each(|_| scene.advance(&duel, &[]));
    let picture = Picture { net: Some(busy_net()), ..Picture::of(scene) };
    let mut painter = Painter::new(Depth::Mono);
    let bytes = String::from_utf8(painter.paint(&picture, (80, 24)).to_vec()).expect("text");
    assert!(!bytes.contains("\x1b[38;") && !bytes.contains("\x1b[48;"), "a colour is set");
    let figures = |columns: core::ops::Range<usize>| {
        let rows = (9..15).map(|row| painter.cells().text(row));
        rows.map(|row| row.chars().skip(columns.start).take(columns.len()).filter(|it| *it != ' ').count())
            .sum()
    };
    let (one, two): (usize, usize) = (figures(20..40), figures(40..60));
    assert!(one > 15 && two > 15, "fighters of {one} and {two} cells");
}

#[test]
fn plurals_follow_the_count() {
    let words = [0, 1, 2, 21].map(|count| counted(count, "frame"));
    assert_eq!(words, ["0 frames", "1 frame", "2 frames", "21 frames"]);
}
