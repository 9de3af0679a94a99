//! A host's first state in whole matches: from the options to the games, the recording and the bundle.

use crate::folder::Folder;
use crate::game::{SimOnline, Tally, options};
use core::time::Duration;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::replay::{Playback, Recording};
use rebout::{Bundle, Finish, FirstState, Frame, Options, Verdict};

fn bytes() -> Vec<u8> {
    (0..200_000_u32).map(|at| (at ^ at >> 9) as u8).collect()
}

fn with_first_state(options: Options) -> Options {
    options.first_state(bytes()).first_state_limit(1 << 20)
}

fn pair(host: Options, joiner: Options) -> SimOnline {
    let pair = SimOnline::new([host, joiner]);
    let link = LinkConfig { loss: Chance::percent(3), ..LinkConfig::new(Duration::from_millis(60)) };
    pair.sim.borrow_mut().network.set_links(0, 1, link);
    pair
}

#[test]
fn first_state_reaches_both_games_and_the_recording() {
    let folder = Folder::new("first-state");
    let host = with_first_state(options("Ada")).record_to(&folder.0);
    let mut pair = pair(host, options("Bob").first_state_limit(200_000).record_to(&folder.0));
    let mut texts = [Vec::new(), Vec::new()];
    pair.run(|machines| {
        for (texts, one) in texts.iter_mut().zip(machines.iter()) {
            texts.push(one.progress.clone());
        }
        machines.iter().all(|one| one.game.is_some())
    });
    for (texts, way) in texts.iter().zip(["sending", "receiving"]) {
        let start = format!("{way} the first state: ");
        let told = texts.iter().filter(|text| text.starts_with(&start) && text.ends_with(" of 196 KiB"));
        assert!(told.count() > 10, "{texts:?}");
    }
    let finishes = pair.run_to_the_end();
    assert!(matches!(finishes[0], Finish::Played(Verdict::Agreed { .. })), "{finishes:?}");
    let files = folder.entries();
    assert_eq!(files.len(), 2);
    for file in files {
        let recording = Recording::open(std::fs::read(&file).unwrap()).unwrap();
        let header = recording.header().clone();
        assert!(*header.first_state == bytes());
        let built = || Tally::of(header.seed, 60, &header.first_state);
        assert!(recording.verify(&mut built()).unwrap() > 0);
        assert!(recording.verify(&mut Tally::new(header.seed, 60)).is_err(), "the seed alone is not enough");
        let mut playback = Playback::new(built(), recording);
        playback.seek(Frame(60));
        assert_eq!(playback.game().state, pair.machines[0].game.as_ref().unwrap().state);
        let taken = playback.take_over(Duration::ZERO, &rebout::Config::new(0xB0)).unwrap();
        assert_eq!(taken.start(), Frame(60));
    }
}

#[test]
fn bundle_of_a_desync_has_the_first_state() {
    let folder = Folder::new("first-state-bundle");
    let host = with_first_state(options("Ada")).bundles_to(&folder.0);
    let mut pair = pair(host, options("Bob").first_state_limit(200_000));
    pair.machines[1].bias = 4;
    pair.machines.iter_mut().for_each(|one| one.last = 200);
    pair.run_to_the_end();
    let [bundle] = &folder.entries()[..] else { panic!("{:?}", pair.machines[0].notices) };
    let files = rebout::net::folder::read(bundle, &Bundle::FILES).unwrap();
    let bundle = Bundle::read(&files).unwrap();
    let replay = bundle.replay();
    assert!(*replay.first_state == bytes());
    let rerun = bundle.rerun(&mut Tally::of(replay.seed, 200, &replay.first_state)).unwrap();
    let without = bundle.rerun(&mut Tally::new(replay.seed, 200)).unwrap();
    let matching = [&rerun, &without].map(|rerun| rebout::Player::BOTH.map(|player| rerun.matches(player)));
    assert_eq!(matching, [[Some(true), Some(false)], [Some(false), Some(false)]]);
}

#[test]
fn too_long_first_state_is_told_to_both_players() {
    let mut pair = pair(with_first_state(options("Ada")), options("Bob").first_state_limit(1_000));
    pair.run(|machines| machines[1].finish.is_some());
    let text =
        "The match could not start: the host's first state has 200000 bytes, and this game accepts 1000.";
    assert_eq!(pair.machines[1].finish.as_ref().unwrap().to_string(), text);
    pair.run(|machines| !machines[0].notices.is_empty());
    let notice = &pair.machines[0].notices[0];
    assert!(notice.ends_with("the first state has 200000 bytes, and its game accepts 1000."), "{notice}");
}

#[test]
fn host_is_told_of_a_guest_that_stops_in_the_middle() {
    let mut pair = pair(with_first_state(options("Ada")), options("Bob").first_state_limit(200_000));
    pair.run(|machines| machines[1].progress.starts_with("receiving the first state: 5"));
    pair.sim.borrow_mut().network.set_down(1, 0, true);
    pair.run(|machines| machines[0].progress.ends_with(" of 196 KiB, nothing for 2 s"));
    pair.run(|machines| !machines[0].notices.is_empty());
    let notice = &pair.machines[0].notices[0];
    assert!(
        notice.starts_with("The guest left after it received ") && notice.contains(" of 196 KiB"),
        "{notice}"
    );
    assert!(pair.machines[0].finish.is_none(), "the host still waits");
}

#[test]
fn joiner_that_leaves_in_the_middle_makes_room() {
    let mut pair = pair(with_first_state(options("Ada")), options("Bob").first_state_limit(200_000));
    pair.run(|machines| machines[1].progress.starts_with("receiving"));
    pair.machines[1].online.leave();
    pair.run(|machines| machines[1].finish.is_some());
    pair.run(|machines| !machines[0].online.progress().starts_with("sending"));
    assert!(pair.machines[0].finish.is_none(), "the host still waits");
}

#[test]
fn rematch_shares_the_first_state_again() {
    let mut pair = pair(with_first_state(options("Ada")), options("Bob").first_state_limit(200_000));
    pair.run_to_the_end();
    for one in &mut pair.machines {
        (one.game, one.finish) = (None, None);
        assert!(one.online.rematch());
    }
    pair.run_to_the_end();
    let states = pair.machines.each_ref().map(|one| one.online.agreed().unwrap().first_state.clone());
    assert!(states.iter().all(|state| *state == FirstState::from(bytes())));
}
