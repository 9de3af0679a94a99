//! Instructions a frame and peer of a whole session, counted by `valgrind --tool=callgrind`: the same on a busy machine
//! as on an idle one.
//!
//! Two sessions play a match over a delay line of four frames, buttons change every fourth frame, and the state has 64
//! bytes. `cargo bench --bench session` runs itself under valgrind, which counts only inside the `measured_*`
//! functions (every call that a driver and a game make) and not inside the game's step; two run lengths are subtracted,
//! so that nothing of the start is in the figure. The same match is counted bare and sealed; and sealed with the driver,
//! by the parts and by `Online`, without the transport. `cargo bench --bench session -- --functions` lists where the
//! instructions of the bare one go; `-- --functions --sealed`, `--parts` and `--online` those of the others.

mod driven;

use core::time::Duration;
use rebout::Randomness;
use rebout::lab::seal::Seal;
use rebout::{
    Advanced, Buttons, Config, Cues, FrameRate, Game, Inputs, Lobby, MAX_DATAGRAM, Player, Protocol, Session,
    Stats, fields,
};
use std::collections::VecDeque;
use std::hint::black_box;
use std::net::SocketAddr;
use std::process::{Command, ExitCode, Stdio};

const SHORT: u32 = 1_500;
const LONG: u32 = 7_500;

/// The limit of the figure.
const LIMIT: f64 = 1_500.0;
/// The limit of what sealing adds to it.
const SEAL_LIMIT: f64 = 3_400.0;

/// The limit of what `Online` adds to the parts.
const ONLINE_LIMIT: f64 = 150.0;

/// The ways in which the match is played.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Bare,
    Sealed,
    /// Sealed, with the driver, the seal and the session in a loop of their own.
    Parts,
    /// Sealed, with `Online`.
    Online,
}

impl Way {
    const NAMED: [(&'static str, Self); 3] =
        [("--sealed", Self::Sealed), ("--parts", Self::Parts), ("--online", Self::Online)];

    /// The way that the arguments name.
    fn of(args: &[String]) -> Self {
        let named = Self::NAMED.into_iter().find(|(name, _)| args.iter().any(|arg| arg == name));
        named.map_or(Self::Bare, |(_, way)| way)
    }

    fn argument(self) -> Option<&'static str> {
        Self::NAMED.into_iter().find(|(_, way)| *way == self).map(|(name, _)| name)
    }
}

/// The seeds of the host and the joiner.
const SEEDS: [u64; 2] = [1, 2];

/// One way, in frames.
const LATENCY_FRAMES: u32 = 4;
/// Buttons change once in this many frames.
const CHANGE_EVERY: u32 = 4;

/// A state of 64 bytes with a step so small that what is around it shows.
#[derive(Clone, Copy)]
struct Bytes64 {
    frame: u32,
    sum: u32,
    words: [u32; 14],
}
fields!(Bytes64 { frame, sum, words });

const FIRST: Bytes64 = Bytes64 { frame: 0, sum: 1, words: [7; 14] };

impl Game for Bytes64 {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.unmeasured_step(inputs);
    }
}

impl Bytes64 {
    // A function of its own, so that the counting can be stopped at its door.
    #[inline(never)]
    fn unmeasured_step(&mut self, inputs: Inputs) {
        let at = self.frame as usize % self.words.len();
        self.sum = self.sum.rotate_left(5)
            ^ u32::from(inputs.0[0].buttons().0)
            ^ u32::from(inputs.0[1].buttons().0) << 16;
        self.words[at] = self.words[at].wrapping_add(self.sum);
        self.frame += 1;
    }
}

fn held(player: Player, frame: u32) -> Buttons {
    let mixed = (frame / CHANGE_EVERY + 1).wrapping_mul(0x9E37_79B9) ^ player.index() as u32;
    Buttons((mixed.wrapping_mul(0xC2B2_AE35) >> 28) as u16)
}

/// The datagrams in flight to one side, the oldest first. Memory is allocated once.
struct DelayLine {
    packets: VecDeque<(Duration, usize, [u8; MAX_DATAGRAM])>,
}

impl DelayLine {
    fn new() -> Self {
        Self { packets: VecDeque::with_capacity(64) }
    }

    fn next_at(&self) -> Duration {
        self.packets.front().map_or(Duration::MAX, |(at, ..)| *at)
    }
}

struct Side<P> {
    protocol: P,
    /// The seal around the protocol, unless the link is bare.
    seal: Option<Seal>,
    addr: SocketAddr,
    incoming: DelayLine,
    out: [u8; MAX_DATAGRAM],
}

impl<P> Side<P> {
    fn with<Q>(self, make: impl FnOnce(P) -> Q) -> Side<Q> {
        let Self { protocol, seal, addr, incoming, out } = self;
        Side { protocol: make(protocol), seal, addr, incoming, out }
    }
}

#[inline(never)]
fn measured_receive<P: Protocol>(protocol: &mut P, now: Duration, from: SocketAddr, datagram: &[u8]) {
    protocol.handle_datagram(now, from, datagram);
}

#[inline(never)]
fn measured_transmit<P: Protocol>(
    protocol: &mut P,
    now: Duration,
    buf: &mut [u8],
) -> Option<(SocketAddr, usize)> {
    protocol.poll_transmit(now, buf)
}

/// The calls that a driver makes before it sleeps.
#[inline(never)]
fn measured_rest<P: Protocol>(protocol: &P, now: Duration) -> (bool, Option<Duration>) {
    (protocol.wants_attention(now), protocol.poll_timeout())
}

#[inline(never)]
fn measured_advance(
    session: &mut Session<Bytes64>,
    now: Duration,
    game: &mut Bytes64,
    buttons: Buttons,
) -> Advanced {
    let advanced = session.advance(now, game, buttons);
    black_box(session.cues());
    while let Some(event) = session.poll_event() {
        black_box(event);
    }
    advanced
}

/// Sends all that is ready, as a driver does.
fn transmit<P: Protocol>(now: Duration, latency: Duration, side: &mut Side<P>, other: &mut DelayLine) {
    while let Some((_, len)) = match &mut side.seal {
        None => measured_transmit(&mut side.protocol, now, &mut side.out),
        Some(seal) => measured_transmit(&mut seal.around(&mut side.protocol), now, &mut side.out),
    } {
        other.packets.push_back((now + latency, len, side.out));
    }
}

/// Hands over what has come by `now`, then sends what is ready, then asks when to wake up.
fn pump<P: Protocol>(now: Duration, latency: Duration, sides: &mut [Side<P>; 2], at: usize) -> Duration {
    let [one, two] = sides;
    let (side, other) = if at == 0 { (one, two) } else { (two, one) };
    while side.incoming.next_at() <= now {
        let Some((_, len, bytes)) = side.incoming.packets.pop_front() else { break };
        match &mut side.seal {
            None => measured_receive(&mut side.protocol, now, other.addr, &bytes[..len]),
            Some(seal) => {
                measured_receive(&mut seal.around(&mut side.protocol), now, other.addr, &bytes[..len]);
            }
        }
    }
    transmit(now, latency, side, &mut other.incoming);
    let (_, timeout) = match &mut side.seal {
        None => measured_rest(&side.protocol, now),
        Some(seal) => measured_rest(&seal.around(&mut side.protocol), now),
    };
    timeout.unwrap_or(Duration::MAX).max(now + Duration::from_micros(250))
}

fn config(entropy: u64) -> Config {
    Config::new(0xB0).with(|config| {
        config.rollback.delay_frames = Some(0);
        config.lobby.seed = Some(7);
        config.lobby.entropy = Some(entropy);
    })
}

fn addresses() -> [SocketAddr; 2] {
    [([192, 0, 2, 1], 7001).into(), ([192, 0, 2, 2], 7002).into()]
}

fn frame_length() -> Duration {
    FrameRate::default().frame_length()
}

fn lobbies(sealed: bool) -> [Side<Lobby>; 2] {
    let addrs = addresses();
    let side = |protocol, addr, seal| {
        let incoming = DelayLine::new();
        Side { protocol, seal, addr, incoming, out: [0; MAX_DATAGRAM] }
    };
    let host = Lobby::host(config(SEEDS[0])).expect("a config");
    let join = Lobby::join(config(SEEDS[1]), addrs[0]).expect("a config");
    let seals = sealed.then(|| {
        let host = Seal::host(Randomness::Seeded(SEEDS[0])).expect("a seed");
        let key = host.public_key().expect("a host's key");
        (host, Seal::join(Randomness::Seeded(SEEDS[1]), key, &addrs[..1]).expect("an address"))
    });
    let (host_seal, join_seal) = seals.unzip();
    [side(host, addrs[0], host_seal), side(join, addrs[1], join_seal)]
}

/// A match of this many frames; how many frames were stepped again.
fn play(frames: u32, way: Way) -> u64 {
    prove(
        frames,
        match way {
            Way::Bare => by_calls(frames, false),
            Way::Sealed => by_calls(frames, true),
            Way::Parts => driven::by_parts(frames),
            Way::Online => driven::by_online(frames),
        },
    )
}

/// The statistics of both sides after a match in which the calls of a driver are made here.
fn by_calls(frames: u32, sealed: bool) -> [Stats; 2] {
    let latency = frame_length() * LATENCY_FRAMES;
    let mut now = Duration::ZERO;
    let mut lobbies = lobbies(sealed);
    let both_agreed = |lobbies: &[Side<Lobby>; 2]| {
        lobbies.iter().all(|side| side.protocol.agreed().expect("they fit").is_some())
    };
    while !both_agreed(&lobbies) {
        now += Duration::from_millis(1);
        pump(now, latency, &mut lobbies, 0);
        pump(now, latency, &mut lobbies, 1);
    }
    let mut games = [FIRST; 2];
    let [one, two] = lobbies;
    let mut sides = [
        one.with(|lobby| lobby.start(now, &games[0]).expect("agreed")),
        two.with(|lobby| lobby.start(now, &games[1]).expect("agreed")),
    ];
    let mut timeouts = [now; 2];
    while sides[0].protocol.current().0 < frames {
        let wake = |at: usize| {
            let side: &Side<Session<Bytes64>> = &sides[at];
            side.incoming.next_at().min(timeouts[at]).min(side.protocol.next_frame_at())
        };
        let at = usize::from(wake(1) < wake(0));
        now = now.max(wake(at));
        timeouts[at] = pump(now, latency, &mut sides, at);
        let [one, two] = &mut sides;
        let (side, other) = if at == 0 { (one, two) } else { (two, one) };
        if now >= side.protocol.next_frame_at() {
            let buttons = held(side.protocol.local(), side.protocol.current().0);
            measured_advance(&mut side.protocol, now, &mut games[at], buttons);
            // Out before drawing; then the driver runs until the next frame, and looks first what there is.
            transmit(now, latency, side, &mut other.incoming);
            timeouts[at] = pump(now, latency, &mut sides, at);
        }
    }
    sides.map(|side| side.protocol.stats())
}

/// A run that proved nothing is no measurement.
fn prove(frames: u32, sides: [Stats; 2]) -> u64 {
    for stats in &sides {
        assert!(stats.rollback.rollbacks > u64::from(frames) / 5, "{stats:?}");
        assert!(stats.checksums_compared > u64::from(frames) / 30 - 3, "{stats:?}");
        assert!(stats.refused.total() == 0 && stats.stalled_frames < 10, "{stats:?}");
    }
    sides.iter().map(|stats| stats.rollback.resimulated_frames).sum()
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = args.iter().position(|arg| arg == "--play") {
        let frames = args.get(at + 1).and_then(|frames| frames.parse().ok()).expect("a number of frames");
        black_box(play(frames, Way::of(&args)));
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err()
    {
        println!("session: not counted, because valgrind is not installed");
        return ExitCode::SUCCESS;
    }
    let listed = args.iter().any(|arg| arg == "--functions");
    let done = if listed { functions(Way::of(&args)) } else { figure() };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("session: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the figure; whether the limit is kept.
fn figure() -> Result<bool, String> {
    let a_frame = |long: i64, short: i64| (long - short) as f64 / f64::from(LONG - SHORT) / 2.0;
    let counted = |way| {
        Ok::<_, String>(a_frame(callgrind(LONG, way, "/dev/null")?, callgrind(SHORT, way, "/dev/null")?))
    };
    let (count, sealed) = (counted(Way::Bare)?, counted(Way::Sealed)?);
    let (parts, online) = (counted(Way::Parts)?, counted(Way::Online)?);
    let again = |way| a_frame(play(LONG, way) as i64, play(SHORT, way) as i64);
    let (kept, seal_kept) = (count <= LIMIT, sealed - count <= SEAL_LIMIT);
    let online_kept = online - parts <= ONLINE_LIMIT;
    let verdict = |kept| if kept { "kept" } else { "MISSED" };
    println!("instructions a frame and peer, runs of {SHORT} and {LONG} frames subtracted");
    println!(
        "a session on a link of {LATENCY_FRAMES} frames, buttons change every {CHANGE_EVERY}th frame, 64 bytes"
    );
    println!("of state, {:.2} frames stepped again a frame, without the game's own step", again(Way::Bare));
    println!("{count:>9.1}  at most {LIMIT}: {}", verdict(kept));
    println!("{sealed:>9.1}  the same match sealed");
    println!("{:>9.1}  more than bare, at most {SEAL_LIMIT}: {}", sealed - count, verdict(seal_kept));
    println!("{parts:>9.1}  the same sealed match by `Driver`, `Seal` and `Session`");
    println!("{online:>9.1}  the same by `Online`");
    println!(
        "{:>9.1}  more than by the parts, at most {ONLINE_LIMIT}: {}",
        online - parts,
        verdict(online_kept)
    );
    Ok(kept && seal_kept && online_kept)
}

/// Prints where the instructions of a long run go, by function.
fn functions(way: Way) -> Result<bool, String> {
    let file = std::env::temp_dir().join(format!("rebout-session-{}.callgrind", std::process::id()));
    let path = file.to_string_lossy().into_owned();
    callgrind(LONG, way, &path)?;
    let output = Command::new("callgrind_annotate")
        .args(["--auto=no", "--threshold=99.5", &path])
        .output()
        .map_err(|error| error.to_string())?;
    std::fs::remove_file(&file).map_err(|error| error.to_string())?;
    println!("instructions of {LONG} frames on both sides");
    println!("{}", String::from_utf8_lossy(&output.stdout));
    Ok(true)
}

fn callgrind(frames: u32, way: Way, out: &str) -> Result<i64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--toggle-collect=session::measured_*",
            "--toggle-collect=session::driven::measured_*",
            "--toggle-collect=*unmeasured_*",
        ])
        .arg(format!("--callgrind-out-file={out}"))
        .arg(program)
        .args(["--play", &frames.to_string()])
        .args(way.argument())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split("Collected :").nth(1));
    let count = collected.and_then(|count| count.trim().parse().ok());
    count.filter(|count| *count > 0).ok_or_else(|| format!("valgrind said: {text}"))
}
