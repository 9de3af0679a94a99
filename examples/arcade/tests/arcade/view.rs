//! Pictures: what is painted in a window and in a terminal of any size, and which keys do what.

use arcade::art::{Note, Panel, Picture};
use arcade::game::{Phase, kind};
use arcade::keys;
use arcade::scene::{Actor, Burst, Flying, Scene, Sound};
use stage::pads::{PadButton, PadState};
use stage::sound::RATE;
use stage::{Cells, Depth, InputState, Key, Picture as _, Pixels, Raster, Role};

fn actor(id: u8, kind: u8, x: f32, y: f32) -> Actor {
    Actor { id, kind, x, y, climb: 0.0, is_hit: false, blinks: 0 }
}

/// Everything at once.
fn crowded() -> Picture {
    let mut scene = Scene::default();
    (scene.own, scene.ships, scene.level, scene.score) = (Some(3), vec![3, 9], 2, 1_234);
    scene.actors = vec![actor(3, kind::SHIP, 180.0, 200.0), actor(9, kind::SHIP, 180.0, 260.0)];
    let enemies = [kind::DRONE, kind::DART, kind::WEAVER, kind::TURRET, kind::BOSS, kind::PICKUP];
    scene.actors.extend(
        (0..).zip(enemies).map(|(n, kind)| {
            actor(250 - n, kind, 300.0 + 70.0 * f32::from(n), 120.0 + 40.0 * f32::from(n % 3))
        }),
    );
    scene.shots = vec![
        Flying { kind: kind::BOLT, x: 260.0, y: 200.0 },
        Flying { kind: kind::PELLET, x: 400.0, y: 300.0 },
    ];
    scene.bursts = vec![Burst { x: 500.0, y: 300.0, age: 4, size: 16.0, dice: 77 }];
    scene.raw = vec![[(190.0, 205.0), (180.0, 200.0)]];
    Picture {
        scene,
        raw: false,
        net: None,
        note: None,
        panel: None,
        hints: false,
        name: "Ada".to_owned(),
        menu: None,
    }
}

fn window(picture: &Picture, width: f32, height: f32) -> (usize, Vec<u8>) {
    let mut pixels = Pixels::default();
    pixels.fit(width, height);
    picture.paint(&mut pixels);
    (usize::from(pixels.size().0), pixels.bytes().to_vec())
}

/// The text that a terminal is sent, without its control sequences.
fn terminal(picture: &Picture, columns: usize, rows: usize) -> String {
    let (mut raster, mut cells) = (Raster::default(), Cells::new(Depth::Full));
    raster.resize(columns, rows * 2);
    cells.resize(columns, rows);
    picture.paint_shapes(&mut raster);
    cells.take_pixels(&raster);
    picture.write_words(&mut cells);
    let sent = String::from_utf8(cells.changes().to_vec()).expect("text");
    let mut text = String::new();
    let mut rest = sent.chars();
    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' => {
                // A sequence ends with a letter.
                for inside in rest.by_ref() {
                    if inside.is_ascii_alphabetic() {
                        break;
                    }
                }
            }
            character => text.push(character),
        }
    }
    text
}

#[test]
fn window_of_any_size_shows_ships_in_their_colours() {
    for (width, height) in [(320.0, 180.0), (960.0, 540.0), (1_000.0, 400.0), (1_920.0, 1_080.0)] {
        let (wide, bytes) = window(&crowded(), width, height);
        let scale = wide as f32 / 960.0 * 1.5;
        // The fin of each ship, behind and above its middle.
        let pixel = |x: f32, y: f32| {
            let (x, y) = (((x - 100.0) * scale) as usize, ((y - 40.0) * scale) as usize);
            let at = (y * wide + x) * 4;
            [bytes[at], bytes[at + 1], bytes[at + 2]]
        };
        let [r, _, b] = pixel(168.0, 193.0);
        assert!(b > r, "blue at {width}: {:?}", pixel(168.0, 193.0));
        let [r, _, b] = pixel(168.0, 253.0);
        assert!(r > b, "orange at {width}: {:?}", pixel(168.0, 253.0));
    }
}

#[test]
fn raw_updates_banners_notes_and_figures_change_the_picture() {
    let plain = window(&crowded(), 960.0, 540.0).1;
    let raw = Picture { raw: true, ..crowded() };
    let note = Picture { note: Some(Note::warning("player 9 has left")), ..crowded() };
    let net = Picture { net: Some(vec!["round trip 80 ms".to_owned()]), ..crowded() };
    let mut over = crowded();
    (over.scene.phase, over.scene.phase_age) = (Phase::Over, 60);
    for (name, picture) in [("raw", raw), ("note", note), ("net", net), ("over", over)] {
        assert_ne!(window(&picture, 960.0, 540.0).1, plain, "{name}");
    }
}

#[test]
fn terminal_of_any_size_has_the_words() {
    for (columns, rows) in [(60, 18), (80, 24), (121, 34), (200, 60)] {
        let text = terminal(&crowded(), columns, rows);
        assert!(text.contains("0001234") && text.contains("level 2"), "{columns} x {rows}: {text}");
        let hints = terminal(&Picture { hints: true, ..crowded() }, columns, rows);
        assert!(keys::LINES.iter().all(|(_, text)| hints.contains(text)), "{columns} x {rows}: {hints}");
        let note = Picture { note: Some(Note::calm("joining the server")), ..crowded() };
        assert!(terminal(&note, columns, rows).contains("joining the server"));
        let panel = Panel {
            title: "The game is over".to_owned(),
            lines: vec!["the connection to the server was lost".to_owned()],
            footer: "any key leaves".to_owned(),
        };
        let text = terminal(&Picture { panel: Some(panel), ..crowded() }, columns, rows);
        for words in ["The game is over", "the connection to the server was lost", "any key leaves"] {
            assert!(text.contains(words), "{columns} x {rows}: {text}");
        }
    }
}

#[test]
fn keys_fly_and_shoot_and_opposite_ones_are_neutral() {
    let held = |keys: &[Key]| {
        let command = keys::command(&InputState { held: keys.to_vec(), ..InputState::default() }, false);
        (command.x as i8, command.y as i8, command.actions)
    };
    assert_eq!(held(&[Key::Left, Key::Char('s')]), (-1, 1, 0));
    assert_eq!(held(&[Key::Char('w'), Key::Down, Key::Char(' ')]), (0, 0, 1));
    assert_eq!(keys::command(&InputState::default(), true).actions, 1);
    assert_eq!(keys::role_of(Key::Char('a')), Role::Direction(Key::Char('d')));
    assert_eq!(keys::role_of(Key::Char('r')), Role::Tap);
}

#[test]
fn gamepad_flies_and_shoots_beside_the_keys() {
    let pad =
        |buttons: &[PadButton]| PadState { held: buttons.iter().copied().collect(), ..PadState::default() };
    let input = |held: &[Key], buttons: &[PadButton]| InputState {
        held: held.to_vec(),
        pads: vec![PadState::default(), pad(buttons)],
        ..InputState::default()
    };
    let command = keys::command(&input(&[Key::Up], &[PadButton::Right, PadButton::R1]), false);
    assert_eq!((command.x as i8, command.y as i8, command.actions), (1, -1, 1));
    let command = keys::command(&input(&[Key::Left], &[PadButton::Right, PadButton::North]), false);
    assert_eq!((command.x as i8, command.actions), (0, 0));
}

#[test]
fn every_sound_of_a_scene_is_heard() {
    let bank = arcade::sound::bank();
    for sound in [
        Sound::Bolt,
        Sound::Pellet,
        Sound::Clang,
        Sound::Boom,
        Sound::LostLife,
        Sound::Pickup,
        Sound::Cleared,
    ] {
        let clip = bank.get(arcade::sound::play_of(sound, 7).sound).unwrap_or_else(|| panic!("{sound:?}"));
        assert!((0.1..0.9).contains(&clip.peak()), "{sound:?}: {}", clip.peak());
    }
    assert!(bank.music(arcade::sound::MUSIC).is_some_and(|piece| piece.period() > 60 * RATE as usize));
}

#[test]
fn own_name_stands_beside_the_lives() {
    assert!(terminal(&crowded(), 100, 30).contains("Ada"));
}

#[test]
fn keys_are_explained_on_a_dark_ground() {
    let mut picture = crowded();
    picture.scene.shots = (0..40)
        .map(|n| Flying { kind: kind::BOLT, x: 110.0 + 15.0 * n as f32, y: 40.0 + 360.0 * 0.70 })
        .collect();
    let brightest = |picture: &Picture| {
        let (wide, bytes) = window(picture, 960.0, 540.0);
        // Between two lines of the legend.
        let row = (540.0_f32 * 0.60) as usize + 19;
        (300..380).map(|x| bytes[(row * wide + x) * 4 + 1]).max().unwrap()
    };
    let row_of_shots = |picture: &mut Picture| {
        let y = 40.0 + (540.0 * 0.60 + 19.0) / 1.5;
        picture.scene.shots.iter_mut().for_each(|shot| shot.y = y);
    };
    row_of_shots(&mut picture);
    let without = brightest(&picture);
    picture.hints = true;
    let with = brightest(&picture);
    assert!(with < without / 2, "{with} of {without}");
}

#[test]
fn silent_server_is_told_with_the_time_that_is_left() {
    let mut silence = arcade::play::Silence::default();
    let second = std::time::Duration::from_secs;
    silence.note(second(100), 7);
    assert_eq!(silence.words(10), None);
    silence.note(second(101), 8);
    assert_eq!(silence.words(10), None, "something came");
    silence.note(second(104), 8);
    let words = silence.words(10).expect("words");
    assert_eq!(words, "no word from the server for 3 s: it is lost in 7 s");
    silence.note(second(130), 8);
    assert!(silence.words(10).unwrap().ends_with("lost in 0 s"));
    silence.note(second(131), 9);
    assert_eq!(silence.words(10), None);
}
