//! Matches that do not come about: one place for the end, and its text blames the right side.

use crate::game::{Machine, SimOnline, options};
use crate::sim_network::{SimNetwork, TICK, addr, socket};
use rebout::{ConnectError, ConnectOptions, Connection, Finish, Hint, LobbyError, Online, Options, Reason};

#[test]
fn declined_guest_is_told() {
    let mut pair = SimOnline::new([options("Ada").ask(), options("Bob")]);
    pair.machines[0].accepts = false;
    pair.run(|machines| machines[1].finish.is_some());
    assert_eq!(pair.machines[1].finish, Some(Finish::Refused(LobbyError::Declined)));
    assert_eq!(pair.machines[1].finish.as_ref().unwrap().to_string(), "The host declined.");
    assert_eq!(pair.machines[0].guests[0], "Bob");
    assert_eq!(pair.machines[0].finish, None, "the host waits for the next guest");
}

#[test]
fn accepted_guest_plays() {
    let mut pair = SimOnline::new([options("Ada").ask(), options("Bob")]);
    let finishes = pair.run_to_the_end();
    assert!(matches!(finishes[0], Finish::Played(_)) && !pair.machines[0].guests.is_empty());
}

#[test]
fn another_version_is_named_on_both_sides() {
    let mut pair = SimOnline::new([options("Ada"), Options::new(0xB0, 2)]);
    pair.run(|machines| machines[1].finish.is_some() && !machines[0].notices.is_empty());
    let text = pair.machines[1].finish.as_ref().unwrap().to_string();
    assert_eq!(text, "The host has another version of the game, or other rules.");
    let notice = &pair.machines[0].notices[0];
    let refused =
        "The guest at 10.0.0.2:7000 was refused: it has another version of the game, or other rules.";
    assert_eq!(notice, refused);
}

#[test]
fn host_that_never_answers_is_named_by_its_real_address() {
    let mut pair = SimOnline::new([options("Ada"), options("Bob")]);
    pair.sim.borrow_mut().network.set_down(1, 0, true);
    pair.run(|machines| machines[1].finish.is_some());
    let Some(Finish::Unreached(error)) = &pair.machines[1].finish else { panic!() };
    assert!(matches!(error, ConnectError::NoAnswer { .. }));
    let advice = "Is the host still waiting, with this invite? Does its router forward the port (UDP)?";
    assert_eq!(error.to_string(), format!("No answer at 10.0.0.1:7000 within 10 s. {advice}"));
    assert_eq!(pair.machines[1].progress, "asking 10.0.0.1:7000");
    assert_eq!(pair.machines[0].progress, "waiting for the other player");
}

#[test]
fn leaving_the_lobby_is_an_end() {
    let mut pair = SimOnline::connected([options("Ada"), options("Bob")], &ConnectOptions::new());
    pair.machines[0].online.leave();
    pair.run(|machines| machines[0].finish.is_some());
    assert_eq!(pair.machines[0].finish, Some(Finish::Ended(Reason::LeftHere)));
    assert!(!pair.machines[0].online.rematch(), "nothing was played");
}

#[test]
fn host_is_told_once_that_the_other_side_does_not_encrypt() {
    let sim = SimNetwork::new(2);
    let host = Connection::host_on(&ConnectOptions::new(), socket(&sim, 0), &[addr(0)]).unwrap();
    let mut host = Machine::new(Online::on(options("Ada"), host).unwrap());
    let bare = ConnectOptions::new().bare();
    let joiner = Connection::join_on(&bare, socket(&sim, 1), &[addr(1)], &addr(0).to_string()).unwrap();
    let mut joiner = Machine::new(Online::on(options("Bob"), joiner).unwrap());
    for _ in 0..2_000 {
        host.turn();
        joiner.turn();
        sim.borrow_mut().pass(TICK);
    }
    assert_eq!(host.notices, [Hint::Bare.to_string()]);
}

/// Its lobby has its own advice when it times out, and bare packets may come from anybody.
#[test]
fn joiner_is_told_no_hint_while_it_waits() {
    let sim = SimNetwork::new(2);
    let bare = ConnectOptions::new().bare();
    let bare = Connection::join_on(&bare, socket(&sim, 0), &[addr(0)], &addr(1).to_string()).unwrap();
    let mut bare = Machine::new(Online::on(options("Ada"), bare).unwrap());
    let joiner = ConnectOptions::new();
    let joiner = Connection::join_on(&joiner, socket(&sim, 1), &[addr(1)], &addr(0).to_string()).unwrap();
    let mut joiner = Machine::new(Online::on(options("Bob"), joiner).unwrap());
    for _ in 0..1_000 {
        bare.turn();
        joiner.turn();
        sim.borrow_mut().pass(TICK);
    }
    assert_eq!(joiner.online.connection().hint(), Some(Hint::Bare));
    assert_eq!(joiner.notices, Vec::<String>::new());
}

/// A screen is drawn in between.
#[test]
fn wait_without_a_match_takes_16_ms() {
    let mut pair = SimOnline::new([options("Ada"), options("Bob")]);
    let waits = |pair: &mut SimOnline| {
        let before = pair.sim.borrow().now();
        pair.machines[0].online.wait().unwrap();
        assert_eq!(pair.sim.borrow().now() - before, 16 * TICK);
    };
    waits(&mut pair);
    pair.run_to_the_end();
    waits(&mut pair);
}

#[test]
fn config_that_is_not_valid_is_an_error_at_once() {
    let sim = crate::sim_network::SimNetwork::new(1);
    let address = [crate::sim_network::addr(0)];
    let host =
        rebout::Connection::host_on(&ConnectOptions::new(), crate::sim_network::socket(&sim, 0), &address);
    let config = rebout::Config::new(1).with(|config| config.game.frame_rate = rebout::FrameRate::hz(0));
    let online = rebout::Online::<crate::game::Sums, _>::on(Options::with_config(config), host.unwrap());
    assert_eq!(online.map(|_| ()).unwrap_err().to_string(), "a frame rate of 0 Hz is outside 1..=1000");
}
