//! The file by which a program that was killed comes back into its match, and the recording that the file names.
//!
//! A file that is taken gives a machine that asks for its match; any other gives words that say why not. Memory is in proportion to both
//! files, and neither is changed.

use crate::bytes::Bytes;
use crate::game_of_sums::Sums;
use crate::memory::Kept;
use rebout::net::Memory;
use rebout::replay::{End, Header, Outcome, StreamRecorder, Winner};
use rebout::{Config, ConnectOptions, Frame, Input, Inputs, Invite, Now, Online, Options, Randomness};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a machine keeps besides the files: its connection, its lobby and the room of a broadcast's log.
const MAX_KEPT: i64 = 2 << 20;

/// The folder of this process, in memory where there is such a file system.
fn folder() -> PathBuf {
    let shared = Path::new("/dev/shm");
    let base = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
    let folder = base.join(format!("rebout-fuzz-rejoin-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn write(path: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(path);
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(bytes)).expect("a file");
}

fn invite(byte: u8) -> Invite {
    let key = rebout::PlayerKey::of([byte; 32]).0;
    Invite::new(key, [([192, 0, 2, 7], 7_000).into()]).expect("an invite")
}

/// A ticket as a program writes it.
fn ticket(has_spectators: bool, recording: &Path) -> String {
    let digits = |byte: u8| format!("{byte:02x}").repeat(32);
    let mut text = format!("rebout rejoin 3\ninvite {}\ntoken 0123456789abcdef\nseed 7\n", invite(7));
    text += "port 7001\nbegan 1700000000\nrelay allow\n";
    if has_spectators {
        let watch = invite(9).to_watch(rebout::PlayerKey::of([9; 32]).0, [5; 32]);
        text += &format!("watch {watch} {} {} 3 - 5000 12 900000 true 77000\n", digits(9), digits(2));
    }
    text + &format!("recording {}\n", recording.display())
}

/// The beginning of the match, as the program had recorded it.
fn recording() -> Vec<u8> {
    let header = Header::of_offline(&Config::new(0xB0), 7);
    let mut recorder = StreamRecorder::new(&header, Vec::new()).expect("a header");
    for frame in 0..90 {
        recorder.record(Frame(frame), Inputs([Input::NEUTRAL; 2])).expect("in order");
    }
    recorder.finish(End { outcome: Outcome::Local, winner: Winner::Undecided }).expect("in memory")
}

/// Replaces, removes or adds bytes at places of the fuzzer's choice.
fn change(bytes: &mut Bytes<'_>, text: &mut Vec<u8>) {
    for _ in 0..bytes.below(6) {
        let at = usize::from(bytes.u16()) % (text.len() + 1);
        let until = (at + bytes.below(24)).min(text.len());
        let new = bytes.slice(40).to_vec();
        text.splice(at..until, new);
    }
}

pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let folder = folder();
    let (file, recorded) = (folder.join("match.rejoin"), folder.join("match.rplk"));
    let (is_raw, has_spectators, asks_for_spectators) = (bytes.below(4) == 0, bytes.flag(), bytes.flag());
    let mut replay = recording();
    if bytes.flag() {
        change(&mut bytes, &mut replay);
    }
    let mut text = if is_raw { Vec::new() } else { ticket(has_spectators, &recorded).into_bytes() };
    change(&mut bytes, &mut text);
    if is_raw {
        text.extend(bytes.slice(9_000));
    }
    write(&recorded, &replay);
    write(&file, &text);
    let offered = Options::unfinished_in(&folder);
    let kept = Kept::new(MAX_KEPT);
    let mut options = Options::with_config(Config::new(0xB0)).rejoin_in(folder.join("next"));
    if asks_for_spectators {
        options = options.spectators(rebout::BroadcastConfig::default());
    }
    options = options.connect(ConnectOptions::new().randomness(Randomness::Seeded(1)));
    let [here, _] = Memory::pair(|| Duration::from_millis(5));
    match Online::<Sums, _>::rejoin_on(options, &file, here, &[([192, 0, 2, 9], 9).into()]) {
        Err(error) => {
            let words = error.to_string();
            assert!(!words.is_empty() && words.len() < 1_000, "{words}");
        }
        Ok(mut online) => {
            assert_eq!(offered.as_deref(), Some(&*file), "a file that is good is offered");
            for _ in 0..4 {
                let now = online.poll().expect("a transport in memory");
                assert!(matches!(now, Now::Connecting(_) | Now::Notice(_) | Now::Finished(_)), "{now:?}");
            }
        }
    }
    kept.check();
    assert_eq!(fs::read(&file).ok(), Some(text), "the file stays until the match goes on");
    assert_eq!(fs::read(&recorded).ok(), Some(replay));
}

pub fn seeds() -> Vec<Vec<u8>> {
    let choices = [[1, 0, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [1, 0, 1, 1], [0, 0, 0, 0]];
    choices.iter().map(|choice| [&choice[..], &[2, 0, 40, 3, 0, 4, 65, 66, 67, 68]].concat()).collect()
}
