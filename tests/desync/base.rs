//! The base of an autopsy when loss has kept the two machines from a match that both know of.

use crate::board::Board;
use crate::liar::{ENDLESS, Liar, autopsies_of, world_of};
use core::time::Duration;
use games::faulty::{Fault, Faulty, LINK, autopsies};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::World;
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::{Autopsy, AutopsyVerdict, Frame, Game, Player, Rng};
use support::repeats;

/// A fault in one of the first frames, and on whose machine it is: drawn from the seed of the match.
fn fault(seed: u32) -> (Fault, Player) {
    let mut rng = Rng::new(seed ^ 0x5151_5151).expect("not zero");
    let [whose, kind, frame] = core::array::from_fn(|_| {
        (0..8).for_each(|_| {
            rng.next_u32();
        });
        rng.next_u32() >> 8
    });
    let frame = 1 + frame % 20;
    let fault =
        if kind.is_multiple_of(2) { Fault::Step { into: frame } } else { Fault::Outside { from: frame } };
    (fault, Player::BOTH[whose as usize % 2])
}

/// A match that loses 40 to 60 of 100 datagrams, with checksums so often that some never arrive. The two reports.
fn reports(seed: u32) -> [Autopsy; 2] {
    let latency = Duration::from_millis(u64::from(10 + seed % 5 * 15));
    let link = LinkConfig { loss: Chance::percent(40 + seed % 3 * 10), ..LinkConfig::new(latency) };
    let setup = Setup::new(u64::from(seed), link).configure(|config| {
        config.cadence_frames = [1, 2, 5][seed as usize / 3 % 3];
        config.lobby.seed = Some(seed);
    });
    let mut sim = SimMatch::new(setup, ENDLESS);
    for id in 0..2 {
        sim.world.machine_mut(id).tamper = Some(|game, player| {
            let (fault, whose) = fault(game.inner.rng.state());
            if player == whose {
                game.fault = fault;
            }
        });
    }
    let done = |sim: &SimMatch<Faulty>| (0..2).all(|id| !autopsies(sim, id).is_empty());
    assert!(sim.run_until(Duration::from_secs(60), done), "seed {seed}: {:?}", sim.machine(0).events);
    [0, 1].map(|id| autopsies(&sim, id).remove(0))
}

#[test]
fn every_fault_at_heavy_loss_gets_a_verdict() {
    let (mut unknown, mut mistaken, mut late) = (0, 0, 0);
    let seeds = repeats(3_000);
    for seed in 1..=seeds {
        let [one, two] = reports(seed);
        let what = format!("seed {seed}: {one}{two}");
        // At such loss not even ten seconds are enough for every exchange.
        if !one.complete || !two.complete {
            late += 1;
            continue;
        }
        assert!(one.exact && two.exact, "{what}");
        assert_eq!(
            (one.first_divergence, one.last_match, one.verdict, &one.fields),
            (two.first_divergence, two.last_match, two.verdict, &two.fields),
            "{what}"
        );
        let (fault, whose) = fault(seed);
        let guilty = AutopsyVerdict::NotReproducible { one: whose == Player::One, two: whose == Player::Two };
        match (fault, one.verdict) {
            (_, AutopsyVerdict::Unknown) => unknown += 1,
            (Fault::Step { into }, verdict) => {
                assert_eq!(verdict, AutopsyVerdict::StepDiffers, "{what}");
                assert_eq!(one.first_divergence, Frame(into), "{what}");
            }
            // In a few frames its count may come out the same by chance.
            (_, AutopsyVerdict::StepDiffers) => mistaken += 1,
            (_, verdict) => assert_eq!(verdict, guilty, "{what}"),
        }
    }
    println!(
        "without a verdict: {unknown} of {seeds}; reproduced by chance: {mistaken}; out of time: {late}"
    );
    assert_eq!(unknown, 0);
    assert!(mistaken * 15 < seeds && late * 300 < seeds);
}

/// Two machines whose states begin to differ in frame 10. Those in `hiding` never tell their checksum of frame 0.
fn without_frame_0<G: Game>(play: Play<G>, tamper: fn(&mut G, Player), hiding: &[usize]) -> World<Liar<G>> {
    let mut world = world_of(Setup::new(9, LINK), play, Some(tamper), Duration::MAX, Vec::new());
    for id in hiding {
        world.machine_mut(*id).hides = Some(Frame::ZERO);
    }
    world.run_until(Duration::from_secs(5));
    world
}

fn assert_step_differs(autopsy: &Autopsy, last_match: u32) {
    assert!(autopsy.complete, "{autopsy}");
    assert_eq!((autopsy.first_divergence, autopsy.exact), (Frame(10), true), "{autopsy}");
    assert_eq!(autopsy.verdict, AutopsyVerdict::StepDiffers, "{autopsy}");
    assert_eq!(autopsy.last_match, Some(Frame(last_match)), "{autopsy}");
    assert_eq!(autopsy.inputs.first().map(|(frame, _)| *frame), Some(Frame(last_match)), "{autopsy}");
    assert_eq!(autopsy.fields.len(), 1, "{autopsy}");
}

#[test]
fn base_is_the_newest_frame_that_both_recorded_alike() {
    let lasting: fn(&mut Faulty, Player) = |game, player| {
        if player == Player::Two {
            game.fault = Fault::Step { into: 10 };
        }
    };
    // The states between the two frames are the same again, and come after the difference anyway.
    let passing: fn(&mut Faulty, Player) = |game, player| {
        if player == Player::Two {
            game.fault = Fault::Passing { frames: [10, 30] };
        }
    };
    for tamper in [lasting, passing] {
        for hiding in [&[0][..], &[1], &[0, 1]] {
            let world = without_frame_0(ENDLESS, tamper, hiding);
            for id in 0..2 {
                let told = autopsies_of(&world, id);
                let [(_, autopsy)] = &told[..] else { panic!("hidden by {hiding:?}: {told:?}") };
                assert_step_differs(autopsy, 9);
            }
        }
    }
}

/// The fault is outside the snapshot of one machine: resimulating from that base shows it.
#[test]
fn base_from_recorded_states_tells_whose_fault_it_is() {
    let tamper: fn(&mut Faulty, Player) = |game, player| {
        if player == Player::One {
            game.fault = Fault::Outside { from: 10 };
        }
    };
    let world = without_frame_0(ENDLESS, tamper, &[0, 1]);
    for id in 0..2 {
        let [(_, autopsy)] = &autopsies_of(&world, id)[..] else { panic!("no report") };
        assert_eq!(autopsy.verdict, AutopsyVerdict::NotReproducible { one: true, two: false }, "{autopsy}");
        assert!(autopsy.exact && autopsy.complete, "{autopsy}");
    }
}

#[test]
fn match_that_one_side_knows_of_is_a_base_for_large_states() {
    let play = Play { build: |_| Board::new(2_000), script: every_fourth };
    let tamper = |game: &mut Board, player| game.spoils = (player == Player::Two).then_some((10, 1));
    for hides in 0..2 {
        let world = without_frame_0(play, tamper, &[hides]);
        for id in 0..2 {
            let [(_, autopsy)] = &autopsies_of(&world, id)[..] else {
                panic!("hidden by {hides}: no report")
            };
            assert_step_differs(autopsy, 0);
        }
    }
}
