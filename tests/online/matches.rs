//! Whole matches in the simulated network, driven by `poll`.

use crate::folder::Folder;
use crate::game::{SimOnline, Tally, options};
use core::time::Duration;
use rebout::replay::{MatchEvent, Outcome, Recording, Winner};
use rebout::{
    Bundle, Config, ConnectOptions, Event, Finish, Now, Options, Player, Reason, SendError, Verdict,
};
use std::path::PathBuf;
use std::rc::Rc;

fn agreed(finish: &Finish) -> u32 {
    let Finish::Played(Verdict::Agreed { checksum, .. }) = finish else { panic!("{finish:?}") };
    *checksum
}

#[test]
fn invited_match_is_recorded_with_names_and_verdict() {
    let folder = Folder::new("recorded");
    let mut pair = SimOnline::new([options("Ada").record_to(&folder.0), options("Bob\u{1b}")]);
    pair.run(|machines| machines[0].game.is_some());
    assert_eq!(pair.machines[0].online.names(), Some(["Ada".to_owned(), r"Bob\u{1b}".to_owned()]));
    assert!(pair.machines[0].online.peer().is_verified);
    pair.machines[0].online.set_winner(Winner::Player(Player::Two));
    let finishes = pair.run_to_the_end();
    assert_eq!(agreed(&finishes[0]), agreed(&finishes[1]));
    assert_eq!(finishes[0].to_string(), "The match is over.");
    let recording = Recording::open(std::fs::read(&folder.entries()[0]).unwrap()).unwrap();
    let header = recording.header();
    assert_eq!(header.names, ["Ada".to_owned(), r"Bob\u{1b}".to_owned()]);
    assert!(header.recorded_at_secs > 0 && header.game_id == 0xB0);
    let end = recording.end().unwrap();
    assert_eq!(end.outcome, Outcome::Agreed { checksum: agreed(&finishes[0]) });
    assert_eq!(end.winner, Winner::Player(Player::Two));
    let mut game = Tally::new(header.seed, 60);
    assert!(recording.verify(&mut game).unwrap() > 0);
    assert_eq!(game.state, pair.machines[0].game.as_ref().unwrap().state);
    assert!(pair.machines.iter().all(|one| one.interpolated > 50 && one.notices.is_empty()));
    assert!(pair.machines[0].guests.is_empty(), "the host did not want to be asked");
}

#[test]
fn session_and_recording_can_be_asked_for_after_the_end() {
    let folder = Folder::new("after");
    let mut pair = SimOnline::new([options("Ada").record_to(&folder.0), options("Bob")]);
    assert_eq!(pair.machines[0].online.recording(), None);
    let finishes = pair.run_to_the_end();
    let online = &pair.machines[0].online;
    let session = online.session().expect("the session of the match");
    let last = session.snapshot(session.settled()).expect("its last state");
    assert_eq!((last.frame, rebout::checksum(last)), (60, agreed(&finishes[0])));
    assert!(online.stats().is_some() && online.local() == Some(Player::One) && online.peer().is_verified);
    assert_eq!(online.recording(), folder.entries().first().map(PathBuf::as_path));
    assert!(pair.machines[0].online.rematch() && pair.machines[0].online.session().is_none());
    assert_eq!(pair.machines[1].online.recording(), None);
}

#[test]
fn pause_stops_both_machines_and_is_not_recorded() {
    let folder = Folder::new("pause");
    let mut pair = SimOnline::new([options("Ada").record_to(&folder.0), options("Bob")]);
    assert!(!pair.machines[0].online.pause(), "no match runs");
    pair.run(|machines| {
        machines.iter().all(|one| one.game.as_ref().is_some_and(|game| game.state.frame > 10))
    });
    assert!(pair.machines[1].online.pause());
    pair.run(|machines| {
        machines.iter().all(|one| one.online.session().is_some_and(|session| session.paused().is_some()))
    });
    let frames = pair.machines.each_ref().map(|one| one.game.as_ref().unwrap().state.frame);
    assert_eq!(frames[0], frames[1]);
    assert!(!pair.machines[0].online.resume() && pair.machines[1].online.resume());
    let finishes = pair.run_to_the_end();
    assert_eq!(agreed(&finishes[0]), agreed(&finishes[1]));
    for machine in &pair.machines {
        let told = &machine.events[..];
        assert!(
            matches!(told, [Event::Paused { by: Player::Two }, Event::Resuming { .. }, Event::PauseEnded]),
            "{told:?}"
        );
    }
    let recording = Recording::open(std::fs::read(&folder.entries()[0]).unwrap()).unwrap();
    assert!(recording.verify(&mut Tally::new(recording.header().seed, 60)).unwrap() > 0);
    assert_eq!(recording.events().count(), 0);
}

#[test]
fn joiner_is_told_that_the_host_wants_no_rematch() {
    let mut pair = SimOnline::new([options("Ada"), options("Bob")]);
    pair.run_to_the_end();
    pair.machines[1].finish = None;
    assert!(pair.machines[1].online.rematch());
    pair.run(|machines| machines[1].finish.is_some());
    let text = pair.machines[1].finish.as_ref().unwrap().to_string();
    let advice = "The other player has left, or does not want another match.";
    assert_eq!(text, format!("No answer at 10.0.0.1:7000 within 60 s. {advice}"));
}

#[test]
fn messages_and_delay_changes_reach_the_other_side() {
    let folder = Folder::new("delay");
    let names = ["Ada", "Bob"].map(|name| options(name).record_to(&folder.0));
    let mut pair = SimOnline::new(names);
    assert_eq!(pair.machines[0].online.send(b"early"), Err(SendError::Over));
    pair.run(|machines| machines.iter().all(|one| one.online.stats().is_some()));
    pair.machines[0].online.send(b"hello").unwrap();
    pair.machines[1].online.set_delay(3).unwrap();
    assert!(pair.machines[1].online.set_delay(25).is_err());
    assert_eq!(pair.machines[1].online.session().unwrap().delay_frames(), 3);
    pair.run_to_the_end();
    assert!(pair.machines[1].events.contains(&Event::Message(b"hello".to_vec().into())));
    assert!(pair.machines[0].events.contains(&Event::PeerDelay { delay_frames: 3 }));
    let change = MatchEvent::Delay { player: Player::Two, delay_frames: 3 };
    for machine in &pair.machines {
        let file = std::fs::read(machine.online.recording().unwrap()).unwrap();
        let events: Vec<MatchEvent> =
            Recording::open(file).unwrap().events().map(|(_, event)| event).collect();
        assert_eq!(events, [change], "a delay that was refused is no event");
    }
}

#[test]
fn previous_state_and_phase_are_right_after_a_rollback() {
    let mut pair = SimOnline::new([options("Ada"), options("Bob")]);
    pair.run(|machines| machines[0].after_rollback == 3);
    let phase = |pair: &SimOnline| pair.machines[0].online.previous().expect("a state before").1;
    let at_once = phase(&pair);
    assert!(at_once < 0.2, "a frame has just been played: {at_once}");
    // The display is drawn between two turns.
    pair.sim.borrow_mut().pass(Duration::from_millis(4));
    let moved = phase(&pair) - at_once;
    assert!((moved - 0.24).abs() < 0.02, "4 of 16.7 ms: {moved}");
    pair.run_to_the_end();
    assert!(pair.machines.iter().all(|one| one.after_rollback > 5));
}

#[test]
fn leaving_tells_both_sides_who_left() {
    let mut pair = SimOnline::new([options("Ada"), options("Bob")]);
    pair.run(|machines| machines[0].game.as_ref().is_some_and(|game| game.state.frame > 10));
    pair.machines[1].online.leave();
    let finishes = pair.run_to_the_end();
    assert_eq!(finishes, [Finish::Ended(Reason::Left), Finish::Ended(Reason::LeftHere)]);
    assert_eq!(finishes[0].to_string(), "The match is over: the other player left.");
    assert_eq!(finishes[1].to_string(), "The match is over: you left.");
}

/// Both machines wait in their drivers, on the sockets of a network that is cut for 29 s.
#[test]
fn outage_of_29_s_is_waited_for_and_nothing_is_lost() {
    let mut pair = SimOnline::new([options("Ada"), options("Bob")]);
    pair.run(|machines| machines[0].game.as_ref().is_some_and(|game| game.state.frame > 10));
    let now = pair.sim.borrow().now();
    let end = now + Duration::from_secs(29);
    pair.sim.borrow_mut().network.cut_both(0, 1, now, end);
    let sim = Rc::clone(&pair.sim);
    pair.run(|_| sim.borrow().now() >= end);
    let frame = |pair: &SimOnline| pair.machines[0].game.as_ref().map_or(0, |game| game.state.frame);
    let stands = frame(&pair);
    pair.run(|_| sim.borrow().now() >= end + Duration::from_millis(100));
    assert!(frame(&pair) > stands, "it goes on at once");
    let [one, two] = pair.run_to_the_end();
    assert!(matches!(one, Finish::Played(Verdict::Agreed { .. })) && one == two, "{one:?}, {two:?}");
}

#[test]
fn leaving_in_an_outage_is_immediate_and_believed_when_heard() {
    let mut pair = SimOnline::new([options("Ada"), options("Bob")]);
    pair.run(|machines| machines[0].game.as_ref().is_some_and(|game| game.state.frame > 10));
    // Ada's packets arrive, and Bob's do not.
    pair.sim.borrow_mut().network.set_down(1, 0, true);
    let sim = Rc::clone(&pair.sim);
    let waits = sim.borrow().now() + Duration::from_secs(10);
    pair.run(|_| sim.borrow().now() >= waits);
    pair.machines[0].online.leave();
    let left = sim.borrow().now();
    assert_eq!(pair.run_to_the_end(), [Finish::Ended(Reason::LeftHere), Finish::Ended(Reason::Left)]);
    assert!(sim.borrow().now() < left + Duration::from_secs(3), "{:?}", sim.borrow().now() - left);
}

/// The packets of the machine that leaves are lost for a moment.
#[test]
fn leaving_is_repeated_after_the_end() {
    let mut pair = SimOnline::new([options("Ada"), options("Bob")]);
    pair.run(|machines| machines[0].game.as_ref().is_some_and(|game| game.state.frame > 10));
    pair.sim.borrow_mut().network.set_down(1, 0, true);
    pair.machines[1].online.leave();
    (0..100).for_each(|_| pair.step());
    pair.sim.borrow_mut().network.set_down(1, 0, false);
    let end = pair.sim.borrow().now() + Duration::from_secs(1);
    assert_eq!(pair.run_to_the_end()[0], Finish::Ended(Reason::Left));
    assert!(pair.sim.borrow().now() < end);
}

/// A message that nobody acknowledges would be sent for seven seconds.
#[test]
fn end_waits_two_seconds_for_the_last_messages() {
    let mut pair = SimOnline::new([options("Ada"), options("Bob")]);
    pair.run(|machines| machines[0].game.as_ref().is_some_and(|game| game.state.frame > 10));
    pair.sim.borrow_mut().network.set_down(1, 0, true);
    pair.machines[1].online.send(b"in vain").unwrap();
    pair.machines[1].online.leave();
    let left = pair.sim.borrow().now();
    pair.run(|machines| {
        assert!(machines[1].online.session().is_some());
        machines[1].finish.is_some()
    });
    let took = pair.sim.borrow().now() - left;
    assert!((1_990..2_100).contains(&took.as_millis()), "{took:?}");
}

#[test]
fn input_is_sent_with_its_frame() {
    let mut pair = SimOnline::new([options("Ada"), options("Bob")]);
    pair.run(|machines| machines[0].game.as_ref().is_some_and(|game| game.state.frame > 10));
    let sent = |pair: &SimOnline| pair.sim.borrow().network.sent(0).datagrams;
    loop {
        let now = pair.machines[0].online.poll().unwrap();
        let (is_frame, before) = (matches!(now, Now::Frame), sent(&pair));
        let acted = pair.machines[0].act(now);
        if is_frame {
            return assert!(sent(&pair) > before);
        }
        if !acted {
            pair.step();
        }
    }
}

#[test]
fn names_are_those_of_the_seats() {
    let config = Config::new(0xB0).with(|config| {
        config.game.content_hash = 1;
        config.lobby.seat = Player::Two;
    });
    let mut pair = SimOnline::new([Options::with_config(config).name("Ada"), options("Bob")]);
    pair.run(|machines| machines.iter().all(|one| one.game.is_some()));
    for machine in &pair.machines {
        assert_eq!(machine.online.names(), Some(["Bob".to_owned(), "Ada".to_owned()]));
    }
}

#[test]
fn match_without_a_certain_frame_leaves_no_recording() {
    let folder = Folder::new("empty");
    let mut pair = SimOnline::new([options("Ada").record_to(&folder.0), options("Bob")]);
    pair.run(|machines| machines[0].game.is_some());
    assert_eq!(folder.entries().len(), 1);
    pair.machines[0].online.leave();
    pair.run(|machines| machines[0].finish.is_some());
    assert_eq!(folder.entries(), Vec::<PathBuf>::new());
    assert_eq!(pair.machines[0].online.recording(), None);
}

#[test]
fn rematch_that_cannot_be_recorded_has_no_recording() {
    let folder = Folder::new("lost-folder");
    let mut pair = SimOnline::new([options("Ada").record_to(&folder.0), options("Bob")]);
    pair.run_to_the_end();
    std::fs::remove_dir_all(&folder.0).unwrap();
    std::fs::write(&folder.0, "a file in the place of the folder").unwrap();
    for machine in &mut pair.machines {
        machine.finish = None;
        assert!(machine.online.rematch());
    }
    pair.run_to_the_end();
    std::fs::remove_file(&folder.0).unwrap();
    assert_eq!(pair.machines[0].online.recording(), None);
}

/// The options of a host whose random numbers are all drawn from one seed.
fn seeded(name: &str) -> Options {
    let config = Config::new(0xB0).with(|config| {
        config.game.content_hash = 1;
        config.lobby.entropy = Some(9);
    });
    Options::with_config(config).name(name)
}

#[test]
fn rematch_is_played_on_the_same_connection() {
    let folder = Folder::new("rematch");
    for (first, host) in [options("Ada"), seeded("Ada")].into_iter().enumerate() {
        let mut pair = SimOnline::new([host.record_to(&folder.0), options("Bob")]);
        assert!(!pair.machines[0].online.rematch(), "there was no match yet");
        pair.run(|machines| machines[0].game.is_some());
        pair.machines[0].online.set_winner(Winner::Draw);
        pair.run_to_the_end();
        let seeds = pair.machines.each_ref().map(|one| one.game.as_ref().unwrap().state.sums);
        pair.machines[first].finish = None;
        assert!(pair.machines[first].online.rematch());
        // The other player thinks about it.
        for _ in 0..3_000 {
            pair.step();
        }
        pair.machines[1 - first].finish = None;
        assert!(pair.machines[1 - first].online.rematch());
        let finishes = pair.run_to_the_end();
        assert_eq!(agreed(&finishes[0]), agreed(&finishes[1]));
        let again = pair.machines.each_ref().map(|one| one.game.as_ref().unwrap().state.sums);
        assert!(again[0] == again[1] && again != seeds, "another seed");
        assert_eq!(pair.machines[0].online.connection().stats().connections, 1);
    }
    let recorded =
        folder.entries().into_iter().map(|path| Recording::open(std::fs::read(path).unwrap()).unwrap());
    let winners: Vec<Winner> = recorded.map(|recording| recording.end().unwrap().winner).collect();
    let draws = winners.iter().filter(|winner| **winner == Winner::Draw).count();
    assert_eq!((winners.len(), draws), (4, 2), "a rematch has no winner until it is told");
}

#[test]
fn rematch_at_once_waits_for_the_end_of_the_last_match() {
    let mut pair = SimOnline::new([options("Ada"), options("Bob")]);
    pair.run(|machines| {
        for machine in machines.iter_mut() {
            if machine.finish.take().is_some() && machine.online.rematch() {
                machine.last = 61;
            }
        }
        machines.iter().all(|one| one.last == 61)
    });
    let finishes = pair.run_to_the_end();
    assert_eq!(agreed(&finishes[0]), agreed(&finishes[1]));
    assert!(pair.machines.iter().all(|one| one.game.as_ref().unwrap().state.frame == 61));
}

#[test]
fn desync_writes_a_bundle() {
    let folder = Folder::new("desync");
    let mut pair = SimOnline::new([options("Ada").bundles_to(&folder.0), options("Bob")]);
    pair.machines[1].bias = 4;
    pair.machines.iter_mut().for_each(|one| one.last = 200);
    let finishes = pair.run_to_the_end();
    assert!(matches!(finishes[0], Finish::Played(Verdict::Differs { .. })), "{finishes:?}");
    assert!(finishes[0].to_string().ends_with("so it does not count."));
    let [bundle] = &folder.entries()[..] else { panic!("{:?}", pair.machines[0].notices) };
    let files = rebout::net::folder::read(bundle, &Bundle::FILES).unwrap();
    let bundle = Bundle::read(&files).unwrap();
    assert_eq!(bundle.autopsy().first_divergence.0, 20);
    let seed = pair.machines[0].online.agreed().unwrap().seed;
    assert_eq!((bundle.game(), bundle.replay().seed), ("00000000000000b0", seed));
    assert_eq!(bundle.autopsy().fields[0].path, "sums[0]");
    assert!(pair.machines[0].notices[0].starts_with("The report about the desync is in "));
    assert!(pair.machines[0].events.iter().any(|event| matches!(event, Event::Autopsy(_))));
}

#[test]
fn recording_that_cannot_begin_does_not_stop_the_match() {
    let folder = Folder::new("file");
    std::fs::write(&folder.0, "a file in the place of the folder").unwrap();
    let mut pair = SimOnline::new([options("Ada").record_to(&folder.0), options("Bob")]);
    pair.run(|machines| machines[0].game.as_ref().is_some_and(|game| game.state.frame > 0));
    assert!(pair.machines[0].notices[0].starts_with("The match cannot be recorded to "), "told at once");
    let finishes = pair.run_to_the_end();
    agreed(&finishes[0]);
    std::fs::remove_file(&folder.0).unwrap();
}

/// Neither a recording nor a ticket can be written.
#[test]
fn notices_come_in_the_order_of_their_causes() {
    let folder = Folder::new("notices");
    std::fs::write(&folder.0, "a file in the place of the folder").unwrap();
    let none = options("Ada").record_to(&folder.0).rejoin_in(&folder.0);
    let mut pair = SimOnline::new([none, options("Bob")]);
    let finishes = pair.run_to_the_end();
    let notices = &pair.machines[0].notices;
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert!(notices[0].starts_with("The match cannot be recorded to "), "{notices:?}");
    assert!(notices[1].starts_with("No file to come back by is in "), "{notices:?}");
    agreed(&finishes[0]);
    std::fs::remove_file(&folder.0).unwrap();
}

#[test]
fn open_match_shows_one_code_to_both() {
    let mut pair = SimOnline::connected([options("Ada"), options("Bob")], &ConnectOptions::new().open());
    pair.run(|machines| machines.iter().all(|one| one.online.peer().code.is_some()));
    let [one, two] = pair.machines.each_ref().map(|one| one.online.peer());
    assert!(one.code == two.code && !one.is_verified);
    let code = one.code.unwrap().to_string();
    assert!(pair.machines[0].online.progress().ends_with(&code));
    assert!(pair.machines[0].online.verify() && pair.machines[0].online.peer().is_verified);
    assert!(!pair.machines[0].online.progress().contains(&code), "it is compared");
    pair.run_to_the_end();
}

#[test]
fn bare_match_is_played_when_both_name_it() {
    let mut pair = SimOnline::connected([options("Ada"), options("Bob")], &ConnectOptions::new().bare());
    let finishes = pair.run_to_the_end();
    assert_eq!(agreed(&finishes[0]), agreed(&finishes[1]));
}
