//! A peer that lies about checksums does not escape a match, and a faulty machine is not taken for its peer's fault.

use crate::liar::{ENDLESS, Liar, autopsies_of, machine, world_of};
use core::time::Duration;
use games::faulty::{Fault, Faulty, LINK, play_out, sim_match};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::World;
use rebout::lab::{Setup, SimPeer};
use rebout::{AutopsyVerdict, Event, Frame, OnDesync, Player, Reason};

/// A victim in this seat, and a peer that changes its checksums of the frames `forges`. Both stop at desyncs.
fn world_with_a_liar(
    seat: Player,
    loss: u32,
    forges: &[u32],
    confirms_lies: bool,
    seconds: u64,
) -> World<Liar> {
    let link = LinkConfig { loss: Chance::percent(loss), ..LINK };
    let mut setup =
        Setup::new(u64::from(loss) + 3, link).configure(|config| config.on_desync = OnDesync::Stop);
    setup.configs[0].lobby.seat = seat;
    let mut world = world_of(setup, ENDLESS, None, Duration::MAX, Vec::new());
    (world.machine_mut(1).forges, world.machine_mut(1).confirms_lies) = (forges.to_vec(), confirms_lies);
    world.run_until(Duration::from_secs(seconds));
    world
}

fn reason(peer: &SimPeer<Faulty>) -> Option<Reason> {
    match peer.events.last() {
        Some((_, Event::Disconnected { reason })) => Some(*reason),
        _ => None,
    }
}

fn desyncs(peer: &SimPeer<Faulty>) -> usize {
    peer.events.iter().filter(|(_, event)| matches!(event, Event::Desync(_))).count()
}

fn blamed(player: Player) -> AutopsyVerdict {
    AutopsyVerdict::NotReproducible { one: player == Player::One, two: player == Player::Two }
}

/// Every seat of the victim, without and with loss, with notes that contradict the lie and with notes that confirm it.
fn for_every_case(mut check: impl FnMut(Player, u32, bool)) {
    for seat in Player::BOTH {
        for loss in [0, 20] {
            for confirms_lies in [false, true] {
                check(seat, loss, confirms_lies);
            }
        }
    }
}

#[test]
fn false_checksum_is_void_and_the_match_goes_on() {
    for_every_case(|seat, loss, confirms_lies| {
        let world = world_with_a_liar(seat, loss, &[120], confirms_lies, 8);
        let victim = machine(&world, 0);
        let what = format!("{seat}, loss {loss}, {confirms_lies}: {:?}", victim.events);
        assert!(!victim.ended() && victim.session().unwrap().current() > Frame(400), "{what}");
        assert_eq!(desyncs(victim), 1, "{what}");
        let [(_, autopsy)] = &autopsies_of(&world, 0)[..] else { panic!("{what}") };
        assert_eq!(autopsy.verdict, blamed(seat.other()), "{what}");
        assert!(autopsy.complete && autopsy.fields.is_empty(), "{what}");
        assert_eq!(machine(&world, 1).events, [], "{what}: nothing differs there");
    });
}

#[test]
fn second_false_checksum_ends_the_match_and_names_the_liar() {
    for_every_case(|seat, loss, confirms_lies| {
        let world = world_with_a_liar(seat, loss, &[120, 300], confirms_lies, 12);
        let victim = machine(&world, 0);
        let expected = Reason::VoidChecksums { of: seat.other() };
        assert_eq!(
            reason(victim),
            Some(expected),
            "{seat}, loss {loss}, {confirms_lies}: {:?}",
            victim.events
        );
        assert_eq!(reason(machine(&world, 1)), Some(Reason::Left), "the liar is told no other reason");
    });
}

#[test]
fn checksums_that_are_all_false_from_one_on_end_the_match() {
    let all: Vec<u32> = (4..40).map(|n| n * 30).collect();
    for confirms_lies in [false, true] {
        let world = world_with_a_liar(Player::One, 0, &all, confirms_lies, 10);
        let expected = Reason::VoidChecksums { of: Player::Two };
        assert_eq!(reason(machine(&world, 0)), Some(expected), "{:?}", machine(&world, 0).events);
    }
}

#[test]
fn peer_that_withholds_its_notes_forfeits() {
    for seat in Player::BOTH {
        let mut setup = Setup::new(3, LINK);
        setup.configs[0].on_desync = OnDesync::Stop;
        setup.configs[0].lobby.seat = seat;
        setup.configs[1].on_desync = OnDesync::GoOn;
        let mut world = world_of(setup, ENDLESS, None, Duration::MAX, Vec::new());
        world.machine_mut(1).forges = vec![120];
        world.run_until(Duration::from_secs(20));
        let events = &machine(&world, 0).events;
        assert_eq!(reason(machine(&world, 0)), Some(Reason::NotesWithheld), "{events:?}");
        let waited = events.last().unwrap().0 - events[0].0;
        // Its own resimulation follows, a few steps a frame.
        assert!(waited < Duration::from_millis(10_400), "{waited:?}");
    }
}

/// The machine of `player` writes into its own state once, outside its steps.
fn touched<const SECOND: bool>(game: &mut Faulty, player: Player) {
    if player.index() == usize::from(SECOND) {
        game.fault = Fault::Touched { from: 100, left: 24 };
    }
}

fn outside<const SECOND: bool>(game: &mut Faulty, player: Player) {
    if player.index() == usize::from(SECOND) {
        game.fault = Fault::Outside { from: 100 };
    }
}

/// On both machines, whichever is told first.
#[test]
fn damaged_state_ends_the_match_and_names_its_own_machine() {
    for (faulty, tamper) in
        [(Player::One, touched::<false> as fn(&mut Faulty, Player)), (Player::Two, touched::<true>)]
    {
        for loss in [0, 20] {
            let link = LinkConfig { loss: Chance::percent(loss), ..LINK };
            let mut sim = sim_match(7, tamper, link, |config| config.on_desync = OnDesync::Stop);
            play_out(&mut sim);
            for id in 0..2 {
                let events = &sim.machine(id).events;
                let what = format!("{faulty} is faulty, loss {loss}, machine {id}: {events:?}");
                assert_eq!(reason(sim.machine(id)), Some(Reason::VoidChecksums { of: faulty }), "{what}");
                let verdict = events.iter().find_map(|(_, event)| match event {
                    Event::Autopsy(autopsy) => Some(autopsy.verdict),
                    _ => None,
                });
                assert_eq!(verdict, Some(blamed(faulty)), "{what}");
            }
        }
    }
}

/// The checksum that would show it the second difference is lost.
#[test]
fn faulty_machine_learns_that_its_checksums_are_void() {
    let setup = Setup::new(7, LINK).configure(|config| config.on_desync = OnDesync::Stop);
    let mut world = world_of(setup, ENDLESS, Some(touched::<false>), Duration::MAX, Vec::new());
    world.machine_mut(1).hides = Some(Frame(150));
    world.run_until(Duration::from_secs(8));
    for id in 0..2 {
        let expected = Reason::VoidChecksums { of: Player::One };
        assert_eq!(reason(machine(&world, id)), Some(expected), "{id}: {:?}", machine(&world, id).events);
    }
}

/// The fault happens in every resimulation too, and differently: the two do not agree, and the match ends as before.
#[test]
fn state_outside_the_snapshot_still_ends_as_a_desync() {
    for (faulty, tamper) in
        [(Player::One, outside::<false> as fn(&mut Faulty, Player)), (Player::Two, outside::<true>)]
    {
        let mut sim = sim_match(7, tamper, LINK, |config| config.on_desync = OnDesync::Stop);
        play_out(&mut sim);
        for id in 0..2 {
            let events = &sim.machine(id).events;
            assert_eq!(reason(sim.machine(id)), Some(Reason::Desync), "machine {id}: {events:?}");
            assert!(
                matches!(&events[1].1, Event::Autopsy(autopsy) if autopsy.verdict == blamed(faulty)),
                "{events:?}"
            );
        }
    }
}
