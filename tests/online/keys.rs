//! Keys on the disk: the host's own across a restart, and those of connections for a log.

use crate::folder::Folder;
use crate::sim_network::{Shared, SimNetwork, addr, meet, pair, socket};
use core::time::Duration;
use rebout::lab::seal::ConnectionKeys;
use rebout::lab::sim::{EntryKind, Recording};
use rebout::{Config, ConnectOptions, Connection};

const LIMIT: Duration = Duration::from_secs(30);

/// Whether a guest with this text gets in at a host with these options, while `others` run.
fn joins(sim: &Shared, host: &ConnectOptions, text: &str, others: impl FnMut()) -> bool {
    let host = Connection::host_on(host, socket(sim, 0), &[addr(0)]).unwrap();
    let joiner = Connection::join_on(&ConnectOptions::new(), socket(sim, 1), &[addr(1)], text).unwrap();
    let mut connections = [host, joiner];
    let mut lobbies = connections.each_ref().map(|one| one.lobby(Config::new(0xB0)).unwrap());
    let met = meet(sim, &mut connections, &mut lobbies, LIMIT, others);
    met.is_ok() && lobbies[1].agreed().unwrap().is_some()
}

#[test]
fn old_invite_is_valid_after_a_restart_with_a_kept_key() {
    let folder = Folder::new("kept-key");
    let sim = SimNetwork::new(2);
    let kept = ConnectOptions::new().keep_key_in(folder.file("host.key"));
    let first = Connection::host_on(&kept, socket(&sim, 0), &[addr(0)]).unwrap();
    let invite = first.share().to_owned();
    drop(first);
    assert!(joins(&sim, &kept, &invite, || ()));
    assert!(!joins(&sim, &ConnectOptions::new(), &invite, || ()), "another key is another host");
}

#[cfg(feature = "nat")]
#[test]
fn kept_key_keeps_the_room_at_a_rendezvous() {
    use crate::sim_network::Silent;
    use rebout::Randomness;
    use rebout::net::Driver;
    use rebout::rendezvous::{RendezvousConfig, RendezvousServer};

    let folder = Folder::new("kept-room");
    let sim = SimNetwork::new(3);
    let (mut driver, server) = (Driver::new(socket(&sim, 2)), RendezvousConfig::default());
    let mut server = RendezvousServer::new(server, Randomness::System).unwrap();
    let mut serve = || {
        driver.poll(&mut server).unwrap();
    };
    let kept = ConnectOptions::new().rendezvous(&addr(2).to_string()).keep_key_in(folder.file("host.key"));
    let mut first = Connection::host_on(&kept, socket(&sim, 0), &[addr(0)]).unwrap();
    let invite = first.share().to_owned();
    while !first.progress().starts_with("registered") {
        first.poll(&mut Silent).unwrap();
        serve();
        sim.borrow_mut().pass(crate::sim_network::TICK);
    }
    drop(first);
    assert!(joins(&sim, &kept, &invite, serve));
}

#[test]
fn key_log_opens_the_packets_of_its_connection() {
    let folder = Folder::new("key-log");
    let sim = SimNetwork::new(2);
    sim.borrow_mut().network.record(Recording::Full);
    let log = folder.file("keys.log");
    let mut connections = pair(&sim, &[ConnectOptions::new().log_keys_to(&log), ConnectOptions::new()]);
    let mut lobbies = connections.each_ref().map(|one| one.lobby(Config::new(0xB0)).unwrap());
    meet(&sim, &mut connections, &mut lobbies, LIMIT, || ()).unwrap();
    let text = std::fs::read_to_string(&log).unwrap();
    let keys: Vec<ConnectionKeys> = text.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(keys.len(), 1, "one connection, one line");
    let sim = sim.borrow();
    let sent = sim.network.transcript().entries().iter().filter(|entry| entry.kind == EntryKind::Sent);
    let opened: Vec<_> = sent.filter_map(|entry| Some((entry.to, keys[0].open(&entry.datagram)?))).collect();
    for id in 0..2 {
        let to = opened.iter().filter(|(to, packet)| *to == addr(id) && packet.to_host == (id == 0));
        assert!(to.count() > 0, "packets to {}", addr(id));
    }
}

#[cfg(unix)]
#[test]
fn key_log_is_not_written_through_a_symlink() {
    let folder = Folder::new("key-link");
    let (victim, link) = (folder.file("victim"), folder.file("link"));
    for exists in [false, true] {
        if exists {
            std::fs::write(&victim, "notes").unwrap();
        }
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        let sim = SimNetwork::new(1);
        let options = ConnectOptions::new().log_keys_to(&link);
        let error =
            Connection::host_on(&options, socket(&sim, 0), &[addr(0)]).err().expect("refused").to_string();
        assert!(error.contains("symbolic link"), "{error}");
        assert_eq!(std::fs::read_to_string(&victim).ok(), exists.then(|| "notes".to_owned()));
    }
}
