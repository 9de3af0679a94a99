//! Options that contradict each other, texts that cannot be used, and keys that are kept.

use rebout::{ConnectError, ConnectOptions, Connection};

fn local() -> ConnectOptions {
    ConnectOptions::new().bind("127.0.0.1:0".parse().unwrap())
}

fn refused(result: Result<Connection, ConnectError>) -> String {
    result.map(|connection| connection.share().len()).unwrap_err().to_string()
}

#[test]
fn invite_is_never_used_bare() {
    let host = Connection::host(&local()).unwrap();
    let text = refused(Connection::join(&local().bare(), host.share()));
    assert_eq!(text, "an invite or an offer is never used bare: leave bare out");
    assert!(refused(Connection::host(&local().encrypted_by_transport())).contains("UDP does not encrypt"));
    let open = local().open().rendezvous("127.0.0.1");
    assert!(refused(Connection::host(&open)).contains("only a host by invite"));
}

#[cfg(feature = "nat")]
#[test]
fn relay_hides_a_machine_only_at_a_rendezvous() {
    let hidden = || local().relay(rebout::RelayPolicy::Only);
    for options in [hidden(), hidden().open(), hidden().bare(), hidden().manual_signalling()] {
        let text = refused(Connection::host(&options));
        assert!(text.contains("only where both meet at a rendezvous"), "{text}");
    }
    assert!(Connection::host(&hidden().rendezvous("127.0.0.1")).is_ok());
}

#[cfg(feature = "nat")]
#[test]
fn joiner_that_hides_joins_only_at_a_rendezvous() {
    let hidden = local().relay(rebout::RelayPolicy::Only);
    let [invited, by_hand] =
        [local(), local().manual_signalling()].map(|host| Connection::host(&host).unwrap());
    for text in [invited.share(), by_hand.share(), "127.0.0.1:7000"] {
        let text = refused(Connection::join(&hidden, text));
        assert!(text.contains("only where both meet at a rendezvous"), "{text}");
    }
    let host = Connection::host(&hidden.clone().rendezvous("127.0.0.1")).unwrap();
    assert!(Connection::join(&hidden, host.share()).is_ok());
}

#[cfg(feature = "nat")]
#[test]
fn offer_is_never_used_bare() {
    let host = Connection::host(&local().manual_signalling()).unwrap();
    let text = refused(Connection::join(&local().bare(), host.share()));
    assert_eq!(text, "an invite or an offer is never used bare: leave bare out");
}

#[test]
fn keys_of_a_bare_connection_cannot_be_logged() {
    let text = refused(Connection::host(&local().bare().log_keys_to("keys.log")));
    assert_eq!(text, "a bare connection has no keys to log");
}

#[test]
fn host_by_invite_needs_an_address() {
    let port = crate::sim_network::socket(&crate::sim_network::SimNetwork::new(1), 0);
    let host = Connection::host_on(&ConnectOptions::new(), port, &[]);
    assert_eq!(host.map(|_| ()).unwrap_err().to_string(), "this transport has no address for an invite");
}

#[test]
fn debug_of_a_connection_hides_the_text_to_share() {
    let host = Connection::host(&local()).unwrap();
    let debug = format!("{host:?}");
    assert!(!debug.contains(&host.share()[9..]) && debug.contains("role: Host"), "{debug}");
}

#[test]
fn unknown_name_says_what_to_check() {
    let error = ConnectError::Name { name: "pla\u{1b}.example".to_owned(), why: "no such host".to_owned() };
    let text = r#""pla\u{1b}.example" was not found. Is it spelled right, and is this machine online? (no such host)"#;
    assert_eq!(error.to_string(), text);
}

#[test]
fn text_that_is_no_host_says_so() {
    let join = |text: &str| refused(Connection::join(&local(), text));
    let neither = "is neither an invite (rebout:2:...) nor an address with a port (192.0.2.1:7000)";
    let long_name = format!("{}:7000", "x".repeat(60));
    for text in
        ["", "192.0.2.1", "hello there", "192.0.2.1:99999", "a b:7000", &long_name, &"x".repeat(5_000)]
    {
        let error = join(text);
        assert!(error.ends_with(neither) && error.len() < 160, "{error}");
    }
    assert!(!join("\u{1b}[2J").contains('\u{1b}'));
    let host = Connection::host(&local()).unwrap();
    let cut = &host.share()[..30];
    assert!(join(cut).starts_with("the invite is cut"), "{}", join(cut));
    assert!(Connection::join(&local(), " 127.0.0.1:7000\n").is_ok(), "spaces around an address");
}

#[test]
fn kept_key_keeps_the_invite() {
    let path = std::env::temp_dir().join(format!("rebout-kept-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let first = Connection::host(&local().keep_key_in(&path)).unwrap();
    let (port, text, key) = (first.local_addr().port(), first.share().to_owned(), first.secret_key());
    drop(first);
    let again = Connection::host(&local().port(port).keep_key_in(&path)).unwrap();
    assert_eq!((again.share(), again.secret_key()), (&*text, key));
    drop(again);
    let given = Connection::host(&local().port(port).key(key.unwrap())).unwrap();
    assert_eq!(given.share(), text);
    std::fs::write(&path, "nonsense").unwrap();
    assert!(refused(Connection::host(&local().keep_key_in(&path))).contains("not a key: 64"));
    std::fs::remove_file(&path).unwrap();
    let taken = refused(Connection::host(&local().port(port)));
    assert!(taken.contains("another program uses the port"), "{taken}");
}

#[test]
fn address_is_in_the_invite_once() {
    let own = crate::sim_network::addr(0);
    let port = crate::sim_network::socket(&crate::sim_network::SimNetwork::new(1), 0);
    let forwarded = "203.0.113.9:9".parse().unwrap();
    let options = ConnectOptions::new().public(forwarded).public(own);
    let host = Connection::host_on(&options, port, &[own, own]).unwrap();
    assert_eq!(host.share().parse::<rebout::Invite>().unwrap().addresses(), [forwarded, own]);
}

#[test]
fn named_address_comes_first_in_the_invite() {
    let host = Connection::host(&local().public("203.0.113.9:0".parse().unwrap())).unwrap();
    let invite: rebout::Invite = host.share().parse().unwrap();
    let port = host.local_addr().port();
    assert_eq!(
        invite.addresses(),
        [("203.0.113.9", port), ("127.0.0.1", port)]
            .map(|(ip, port)| { std::net::SocketAddr::new(ip.parse().unwrap(), port) })
    );
}
