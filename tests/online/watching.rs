//! Spectators of an online match, by invites of their own.

use crate::folder::Folder;
use crate::game::{Machine, Sums, Tally};
use crate::sim_network::{SimNetwork, TICK, addr, socket};
use core::time::Duration;
use rebout::lab::seal::ConnectionKeys;
use rebout::lab::sim::{EntryKind, Recording as Recorded};
use rebout::lab::wire::broadcast::ToSpectator;
use rebout::net::Datagrams;
use rebout::replay::{Outcome, Recording, Tail, Viewer};
use rebout::{
    BroadcastConfig, Config, ConnectError, ConnectOptions, Connection, Finish, FrameRate, Online, Options,
    Verdict, Watch, Watching,
};
use std::time::Instant;

fn local() -> ConnectOptions {
    ConnectOptions::new().bind("127.0.0.1:0".parse().unwrap())
}

fn options(name: &str) -> Options {
    let config = Config::new(0xB0).with(|config| {
        config.game.frame_rate = FrameRate::hz(240);
        config.rollback.delay_frames = Some(1);
    });
    Options::with_config(config).connect(local()).name(name)
}

type Players = [Machine<rebout::net::udp::Udp>; 2];

/// Two players, the first of whom has spectators.
fn players(last: u32, config: BroadcastConfig) -> Players {
    let host: Online<Sums> = Online::host(options("Ada").spectators(config)).unwrap();
    let guest = Online::join(options("Bob"), host.share()).unwrap();
    [host, guest].map(|online| Machine { last, ..Machine::new(online) })
}

/// Runs all machines until `done`, at most half a minute.
fn run(players: &mut Players, watches: &mut [Watch], mut done: impl FnMut(&Players, &[Watch]) -> bool) {
    let began = Instant::now();
    while !done(players, watches) {
        players.iter_mut().for_each(Machine::turn);
        for watch in watches.iter_mut() {
            watch.poll().unwrap();
        }
        std::thread::sleep(Duration::from_millis(1));
        let states: Vec<_> = watches.iter().map(|watch| watch.spectator().state()).collect();
        assert!(began.elapsed() < Duration::from_secs(30), "{states:?}");
    }
}

/// Whether a spectator has the whole match, with the checksum of the players at its end.
fn has_seen<D: Datagrams>(watch: &Watch<D>, finish: &Option<Finish>, last: u32) -> bool {
    let Some(Finish::Played(Verdict::Agreed { checksum, .. })) = finish else { return false };
    if watch.spectator().state() != Watching::Complete {
        return false;
    }
    let recording = Recording::open(watch.spectator().bytes().to_vec()).unwrap();
    assert_eq!(recording.tail(), Tail::Whole);
    assert_eq!(recording.header().names, ["Ada", "Bob"]);
    assert_eq!(recording.end().unwrap().outcome, Outcome::Agreed { checksum: *checksum });
    let mut viewer = Viewer::new(Tally::new(recording.header().seed, last), recording);
    viewer.advance(Duration::from_secs(1), u32::MAX, |_, _, _| {});
    assert!(viewer.verified().unwrap() > 1);
    true
}

#[test]
fn invited_spectators_see_the_match_and_pass_it_on() {
    const LAST: u32 = 1_200;
    let mut players = players(LAST, BroadcastConfig { chat: true, ..BroadcastConfig::default() });
    let invite = players[0].online.share_to_watch().expect("an invite to watch");
    assert_ne!(invite, players[0].online.share());
    let mut watches = vec![Watch::join(&local(), &invite).unwrap()];
    watches[0].serve(&local(), BroadcastConfig::default()).unwrap();
    let passed_on = watches[0].share().unwrap();
    // One more joins in the middle, and another one the machine that passes the match on.
    run(&mut players, &mut watches, |players, _| {
        players[0].online.session().is_some_and(|session| session.settled().0 > 400)
    });
    players[0].online.send(b"good luck").unwrap();
    watches.push(Watch::join(&local(), &invite).unwrap());
    watches.push(Watch::join(&local(), &passed_on).unwrap());
    run(&mut players, &mut watches, |players, watches| {
        watches.iter().all(|watch| has_seen(watch, &players[0].finish, LAST))
            && players[0].online.spectators_have_all()
    });
    assert_eq!(players[0].finish, players[1].finish);
    assert_eq!(players[0].online.spectators().unwrap().spectators, 2);
    assert_eq!(watches[0].served().unwrap().spectators, 1);
    let recording = Recording::open(watches[2].spectator().bytes().to_vec()).unwrap();
    assert!(recording.messages().map(|(_, _, text)| text).eq([&b"good luck"[..]]));
    // The host ends, and says so to those who watch.
    let [host, _] = players;
    host.online.close().unwrap();
    let state = watches[1].wait(Duration::from_millis(300)).map(|_| watches[1].spectator().state()).unwrap();
    assert_eq!(state, Watching::Refused(rebout::Bye::Closed));
}

#[test]
fn spectator_goes_on_at_another_machine_of_the_same_match() {
    const LAST: u32 = 600;
    let mut watched = players(LAST, BroadcastConfig::default());
    let invite = watched[0].online.share_to_watch().unwrap();
    let mut watches = vec![Watch::join(&local(), &invite).unwrap(), Watch::join(&local(), &invite).unwrap()];
    watches[0].serve(&local(), BroadcastConfig::default()).unwrap();
    let passed_on = watches[0].share().unwrap();
    run(&mut watched, &mut watches, |_, watches| {
        watches.iter().all(|watch| !watch.spectator().bytes().is_empty())
    });
    let others = players(LAST, BroadcastConfig::default());
    let foreign = others[0].online.share_to_watch().unwrap();
    let refused = watches[1].ask_another(&local(), &foreign).unwrap_err().to_string();
    assert!(refused.contains("the match of somebody else"), "{refused}");
    let (before, bytes) = (watches[1].now(), watches[1].spectator().bytes().to_vec());
    watches[1].ask_another(&local(), &passed_on).unwrap();
    assert!(watches[1].now() < before, "the clock of another socket");
    assert_eq!(
        (watches[1].spectator().state(), watches[1].spectator().bytes()),
        (Watching::Asking, &bytes[..])
    );
    run(&mut watched, &mut watches, |players, watches| {
        watches.iter().all(|watch| has_seen(watch, &players[0].finish, LAST))
    });
    assert_eq!(watches[0].served().unwrap().joined, 1);
}

#[test]
fn host_that_closes_waits_until_spectators_have_the_end() {
    let mut players =
        players(60, BroadcastConfig { delay: Duration::from_millis(400), ..BroadcastConfig::default() });
    let invite = players[0].online.share_to_watch().unwrap();
    let mut watches = vec![Watch::join(&local(), &invite).unwrap()];
    run(&mut players, &mut watches, |players, _| players.iter().all(|one| one.finish.is_some()));
    assert!(!players[0].online.spectators_have_all());
    let [host, _guest] = players;
    let (finish, online) = (host.finish, host.online);
    let closing = std::thread::spawn(move || online.close().unwrap());
    while !has_seen(&watches[0], &finish, 60) {
        watches[0].poll().unwrap();
        assert!(!watches[0].spectator().state().is_over(), "{}", watches[0].spectator().state());
        std::thread::sleep(Duration::from_millis(1));
    }
    closing.join().unwrap();
}

#[test]
fn spectator_that_closes_tells_its_host_and_those_it_serves() {
    let mut players = players(u32::MAX, BroadcastConfig::default());
    let invite = players[0].online.share_to_watch().unwrap();
    let mut watches = vec![Watch::join(&local(), &invite).unwrap()];
    watches[0].serve(&local(), BroadcastConfig::default()).unwrap();
    watches.push(Watch::join(&local(), &watches[0].share().unwrap()).unwrap());
    run(&mut players, &mut watches, |_, watches| !watches[1].spectator().bytes().is_empty());
    let first = watches.remove(0);
    let closing = std::thread::spawn(move || first.close().unwrap());
    run(&mut players, &mut watches, |players, watches| {
        let is_told = watches[0].spectator().state() == Watching::Refused(rebout::Bye::Closed);
        is_told && players[0].online.spectators().unwrap().spectators == 0
    });
    closing.join().unwrap();
}

#[test]
fn next_match_follows_on_the_same_connection() {
    let mut players = players(120, BroadcastConfig::default());
    let invite = players[0].online.share_to_watch().unwrap();
    let mut watches = vec![Watch::join(&local(), &invite).unwrap()];
    run(&mut players, &mut watches, |players, watches| {
        players.iter().all(|one| one.finish.is_some()) && has_seen(&watches[0], &players[0].finish, 120)
    });
    for machine in &mut players {
        machine.finish = None;
        assert!(machine.online.rematch());
    }
    run(&mut players, &mut watches, |players, watches| {
        watches[0].spectator().match_number() == 2 && has_seen(&watches[0], &players[0].finish, 120)
    });
}

#[test]
fn invites_to_watch_and_to_play_are_not_exchanged() {
    let players = players(60, BroadcastConfig::default());
    let to_watch = players[0].online.share_to_watch().unwrap();
    let error = Online::<Sums>::join(options("Mallory"), &to_watch).err().unwrap();
    assert_eq!(error, ConnectError::Text { why: "this is an invite to watch, and not to play".to_owned() });
    let error = Watch::join(&local(), players[0].online.share()).err().unwrap();
    assert!(error.to_string().contains("no invite to watch"), "{error}");
    let [play, watch]: [rebout::Invite; 2] =
        [players[0].online.share(), &to_watch].map(|text| text.parse().unwrap());
    assert_ne!(play.key(), watch.key(), "the key of one admits nobody in the role of the other");
    assert!(play.broadcast_key().is_none() && watch.broadcast_key().is_some());
}

#[test]
fn key_to_watch_admits_no_player_whatever_its_packets_say() {
    let mut players = players(u32::MAX, BroadcastConfig::default());
    // Without the part about the broadcast it reads as an invite to play: the key alone decides.
    let to_watch: rebout::Invite = players[0].online.share_to_watch().unwrap().parse().unwrap();
    let forged = rebout::Invite::new(*to_watch.key(), to_watch.addresses().iter().copied()).unwrap();
    let mut mallory = Machine::new(Online::<Sums>::join(options("Mallory"), &forged.to_string()).unwrap());
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(2) {
        mallory.turn();
        players[0].turn();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(mallory.game.is_none() && players[0].game.is_none(), "there is no match with Mallory");
    run(&mut players, &mut [], |players, _| {
        players[1].online.session().is_some_and(|session| session.settled().0 > 60)
    });
    assert!(mallory.game.is_none());
}

#[test]
fn messages_reach_spectators_only_if_the_config_says_so() {
    for chat in [false, true] {
        let mut players = players(240, BroadcastConfig { chat, ..BroadcastConfig::default() });
        let invite = players[0].online.share_to_watch().unwrap();
        let mut watches = vec![Watch::join(&local(), &invite).unwrap()];
        run(&mut players, &mut watches, |players, _| {
            players.iter().all(|one| one.online.session().is_some())
        });
        players[0].online.send(b"from the host").unwrap();
        players[1].online.send(b"from the guest").unwrap();
        run(&mut players, &mut watches, |players, watches| has_seen(&watches[0], &players[0].finish, 240));
        let recording = Recording::open(watches[0].spectator().bytes().to_vec()).unwrap();
        assert_eq!(recording.messages().count(), if chat { 2 } else { 0 });
        let has = |text: &[u8]| watches[0].spectator().bytes().windows(text.len()).any(|found| found == text);
        assert_eq!([has(b"from the host"), has(b"from the guest")], [chat; 2]);
    }
}

#[test]
fn delay_beyond_ten_minutes_is_refused() {
    let hosts = |secs| {
        let config = BroadcastConfig { delay: Duration::from_secs(secs), ..BroadcastConfig::default() };
        Online::<Sums>::host(options("Ada").spectators(config)).map(|_| ())
    };
    assert_eq!([hosts(0), hosts(600)], [Ok(()), Ok(())]);
    assert!(hosts(601).unwrap_err().to_string().contains("ten minutes late at most"));
}

#[test]
fn only_hosts_by_invite_have_spectators() {
    let open = options("Ada").connect(local().open()).spectators(BroadcastConfig::default());
    let error = Online::<Sums>::host(open).err().unwrap();
    assert!(error.to_string().contains("only a host by invite can have spectators"), "{error}");
}

#[test]
fn decrypted_packets_to_a_spectator_have_no_younger_frame() {
    const DELAY: Duration = Duration::from_secs(60);
    let folder = Folder::new("watch-keys");
    let (sim, log) = (SimNetwork::new(3), folder.file("keys.log"));
    sim.borrow_mut().network.record(Recorded::Full);
    let host = Connection::host_on(&ConnectOptions::new(), socket(&sim, 0), &[addr(0)]).unwrap();
    let guest =
        Connection::join_on(&ConnectOptions::new(), socket(&sim, 1), &[addr(1)], host.share()).unwrap();
    let config = BroadcastConfig { delay: DELAY, chat: true, ..BroadcastConfig::default() };
    let host = Online::on(crate::game::options("Ada").spectators(config), host).unwrap();
    let invite = host.share_to_watch().unwrap();
    let watching = ConnectOptions::new().log_keys_to(&log);
    let mut watch =
        Watch::on(Connection::join_on(&watching, socket(&sim, 2), &[addr(2)], &invite).unwrap()).unwrap();
    let guest = Online::on(crate::game::options("Bob"), guest).unwrap();
    let mut players = [host, guest].map(|online| Machine { last: 600, ..Machine::new(online) });
    // When each frame became certain at the host.
    let mut settled_at = vec![Duration::ZERO];
    while !has_seen(&watch, &players[0].finish, 600) {
        players.iter_mut().for_each(Machine::turn);
        watch.poll().unwrap();
        sim.borrow_mut().pass(TICK);
        let now = sim.borrow().now();
        let settled = players[0].online.session().map_or(0, |session| session.settled().0);
        settled_at.resize(settled_at.len().max(settled as usize + 1), now);
        assert!(now < Duration::from_secs(100), "{:?}", watch.spectator().state());
    }
    let text = std::fs::read_to_string(&log).unwrap();
    let keys: Vec<ConnectionKeys> = text.lines().map(|line| line.parse().unwrap()).collect();
    let sim = sim.borrow();
    let sent = sim.network.transcript().entries().iter();
    let sent =
        sent.filter(|entry| entry.kind == EntryKind::Sent && entry.from == addr(0) && entry.to == addr(2));
    let (mut replay, mut heads, mut newest) = (Vec::new(), 0, 0);
    for entry in sent {
        let Some(opened) = keys.iter().find_map(|keys| keys.open(&entry.datagram)) else { continue };
        match ToSpectator::decode(&opened.text) {
            Ok(ToSpectator::Data { offset, bytes, .. }) => {
                replay.truncate(offset as usize);
                replay.extend_from_slice(bytes);
                newest = Recording::open(replay.clone()).unwrap().frames();
                let age = entry.at.saturating_sub(settled_at[newest.saturating_sub(1) as usize]);
                // A frame is noted a millisecond after it became certain.
                assert!(age + TICK >= DELAY, "frame {newest} left at the age of {age:?}");
            }
            Ok(ToSpectator::Head(..)) => heads += 1,
            _ => {}
        }
    }
    assert!(newest == 600 && heads >= 10, "{heads} heads up to frame {newest}");
}
