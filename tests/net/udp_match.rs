//! Two processes play a match over UDP on this machine, and one of them is killed or stopped.
//!
//! The test program starts itself twice; each process plays one side and tells what happens line by line. A match ends
//! when both players press START, which they do when they are told to: so nothing here depends on how fast the machine
//! is, and what should have come out is known from the inputs alone.
#![cfg(unix)]

use rebout::net::udp::UdpDriver;
use rebout::{
    Buttons, Config, Cues, Event, FrameRate, Game, Inputs, Lobby, Player, Reason, Session, Verdict, checksum,
    fields,
};
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Fast, so that a match is short.
const FRAME_RATE: FrameRate = FrameRate::hz(240);
/// None, so that whoever steps a frame first has to predict the other.
const DELAY_FRAMES: u8 = 0;

/// A machine that is stopped for as long as this has been interrupted; one that is gone for as long as that is lost.
/// Both are longer than a busy machine holds a process that is neither.
const INTERRUPTED_AFTER: Duration = Duration::from_secs(2);
const LOST_AFTER: Duration = Duration::from_secs(3);
/// Where nothing must be lost, however busy the machine is.
const LOST_NEVER: Duration = Duration::from_secs(40);

/// Far enough that a test which reaches it has failed.
const NEVER: Duration = Duration::from_secs(60);

/// A match is well under way from this frame on.
const UNDER_WAY: u32 = 120;

const START: Buttons = Buttons(1 << 15);

/// Every button of every frame leaves its mark; over once both have pressed START.
#[derive(Clone, Copy)]
struct Marks {
    frame: u32,
    marks: [u32; 6],
    pressed: [bool; 2],
}
fields!(Marks { frame, marks, pressed });

impl Marks {
    fn new(seed: u32) -> Self {
        Self { frame: 0, marks: [seed; 6], pressed: [false; 2] }
    }
}

impl Game for Marks {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for player in Player::BOTH {
            let at = (self.frame as usize + 3 * player.index()) % self.marks.len();
            let mark = &mut self.marks[at];
            *mark = (mark.rotate_left(7) ^ u32::from(inputs[player].buttons().0)).wrapping_mul(0x9E37_79B1);
            self.pressed[player.index()] |= inputs[player].holds(START);
        }
        self.frame += 1;
    }

    fn finished(&self) -> bool {
        self.pressed == [true; 2]
    }
}

/// The buttons of a player in a frame, without START.
fn held(player: Player, frame: u32) -> Buttons {
    let mixed = (frame / 4 + 1).wrapping_mul(0x85EB_CA6B) ^ (player.index() as u32) << 7;
    Buttons((mixed.wrapping_mul(0xC2B2_AE35) >> 17) as u16)
}

// One side, in a process of its own.

const ROLE: &str = "REBOUT_UDP_MATCH";

#[test]
#[ignore = "one side of a match; the other tests start it"]
fn side() {
    let Ok(role) = std::env::var(ROLE) else { return };
    // The line that the test harness has begun is not ours.
    println!();
    if let Err(error) = play(&role) {
        println!("> failed {error}");
    }
}

/// Plays the side that `role` says: `address lost-after-in-milliseconds`, and for a joiner `host`.
fn play(role: &str) -> Result<(), Box<dyn Error>> {
    let mut words = role.split(' ');
    let bind: SocketAddr = words.next().ok_or("no address")?.parse()?;
    let lost_after = Duration::from_millis(words.next().ok_or("no limit")?.parse()?);
    let host: Option<SocketAddr> = words.next().map(str::parse).transpose()?;
    let config = Config::new(0x4D41_524B).with(|config| {
        config.game.frame_rate = FRAME_RATE;
        config.rollback.delay_frames = Some(DELAY_FRAMES);
        // The buttons of a frame are then a function of the frame alone, with and without stalls.
        config.rollback.kept_buttons = Buttons::NONE;
        config.timeouts.interrupted_after = INTERRUPTED_AFTER.min(lost_after);
        config.timeouts.lost_after = lost_after;
        config.timeouts.no_progress_after = LOST_NEVER;
    });
    let mut udp = UdpDriver::bind(bind)?;
    println!("> bound {}", udp.local_addr());
    let mut lobby = match host {
        None => Lobby::host(config)?,
        Some(host) => Lobby::join(config, host)?,
    };
    let seed = loop {
        let deadline = udp.now() + Duration::from_millis(10);
        udp.run_until(&mut lobby, deadline)?;
        if let Some(agreed) = lobby.agreed()? {
            break agreed.seed;
        }
        if udp.now() > NEVER {
            return Err("nobody came".into());
        }
    };
    let mut game = Marks::new(seed);
    let session = lobby.start(udp.now(), &game)?;
    run(&mut udp, session, &mut game)
}

fn run(udp: &mut UdpDriver, mut session: Session<Marks>, game: &mut Marks) -> Result<(), Box<dyn Error>> {
    static FINISH: AtomicBool = AtomicBool::new(false);
    std::thread::spawn(|| {
        // A line, or the end of whoever started this.
        let _ = std::io::stdin().read_line(&mut String::new());
        FINISH.store(true, Relaxed);
    });
    let mut start_pressed_at = None;
    let mut under_way = false;
    while !session.ended() {
        let due = session.next_frame_at();
        udp.run_until(&mut session, due)?;
        let frame = session.current().0;
        let mut buttons = held(session.local(), frame);
        if FINISH.load(Relaxed) {
            start_pressed_at.get_or_insert(frame);
        }
        if start_pressed_at.is_some() {
            buttons |= START;
        }
        session.advance(udp.now(), game, buttons);
        udp.flush(&mut session)?;
        if !under_way && session.settled().0 >= UNDER_WAY {
            under_way = true;
            println!("> under way");
        }
        tell(&mut session);
        if udp.now() > NEVER {
            return Err("it never ended".into());
        }
    }
    tell(&mut session);
    udp.close(&mut session, Duration::from_secs(5))?;
    let (seat, seed) = (session.local().index(), session.agreed().seed);
    let stats = session.stats();
    println!(
        "> played {seat} {seed} {} {} {:08x} {} {}",
        start_pressed_at.unwrap_or(u32::MAX),
        game.frame,
        checksum(game),
        stats.rollback.rollbacks,
        stats.refused.total()
    );
    Ok(())
}

fn tell(session: &mut Session<Marks>) {
    while let Some(event) = session.poll_event() {
        match event {
            Event::Interrupted { .. } => println!("> interrupted"),
            Event::Resumed => println!("> resumed"),
            Event::Ended(Verdict::Agreed { frame, checksum, .. }) => {
                println!("> agreed {frame} {checksum:08x}");
            }
            Event::Disconnected { reason } => println!("> disconnected {reason:?}"),
            other => println!("> other {other:?}"),
        }
    }
}

// Both sides, seen from outside.

/// A process that plays one side; gone when this is dropped.
struct Side {
    name: &'static str,
    process: Child,
    lines: Receiver<String>,
    /// Everything that it has said.
    said: Vec<String>,
}

impl Side {
    fn start(name: &'static str, role: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args(["--ignored", "--exact", "udp_match::side", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program starts once more");
        let out = process.stdout.take().expect("a pipe");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let Some(line) = line.strip_prefix("> ") else { continue };
                if sender.send(line.to_owned()).is_err() {
                    return;
                }
            }
        });
        Self { name, process, lines, said: Vec::new() }
    }

    /// Waits for a line that begins like this, and answers its rest.
    fn expect(&mut self, beginning: &str) -> String {
        loop {
            let Ok(line) = self.lines.recv_timeout(NEVER) else {
                panic!("{} never said {beginning:?}, but {:?}", self.name, self.said);
            };
            self.said.push(line.clone());
            if let Some(rest) = line.strip_prefix(beginning) {
                return rest.trim().to_owned();
            }
        }
    }

    fn has_said(&self, beginning: &str) -> bool {
        self.said.iter().any(|line| line.starts_with(beginning))
    }

    fn signal(&self, signal: &str) {
        let kill = format!("kill -{signal} {}", self.process.id());
        let status = Command::new("sh").args(["-c", &kill]).status().expect("a shell");
        assert!(status.success(), "{kill}: {status}");
    }

    fn finish(&mut self) {
        let stdin = self.process.stdin.as_mut().expect("a pipe");
        stdin.write_all(b"finish\n").expect("it listens");
    }

    /// How its match went, once it is over.
    fn played(&mut self) -> Played {
        let line = self.expect("played");
        let mut numbers = line.split(' ');
        let mut next = || numbers.next().expect("seven numbers");
        let number = |text: &str| text.parse().expect("a number");
        Played {
            seat: Player::BOTH[number(next()) as usize],
            seed: number(next()),
            start_pressed_at: number(next()),
            frames: number(next()),
            checksum: next().to_owned(),
            rollbacks: number(next()),
            refused: number(next()),
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[derive(Debug)]
struct Played {
    seat: Player,
    seed: u32,
    start_pressed_at: u32,
    frames: u32,
    checksum: String,
    rollbacks: u32,
    refused: u32,
}

/// A host and a joiner, with a match under way between them.
fn match_under_way(ip: &str, lost_after: Duration) -> [Side; 2] {
    let (address, limit) = (format!("{ip}:0"), lost_after.as_millis());
    let mut host = Side::start("the host", &format!("{address} {limit}"));
    let bound = host.expect("bound");
    let mut joiner = Side::start("the joiner", &format!("{address} {limit} {bound}"));
    host.expect("under way");
    joiner.expect("under way");
    [host, joiner]
}

/// Lets both finish, and holds what they say against a direct simulation of what they pressed.
fn finish_and_compare(sides: &mut [Side; 2]) {
    sides.iter_mut().for_each(Side::finish);
    let agreed = sides.each_mut().map(|side| side.expect("agreed"));
    assert_eq!(agreed[0], agreed[1], "frame and checksum of the verdict");
    let played = sides.each_mut().map(Side::played);
    let [host, joiner] = &played;
    assert_eq!((host.seat, joiner.seat, host.seed), (Player::One, Player::Two, joiner.seed));

    let mut direct = Marks::new(host.seed);
    while !direct.finished() {
        let mut inputs = Inputs::default();
        for Played { seat, start_pressed_at, .. } in &played {
            if let Some(frame) = direct.frame.checked_sub(DELAY_FRAMES.into()) {
                let start = if frame >= *start_pressed_at { START } else { Buttons::NONE };
                inputs[*seat] = (held(*seat, frame) | start).into();
            }
        }
        direct.step(inputs, &mut Cues::new());
    }
    let expected = format!("{:08x}", checksum(&direct));
    for Played { frames, checksum, refused, .. } in &played {
        assert_eq!((*frames, checksum), (direct.frame, &expected), "{played:?}");
        assert_eq!(*refused, 0, "{played:?}");
    }
    assert_eq!(agreed[0], format!("{} {expected}", direct.frame));
    assert!(direct.frame > UNDER_WAY && played.iter().any(|side| side.rollbacks > 0), "{played:?}");
}

#[test]
fn two_processes_play_a_match_over_ipv4_and_agree() {
    finish_and_compare(&mut match_under_way("127.0.0.1", LOST_NEVER));
}

#[test]
fn two_processes_play_a_match_over_ipv6_and_agree() {
    if let Err(error) = UdpSocket::bind("[::1]:0") {
        println!("not tried: this machine has no ::1 ({error})");
        return;
    }
    finish_and_compare(&mut match_under_way("[::1]", LOST_NEVER));
}

#[test]
fn machine_whose_peer_is_killed_says_so_after_the_limit() {
    let survives = |victim: usize| {
        let mut sides = match_under_way("127.0.0.1", LOST_AFTER);
        sides[victim].signal("KILL");
        let survivor = &mut sides[1 - victim];
        assert_eq!(survivor.expect("disconnected"), format!("{:?}", Reason::TimedOut), "{:?}", survivor.said);
        assert!(survivor.has_said("interrupted"), "{:?}", survivor.said);
        // It got out of its loop, and nothing was left to wait for.
        let played = survivor.played();
        assert!(played.frames >= UNDER_WAY, "{played:?}");
    };
    // At once, because each waits for the limit.
    std::thread::scope(|scope| {
        scope.spawn(|| survives(0));
        survives(1);
    });
}

#[test]
fn stopped_process_comes_back_and_nothing_is_lost() {
    let mut sides = match_under_way("127.0.0.1", LOST_NEVER);
    sides[1].signal("STOP");
    // Told after two seconds of silence: the process has stood still for that long.
    sides[0].expect("interrupted");
    sides[1].signal("CONT");
    sides[0].expect("resumed");
    finish_and_compare(&mut sides);
    assert!(!sides[1].has_said("interrupted"), "a process that slept does not blame the other");
}
