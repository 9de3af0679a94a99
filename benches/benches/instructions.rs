//! Instructions a frame, counted by `valgrind --tool=callgrind`: the same on a busy machine as on an idle one.
//!
//! `cargo bench --bench instructions` runs itself under valgrind with two run lengths of each load; their difference is
//! what the frames in between cost, with nothing of the start.

use benches::{ByHand, Bytes64, WithEngine, assert_alike, held};
use games::playground::Playground;
use rebout::wire::WireFrame;
use rebout::wire::rbn1::{self, InputHeader, InputPacket};
use rebout::{Buttons, Cues, Game, SyncTest};
use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};

const SHORT: u32 = 1_500;
const LONG: u32 = 7_500;

/// A load to count, with the name that the run under valgrind is given.
type Counted = (&'static str, fn(u32));

const LOADS: [Counted; 12] = [
    ("engine", |frames| {
        black_box(WithEngine::<14, 15>::start().run(frames));
    }),
    ("by-hand", |frames| {
        black_box(ByHand::<14, 15>::start().run(frames));
    }),
    ("engine-always", |frames| {
        black_box(WithEngine::<14, 1>::start().run(frames));
    }),
    ("by-hand-always", |frames| {
        black_box(ByHand::<14, 1>::start().run(frames));
    }),
    ("engine-4k", |frames| {
        black_box(WithEngine::<1022, 15>::start().run(frames));
    }),
    ("by-hand-4k", |frames| {
        black_box(ByHand::<1022, 15>::start().run(frames));
    }),
    ("sync-test", |frames| sync_test(frames, Bytes64::start())),
    ("sync-test-fields", |frames| sync_test(frames, Playground::new(1).expect("1 is a seed"))),
    ("steps-fields", |frames| {
        let mut game = Playground::new(1).expect("1 is a seed");
        (0..frames)
            .for_each(|frame| black_box(&mut game).step(black_box(held::<15>(frame)), &mut Cues::new()));
    }),
    ("encode", encode),
    ("decode", decode),
    ("nothing", |frames| {
        (0..frames).for_each(|frame| {
            black_box(frame);
        });
    }),
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    if let Some("--count") = args.next().as_deref() {
        let (name, frames) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
        let load = LOADS.iter().find(|(known, _)| *known == name).expect("a load of the table");
        (load.1)(frames.parse().expect("a number of frames"));
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err()
    {
        println!("instructions: not counted, because valgrind is not installed");
        return ExitCode::SUCCESS;
    }
    match table() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("instructions: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table; whether every limit is kept.
fn table() -> Result<bool, String> {
    assert_alike::<14, 15>();
    assert_alike::<14, 1>();
    assert_alike::<1022, 15>();
    let mut kept = true;
    let mut row = |what: &str, count: f64, limit: Option<f64>| {
        let verdict = match limit {
            Some(limit) if count > limit => {
                kept = false;
                format!("at most {limit}: MISSED")
            }
            Some(limit) => format!("at most {limit}: kept"),
            None => String::new(),
        };
        println!("{what:<58} {count:>9.1}  {verdict}");
    };
    println!("instructions a frame (a packet), runs of {SHORT} and {LONG} subtracted");
    let around = counted("nothing")?;
    let (engine, by_hand) = (counted("engine")?, counted("by-hand")?);
    row("engine, 64 bytes, a rollback of 3 in 15 frames", engine, None);
    row("the same by hand", by_hand, None);
    row("engine minus by hand", engine - by_hand, Some(250.0));
    let (engine, by_hand) = (counted("engine-always")?, counted("by-hand-always")?);
    row("engine, 64 bytes, a rollback of 3 in every frame", engine, None);
    row("the same by hand", by_hand, None);
    row("engine minus by hand", engine - by_hand, None);
    let (engine, by_hand) = (counted("engine-4k")?, counted("by-hand-4k")?);
    row("engine minus by hand, 4 KiB", engine - by_hand, None);
    row("sync test, 64 bytes, depth 7", counted("sync-test")?, Some(1_500.0));
    row("sync test, playground (24 named words), depth 7", counted("sync-test-fields")?, None);
    row("of which nine steps of the playground", 9.0 * counted("steps-fields")?, None);
    row("RBN1 encode, 8 inputs", counted("encode")? - around, Some(120.0));
    row("RBN1 decode, 8 inputs", counted("decode")? - around, Some(120.0));
    Ok(kept)
}

/// Instructions for one frame of a load.
fn counted(name: &str) -> Result<f64, String> {
    let (short, long) = (callgrind(name, SHORT)?, callgrind(name, LONG)?);
    Ok((long - short) as f64 / f64::from(LONG - SHORT))
}

fn callgrind(name: &str, frames: u32) -> Result<i64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["--count", name, &frames.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split("Collected :").nth(1));
    collected.and_then(|count| count.trim().parse().ok()).ok_or_else(|| format!("valgrind said: {text}"))
}

fn sync_test<G: Game>(frames: u32, mut game: G) {
    let mut test = SyncTest::with_fixed_depth(&game, 7);
    for frame in 0..frames {
        test.advance(black_box(&mut game), black_box(held::<15>(frame))).expect("a game without a mistake");
    }
    black_box(test.finish().expect("a lively run"));
}

const INPUTS: [Buttons; 8] =
    [Buttons(1), Buttons(1), Buttons(3), Buttons(3), Buttons(9), Buttons(9), Buttons(9), Buttons(0)];

fn encode(packets: u32) {
    let mut buf = [0; InputPacket::MAX_LEN];
    for packet in 0..packets {
        let header = InputHeader {
            start_frame: WireFrame(packet),
            ack_frame: WireFrame(packet),
            checksum: None,
            ..InputHeader::default()
        };
        let len =
            InputPacket::encode(black_box(&header), black_box(INPUTS), &mut buf).expect("there is room");
        black_box(&buf[..len]);
    }
}

fn decode(packets: u32) {
    let mut buf = [0; InputPacket::MAX_LEN];
    let header = InputHeader {
        start_frame: WireFrame(5),
        ack_frame: WireFrame(4),
        checksum: None,
        ..InputHeader::default()
    };
    let len = InputPacket::encode(&header, INPUTS, &mut buf).expect("there is room");
    for _ in 0..packets {
        let packet =
            InputPacket::decode(black_box(&buf[..len]), rbn1::Flags::VERSION_1).expect("what was encoded");
        let held = packet.inputs().fold(0, |all, buttons| all ^ buttons.buttons().0);
        black_box((packet.start_frame(), packet.ack_frame(), held));
    }
}
