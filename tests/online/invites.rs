//! The invites of a host: to play and to watch, for one guest, until a time, and revoked.

use core::time::Duration;
use rebout::{Config, ConnectError, ConnectOptions, Connection, Invite, Lobby, LobbyError, Online, Options};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

fn local() -> ConnectOptions {
    ConnectOptions::new().bind("127.0.0.1:0".parse().unwrap())
}

fn lobby(connection: &Connection) -> Lobby {
    connection.lobby(Config::new(0xB0).with(|config| config.rollback.delay_frames = Some(1))).unwrap()
}

/// Runs a host and a guest until both lobbies have agreed. `false` after a second.
fn agree(host: &mut Connection, guest: &mut Connection) -> bool {
    let (mut lobbies, begun) = ([lobby(host), lobby(guest)], Instant::now());
    while lobbies.iter().any(|lobby| !matches!(lobby.agreed(), Ok(Some(_)))) {
        if begun.elapsed() > Duration::from_secs(1) {
            return false;
        }
        for (connection, lobby) in [&mut *host, &mut *guest].into_iter().zip(&mut lobbies) {
            let deadline = connection.now() + Duration::from_millis(1);
            connection.run_until(lobby, deadline).unwrap();
        }
    }
    true
}

fn read(text: &str) -> Invite {
    text.parse().unwrap()
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn watched() -> Connection {
    let mut host = Connection::host(&local()).unwrap();
    host.admit_spectators(4, [9; 32]).unwrap();
    host
}

#[test]
fn invite_to_watch_has_its_own_key_and_no_lobby() {
    let mut host = watched();
    let [text, watching] = [host.share().to_owned(), host.share_to_watch().unwrap()];
    let [play, watch] = [&text, &watching].map(|text| read(text));
    assert_eq!([play.broadcast_key(), watch.broadcast_key()], [None, Some([9; 32])]);
    assert_eq!(play.addresses(), watch.addresses());
    assert_ne!(play.key(), watch.key());
    let guest = Connection::join(&local(), &watching).unwrap();
    assert_eq!(guest.lobby(Config::new(0xB0)).map(|_| ()), Err(LobbyError::Watching));
    let refused = Online::<[u32; 1]>::join(Options::new(7, 1).connect(local()), &watching);
    assert!(refused.unwrap_err().to_string().contains("this is an invite to watch, and not to play"));
    // A text that was changed to one to play: its key decides.
    let forged = Invite::new(*watch.key(), watch.addresses().iter().copied()).unwrap().to_string();
    assert!(!agree(&mut host, &mut Connection::join(&local(), &forged).unwrap()));
    assert!(agree(&mut host, &mut Connection::join(&local(), &text).unwrap()));
}

#[test]
fn host_without_spectators_has_no_invite_to_watch() {
    let host = Connection::host(&local()).unwrap();
    assert_eq!((host.share_to_watch(), host.share().len()), (None, 77));
    for options in [local().open(), local().bare()] {
        let expiring = options.clone().invites_valid_for(Duration::from_secs(9));
        let error = Connection::host(&expiring).map(|_| ()).unwrap_err();
        assert!(matches!(error, ConnectError::Options { why } if why.contains("needs a host by invite")));
        let mut host = Connection::host(&options).unwrap();
        assert!(matches!(host.admit_spectators(1, [9; 32]), Err(ConnectError::Options { .. })));
    }
}

#[test]
fn invite_for_one_admits_one_guest() {
    let mut host = Connection::host(&local()).unwrap();
    let [first, second] = [host.invite_one().unwrap(), host.invite_one().unwrap()];
    assert!(read(&first).is_for_one() && !read(host.share()).is_for_one());
    let mut keys = [host.share(), &first, &second].map(|text| *read(text).key());
    keys.sort_unstable();
    assert!(keys[0] != keys[1] && keys[1] != keys[2]);
    let mut guest = Connection::join(&local(), &first).unwrap();
    assert!(agree(&mut host, &mut guest));
    assert!(!agree(&mut host, &mut Connection::join(&local(), &first).unwrap()), "it is used up");
    assert!(agree(&mut host, &mut guest), "its guest is still there, and meets another lobby");
    assert!(agree(&mut host, &mut Connection::join(&local(), &second).unwrap()), "the other is not");
    // Used up ones make room for others.
    let more: Vec<_> = (0..15).map(|_| host.invite_one().unwrap()).collect();
    let error = host.invite_one().unwrap_err().to_string();
    assert!(error.contains("at most 16 different keys"), "{error}");
    assert!(host.revoke(&more[7]) && host.invite_one().is_ok());
    assert!(matches!(guest.invite_one(), Err(ConnectError::Options { .. })));
}

#[test]
fn revoked_invite_admits_nobody() {
    let mut host = watched();
    let (play, watch) = (host.share().to_owned(), host.share_to_watch().unwrap());
    assert!(!host.revoke("rebout:2:") && !host.revoke(Connection::host(&local()).unwrap().share()));
    assert!(host.revoke(&play) && !host.revoke(&play));
    assert_eq!((host.share(), host.share_to_watch()), ("", Some(watch.clone())));
    assert!(!agree(&mut host, &mut Connection::join(&local(), &play).unwrap()));
    assert!(host.revoke(&watch) && host.share_to_watch().is_none());
    let another = host.invite_one().unwrap();
    assert!(agree(&mut host, &mut Connection::join(&local(), &another).unwrap()));
}

#[test]
fn expired_invite_is_refused_by_both_sides() {
    let mut host = Connection::host(&local().invites_valid_for(Duration::from_secs(2))).unwrap();
    host.admit_spectators(1, [9; 32]).unwrap();
    let text = host.share().to_owned();
    let until = u64::from(read(&text).expires_at().unwrap());
    assert!(
        (1..=2).contains(&(until - unix_seconds()))
            && read(&host.share_to_watch().unwrap()).expires_at().is_some()
    );
    let mut guest = Connection::join(&local(), &text).unwrap();
    assert!(agree(&mut host, &mut guest));
    while unix_seconds() <= until + 1 {
        host.rest_until(host.now() + Duration::from_millis(100)).unwrap();
    }
    assert_eq!((host.share(), host.share_to_watch()), ("", None));
    let error = Connection::join(&local(), &text).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("this invite expired ") && error.contains(" s ago, by the clock"), "{error}");
    // The host's word counts: a guest without a clock, or with another one, is not admitted.
    let invite = read(&text);
    let without = Invite::new(*invite.key(), invite.addresses().iter().copied()).unwrap().to_string();
    assert!(!agree(&mut host, &mut Connection::join(&local(), &without).unwrap()));
    assert!(agree(&mut host, &mut guest), "its guest stays");
}
