//! The views of the duel: scenes and their sparks, poses, characters, cells, keys and the net graph.

use std::time::{Duration, Instant};

use duel::art::figure::Joints;
use duel::art::pose::target_of;
use duel::keys::{Bindings, KeysError};
use duel::netgraph::{NetGraph, NetSample, PLOTTED_FRAMES};
use duel::scene::Scene;
use games::duel::bot::{Bot, Level};
use games::duel::buttons::{DOWN, HEAVY, LEFT, LIGHT};
use games::duel::{Action, Duel, Fx, Phase, RoundEnd};
use rebout::{CueChange, CueEvent, CueId, Cues, Frame, Game, Inputs, Player};
use stage::{Canvas, Key, Keyboard, Pixels, Role, UnknownKey, at, rgb};

fn names() -> [String; 2] {
    ["Ann".to_owned(), "Ben".to_owned()]
}

/// Two bots, frame by frame.
fn play_bots(seed: u32, frames: u32, mut look: impl FnMut(&Duel, &Cues)) {
    let mut duel = Duel::between(seed, games::duel::Character::ALL);
    let mut bots = [Bot::new(seed, Level::Hard), Bot::new(seed + 1, Level::Normal)];
    let mut cues = Cues::new();
    for _ in 0..frames {
        let inputs = Player::BOTH.map(|player| bots[player.index()].buttons(&duel, player));
        cues.clear();
        duel.step(Inputs::from(inputs), &mut cues);
        look(&duel, &cues);
    }
}

/// A blow by player one, as the engine tells it.
fn blow() -> (Duel, CueEvent) {
    let mut found = None;
    play_bots(3, 1200, |duel, cues| {
        let heavy = cues.as_slice().iter().find(|cue| {
            games::duel::effects::Shown::unpack(**cue).is_some_and(|shown| {
                shown.effect == games::duel::effects::Effect::HeavyHit && shown.player == Player::One
            })
        });
        if let (None, Some(cue)) = (&found, heavy) {
            let change = CueChange::Start { late_by: 0 };
            found = Some((*duel, CueEvent { id: CueId(7), cue: *cue, frame: Frame(1), change }));
        }
    });
    found.expect("a heavy blow by player one within twenty seconds")
}

#[test]
fn cancelled_hit_removes_its_effects() {
    let (duel, start) = blow();
    let mut scene = Scene::new(&duel, names());
    scene.advance(&duel, &[start]);
    assert_eq!(scene.sparks.len(), 1);
    assert!(scene.flash(Player::Two) > 0.5 && scene.flash(Player::One) == 0.0);
    assert!(scene.camera_target.shake != at(0.0, 0.0));
    scene.advance(&duel, &[CueEvent { change: CueChange::Cancel, ..start }]);
    assert_eq!(scene.sparks.len(), 0);
    assert_eq!((scene.flash(Player::Two), scene.camera_target.shake), (0.0, at(0.0, 0.0)));
}

#[test]
fn confirmed_blow_looks_like_an_unconfirmed_one() {
    let (duel, start) = blow();
    let run = |second: &[CueEvent]| {
        let mut scene = Scene::new(&duel, names());
        scene.advance(&duel, &[start]);
        scene.advance(&duel, second);
        format!("{scene:?}")
    };
    assert_eq!(run(&[CueEvent { change: CueChange::Confirm, ..start }]), run(&[]));
}

#[test]
fn late_hit_effect_starts_midway_and_a_very_late_one_never() {
    let (duel, start) = blow();
    let seen = |late_by: u32| {
        let mut scene = Scene::new(&duel, names());
        scene.advance(&duel, &[CueEvent { change: CueChange::Start { late_by }, ..start }]);
        scene.sparks.first().map(|spark| spark.age)
    };
    assert_eq!((seen(0), seen(5), seen(100)), (Some(0), Some(5), None));
}

#[test]
fn lost_health_lingers_in_red_and_then_goes() {
    let mut duel = Duel::between(1, games::duel::Character::ALL);
    let mut scene = Scene::new(&duel, names());
    duel.fighters[1].health = 700;
    scene.advance(&duel, &[]);
    assert!(scene.sides[1].trail > 999.0, "{}", scene.sides[1].trail);
    (0..90).for_each(|_| scene.advance(&duel, &[]));
    assert!(scene.sides[1].trail < 701.0, "{}", scene.sides[1].trail);
}

#[test]
fn every_pose_stands_on_the_floor() {
    let mut seen = Vec::new();
    play_bots(11, 6000, |duel, _| {
        for fighter in &duel.fighters {
            let place = at(fighter.x.to_num(), fighter.y.to_num());
            let side = fighter.facing.sign() as f32;
            let joints = Joints::of(
                &target_of(fighter, duel.age).pose,
                fighter.character,
                place,
                side,
                fighter.airborne(),
            );
            let feet = [joints.near_leg[3], joints.far_leg[3], joints.near_leg[2], joints.far_leg[2]];
            let points = feet.into_iter().chain([joints.hips, joints.chest, joints.head]);
            let lowest = points.map(|point| point.y).fold(f32::INFINITY, f32::min);
            let above = lowest - place.y;
            assert!(lowest > 0.0 && (-40.0..40.0).contains(&above), "{lowest} in {:?}", fighter.action);
            if !fighter.airborne() {
                assert!(lowest < 16.0, "floats {lowest} in {:?}", fighter.action);
                assert!((joints.hips.x - fighter.x.to_num::<f32>()).abs() < 1.0);
            }
            let kind = format!("{:?}", fighter.action);
            if !seen.contains(&kind) {
                seen.push(kind);
            }
        }
    });
    assert!(seen.len() >= 22, "only {} kinds of actions were seen: {seen:?}", seen.len());
}

#[test]
fn different_actions_have_different_poses() {
    let mut poses = Vec::new();
    let mut fighter = Duel::between(1, games::duel::Character::ALL).fighters[0];
    fighter.stun = 12;
    for action in [
        Action::Stand,
        Action::Crouch,
        Action::Guard,
        Action::JumpSquat,
        Action::Air,
        Action::Hit,
        Action::Launched,
        Action::Down,
        Action::Rise,
        Action::Holding,
        Action::Held,
        Action::Victory,
        Action::Defeat,
    ] {
        fighter.action = action;
        let pose = target_of(&fighter, 0).pose;
        assert!(!poses.contains(&pose), "{action:?} looks like another");
        poses.push(pose);
    }
}

#[test]
fn banner_says_where_the_match_is() {
    let mut scene = Scene::new(&Duel::between(1, games::duel::Character::ALL), names());
    let mut says = |phase: Phase, since: u16| {
        scene.duel.phase = phase;
        scene.duel.since = since;
        duel::picture::banner(&scene).map(|banner| format!("{}|{}", banner.text, banner.below))
    };
    let winner = Some(Player::Two);
    assert_eq!(says(Phase::Intro, 20).as_deref(), Some("Round 1|"));
    assert_eq!(says(Phase::Intro, 80).as_deref(), Some("Fight!|"));
    assert_eq!(says(Phase::Fight, 80), None);
    assert_eq!(says(Phase::RoundOver { winner, end: RoundEnd::Ko }, 5).as_deref(), Some("KO|"));
    assert_eq!(says(Phase::RoundOver { winner: None, end: RoundEnd::Ko }, 5).as_deref(), Some("Double KO|"));
    assert_eq!(says(Phase::RoundOver { winner, end: RoundEnd::Time }, 5).as_deref(), Some("Time|"));
    assert_eq!(says(Phase::RoundOver { winner, end: RoundEnd::Ko }, 90).as_deref(), Some("Ben wins|Perfect"));
    assert_eq!(says(Phase::MatchOver { winner }, 1).as_deref(), Some("Ben is the winner|Rematch?  10"));
}

#[test]
fn keyboard_with_releases_holds_exactly_what_is_held() {
    let now = Instant::now();
    let mut keyboard = Keyboard::new(true);
    keyboard.press(Key::Left, Role::Direction(Key::Right), now);
    keyboard.press(Key::Left, Role::Direction(Key::Right), now);
    keyboard.press(Key::Char('j'), Role::Tap, now);
    assert_eq!(keyboard.held(now + Duration::from_secs(60)), [Key::Left, Key::Char('j')]);
    assert_eq!(keyboard.presses(), [Key::Left, Key::Char('j')], "a repeat is no press");
    keyboard.release(Key::Left);
    assert_eq!(keyboard.held(now), [Key::Char('j')]);
}

/// A keyboard that repeats as a terminal does: the last key only, first after a while and then often.
struct Terminal {
    keyboard: Keyboard,
    start: Instant,
}

impl Terminal {
    fn new() -> Self {
        Self { keyboard: Keyboard::new(false), start: Instant::now() }
    }

    fn at(&self, millis: u64) -> Instant {
        self.start + Duration::from_millis(millis)
    }

    fn press(&mut self, key: Key, role: Role, millis: u64) {
        let now = self.at(millis);
        self.keyboard.press(key, role, now);
    }

    /// A key held from `from` to `to`, its first repeat after 300 ms.
    fn hold(&mut self, key: Key, role: Role, from: u64, to: u64) {
        self.press(key, role, from);
        for millis in (from + 300..to).step_by(33) {
            assert!(self.held(millis).contains(&key), "{key} lost at {millis} ms");
            self.press(key, role, millis);
        }
    }

    fn held(&mut self, millis: u64) -> Vec<Key> {
        let now = self.at(millis);
        self.keyboard.held(now)
    }
}

const BACK: Role = Role::Direction(Key::Right);
const AHEAD: Role = Role::Direction(Key::Left);

#[test]
fn without_key_releases_a_held_direction_ends_soon_after() {
    let mut terminal = Terminal::new();
    terminal.hold(Key::Left, BACK, 0, 2000);
    assert_eq!(terminal.held(2040), [Key::Left]);
    assert_eq!(terminal.held(2200), []);
    assert_eq!(terminal.keyboard.presses(), [Key::Left]);
}

#[test]
fn without_releases_only_the_other_direction_ends_a_guard() {
    let mut terminal = Terminal::new();
    terminal.hold(Key::Left, BACK, 0, 1000);
    terminal.press(Key::Char('j'), Role::Tap, 1010);
    assert_eq!(terminal.held(1020), [Key::Left, Key::Char('j')]);
    assert_eq!(terminal.held(1300), [Key::Left], "the finger may still be there");
    terminal.press(Key::Right, AHEAD, 1310);
    assert_eq!(terminal.held(1320), [Key::Right]);
}

#[test]
fn without_releases_hammering_a_blow_gives_as_many_presses() {
    let mut terminal = Terminal::new();
    for tap in 0..5 {
        terminal.press(Key::Char('j'), Role::Tap, tap * 120);
        assert_eq!(terminal.held(tap * 120 + 90), [], "up again before the next");
    }
    assert_eq!(terminal.keyboard.presses().len(), 5);
}

#[test]
fn without_releases_a_tap_gets_shorter_on_a_quick_keyboard() {
    let mut terminal = Terminal::new();
    terminal.press(Key::Left, BACK, 0);
    assert_eq!(terminal.held(440), [Key::Left]);
    terminal.hold(Key::Left, BACK, 2000, 3000);
    terminal.press(Key::Left, BACK, 5000);
    assert_eq!(terminal.held(5330), [Key::Left]);
    assert_eq!(terminal.held(5400), []);
}

#[test]
fn keys_are_read_from_a_list_and_bad_lists_are_quoted() {
    let bindings: Bindings = "a, d,w,s,J,comma,space,up,enter".parse().expect("a good list");
    let held = [Key::Char('a'), Key::Char('s'), Key::Char('j'), Key::Char(','), Key::Char('x')];
    assert_eq!(bindings.buttons(&held), LEFT | DOWN | LIGHT | HEAVY);
    let refuse = |list: &str| list.parse::<Bindings>().expect_err(list);
    assert_eq!(refuse("a,d,w"), KeysError::Count(3));
    assert_eq!(refuse("a,d,w,s,f,g,h,a,r"), KeysError::Twice(Key::Char('a')));
    assert_eq!(refuse("a,d,w,s,f,g,h,esc,r"), KeysError::Reserved(Key::Escape));
    assert_eq!(refuse("a,d,w,s,f,g,h,m,r"), KeysError::Reserved(Key::Char('m')), "m mutes");
    assert_eq!(refuse("a,d,w,s,f,g,h,ctrl,r"), KeysError::Unknown(UnknownKey("ctrl".to_owned())));
    assert!(refuse("a,d,w,s,f,g,h,ctrl,r").to_string().contains("'ctrl'"));
    assert!(Bindings::LEFT_HALF.shares_a_key_with(&Bindings::RIGHT_HALF).is_none());
}

#[test]
fn net_graph_marks_a_fighter_moved_by_a_rollback() {
    let mut net = NetGraph::default();
    let shown = Duel::between(1, games::duel::Character::ALL);
    let mut truth = shown;
    assert!(!net.mark_moved(&shown, &truth));
    truth.fighters[1].x += Fx::from_num(20);
    assert!(net.mark_moved(&shown, &truth));
    assert_eq!(net.moved().iter().map(|mark| mark.player).collect::<Vec<_>>(), [Player::Two]);
    for _ in 0..PLOTTED_FRAMES * 2 {
        net.push(NetSample::default());
    }
    assert_eq!((net.moved().len(), net.samples().len()), (0, PLOTTED_FRAMES));
}

/// The terminal's own parts.
mod terminal {
    use duel::art::camera::Covered;
    use duel::art::stage as scenery;
    use duel::scene::Scene;
    use stage::{Canvas, Cells, Depth, Raster, at, rgb};

    fn text(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).expect("text")
    }

    #[test]
    fn only_what_changed_is_written() {
        let (mut raster, mut cells) = (Raster::default(), Cells::new(Depth::Full));
        raster.resize(20, 10);
        cells.resize(20, 5);
        raster.rect(at(0.0, 0.0), 20.0, 10.0, rgb(0x20_40_80));
        cells.take_pixels(&raster);
        let first = text(cells.changes());
        assert_eq!(first.matches(' ').count(), 100);
        assert_eq!(first.matches("48;2;32;64;128").count(), 1, "one colour is set once");
        cells.take_pixels(&raster);
        assert_eq!(text(cells.changes()), "\x1b[?2026h\x1b[?2026l");
        raster.rect(at(3.0, 4.0), 1.0, 1.0, rgb(0xFF_00_00));
        cells.take_pixels(&raster);
        let change = text(cells.changes());
        assert!(change.contains("\x1b[3;4H") && change.matches('▀').count() == 1, "{change:?}");
    }

    #[test]
    fn name_cannot_move_the_cursor() {
        let mut cells = Cells::new(Depth::Full);
        cells.resize(20, 5);
        cells.write(0, 0, "\x1b[2Jevil\r\n", rgb(0xFF_FF_FF), None);
        let out = text(cells.changes());
        assert!(out.contains("?[2Jevil??"), "{out:?}");
    }

    #[test]
    fn text_beyond_the_edge_is_cut() {
        let mut cells = Cells::new(Depth::Palette);
        cells.resize(10, 3);
        for (column, row) in [(-4, 1), (8, 1), (40, 2), (0, -1), (0, 3)] {
            cells.write(column, row, "abcdef", rgb(0xFF_FF_FF), None);
        }
        let out = text(cells.changes());
        assert!(out.contains("ef") && out.contains("ab") && !out.contains('c'), "{out:?}");
    }

    #[test]
    fn any_size_of_terminal_can_be_painted() {
        let scene = Scene::new(&super::Duel::between(2, games::duel::Character::ALL), super::names());
        for (columns, rows) in [(1, 1), (2, 40), (200, 3), (80, 24), (120, 40)] {
            let (mut raster, mut cells) = (Raster::default(), Cells::new(Depth::Full));
            raster.resize(columns, rows * 2);
            cells.resize(columns, rows);
            scenery::paint(&mut raster, &scene, &[], Covered::default());
            cells.take_pixels(&raster);
            assert!(cells.changes().len() > columns * rows);
        }
    }
}

/// A canvas of 960 by 540 pixels, black, and the red of one of them.
fn sheet() -> Pixels {
    let mut sheet = Pixels::default();
    sheet.fit(960.0, 540.0);
    sheet
}

fn red(sheet: &Pixels, x: usize, y: usize) -> u8 {
    sheet.bytes()[(y * 960 + x) * 4]
}

/// How many whole red pixels all of it is worth.
fn red_area(sheet: &Pixels) -> f64 {
    sheet.bytes().chunks_exact(4).map(|pixel| f64::from(pixel[0]) / 255.0).sum()
}

#[test]
fn rectangle_covers_its_edge_pixels_in_part() {
    let mut sheet = sheet();
    sheet.rect(at(10.5, 20.0), 4.0, 2.25, rgb(0xFF_00_00));
    let row = |y| [9, 10, 11, 13, 14, 15].map(|x| red(&sheet, x, y));
    assert_eq!(row(19), [0; 6]);
    for (y, share) in [(20, 1.0), (21, 1.0), (22, 0.25)] {
        let expected = [0.0, 0.5, 1.0, 1.0, 0.5, 0.0].map(|part: f64| part * share * 255.0);
        for (found, expected) in row(y).into_iter().zip(expected) {
            assert!((f64::from(found) - expected).abs() <= 2.0, "row {y}: {:?}", row(y));
        }
    }
    assert!(
        sheet.bytes().chunks_exact(4).all(|pixel| pixel[3] == 255),
        "the window is not to be looked through"
    );
}

#[test]
fn shapes_cover_as_much_as_they_are_large_wherever_they_lie() {
    let pi = core::f64::consts::PI;
    for shift in [0.0, 0.3, 0.5, 0.85] {
        let color = rgb(0xFF_00_00);
        let mut disc = sheet();
        disc.disc(at(100.0 + shift, 100.0 - shift), 20.0, color);
        let mut capsule = sheet();
        capsule.capsule(at(50.0 + shift, 50.0), at(80.0 + shift, 90.0), [5.0; 2], color);
        let mut triangle = sheet();
        triangle.polygon(&[at(10.0, 10.0 + shift), at(50.0, 20.0 + shift), at(20.0, 60.0)], color);
        let triangle_area = f64::from((40.0 * (50.0 - shift) - 10.0 * 10.0) / 2.0);
        let expected = [pi * 400.0, pi * 25.0 + 500.0, triangle_area];
        for (sheet, expected) in [disc, capsule, triangle].iter().zip(expected) {
            let found = red_area(sheet);
            assert!((found / expected - 1.0).abs() < 0.03, "{found} instead of {expected}, at {shift}");
        }
    }
}

#[test]
fn shapes_beyond_the_edges_are_cut_and_half_opacity_is_half() {
    let mut sheet = sheet();
    sheet.rect(at(-50.0, -50.0), 5_000.0, 5_000.0, rgb(0xFF_00_00).faded(0.5));
    sheet.disc(at(-30.0, 700.0), 60.0, rgb(0));
    sheet.capsule(at(-1e6, 3.0), at(1e6, 3.0), [1.0; 2], rgb(0));
    sheet.polygon(&[at(f32::NAN, 0.0), at(9.0, f32::INFINITY), at(1.0, 5.0)], rgb(0));
    let half = red(&sheet, 480, 270);
    assert!((126..=129).contains(&half), "{half}");
    assert!(red(&sheet, 480, 3) < 16, "a line from far left to far right crosses the window");
}

#[test]
fn fighters_with_the_same_outfit_wear_other_colours() {
    let mut scene = Scene::new(&Duel::between(1, [games::duel::Character::Rai; 2]), names());
    for outfit in 0..duel::art::figure::OUTFITS.len() {
        scene.outfits = [outfit; 2];
        let [one, two] = [rebout::Player::One, rebout::Player::Two].map(|player| scene.outfit(player).name);
        assert_ne!(one, two);
    }
}
