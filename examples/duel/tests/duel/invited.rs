//! Who is let in: by invite, by address, bare, and with a key that was kept.

use std::path::Path;
use std::process::Output;

use clap::Parser as _;
use duel::cli::{Cli, Command};
use duel::opponents::Opponents;
use rebout::{ConnectOptions, Invite};

use crate::online::{Folder, Side, duel, invite_of};

const SHORT: [&str; 2] = ["--frames", "300"];

fn host(name: &'static str, more: &[&str]) -> Side {
    Side::start(name, &[&["host", "--port", "0"], &SHORT[..], more].concat(), Path::new("off"))
}

fn join(name: &'static str, host: &str, more: &[&str]) -> Side {
    Side::start(name, &[&["join", host], &SHORT[..], more].concat(), Path::new("off"))
}

fn both_agree(sides: &mut [Side; 2]) {
    let codes = sides.each_mut().map(Side::exit_code);
    for side in sides.iter() {
        assert!(side.has_said("Both machines agree on every frame."), "{codes:?} {:#?}", side.said);
    }
}

/// What the program says to arguments that it cannot use.
fn unusable(args: &[&str]) -> String {
    let Output { status, stderr, .. } = duel().args(args).output().expect("the example is built");
    let words = String::from_utf8(stderr).expect("words");
    assert_eq!(status.code(), Some(2), "{words}");
    words
}

#[test]
fn addresses_are_left_out_of_an_invite_with_a_rendezvous() {
    let share = |more: &[&str]| {
        let args = [&["duel", "host", "--rendezvous", "127.0.0.1:9"], more].concat();
        let Some(Command::Host { guests, .. }) = Cli::try_parse_from(args).expect("good arguments").command
        else {
            panic!("no host");
        };
        let mut endpoint =
            guests.endpoint(0, ConnectOptions::new(), "", &Opponents::default()).expect("an endpoint");
        let (connection, _) = endpoint.open().expect("a host");
        connection.share().parse::<Invite>().expect("an invite")
    };
    assert!(share(&["--leave-addresses-out"]).addresses().is_empty());
    assert!(!share(&["--public", "203.0.113.9"]).addresses().is_empty());
    let words = unusable(&["host", "--leave-addresses-out"]);
    assert!(words.contains("only an invite with a rendezvous can do without addresses"), "{words}");
    let words = unusable(&["host", "--leave-addresses-out", "--open"]);
    assert!(words.contains("cannot be used with"), "{words}");
}

#[test]
fn invite_in_lower_case_and_torn_apart_is_good() {
    let mut ann = host("Ann", &[]);
    let invite = invite_of(&mut ann).to_lowercase();
    let (start, end) = invite.split_at(40);
    let ben = Side::start("Ben", &["join", start, end, SHORT[0], SHORT[1]], Path::new("off"));
    let mut sides = [ann, ben];
    both_agree(&mut sides);
    assert!(!sides.iter().any(|side| side.has_said("verified")), "an invite proves who it is");
}

#[test]
fn link_of_a_page_is_joined_by_the_invite_in_it() {
    let mut ann = host("Ann", &[]);
    let link = format!("https://example.org/duel/#{}", invite_of(&mut ann));
    both_agree(&mut [ann, join("Ben", &link, &[])]);
}

#[test]
fn by_address_both_see_the_same_unverified_code() {
    let mut ann = host("Ann", &["--open"]);
    let address = format!("127.0.0.1:{}", ann.expect("Waiting at UDP port "));
    let ben = join("Ben", &address, &[]);
    let mut sides = [ann, ben];
    let codes = [("Ben", 0), ("Ann", 1)].map(|(other, side)| {
        sides[side].expect(&format!("not verified: press v if {other} has the code ")).replace(" too", "")
    });
    assert_eq!(codes[0], codes[1]);
    assert!(
        codes[0].len() == 7
            && codes[0].chars().all(|character| character == ' ' || character.is_ascii_digit())
    );
    both_agree(&mut sides);
}

#[test]
fn bare_match_is_played_where_both_sides_say_so() {
    let mut ann = host("Ann", &["--bare"]);
    let port = ann.expect("Waiting at UDP port ");
    let address = format!("127.0.0.1:{port}");
    let command = ann.expect("duel join ");
    assert!(command.contains(&format!(":{port} --bare")), "no address is filled in: {command}");
    both_agree(&mut [ann, join("Ben", &address, &["--bare"])]);
}

#[test]
fn only_the_holder_of_the_invite_gets_in() {
    let mut ann = host("Ann", &[]);
    let address = format!("127.0.0.1:{}", ann.expect("Waiting at UDP port "));
    let invite = invite_of(&mut ann);
    let mut others = [join("Eve", &address, &[]), join("Bob", &address, &["--bare"])];
    ann.expect("The other side does not encrypt, and this one does.");
    assert_eq!(others.each_mut().map(Side::exit_code), [Some(1); 2]);
    both_agree(&mut [ann, join("Ben", &invite, &[])]);
}

#[test]
fn invite_of_another_host_at_the_same_address_is_refused() {
    let mut ann = host("Ann", &[]);
    let port = ann.expect("Waiting at UDP port ");
    let stale = invite_of(&mut ann);
    drop(ann);
    let args = ["host", "--port", &port, "--view", "none", "--bot"];
    let mut ann = Side::start("Ann", &args[..3], Path::new("off"));
    let fresh = invite_of(&mut ann);
    assert_ne!(stale, fresh);
    assert_eq!(join("Ben", &stale, &[]).exit_code(), Some(1));
}

#[test]
fn kept_key_makes_the_same_invite_and_is_for_its_owner_alone() {
    let folder = Folder::new("keep");
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let file = folder.0.join("key");
    let path = file.to_str().expect("UTF-8");
    let mut invites = Vec::new();
    let mut port = "0".to_owned();
    for _ in 0..2 {
        let args = ["host", "--port", &port, "--keep", path];
        let mut ann = Side::start("Ann", &args, Path::new("off"));
        port = ann.expect("Waiting at UDP port ");
        invites.push(invite_of(&mut ann));
    }
    assert_eq!(invites[0], invites[1]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode));
        assert_eq!(std::fs::metadata(&file).expect("kept").permissions().mode() & 0o777, 0o600);
        mode(0o640).expect("changed");
        let words = unusable(&["host", "--port", "0", "--keep", path]);
        assert!(words.contains("others on this machine can read it"), "{words}");
        mode(0o600).expect("changed");
    }
    for content in ["", "0123", &"z".repeat(64), &"0".repeat(4_000)] {
        std::fs::write(&file, content).expect("written");
        let words = unusable(&["host", "--port", "0", "--keep", path]);
        assert!(words.contains("not a key: 64"), "{words}");
    }
}

#[test]
fn both_sides_log_the_same_keys_and_only_on_request() {
    let folder = Folder::new("keys");
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let files = ["host", "join"].map(|side| folder.0.join(side));
    let paths = files.each_ref().map(|file| file.to_str().expect("UTF-8"));
    let mut ann = host("Ann", &["--key-log", paths[0]]);
    let invite = invite_of(&mut ann);
    both_agree(&mut [ann, join("Ben", &invite, &["--key-log", paths[1]])]);
    let logs = files.each_ref().map(|file| std::fs::read_to_string(file).expect("a log"));
    assert_eq!(logs[0], logs[1]);
    assert_eq!(logs[0].lines().count(), 1);
    assert!(logs[0].parse::<rebout::lab::seal::ConnectionKeys>().is_ok());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&files[0]).expect("a log").permissions().mode() & 0o777, 0o600);
    }
    let words = unusable(&["host", "--port", "0", "--bare", "--key-log", paths[0]]);
    assert!(words.contains("a bare connection has no keys to log"), "{words}");
}

#[test]
fn manual_signalling_survives_a_wrong_text() {
    let mut ann = host("Ann", &["--by-hand"]);
    let offer = format!("rebout-offer:1:{}", ann.expect("rebout-offer:1:"));
    ann.expect("Paste the answer here:");
    let mut ben = join("Ben", &offer, &[]);
    let answer = format!("rebout-answer:1:{}", ben.expect("rebout-answer:1:"));
    for wrong in ["", "hello", &offer, &answer[..40]] {
        ann.types(wrong);
    }
    ann.types(&format!("▀▀ {answer} ░"));
    ann.expect("The answer fits");
    for (text, words) in
        [(&answer, "it is for the host"), (&offer[..60].to_owned(), "the offer has a typing error")]
    {
        let said = unusable(&["join", text]);
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn bad_invites_and_contradictions_are_refused_in_words() {
    let mut ann = host("Ann", &["--public", "203.0.113.9", "--public", "[2001:db8::9]:7100"]);
    let port = ann.expect("Waiting at UDP port ");
    let invite = invite_of(&mut ann);
    let read: rebout::Invite = invite.parse().expect("an invite");
    let named = [format!("203.0.113.9:{port}"), "[2001:db8::9]:7100".to_owned()];
    for address in named {
        assert!(read.addresses().contains(&address.parse().expect("an address")), "{read:?}");
    }
    let cut = &invite[..invite.len() - 20];
    let typo = invite.replace("rebout:2:", "rebout:3:");
    for (args, words) in [
        (&["join", cut][..], "the invite is cut off: "),
        (&["join", &typo], "an invite of version 3"),
        (&["join", &invite, "--bare"], "an invite or an offer is never used bare"),
        (&["host", "--public", "0.0.0.0"], "cannot be joined: it is the unspecified address"),
        (&["host", "--open", "--bare"], "cannot be used with"),
        (&["host", "--open", "--keep"], "cannot be used with"),
    ] {
        let said = unusable(args);
        assert!(said.contains(words), "{args:?}: {said}");
        assert!(!said.contains(&invite[20..40]), "the key is nobody's business: {said}");
    }
}

#[test]
fn address_that_cannot_be_hidden_is_not_shown() {
    for args in [
        &["host", "--relay", "only"][..],
        &["host", "--relay", "only", "--open"],
        &["host", "--relay", "only", "--by-hand"],
        &["join", "192.0.2.7:7000", "--relay", "only"],
    ] {
        let words = unusable(&[args, &["--view", "none"]].concat());
        assert!(
            words.contains("hides the address of this machine only where both meet at a rendezvous"),
            "{words}"
        );
    }
}
