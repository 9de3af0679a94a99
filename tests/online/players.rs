//! Players' keys at the front door: files, guests that are known again, and texts for those that are turned away.

use crate::folder::Folder;
use core::time::Duration;
use rebout::{ConnectError, ConnectOptions, Connection, Finish, Now, Online, Options, PlayerKey};
use std::time::Instant;

fn local() -> ConnectOptions {
    ConnectOptions::new().bind("127.0.0.1:0".parse().unwrap())
}

fn options(connect: ConnectOptions) -> Options {
    Options::new(7, 1).connect(connect)
}

type Machine = Online<[u32; 1]>;

/// Runs both until one has something to show that `of` takes.
fn until<T>(mut machines: [&mut Machine; 2], mut of: impl FnMut(usize, Now) -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        for (id, machine) in machines.iter_mut().enumerate() {
            let now = machine.wait().unwrap();
            if let Some(found) = of(id, now) {
                return found;
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(8), "nothing after 8 s");
    }
}

/// The player that a host sees at its door.
fn guest_of(host: &mut Machine, guest: &mut Machine) -> PlayerKey {
    until([host, guest], |_, now| match now {
        Now::Guest { peer, .. } => peer.player,
        _ => None,
    })
}

/// The text for a joiner that is turned away.
fn turned_away(host: &mut Machine, guest: &mut Machine) -> String {
    until([host, guest], |id, now| match now {
        Now::Finished(Finish::Unreached(error)) if id == 1 => {
            assert!(matches!(error, ConnectError::OtherPlayer { .. }), "{error:?}");
            Some(error.to_string())
        }
        _ => None,
    })
}

#[test]
fn guest_with_a_kept_key_is_the_same_player_as_last_time() {
    let folder = Folder::new("player-key");
    let path = folder.file("player.key");
    let mut seen = Vec::new();
    for _ in 0..2 {
        let mut host = Machine::host(options(local()).ask()).unwrap();
        let mut guest = Machine::join(options(local()).player_key_in(&path), host.share()).unwrap();
        assert!(host.connection().player_key().is_none());
        seen.push((guest_of(&mut host, &mut guest), guest.connection().player_key().unwrap()));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0].0, seen[0].1);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!((text.len(), text.trim_end().len()), (65, 64));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let link = folder.file("link.key");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let error = Connection::host(&local().keep_player_key_in(&link)).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("symbolic link"), "{error}");
    }
    // A host by invite draws its invite's key and the player's key from one source, and they are not the same.
    let drawn = local().randomness(rebout::Randomness::Seeded(7));
    let host = Connection::host(&drawn.keep_player_key_in(folder.file("drawn.key"))).unwrap();
    let kept = std::fs::read_to_string(folder.file("drawn.key")).unwrap();
    let digits: String = host.secret_key().unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_ne!(kept.trim_end(), digits);
}

#[test]
fn joiner_is_told_why_it_is_turned_away() {
    let [bob, eve] = [[50; 32], [60; 32]];
    let mut host = Machine::host(options(local()).only(PlayerKey::of(bob))).unwrap();
    let mut guest = Machine::join(options(local().player_key(eve)), host.share()).unwrap();
    let text = turned_away(&mut host, &mut guest);
    let own = PlayerKey::of(eve).to_string();
    assert!(text.contains("lets in other players only") && text.contains(&own), "{text}");
    let notice = until([&mut host, &mut guest], |id, now| match now {
        Now::Notice(notice) if id == 0 => Some(notice),
        _ => None,
    });
    assert!(notice.contains("was refused") && notice.contains(&own), "{notice}");
    let mut guest = Machine::join(options(local()), host.share()).unwrap();
    let text = turned_away(&mut host, &mut guest);
    assert!(text.contains("has no player key"), "{text}");
    let mut guest = Machine::join(options(local().player_key(bob)), host.share()).unwrap();
    until([&mut host, &mut guest], |_, now| matches!(now, Now::Begin { .. }).then_some(()));
}

#[test]
fn joiner_does_not_play_with_another_host() {
    let [ada, eve] = [[40; 32], [60; 32]];
    for (own, text) in [(Some(eve), "Another player hosts there"), (None, "has not proven the player key")] {
        let hosting = own.into_iter().fold(local(), ConnectOptions::player_key);
        let mut host = Machine::host(options(hosting)).unwrap();
        let wanted = options(local()).only(PlayerKey::of(ada));
        let mut guest = Machine::join(wanted, host.share()).unwrap();
        let words = turned_away(&mut host, &mut guest);
        assert!(words.contains(text), "{words}");
    }
}

#[test]
fn bare_connection_proves_no_key() {
    let host = Connection::host(&local().bare().player_key([7; 32])).unwrap();
    assert_eq!(host.player_key(), None);
    let error = Connection::host(&local().bare().only(PlayerKey([7; 32]))).map(|_| ()).unwrap_err();
    assert!(matches!(error, ConnectError::Options { why } if why.contains("on encrypted connections only")));
}
