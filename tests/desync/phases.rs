//! A desync named by the phase of the step in which it began.

use crate::board::{Board, Marks};
use crate::liar::{Liar, autopsies_of, machine, start, words, world_of};
use core::time::Duration;
use games::faulty::{Fault, autopsies};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::World;
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::{Autopsy, AutopsyVerdict, Frame, OnDesync, PhaseDifference, Player, Refusal, Saving};

/// The frame whose step is spoilt on player two's machine.
const FRAME: u32 = 47;

/// Every state of so few cells is kept, and of so many only some.
const SMALL: Play<Board> = Play { build: |_| marked(20), script: every_fourth };
const LARGE: Play<Board> = Play { build: |_| marked(3_000), script: every_fourth };

fn marked(cells: usize) -> Board {
    Board { marks: Marks::All, ..Board::new(cells) }
}

fn link(loss: u32) -> LinkConfig {
    LinkConfig { loss: Chance::percent(loss), ..LinkConfig::new(Duration::from_millis(30)) }
}

/// Player two's machine spoils a cell in the second phase.
fn spoils(game: &mut Board, player: Player) {
    game.spoils = (player == Player::Two).then_some((FRAME, 1));
}

/// The reports of both machines.
fn reports(
    seed: u64,
    play: Play<Board>,
    tamper: fn(&mut Board, Player),
    loss: u32,
    sealed: bool,
) -> [Autopsy; 2] {
    let mut sim = SimMatch::new(Setup::new(seed, link(loss)), play);
    if sealed {
        sim.seal(seed);
    }
    for id in 0..2 {
        sim.world.machine_mut(id).tamper = Some(tamper);
    }
    let done = |sim: &SimMatch<Board>| (0..2).all(|id| !autopsies(sim, id).is_empty());
    assert!(sim.run_until(Duration::from_secs(20), done), "seed {seed}");
    [0, 1].map(|id| autopsies(&sim, id).remove(0))
}

/// The phases that both machines name, in a match without loss.
fn phases(play: Play<Board>, tamper: fn(&mut Board, Player)) -> [Option<PhaseDifference>; 2] {
    reports(1, play, tamper, 0, false).map(|autopsy| {
        assert!(autopsy.complete && autopsy.exact, "{autopsy}");
        assert_eq!(autopsy.first_divergence, Frame(FRAME), "{autopsy}");
        autopsy.phase
    })
}

#[test]
fn phase_and_field_are_named_on_both_machines() {
    for (seed, (play, sealed)) in (1..).zip([(SMALL, false), (SMALL, true), (LARGE, false), (LARGE, true)]) {
        for loss in [0, 20] {
            for autopsy in reports(seed, play, spoils, loss, sealed) {
                let phase = autopsy.phase.clone().unwrap_or_else(|| panic!("{autopsy}"));
                assert_eq!((phase.index, phase.after.as_deref()), (1, Some("clock")), "{autopsy}");
                assert_eq!([&phase.one, &phase.two], [&Some("cells".into()); 2], "{autopsy}");
                let [field] = &phase.fields[..] else { panic!("{autopsy}") };
                assert_eq!(field.path, "[0]", "{autopsy}");
                assert_eq!(autopsy.verdict, AutopsyVerdict::StepDiffers);
                let line = format!("first diverging frame: {FRAME}, first different after cells, in [0]\n");
                assert!(autopsy.to_string().contains(&line), "{autopsy}");
                assert_eq!(autopsy.fields[0].path, "cells[0]", "{autopsy}");
            }
        }
    }
}

#[test]
fn steps_that_take_other_ways_are_told_apart() {
    let renamed: fn(&mut Board, Player) = |game, player| {
        spoils(game, player);
        game.marks = Marks::Renamed;
    };
    let fewer: fn(&mut Board, Player) = |game, player| {
        spoils(game, player);
        game.marks = Marks::Fewer;
    };
    let late: fn(&mut Board, Player) = |game, player| {
        spoils(game, player);
        game.marks = Marks::Late;
    };
    let names = |phase: Option<PhaseDifference>| {
        let phase = phase.expect("a phase");
        assert!(phase.fields.is_empty(), "{phase:?}");
        let text = |name: Option<String>| name.unwrap_or_default();
        (phase.index, text(phase.after), text(phase.one), text(phase.two))
    };
    for play in [SMALL, LARGE] {
        for (tamper, index, after, one, two) in [
            (renamed, 1, "clock", "cells", "another"),
            (fewer, 1, "clock", "cells", ""),
            (late, 4, "sum", "", ""),
        ] {
            for phase in phases(play, tamper) {
                assert_eq!(names(phase), (index, after.to_owned(), one.to_owned(), two.to_owned()));
            }
        }
    }
}

#[test]
fn no_phase_is_named_where_there_is_none() {
    let unmarked: fn(&mut Board, Player) = |game, player| {
        spoils(game, player);
        game.marks = Marks::None;
    };
    for play in [SMALL, LARGE] {
        assert_eq!(phases(play, unmarked), [None, None], "the game marks nothing");
    }
    // The first states differ: there is no step into them.
    let first: fn(&mut Board, Player) = |game, player| game.state.cells[3] = player.index() as u32;
    for autopsy in reports(1, SMALL, first, 0, false) {
        assert_eq!(
            (autopsy.verdict, autopsy.phase.clone()),
            (AutopsyVerdict::StartDiffers, None),
            "{autopsy}"
        );
    }
    // The step comes out the same when it is made again.
    let touched: fn(&mut games::faulty::Faulty, Player) = |game, player| {
        if player == Player::One {
            game.fault = Fault::Touched { from: 100, left: 24 };
        }
    };
    for (autopsy, _) in games::faulty::recorded(touched) {
        let guilty = AutopsyVerdict::NotReproducible { one: true, two: false };
        assert_eq!((autopsy.verdict, autopsy.phase.clone()), (guilty, None), "{autopsy}");
    }
}

/// The first 128 marks count, and their names are cut and made harmless.
#[test]
fn surplus_marks_and_long_names_are_cut() {
    let many: fn(&mut Board, Player) = |game, player| {
        spoils(game, player);
        game.marks = Marks::Many;
    };
    for phase in phases(SMALL, many) {
        let phase = phase.expect("it is in what follows");
        assert_eq!((phase.index, phase.one, phase.two), (128, None, None));
        let name = phase.after.expect("a mark before it");
        assert!(name.len() <= 64 && name.starts_with("\u{FFFD}[2Jé"), "{name}");
    }
}

/// Sparse saving reaches the step by a resimulation.
#[test]
fn phase_is_named_with_sparse_saving() {
    let setup = Setup::new(3, link(0)).configure(|config| config.rollback.saving = Saving::Sparse);
    let mut sim = SimMatch::new(setup, SMALL);
    (0..2).for_each(|id| sim.world.machine_mut(id).tamper = Some(spoils));
    let done = |sim: &SimMatch<Board>| (0..2).all(|id| !autopsies(sim, id).is_empty());
    assert!(sim.run_until(Duration::from_secs(20), done));
    for id in 0..2 {
        let autopsy = autopsies(&sim, id).remove(0);
        assert_eq!(autopsy.phase.as_ref().and_then(|phase| phase.one.as_deref()), Some("cells"), "{autopsy}");
    }
}

/// A PHASES with this many marks of this name.
fn phases_note(more: u8, count: usize, name: &str) -> Vec<u8> {
    let mark = words(&[&[name.len() as u8], name.as_bytes()].concat(), &[7, 1]);
    [vec![6, more], mark.repeat(count)].concat()
}

/// The victim's peer sends an autopsy of frame 60 with these notes after its STATE.
fn lied(notes: &[Vec<u8>], before: &[Vec<u8>]) -> World<Liar<Board>> {
    let trace = |again| words(&words(&[2, again, 0], &[31]), &[7; 30]);
    let state = words(&[3], &[31, 21]);
    let lies = [&[start(60, 30), trace(0), trace(1)], before, &[state], notes].concat();
    let mut setup = Setup::new(9, link(0));
    setup.configs[1].on_desync = OnDesync::GoOn;
    let mut world = world_of(setup, SMALL, Some(spoils), Duration::from_secs(2), lies);
    world.run_until(Duration::from_secs(4));
    world
}

#[test]
fn hostile_phases_are_refused() {
    let good = phases_note(0, 3, "cells");
    let refused = |notes: &[Vec<u8>], before: &[Vec<u8>]| {
        let world = lied(notes, before);
        assert_eq!(
            autopsies_of(&world, 0).len(),
            usize::from(notes.len() > 1 && notes[1] == [5, 0]),
            "{:?}",
            autopsies_of(&world, 0)
        );
        machine(&world, 0).stats().refused.of(Refusal::MalformedMessage)
    };
    assert_eq!(refused(std::slice::from_ref(&good), &[]), 0);
    assert_eq!(refused(&[good.clone(), good.clone()], &[]), 1, "repeated");
    assert_eq!(refused(&[], std::slice::from_ref(&good)), 1, "before the state");
    assert_eq!(refused(&[phases_note(0, 1, &"x".repeat(65))], &[]), 1, "too long");
    let parts = |count| vec![phases_note(1, 64, "x"), phases_note(0, count, "x")];
    assert_eq!(refused(&parts(65), &[]), 0, "128 and the end");
    assert_eq!(refused(&parts(66), &[]), 1, "too many");
    assert_eq!(
        refused(&[good, vec![5, 0], vec![5, 0], vec![5, 0]], &[]),
        1,
        "leaves of the state, and of the phase"
    );
}

#[test]
fn lying_phases_spoil_only_the_report() {
    let name = "\u{1b}[2J\u{202e}";
    let world = lied(&[phases_note(0, 3, name), vec![5, 0]], &[]);
    let [(_, autopsy)] = &autopsies_of(&world, 0)[..] else { panic!("{:?}", machine(&world, 0).events) };
    let phase = autopsy.phase.as_ref().expect("the names differ");
    assert_eq!((phase.index, phase.one.as_deref()), (0, Some("clock")));
    assert_eq!(phase.two.as_deref(), Some("\u{FFFD}[2J\u{FFFD}"));
    assert!(autopsy.to_string().chars().all(|c| c == '\n' || !c.is_control()));
    let current = machine(&world, 0).session().expect("begun").current();
    assert!(current > Frame(200), "the match goes on: {current}");
}
