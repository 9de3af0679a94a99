//! The system calls of a match over UDP, counted by strace in a process of its own.
#![cfg(target_os = "linux")]

use rebout::net::udp::UdpDriver;
use rebout::{Buttons, Config, Cues, Game, Inputs, Lobby, Player, fields};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

const FRAMES: u32 = 240;
const TRACED: &str = "REBOUT_TRACED_MATCH";
/// Files that do not exist: asking for one marks a place in the log.
const BEGIN: &str = "/rebout-begin";
const END: &str = "/rebout-end";

#[derive(Clone, Copy)]
struct Count {
    presses: [u32; 2],
}
fields!(Count { presses });

impl Game for Count {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for player in Player::BOTH {
            self.presses[player.index()] += u32::from(inputs[player].holds(Buttons(1)));
        }
    }
}

/// One side, in the loop that the documentation recommends.
fn play(mut udp: UdpDriver, mut lobby: Lobby) {
    while lobby.agreed().expect("a match").is_none() {
        let deadline = udp.now() + Duration::from_millis(10);
        udp.run_until(&mut lobby, deadline).unwrap();
    }
    let mut game = Count { presses: [0; 2] };
    let mut session = lobby.start(udp.now(), &game).unwrap();
    let mut marked = false;
    while session.current().0 < FRAMES + 30 {
        if session.current().0 >= 30 && !marked {
            marked = true;
            let _ = std::fs::metadata(BEGIN);
        }
        let due = session.next_frame_at();
        let now = udp.run_until(&mut session, due).unwrap();
        session.advance(now, &mut game, Buttons((now.as_millis() / 100 % 2) as u16));
        udp.flush(&mut session).unwrap();
    }
    let _ = std::fs::metadata(END);
    assert!(session.stats().rollback.rollbacks < u64::from(FRAMES));
    udp.run_until(&mut session, udp.now() + Duration::from_millis(500)).unwrap();
}

#[test]
#[ignore = "the match that strace looks at; the other test starts it"]
fn traced_match() {
    if std::env::var_os(TRACED).is_none() {
        return;
    }
    let bind = || UdpDriver::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let (host, joiner) = (bind(), bind());
    let config = || Config::new(0x434F_554E).with(|config| config.rollback.delay_frames = Some(0));
    let join = Lobby::join(config(), host.local_addr()).unwrap();
    let other = std::thread::spawn(move || play(joiner, join));
    play(host, Lobby::host(config()).unwrap());
    other.join().unwrap();
}

/// A call that has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Slept { timed_out: bool },
    Received,
    Sent,
    Other,
}

/// A line of the log without its thread; `None` for the first half of a call that another thread interrupted.
fn call(line: &str) -> Option<Call> {
    let name = line.trim_start_matches("<... ").split(['(', ' ']).next()?;
    let (_, result) = line.rsplit_once(" = ").filter(|_| !line.ends_with("<unfinished ...>"))?;
    Some(match name {
        "ppoll" => Call::Slept { timed_out: result.starts_with("0 (Timeout)") },
        "recvfrom" => Call::Received,
        "sendto" => Call::Sent,
        _ => Call::Other,
    })
}

/// The calls of each thread between its marks.
fn calls(log: &str) -> Vec<Vec<Call>> {
    let mut threads = BTreeMap::<&str, (bool, Vec<Call>)>::new();
    for (thread, line) in log.lines().filter_map(|line| line.split_once(' ')) {
        let (counts, made) = threads.entry(thread).or_default();
        *counts &= !line.contains(END);
        made.extend(call(line.trim_start()).filter(|_| *counts));
        *counts |= line.contains(BEGIN);
    }
    threads.into_values().map(|(_, made)| made).filter(|made| !made.is_empty()).collect()
}

#[test]
fn frame_of_a_match_makes_five_system_calls() {
    let log = std::env::temp_dir().join(format!("rebout-calls-{}", std::process::id()));
    let traced = Command::new("strace")
        .args(["-f", "-o"])
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "system_calls::traced_match"])
        .env(TRACED, "1")
        .output();
    match traced {
        Ok(output) if output.status.success() => {}
        other => {
            println!("skipped: strace cannot be used here: {other:?}");
            return;
        }
    }
    let text = std::fs::read_to_string(&log).unwrap();
    let _ = std::fs::remove_file(&log);
    let threads = calls(&text);
    assert_eq!(threads.len(), 2, "a host and a joiner");
    for calls in threads {
        let count = |which: fn(&Call) -> bool| calls.iter().filter(|call| which(call)).count() as u32;
        let (slept, timed_out) = (Call::Slept { timed_out: false }, Call::Slept { timed_out: true });
        let sleeps = count(|call| matches!(call, Call::Slept { .. }));
        let (received, sent) = (count(|call| *call == Call::Received), count(|call| *call == Call::Sent));
        println!(
            "{FRAMES} frames: {sleeps} sleeps, {received} receives, {sent} sends, {} in all",
            calls.len()
        );
        assert!(sent >= FRAMES && calls.contains(&slept) && calls.contains(&timed_out));
        let in_vain = calls.windows(2).filter(|pair| *pair == [timed_out, Call::Received]).count();
        assert_eq!(in_vain, 0, "nothing is received after a sleep that no datagram ended");
        // A frame that is late on a busy machine receives once more, and does not sleep.
        assert!(sleeps <= FRAMES * 21 / 10 && calls.len() as u32 <= FRAMES * 53 / 10);
    }
}
