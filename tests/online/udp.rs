//! Whole matches over UDP on loopback, and in memory, driven by `wait`.

use crate::game::{Machine, Sums};
use core::time::Duration;
use games::handle::{Core, CoreState};
use games::tag::{self, Tag};
use rebout::net::udp::Udp;
use rebout::net::{Datagrams, Memory};
use rebout::replay::Recording;
use rebout::{
    Buttons, Config, ConnectOptions, Connection, Event, Finish, FrameRate, Input, Now, Online, Options,
    Player, Reason, Verdict,
};
use std::thread;
use std::time::Instant;

fn options() -> Options {
    let config = Config::new(0xB0).with(|config| {
        config.game.frame_rate = FrameRate::hz(480);
        config.rollback.delay_frames = Some(1);
    });
    Options::with_config(config).connect(local())
}

fn local() -> ConnectOptions {
    ConnectOptions::new().bind("127.0.0.1:0".parse().unwrap())
}

/// Plays a match to its end in the thread that calls.
fn play<D: Datagrams>(online: Online<Sums, D>, mut at_frame: impl FnMut(&mut Machine<D>)) -> Finish {
    let mut machine = Machine::new(online);
    loop {
        let now = machine.online.wait().unwrap();
        if matches!(now, Now::Frame) {
            at_frame(&mut machine);
        }
        machine.act(now);
        if let Some(finish) = &machine.finish {
            let finish = finish.clone();
            machine.online.close().unwrap();
            return finish;
        }
    }
}

fn assert_agreed(one: &Finish, two: &Finish) {
    assert!(matches!(one, Finish::Played(Verdict::Agreed { .. })), "{one:?}");
    assert_eq!(one, two);
}

#[test]
fn invited_match_is_played_over_udp() {
    let host = Online::host(options()).unwrap();
    let invite = host.share().to_owned();
    let there = thread::spawn(move || play(Online::join(options(), &invite).unwrap(), |_| ()));
    assert_agreed(&play(host, |_| ()), &there.join().unwrap());
}

/// Plays a game of two pads at each machine in the thread that calls; its end and the last state.
fn play_tag(mut online: Online<Tag>) -> (Finish, Tag) {
    let mut tag = None;
    loop {
        match online.wait().unwrap() {
            Now::Begin { seed, .. } => online.start(tag.insert(Tag::until(seed, 240))),
            Now::Frame => {
                let tag = tag.as_mut().unwrap();
                let held = |pad: u32| Buttons(1 << ((tag.frame / 9 + pad) % 5));
                online.advance(tag, Input::from(held(0)).with_pad(1, held(1)).with_pad(2, held(2)));
            }
            Now::Finished(finish) => {
                online.close().unwrap();
                return (finish, tag.unwrap());
            }
            _ => {}
        }
    }
}

#[test]
fn four_players_at_two_machines_play_over_udp() {
    let folder = std::env::temp_dir().join(format!("rebout-pads-{}", std::process::id()));
    let options = || {
        let config = Config::new(0xB0).with(|config| {
            config.game.frame_rate = FrameRate::hz(480);
            config.game.pads = tag::PADS;
        });
        Options::with_config(config).connect(local())
    };
    let host = Online::host(options().record_to(&folder)).unwrap();
    let invite = host.share().to_owned();
    let there = thread::spawn(move || play_tag(Online::join(options(), &invite).unwrap()));
    let (one, two) = (play_tag(host), there.join().unwrap());
    assert_agreed(&one.0, &two.0);
    assert_eq!(one.1, two.1);
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let recording = Recording::open(std::fs::read(file).unwrap()).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!((recording.header().pads, recording.frames()), (2, 240));
    let mut again = Tag::until(recording.header().seed, 240);
    assert!(recording.verify(&mut again).unwrap() > 0);
    assert_eq!(again, one.1);
    for player in Player::BOTH {
        let pressed = |pad| recording.inputs().any(|inputs| inputs.pad(player, pad) != Buttons::NONE);
        assert_eq!([0, 1, 2].map(pressed), [true, true, false], "{player}");
    }
}

/// Plays a core in the thread that calls, and looks two frames ahead. Its end, and the core.
fn play_core(mut online: Online<CoreState>, mut core: Core) -> (Finish, Core) {
    loop {
        match online.wait().unwrap() {
            Now::Begin { .. } => online.start(&core),
            Now::Frame => {
                let (held, before) = (Buttons((core.state.frame / 3 % 7) as u16), core.steps.len());
                online.advance(&mut core, held);
                let at = core.state;
                online.look_ahead(&mut core, |core| assert!(core.state.frame >= at.frame));
                assert_eq!(core.state, at, "the game is put back");
                let shown = core.steps[before..].iter().filter(|step| step.is_shown).count();
                assert!(shown <= 1, "one picture in each frame");
            }
            Now::Finished(finish) => {
                online.close().unwrap();
                return (finish, core);
            }
            _ => {}
        }
    }
}

fn core_with_barriers() -> Core {
    Core { barrier: |state| state.sum % 53 == 3, ..Core::new(240) }
}

/// The options of a match at an exact frame rate, with a far window, this delay and a look-ahead.
fn core_options(delay_frames: u8) -> Options {
    let config = Config::new(0xB0).with(|config| {
        config.game.frame_rate = FrameRate::ratio(8 * 39_375_000, 655_171);
        config.rollback.look_ahead_frames = 2;
        (config.rollback.window_frames, config.rollback.delay_frames) = (22, Some(delay_frames));
    });
    Options::with_config(config).connect(local())
}

/// Plays two cores over UDP, with the options of the host and of the joiner.
fn play_cores([host, joiner]: [Options; 2], cores: [Core; 2]) -> [(Finish, Core); 2] {
    let host = Online::host(host).unwrap();
    let invite = host.share().to_owned();
    let [one, two] = cores;
    let there = thread::spawn(move || play_core(Online::join(joiner, &invite).unwrap(), two));
    [play_core(host, one), there.join().unwrap()]
}

#[test]
fn barriers_and_look_ahead_work_over_udp() {
    let folder = std::env::temp_dir().join(format!("rebout-barriers-{}", std::process::id()));
    // Without a delay every frame is predicted.
    let options = [core_options(0).record_to(&folder), core_options(0)];
    let played = play_cores(options, [core_with_barriers(), core_with_barriers()]);
    assert_agreed(&played[0].0, &played[1].0);
    let [ours, theirs] = played.each_ref().map(|(_, core)| {
        let (shown, all) = (core.steps.iter().filter(|step| step.is_shown).count(), core.steps.len());
        assert!(shown > 200 && all > 700, "{shown} of {all} steps were shown");
        let barriers = core.steps.iter().filter(|step| step.at_barrier);
        barriers.map(|step| (step.frame, step.inputs)).collect::<Vec<_>>()
    });
    assert!(ours.len() > 1 && ours.is_sorted_by(|one, two| one.0 < two.0), "each once: {ours:?}");
    assert_eq!(ours, theirs);
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let recording = Recording::open(std::fs::read(file).unwrap()).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!(recording.header().frame_rate, Some(FrameRate::ratio(8 * 39_375_000, 655_171)));
    let mut again = core_with_barriers();
    assert!(recording.verify(&mut again).unwrap() > 0);
    assert_eq!(again.state, played[0].1.state);
}

#[test]
fn state_that_cannot_be_saved_is_told_over_udp() {
    let failing = Core { unsaved: 100..101, ..Core::new(240) };
    let [one, two] = play_cores([core_options(8), core_options(8)], [Core::new(240), failing]);
    assert_eq!(one.0, Finish::Ended(Reason::StateFailed));
    assert_eq!(two.0, Finish::Ended(Reason::StateFailedHere));
}

/// The autopsy of a desync that names its phase.
#[test]
fn desync_is_examined_over_udp() {
    let host = Online::host(options()).unwrap();
    let joiner = Online::join(options(), host.share()).unwrap();
    let mut machines = [host, joiner].map(Machine::new);
    machines[1].bias = 4;
    machines.iter_mut().for_each(|machine| machine.last = 600);
    let report = |one: &Machine<Udp>| {
        one.events.iter().find_map(|event| match event {
            Event::Autopsy(autopsy) => Some(autopsy.clone()),
            _ => None,
        })
    };
    run(&mut machines, || (), |machines| machines.iter().all(|one| report(one).is_some()));
    for machine in &machines {
        let autopsy = report(machine).expect("told");
        assert!(autopsy.complete && autopsy.first_divergence.0 == 20, "{autopsy}");
        assert_eq!(autopsy.fields[0].path, "sums[0]");
        let phase = autopsy.phase.as_ref().expect("a phase").to_string();
        assert_eq!(phase, "first different after the last phase, sums");
    }
}

#[test]
fn pauses_of_both_players_work_over_udp() {
    let options = || {
        let config = Config::new(0xB0).with(|config| {
            config.game.frame_rate = FrameRate::hz(480);
            config.rollback.delay_frames = Some(1);
            config.timeouts.countdown = Duration::from_millis(40);
        });
        Options::with_config(config).connect(local())
    };
    let host = Online::host(options()).unwrap();
    let joiner = Online::join(options(), host.share()).unwrap();
    let mut machines = [host, joiner].map(Machine::new);
    machines.iter_mut().for_each(|machine| machine.last = 200);
    let frame = |one: &Machine<Udp>| one.game.as_ref().map_or(0, |game| game.state.frame);
    for (by, after) in [(0, 20), (1, 100)] {
        run(&mut machines, || (), |machines| machines.iter().all(|one| frame(one) > after));
        assert!(machines[by].online.pause());
        run(
            &mut machines,
            || (),
            |machines| {
                machines.iter().all(|one| {
                    one.online.session().is_some_and(|session| {
                        session.paused().is_some() && session.settled() == session.current()
                    })
                })
            },
        );
        let stood = machines.each_ref().map(frame);
        assert_eq!(stood[0], stood[1], "both stop at one frame");
        assert!(!machines[1 - by].online.resume() && machines[by].online.resume());
    }
    run(&mut machines, || (), |machines| machines.iter().all(|one| one.finish.is_some()));
    assert_agreed(machines[0].finish.as_ref().unwrap(), machines[1].finish.as_ref().unwrap());
    for machine in &machines {
        let [one, two] = [0, 3].map(|at| &machine.events[at..at + 3]);
        for (told, player) in [(one, Player::One), (two, Player::Two)] {
            let expected = matches!(
                told,
                [Event::Paused { by }, Event::Resuming { .. }, Event::PauseEnded] if *by == player
            );
            assert!(expected, "{:?}", machine.events);
        }
    }
}

#[test]
fn first_state_of_4_mib_arrives_over_udp() {
    let bytes: Vec<u8> = (0..4 << 20).map(|at: u32| (at ^ at >> 11) as u8).collect();
    let host = Online::host(options().first_state(bytes)).unwrap();
    let invite = host.share().to_owned();
    let joiner = options().first_state_limit(4 << 20);
    let there = thread::spawn(move || play(Online::join(joiner, &invite).unwrap(), |_| ()));
    assert_agreed(&play(host, |_| ()), &there.join().unwrap());
}

/// Runs two machines and `others` until `done`.
fn run(
    machines: &mut [Machine<Udp>; 2],
    mut others: impl FnMut(),
    done: impl Fn(&[Machine<Udp>; 2]) -> bool,
) {
    let end = Instant::now() + Duration::from_secs(20);
    while !done(machines) {
        machines.iter_mut().for_each(Machine::turn);
        others();
        assert!(Instant::now() < end, "{:?}", machines.each_ref().map(|one| one.online.progress()));
    }
}

/// Plays without an end, gives the joiner a new socket, and waits until the host has followed, both have made so many new
/// searches for a path, and the match has gone on.
fn rebind(machines: &mut [Machine<Udp>; 2], mut others: impl FnMut(), searches: u64) {
    let settled = |one: &Machine<Udp>| one.online.session().map_or(0, |session| session.settled().0);
    let searched = |one: &Machine<Udp>| one.online.connection().stats().searches;
    machines.iter_mut().for_each(|machine| machine.last = u32::MAX);
    run(machines, &mut others, |machines| machines.iter().all(|one| settled(one) > 20));
    let before = machines.each_ref().map(searched);
    let old = machines[0].online.peer().addr;
    machines[1].online.connection_mut().rebind("127.0.0.1:0".parse().unwrap()).unwrap();
    let new = machines[1].online.connection().local_addr();
    assert!(old.is_some() && old != Some(new));
    run(machines, &mut others, |machines| {
        let again = (0..2).all(|id| searched(&machines[id]) >= before[id] + searches);
        machines[0].online.peer().addr == Some(new) && again
    });
    let frames = machines.each_ref().map(settled);
    run(machines, &mut others, |machines| (0..2).all(|id| settled(&machines[id]) > frames[id] + 20));
    assert!(machines.iter().all(|one| !one.online.peer().is_relayed && one.finish.is_none()));
}

#[test]
fn match_goes_on_at_the_new_address_after_a_rebind() {
    let host = Online::host(options()).unwrap();
    let joiner = Online::join(options(), host.share()).unwrap();
    rebind(&mut [host, joiner].map(Machine::new), || (), 0);
}

#[cfg(feature = "nat")]
#[test]
fn rebind_with_paths_searches_anew_and_finds_the_address() {
    use rebout::Randomness;
    use rebout::net::udp::UdpDriver;
    use rebout::rendezvous::{RendezvousConfig, RendezvousServer};

    let mut udp = UdpDriver::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let mut server = RendezvousServer::new(RendezvousConfig::default(), Randomness::System).unwrap();
    let host = Online::host(options().rendezvous(&udp.local_addr().to_string())).unwrap();
    let joiner = Online::join(options(), host.share()).unwrap();
    let serve = || {
        udp.poll(&mut server).unwrap();
    };
    rebind(&mut [host, joiner].map(Machine::new), serve, 1);
}

#[test]
fn match_is_played_in_memory() {
    let begun = Instant::now();
    let [here, there] = Memory::pair(move || begun.elapsed());
    let address = here.local_addr();
    let host = Connection::host_on(&ConnectOptions::new(), here, &[address]).unwrap();
    let invite = host.share().to_owned();
    let other = thread::spawn(move || {
        let connection = Connection::join_on(&ConnectOptions::new(), there, &[], &invite).unwrap();
        play(Online::on(options(), connection).unwrap(), |_| ())
    });
    assert_agreed(&play(Online::on(options(), host).unwrap(), |_| ()), &other.join().unwrap());
}

#[cfg(feature = "nat")]
#[test]
fn match_is_played_through_a_rendezvous_on_this_machine() {
    use rebout::Randomness;
    use rebout::net::udp::UdpDriver;
    use rebout::rendezvous::{RendezvousConfig, RendezvousServer};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    let mut udp = UdpDriver::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let server = udp.local_addr().to_string();
    let done = Arc::new(AtomicBool::new(false));
    let is_done = Arc::clone(&done);
    let serving = thread::spawn(move || {
        let mut server = RendezvousServer::new(RendezvousConfig::default(), Randomness::System).unwrap();
        while !is_done.load(Ordering::Relaxed) {
            let deadline = udp.now() + Duration::from_millis(5);
            udp.run_until(&mut server, deadline).unwrap();
        }
    });
    let mut host = Online::host(options().rendezvous(&server)).unwrap();
    // A joiner that comes earlier asks again after some seconds.
    while !matches!(host.wait().unwrap(), Now::Connecting(text) if text.starts_with("registered")) {}
    let invite = host.share().to_owned();
    let there = thread::spawn(move || play(Online::join(options(), &invite).unwrap(), |_| ()));
    assert_agreed(&play(host, |_| ()), &there.join().unwrap());
    done.store(true, Ordering::Relaxed);
    serving.join().unwrap();
}
