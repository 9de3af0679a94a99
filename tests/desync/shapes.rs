//! Autopsies of matches of every shape: with any cadence, any window and any kind of state.

use crate::board::Board;
use core::time::Duration;
use games::faulty::{Fault, Faulty};
use games::faulty::{LINK, PLAY, autopsies, play_out, sim_match, step_differs};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::{AutopsyVerdict, Cues, Event, Frame, Game, Inputs, Player, Save, StateError, Verdict, fields};

#[test]
fn frame_and_field_are_found_at_every_interval_and_window() {
    for (cadence, window, delay) in [
        (1, 8, 0),
        (2, 8, 0),
        (7, 8, 2),
        (30, 0, 3),
        (1, 0, 8),
        (30, 8, 8),
        (90, 16, 0),
        (100, 4, 1),
        (200, 8, 0),
    ] {
        let mut sim = sim_match(3, step_differs, LINK, |config| {
            config.cadence_frames = cadence;
            config.rollback.window_frames = window;
            config.rollback.delay_frames = Some(delay);
        });
        play_out(&mut sim);
        for id in 0..2 {
            let what = format!("cadence {cadence}, window {window}, delay {delay}, machine {id}");
            let [autopsy] = &autopsies(&sim, id)[..] else { panic!("{what}: {:?}", sim.machine(id).events) };
            assert!(autopsy.complete, "{what}: {autopsy}");
            assert_eq!((autopsy.first_divergence, autopsy.exact), (Frame(100), true), "{what}: {autopsy}");
            assert_eq!(autopsy.verdict, AutopsyVerdict::StepDiffers, "{what}: {autopsy}");
            assert_eq!(autopsy.fields.len(), 1, "{what}: {autopsy}");
            assert_eq!(autopsy.fields[0].path, "fighters[1].hp", "{what}");
        }
    }
}

/// Checksums so far apart that the states before the divergence are not kept any more.
#[test]
fn difference_before_its_checksum_is_found_by_resimulation() {
    let mut setup = Setup::new(3, LINK).configure(|config| config.cadence_frames = 600);
    setup.seed = 4;
    let mut play = PLAY;
    play.build = |seed| Faulty { last: 800, ..(PLAY.build)(seed) };
    for outside in [false, true] {
        let mut sim = SimMatch::new(setup.clone(), play);
        for id in 0..2 {
            sim.world.machine_mut(id).tamper = Some(if outside {
                |game, player| {
                    if player == Player::Two {
                        game.fault = Fault::Outside { from: 100 };
                    }
                }
            } else {
                step_differs
            });
        }
        play_out(&mut sim);
        for id in 0..2 {
            let [autopsy] = &autopsies(&sim, id)[..] else { panic!("{:?}", sim.machine(id).events) };
            assert_eq!(autopsy.last_match, Some(Frame(0)), "{autopsy}");
            assert!(autopsy.complete && autopsy.inputs.len() == 600);
            if outside {
                // It cannot be had again, so only what was kept is believed: the field, not the frame.
                assert_eq!(autopsy.verdict, AutopsyVerdict::NotReproducible { one: false, two: true });
                assert!(!autopsy.exact, "{autopsy}");
                assert!(autopsy.fields.iter().any(|field| field.path == "fighters[0].cooldown"), "{autopsy}");
            } else {
                assert_eq!((autopsy.first_divergence, autopsy.exact), (Frame(100), true), "{autopsy}");
                assert_eq!(autopsy.verdict, AutopsyVerdict::StepDiffers, "{autopsy}");
                assert_eq!(autopsy.fields[0].path, "fighters[1].hp", "{autopsy}");
            }
        }
    }
}

#[test]
fn delay_that_changes_on_the_way_changes_nothing() {
    let mut sim = sim_match(6, step_differs, LINK, |_| {});
    sim.run_for(Duration::from_millis(1_200));
    for (id, delay) in [(0, 5), (1, 2)] {
        let now = sim.world.local_now(id);
        sim.world.machine_mut(id).session_mut().expect("begun").set_delay(now, delay).unwrap();
    }
    sim.run_for(Duration::from_millis(300));
    let now = sim.world.local_now(0);
    sim.world.machine_mut(0).session_mut().expect("begun").set_delay(now, 0).unwrap();
    play_out(&mut sim);
    for id in 0..2 {
        let [autopsy] = &autopsies(&sim, id)[..] else { panic!("{:?}", sim.machine(id).events) };
        assert_eq!((autopsy.first_divergence, autopsy.exact), (Frame(100), true), "{autopsy}");
        assert_eq!(autopsy.verdict, AutopsyVerdict::StepDiffers, "{autopsy}");
    }
}

/// The action of a fighter: variants with and without fields.
#[derive(Clone, Debug, PartialEq)]
enum Doing {
    Nothing,
    Casting { since: u32, target: (i32, i32) },
    Hurt(u8),
}
fields!(
    enum Doing {
        Nothing,
        Casting { since, target },
        Hurt(by),
    }
);

#[derive(Clone, Debug)]
struct Bullet {
    x: i32,
    owner: u8,
}
fields!(Bullet { x, owner });

/// A state on the heap whose shape changes: bullets come and go.
#[derive(Clone, Debug)]
struct Brawl {
    frame: u32,
    doing: Doing,
    bullets: Vec<Bullet>,
    grudge: Option<u16>,
}
fields!(Brawl { frame, doing, bullets, grudge });

struct Arena {
    brawl: Brawl,
    tampered: bool,
}

impl Save for Arena {
    type Snapshot = Brawl;
    fn snapshot(&self) -> Brawl {
        self.brawl.clone()
    }
    fn save(&self, slot: &mut Brawl) -> Result<(), StateError> {
        slot.clone_from(&self.brawl);
        Ok(())
    }
    fn restore(&mut self, snapshot: &Brawl) -> Result<(), StateError> {
        self.brawl.clone_from(snapshot);
        Ok(())
    }
}

impl Game for Arena {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        let brawl = &mut self.brawl;
        brawl.frame += 1;
        for player in Player::BOTH {
            if inputs[player].buttons().0 & 8 != 0 && brawl.bullets.len() < 40 {
                brawl.bullets.push(Bullet { x: brawl.frame as i32 * 7 % 100, owner: player.index() as u8 });
            }
        }
        brawl.bullets.retain_mut(|bullet| {
            bullet.x += if bullet.owner == 0 { 3 } else { -3 };
            (0..100).contains(&bullet.x)
        });
        brawl.doing = match brawl.frame % 50 {
            0..20 => Doing::Nothing,
            20..40 => Doing::Casting { since: brawl.frame - brawl.frame % 50, target: (3, 4) },
            _ => Doing::Hurt(9),
        };
        if self.tampered && brawl.frame == 75 {
            brawl.doing = Doing::Nothing;
            brawl.bullets.push(Bullet { x: 50, owner: 7 });
            brawl.grudge = Some(11);
        }
    }
    fn finished(&self) -> bool {
        self.brawl.frame >= 300
    }
}

const BRAWL: Play<Arena> = Play {
    build: |_| Arena {
        brawl: Brawl { frame: 0, doing: Doing::Nothing, bullets: Vec::new(), grudge: None },
        tampered: false,
    },
    script: every_fourth,
};

#[test]
fn states_of_different_shape_are_compared_by_path() {
    let mut sim = SimMatch::new(Setup::new(8, LINK), BRAWL);
    for id in 0..2 {
        sim.world.machine_mut(id).tamper = Some(|game, player| game.tampered = player == Player::One);
    }
    assert!(sim.run_until(Duration::from_secs(20), |sim| (0..2).all(|id| sim.machine(id).ended())));
    for id in 0..2 {
        let [autopsy] = &autopsies(&sim, id)[..] else { panic!("{:?}", sim.machine(id).events) };
        assert_eq!((autopsy.first_divergence, autopsy.exact), (Frame(75), true), "{autopsy}");
        let lines: Vec<String> = autopsy.fields.iter().map(ToString::to_string).collect();
        let find = |start: &str| lines.iter().find(|line| line.starts_with(start)).map(String::as_str);
        assert_eq!(lines[0], "doing: Nothing (player one) / Casting (player two)");
        assert_eq!(find("doing.since:"), Some("doing.since: (absent) (player one) / 50 (player two)"));
        assert_eq!(find("grudge:"), Some("grudge: Some (player one) / None (player two)"));
        assert_eq!(find("grudge.0:"), Some("grudge.0: 11 (player one) / (absent) (player two)"));
        let bullets =
            autopsy.states[1].iter().find(|leaf| leaf.path == "bullets.len").expect("a length").words[0];
        let (more, owner) = (bullets + 1, format!("bullets[{bullets}].owner:"));
        let expected = format!("bullets.len: {more} (player one) / {bullets} (player two)");
        assert_eq!(find("bullets.len:"), Some(expected.as_str()));
        assert_eq!(find(&owner), Some(format!("{owner} 7 (player one) / (absent) (player two)").as_str()));
    }
}

#[test]
fn autopsy_records_do_not_change_the_match() {
    for (cadence, window) in [(1, 8), (30, 0), (3, 16), (30, 8), (600, 8)] {
        let link = LinkConfig {
            loss: Chance::percent(10),
            jitter: Duration::from_millis(20),
            ..LinkConfig::new(Duration::from_millis(60))
        };
        let setup = Setup::new(12, link).configure(|config| {
            config.cadence_frames = cadence;
            config.rollback.window_frames = window;
        });
        let mut sim = SimMatch::new(setup, BRAWL);
        assert!(sim.run_until(Duration::from_secs(60), |sim| (0..2).all(|id| sim.machine(id).ended())));
        assert_eq!(sim.divergence(), None, "cadence {cadence}, window {window}");
        assert!(sim.checked() >= Frame(299));
        for id in 0..2 {
            let events: Vec<&Event> = sim.machine(id).events.iter().map(|(_, event)| event).collect();
            assert!(matches!(events[..], [Event::Ended(Verdict::Agreed { .. })]), "{events:?}");
            if window > 0 {
                assert!(sim.machine(id).stats().rollback.rollbacks > 10, "the match has to roll back");
            }
        }
    }
}

/// A desync is told once, although the states go on to differ and more of them differ later.
#[test]
fn match_after_an_autopsy_tells_nothing_twice() {
    let mut setup = Setup::new(3, LINK);
    setup.seed = 3;
    let mut play = PLAY;
    play.build = |seed| Faulty { last: 3_600, ..(PLAY.build)(seed) };
    let mut sim = SimMatch::new(setup, play);
    for id in 0..2 {
        sim.world.machine_mut(id).tamper = Some(|game, player| {
            if player == Player::Two {
                game.fault = Fault::Outside { from: 100 };
            }
        });
    }
    assert!(sim.run_until(Duration::from_secs(90), |sim| (0..2).all(|id| sim.machine(id).ended())));
    for id in 0..2 {
        let events: Vec<&Event> = sim.machine(id).events.iter().map(|(_, event)| event).collect();
        assert!(
            matches!(
                events[..],
                [Event::Desync(_), Event::Autopsy(_), Event::Ended(Verdict::Differs { .. })]
            ),
            "{events:?}"
        );
        assert_eq!(sim.machine(id).stats().checksums_compared, 120, "they are compared all the same");
        assert_eq!(sim.machine(id).stats().refused.total(), 0);
    }
    let healthy = sim.machine(0).game().unwrap().inner;
    assert_eq!(rebout::diff(&healthy, &sim.direct().unwrap().inner), [], "the healthy one still plays right");
}

/// The fields of both reports of a match with `CELLS` cells, in which player two's board is changed. Both are complete.
fn fields_found<const CELLS: usize>(change: fn(&mut Board)) -> (AutopsyVerdict, Vec<String>) {
    let build = |_| Board::new(CELLS);
    let mut sim = SimMatch::new(Setup::new(3, LINK), Play { build, script: every_fourth });
    sim.machine_mut(1).make = Some(Box::new(move |_, _| {
        let mut board = build(0);
        change(&mut board);
        board
    }));
    sim.run_for(Duration::from_secs(4));
    let [one, two] = [0, 1].map(|id| {
        let report = sim.told(id).find_map(|event| match event {
            Event::Autopsy(autopsy) if autopsy.complete => Some(autopsy.clone()),
            _ => None,
        });
        report.unwrap_or_else(|| panic!("machine {id}: {:?}", sim.machine(id).events))
    });
    assert_eq!((one.verdict, &one.fields), (two.verdict, &two.fields));
    (one.verdict, one.fields.iter().map(|field| field.path.clone()).collect())
}

#[test]
fn many_fields_that_differ_are_told_in_part() {
    let (verdict, fields) = fields_found::<3_000>(|board| board.spoils = Some((47, 200)));
    assert_eq!(verdict, AutopsyVerdict::StepDiffers);
    assert!((8..=200).contains(&fields.len()), "{fields:?}");
}

#[test]
fn states_of_different_size_are_compared_on_one_level() {
    let (verdict, fields) = fields_found::<250>(|board| board.state.cells.resize(260, 0));
    assert_eq!(verdict, AutopsyVerdict::StartDiffers);
    assert!(fields[0] == "cells.len" && &*fields[1] >= "cells[250]", "{fields:?}");
}
