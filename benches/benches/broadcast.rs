//! Instructions and bytes a frame and spectator that a player's machine spends on a broadcast, counted by
//! `valgrind --tool=callgrind`: the same on a busy machine as on an idle one.
//!
//! Two sessions play a match of the duel at one place. The first one has a broadcast with 0 or 8 spectators, who acknowledge in the
//! same moment. `cargo bench --bench broadcast` runs itself under valgrind, which counts only inside `measured_broadcast`: every call
//! that a driver and a game make to the broadcast, without the encryption of its datagrams. Two run lengths are subtracted.

use core::time::Duration;
use games::duel::Duel;
use rebout::replay::Header;
use rebout::{Broadcast, BroadcastConfig, Buttons, Config, Lobby, Player, Protocol, Session, Spectator};
use std::net::SocketAddr;
use std::process::{Command, ExitCode, Stdio};

// The match of these buttons ends after 4,528 frames.
const SHORT: u32 = 1_000;
const LONG: u32 = 4_000;
const FRAME: Duration = Duration::from_nanos(16_666_667);

fn addr(number: u8) -> SocketAddr {
    ([10, 0, 0, number], 7_000).into()
}

fn held(player: Player, frame: u32) -> Buttons {
    let mixed = (frame / 7 + 1).wrapping_mul(0x9E37_79B9) ^ (player.index() as u32 + 1) << 20;
    Buttons((mixed.wrapping_mul(0xC2B2_AE35) >> 26) as u16)
}

/// Everything that a player's machine does for its spectators in a frame.
#[inline(never)]
fn measured_broadcast(
    now: Duration,
    broadcast: &mut Broadcast,
    session: &Session<Duel>,
    heard: &mut Vec<(SocketAddr, Vec<u8>)>,
    said: &mut Vec<(SocketAddr, usize, [u8; 1_200])>,
) {
    broadcast.record(now, session);
    for (from, datagram) in heard.drain(..) {
        broadcast.handle_datagram(now, from, &datagram);
    }
    let mut buf = [0; 1_200];
    while let Some((to, len)) = broadcast.poll_transmit(now, &mut buf) {
        said.push((to, len, buf));
    }
}

fn exchange(now: Duration, one: &mut dyn Protocol, two: &mut dyn Protocol) {
    let mut buf = [0; 1_200];
    while let Some((_, len)) = one.poll_transmit(now, &mut buf) {
        two.handle_datagram(now, addr(1), &buf[..len]);
    }
    while let Some((_, len)) = two.poll_transmit(now, &mut buf) {
        one.handle_datagram(now, addr(2), &buf[..len]);
    }
}

/// Plays this many frames with this many spectators; the bytes that were sent to them.
fn play(frames: u32, spectators: u8) -> u64 {
    let config = |entropy| {
        Config::new(7).with(|config| {
            config.lobby.entropy = Some(entropy);
            config.lobby.seed = Some(5);
            config.rollback.delay_frames = Some(1);
        })
    };
    let mut lobbies =
        [Lobby::host(config(1)).expect("a config"), Lobby::join(config(2), addr(1)).expect("a config")];
    let mut now = Duration::ZERO;
    while lobbies.iter().any(|lobby| lobby.agreed().expect("no trouble").is_none()) {
        let [one, two] = &mut lobbies;
        exchange(now, one, two);
        now += Duration::from_millis(1);
    }
    let mut games = [Duel::new(5), Duel::new(5)];
    let [one, two] = lobbies;
    let agreed = one.agreed().expect("no trouble").expect("agreed").clone();
    let mut sessions =
        [one.start(now, &games[0]).expect("a match"), two.start(now, &games[1]).expect("a match")];
    let mut broadcast = Broadcast::new(BroadcastConfig::default(), &[7; 32]);
    assert!(broadcast.begin(now, &Header::of_match(&config(1), &agreed)));
    let key = broadcast.key().expect("a source");
    let mut audience: Vec<_> = (0..spectators).map(|_| Spectator::new(now, key, addr(1))).collect();
    let (mut heard, mut said, mut buf) = (Vec::new(), Vec::new(), [0; 1_200]);
    for _ in 0..frames {
        for (session, game) in sessions.iter_mut().zip(&mut games) {
            // One at a time: what an `advance` has confirmed is recorded before the next.
            if session.frame_due(now) {
                let buttons = held(session.local(), session.current().0);
                session.advance(now, game, buttons);
            }
            while session.poll_event().is_some() {}
        }
        let [one, two] = &mut sessions;
        exchange(now, one, two);
        measured_broadcast(now, &mut broadcast, &sessions[0], &mut heard, &mut said);
        for (to, len, bytes) in said.drain(..) {
            let index = (1..=spectators).find(|number| addr(10 + number) == to).expect("a spectator");
            audience[usize::from(index - 1)].handle_datagram(now, addr(1), &bytes[..len]);
        }
        for (number, spectator) in (1..).zip(&mut audience) {
            while let Some((_, len)) = spectator.poll_transmit(now, &mut buf) {
                heard.push((addr(10 + number), buf[..len].to_vec()));
            }
        }
        now += FRAME;
    }
    let settled = sessions[0].settled().0;
    assert!(settled + 120 > frames, "{settled} of {frames} frames");
    for spectator in &audience {
        assert!(spectator.bytes().len() > 500, "everybody watches");
    }
    broadcast.stats().sent_bytes
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [count, spectators, frames] = &args[..]
        && count == "--count"
    {
        play(frames.parse().expect("a number"), spectators.parse().expect("a number"));
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err()
    {
        println!("broadcast: not counted, because valgrind is not installed");
        return ExitCode::SUCCESS;
    }
    let [without, with] = [0, 8].map(|spectators| {
        let [short, long] = [SHORT, LONG].map(|frames| callgrind(spectators, frames));
        (long - short) as f64 / f64::from(LONG - SHORT)
    });
    let bytes = (play(LONG, 8) - play(SHORT, 8)) as f64 / f64::from(LONG - SHORT) / 8.0;
    println!("instructions a frame, runs of {SHORT} and {LONG} subtracted");
    println!("a broadcast that nobody watches             {without:>9.1}");
    println!("with 8 spectators                           {with:>9.1}");
    println!("a frame and spectator                       {:>9.1}", (with - without) / 8.0);
    println!("bytes a frame and spectator                 {bytes:>9.1}");
    ExitCode::SUCCESS
}

fn callgrind(spectators: u8, frames: u32) -> i64 {
    let program = std::env::current_exe().expect("a program");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*measured_broadcast*"])
        .arg(program)
        .args(["--count", &spectators.to_string(), &frames.to_string()])
        .output()
        .expect("valgrind runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split("Collected :").nth(1));
    collected.and_then(|count| count.trim().parse().ok()).unwrap_or_else(|| panic!("valgrind said: {text}"))
}
