//! The arcade as programs: real processes over UDP, by invite and bare, a player killed, a server killed, a full server, the
//! wrong wire, and words that a player understands.

use std::process::Command;
use support::program::{Running, example};

/// The arcade on a machine without a display.
fn start(args: &str) -> Running {
    let mut command = Command::new(example("arcade", &["arcade"]));
    command.args(args.split_whitespace()).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    Running::start(&mut command)
}

/// A server on a free port, and its invite, or its address if it is bare.
fn server(args: &str) -> (Running, String) {
    let mut server = start(&format!("serve --bind 127.0.0.1:0 {args}"));
    let line = server.line();
    let text = line.strip_prefix("the arcade is open: join ").expect("an invite");
    (server, text.split(' ').next().expect("an invite").to_owned())
}

fn joined(player: &mut Running) -> String {
    player.line().strip_prefix("you are player ").expect("a seat").to_owned()
}

const UNSEEN: &str = "--bot --view none";

/// Runs a test on both wires at once, because most of its time is spent waiting for programs.
fn on_both_wires(test: impl Fn(&str) + Sync) {
    let test = &test;
    std::thread::scope(|scope| {
        for wire in ["rtype", "game"] {
            scope.spawn(move || test(wire));
        }
    });
}

#[cfg(unix)]
#[test]
fn killed_player_is_noticed_on_both_wires() {
    // On R-Type six copies of a shot without an answer are enough, long before the timeout, which GAME waits for.
    on_both_wires(|wire| {
        let (timeout, words) = match wire {
            "rtype" => (60, "does not answer any more"),
            _ => (2, "was not heard of any more"),
        };
        let (mut server, invite) = server(&format!("--seconds 60 --timeout {timeout} --wire {wire}"));
        let mut player = start(&format!("join {invite} {UNSEEN} --wire {wire}"));
        let id = joined(&mut player);
        assert!(server.line().starts_with(&format!("player {id} joined from 127.0.0.1:")));
        player.kill();
        assert_eq!(server.line(), format!("player {id} {words}"));
        let mut next = start(&format!("join {invite} {UNSEEN} --wire {wire}"));
        joined(&mut next);
        assert!(server.line().contains(" joined from "));
        next.ask_to_end();
        assert!(next.line().starts_with("you left the game: level 1, "));
        assert!(server.line().ends_with(" left the game"));
    });
}

#[test]
fn server_that_is_killed_is_lost_and_the_player_is_told_so() {
    on_both_wires(|wire| {
        let (mut server, invite) = server(&format!("--seconds 60 --wire {wire}"));
        let mut player = start(&format!("join {invite} {UNSEEN} --wire {wire} --timeout 2"));
        joined(&mut player);
        server.kill();
        assert!(player.line().starts_with("the connection to the server was lost: "));
        let (_, code, error) = player.end();
        assert_eq!((code, &*error), (Some(1), "arcade: the connection to the server was lost\n"));
    });
}

#[cfg(unix)]
#[test]
fn server_that_closes_says_so() {
    for (wire, words) in [("rtype", "the server has ended the game"), ("game", "the server was shut down")] {
        let (mut server, invite) = server(&format!("--wire {wire}"));
        let mut player = start(&format!("join {invite} {UNSEEN} --wire {wire}"));
        joined(&mut player);
        assert!(server.line().contains(" joined from "));
        server.ask_to_end();
        assert!(player.line().starts_with(words));
        assert_eq!(player.end().2, format!("arcade: {words}\n"));
        assert!(server.line().ends_with(" was told that the server shuts down"));
        assert!(server.line().starts_with("the arcade is closed: level 1, "));
    }
}

#[test]
fn server_closes_when_its_time_is_over() {
    let (mut server, _) = server("--seconds 1");
    assert_eq!(server.line(), "the arcade is closed: level 1, 0 points");
}

#[test]
fn fifth_player_is_told_that_the_server_is_full() {
    for wire in ["rtype", "game"] {
        let (mut server, invite) = server(&format!("--seconds 60 --wire {wire}"));
        let mut players: Vec<Running> =
            (0..4).map(|_| start(&format!("join {invite} {UNSEEN} --wire {wire}"))).collect();
        players.iter_mut().for_each(|player| {
            joined(player);
        });
        (0..4).for_each(|_| assert!(server.line().contains(" joined from ")));
        let (_, code, error) = start(&format!("join {invite} {UNSEEN} --wire {wire}")).end();
        assert_eq!(code, Some(1));
        assert!(error.starts_with("arcade: the server is full"), "{error}");
    }
}

#[test]
fn bare_server_is_joined_by_its_address() {
    on_both_wires(|wire| {
        let (mut server, address) = server(&format!("--bare --seconds 60 --wire {wire}"));
        assert!(address.starts_with("127.0.0.1:"), "{address}");
        let mut player = start(&format!("join {address} --bare {UNSEEN} --wire {wire}"));
        let id = joined(&mut player);
        assert!(server.line().starts_with(&format!("player {id} joined from 127.0.0.1:")));
    });
}

/// A rendezvous at a free port of this machine until the process ends, and its address.
fn rendezvous() -> String {
    use rebout::rendezvous::{RendezvousConfig, RendezvousServer};
    let mut udp = rebout::net::udp::UdpDriver::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = udp.local_addr().to_string();
    std::thread::spawn(move || {
        let mut server =
            RendezvousServer::new(RendezvousConfig::default(), rebout::Randomness::System).unwrap();
        loop {
            let deadline = udp.now() + std::time::Duration::from_secs(1);
            udp.run_until(&mut server, deadline).unwrap();
        }
    });
    address
}

#[test]
fn players_meet_the_server_at_a_rendezvous() {
    let (mut server, invite) = server(&format!("--rendezvous {} --seconds 60", rendezvous()));
    let mut player = start(&format!("join {invite} {UNSEEN}"));
    let id = joined(&mut player);
    assert!(server.line().starts_with(&format!("player {id} joined from 127.0.0.1:")));
}

/// All at once, because each of them waits for an answer.
#[test]
fn without_an_answer_the_player_is_told_what_to_try() {
    let (mut closed, gone) = server("--seconds 0 --wire rtype");
    assert!(closed.line().starts_with("the arcade is closed"));
    let (_game, on_game) = server("--seconds 60 --wire game");
    let (_rtype, on_rtype) = server("--seconds 60 --wire rtype");
    let (_bare, bare) = server("--seconds 60 --bare --wire game");
    let wire = |name: &str, other: &str| {
        format!("arcade: the server is there, but it speaks another wire than {name}: try --wire {other}\n")
    };
    let neither = "arcade: the server does not answer: is it running, and is the address right? It may also speak neither rtype \
                   nor game. A server";
    let nobody = "arcade: the server does not answer: is it running, and is the address right? It may also speak another \
                  wire than rtype: try --wire game. A server that encrypts is joined by its invite, without --bare\n";
    let cases = [
        (format!("{gone} --timeout 1"), "arcade: No answer at 127.0.0.1:".to_owned()),
        (format!("{on_game} --wire rtype"), wire("rtype", "game")),
        (format!("{on_rtype} --wire game --timeout 2"), wire("game", "rtype")),
        (format!("{bare} --bare --wire rtype"), nobody.to_owned()),
        ("127.0.0.1:9 --bare --timeout 2".to_owned(), neither.to_owned()),
        (
            "127.0.0.1:9".to_owned(),
            "arcade: '127.0.0.1:9' is no invite, which begins with rebout:2:".to_owned(),
        ),
        (gone[..60].to_owned(), "arcade: the invite ".to_owned()),
    ];
    let players = cases.map(|(args, words)| (start(&format!("join {args} {UNSEEN}")), args, words));
    for (player, args, words) in players {
        let (_, code, error) = player.end();
        assert_eq!(code, Some(1), "{args}");
        assert!(error.starts_with(&words), "{args}: {error}");
    }
}

#[test]
fn alone_it_is_a_server_and_a_player_in_one() {
    let (out, code, error) = start("--bot --json --bots 1 --port 0 --seconds 3").end();
    assert_eq!((code, &*error), (Some(0), ""), "{out}");
    assert!(
        out.contains("\"event\":\"joined\"") && out.contains("\"reason\":\"you left the game\""),
        "{out}"
    );
    assert!(out.contains("\"ships\":2"), "{out}");
}

#[test]
fn without_a_display_and_a_terminal_it_says_so() {
    let (_, code, error) = start("--port 0").end();
    assert_eq!(code, Some(2));
    assert!(error.starts_with("arcade: there is neither a display nor a terminal"), "{error}");
}

/// Whether the bots of this output, one a line, stepped and predicted as on an idle machine.
fn played_smoothly(out: &str, wire: &str) -> bool {
    let over: Vec<&str> = out.lines().filter(|line| line.contains("\"event\":\"over\"")).collect();
    assert_eq!(over.len(), 3, "{out}");
    over.into_iter().all(|line| {
        let number = |name: &str| -> u64 {
            let value = line.split(&format!("\"{name}\":")).nth(1).expect("the field");
            value.split([',', '}']).next().and_then(|value| value.parse().ok()).expect("a number")
        };
        assert!(line.contains("\"reason\":\"you left the game\""), "{line}");
        assert!(line.contains(&format!("\"wire\":\"{wire}\"")), "{line}");
        number("steps") > 100 && 2 * number("exact") > number("compared") && number("ships") >= 2
    })
}

#[test]
fn bots_play_over_both_wires_and_tell_what_they_saw() {
    // A busy machine may hold the process for a while, but not in every attempt.
    const ATTEMPTS: u32 = 5;
    on_both_wires(|wire| {
        let mut said = Vec::new();
        let smooth = (0..ATTEMPTS).any(|_| {
            let (out, code, _) = start(&format!("bots --clients 3 --seconds 3 --json --wire {wire}")).end();
            assert_eq!(code, Some(0), "{out}");
            let smooth = played_smoothly(&out, wire);
            said.push(out);
            smooth
        });
        assert!(smooth, "{said:#?}");
    });
}

#[test]
fn player_finds_out_the_wire_of_a_server() {
    on_both_wires(|wire| {
        for access in ["", " --bare"] {
            let (mut server, text) = server(&format!("--seconds 60 --wire {wire}{access}"));
            let mut player = start(&format!("join {text}{access} --bot --json --seconds 2"));
            assert!(player.line().contains("\"event\":\"joined\""));
            assert!(server.line().contains(" joined from "));
            assert!(player.line().contains(&format!("\"wire\":\"{wire}\"")));
        }
    });
}

#[test]
fn bad_arguments_are_told_after_the_name_of_the_program() {
    for args in ["join x --timeout 0", "serve --timeout 0", "bots --clients 0", "--bots 9", "dance"] {
        let (out, code, error) = start(args).end();
        assert_eq!((code, &*out), (Some(2), ""), "{args}");
        assert!(error.starts_with("arcade: "), "{args}: {error}");
    }
    for (args, begins) in [("--version", "arcade 0."), ("--help", "A co-op shooter")] {
        let (out, code, error) = start(args).end();
        assert_eq!((code, &*error), (Some(0), ""), "{args}");
        assert!(out.starts_with(begins), "{args}: {out}");
    }
}

#[cfg(unix)]
#[test]
fn closed_pipe_ends_the_output_and_not_the_game() {
    let program = example("arcade", &["arcade"]);
    let line = format!("{} bots --json --seconds 2; echo code $? >&2", program.display());
    let shell = Command::new("sh").args(["-c", &format!("({line}) | head -1")]).output().expect("a shell");
    let error = String::from_utf8_lossy(&shell.stderr);
    assert_eq!(error, "code 0\n");
    assert_eq!(String::from_utf8_lossy(&shell.stdout).lines().count(), 1);
}
