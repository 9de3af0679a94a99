//! The arena as programs, by invite and bare: two real processes, a client killed, a server killed, and words that a player
//! understands.

use crate::program::program;
use std::process::Command;
use support::program::Running;

fn start(args: &str) -> Running {
    Running::start(Command::new(program("arena")).args(args.split_whitespace()))
}

/// A server on a free port, and its invite; if it is bare, its address and `--bare`.
fn server(args: &str) -> (Running, String) {
    let mut server = start(&format!("serve --bind 127.0.0.1:0 {args}"));
    let line = server.line();
    let invite = line.strip_prefix("the arena is open: join ").expect("an invite").to_owned();
    (server, invite)
}

#[cfg(unix)]
#[test]
fn client_that_is_killed_is_missed_and_the_server_goes_on() {
    let (mut server, invite) = server("--seconds 60 --timeout 2");
    let mut client = start(&format!("join {invite} --bot"));
    let joined = client.line();
    let id = joined.strip_prefix("you are player ").expect("a seat").to_owned();
    assert!(server.line().starts_with(&format!("player {id} joined from 127.0.0.1:")));
    client.kill();
    assert_eq!(server.line(), format!("player {id} was not heard of any more"));
    let mut next = start(&format!("join {invite} --bot"));
    assert!(next.line().starts_with("you are player "));
    assert!(server.line().contains(" joined from "));
    next.ask_to_end();
    assert!(next.line().starts_with("you left the game: "));
    assert!(server.line().ends_with(" left the game"));
}

#[test]
fn server_that_is_killed_is_lost_and_the_client_says_so() {
    let (mut server, invite) = server("--seconds 60");
    let mut client = start(&format!("join {invite} --bot --timeout 2"));
    assert!(client.line().starts_with("you are player "));
    server.kill();
    assert!(client.line().starts_with("the connection to the server was lost: "));
    let (_, code, error) = client.end();
    assert_eq!((code, &*error), (Some(1), "arena: the connection to the server was lost\n"));
}

#[cfg(unix)]
#[test]
fn server_that_shuts_down_says_so() {
    let (mut server, invite) = server("");
    let mut client = start(&format!("join {invite} --bot"));
    assert!(client.line().starts_with("you are player "));
    assert!(server.line().contains(" joined from "));
    server.ask_to_end();
    assert!(client.line().starts_with("the server was shut down: "));
    let (_, code, error) = client.end();
    assert_eq!((code, &*error), (Some(1), "arena: the server was shut down\n"));
    assert!(server.line().ends_with(" was told that the server shuts down"));
    assert_eq!(server.line(), "the arena is closed");
}

#[test]
fn server_closes_when_its_time_is_over() {
    let (mut server, _) = server("--seconds 1");
    assert_eq!(server.line(), "the arena is closed");
}

#[test]
fn bare_server_is_joined_by_its_address() {
    let (mut server, address) = server("--seconds 60 --bare");
    assert!(address.starts_with("127.0.0.1:") && address.ends_with(" --bare"), "{address}");
    let mut client = start(&format!("join {address} --bot"));
    assert!(client.line().starts_with("you are player "));
    assert!(server.line().contains(" joined from 127.0.0.1:"));
}

#[test]
fn absent_server_is_reported_with_advice() {
    let (mut closed, invite) = server("--seconds 0");
    assert_eq!(closed.line(), "the arena is closed");
    let invited = start(&format!("join {invite} --bot --timeout 1"));
    let bare = start("join 127.0.0.1:9 --bare --bot --timeout 1");
    let (_, code, error) = invited.end();
    assert_eq!(code, Some(1));
    assert!(error.starts_with("arena: No answer at 127.0.0.1:"), "{error}");
    assert!(
        error.ends_with(
            "Is the host still waiting, with this invite? Does its router forward the port (UDP)?\n"
        )
    );
    let words = "arena: the server does not answer: is it running, and is the address right?\n";
    let (_, code, error) = bare.end();
    assert_eq!((code, &*error), (Some(1), words));
}

/// Plays bots, and returns whether they stepped and predicted as on an idle machine, and everything that was printed.
fn bots_play() -> (bool, String) {
    let (out, code, error) = start("bots --clients 3 --seconds 4 --json").end();
    assert_eq!((code, &*error), (Some(0), ""), "{out}");
    let over: Vec<&str> = out.lines().filter(|line| line.contains("\"event\":\"over\"")).collect();
    assert_eq!(over.len(), 3, "{out}");
    let smooth = over.into_iter().all(|line| {
        assert!(line.contains("\"reason\":\"you left the game\""), "{line}");
        let number = |name: &str| -> u64 {
            let value = line.split(&format!("\"{name}\":")).nth(1).expect("the field");
            value.split([',', '}']).next().and_then(|value| value.parse().ok()).expect("a number")
        };
        number("steps") > 100 && 2 * number("exact") > number("compared") && number("others") == 5
    });
    (smooth, out)
}

#[test]
fn bots_play_over_udp_and_see_each_other() {
    // A busy machine may hold the process for a while, but not in every attempt.
    let mut said = Vec::new();
    let smooth = (0..5).any(|_| {
        let (smooth, out) = bots_play();
        said.push(out);
        smooth
    });
    assert!(smooth, "{said:#?}");
}

#[test]
fn bad_arguments_are_told_after_the_name_of_the_program() {
    for args in ["bots --clients 0", "bots --clients 33", "serve --timeout 0", "join x --timeout 0", "dance"]
    {
        let (out, code, error) = start(args).end();
        assert_eq!((code, &*out), (Some(2), ""), "{args}");
        assert!(error.starts_with("arena: "), "{args}: {error}");
    }
    let (_, code, error) = start("join no.such.host.invalid --bare").end();
    assert_eq!((code, &*error), (Some(1), "arena: there is no address of the name 'no.such.host.invalid'\n"));
    for (args, begins) in [("--version", "arena 0."), ("--help", "Dots that move and shoot")] {
        let (out, code, error) = start(args).end();
        assert_eq!((code, &*error), (Some(0), ""), "{args}");
        assert!(out.starts_with(begins), "{args}: {out}");
    }
}

#[test]
fn bare_server_is_joined_by_the_name_of_its_host() {
    let mut server = start("serve --bind 127.0.0.1:0 --bare --seconds 60");
    let line = server.line();
    let port = line.split(' ').find_map(|word| word.strip_prefix("127.0.0.1:")).expect("an address");
    let mut player = start(&format!("join localhost:{port} --bare --bot"));
    assert!(player.line().starts_with("you are player "));
}
