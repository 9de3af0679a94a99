//! Matches at one machine, their recordings, and watching them.

use crate::calls::{Args, error, sized};
use crate::counters::{Counters, FRAMES, table};
use crate::misuse::Owned;
use rebout_c::safe::codes::{NowCode, Status, VerdictCode};
use rebout_c::*;
use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::ptr;

/// A folder of its own for a test, empty.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Plays a match at one machine on a clock of the caller's, recorded into a folder; its file, and its last state.
fn recorded(folder: &std::path::Path) -> (CString, Counters) {
    let handle = Owned::new();
    let mut args = Args::new();
    let path = CString::new(folder.to_str().unwrap()).unwrap();
    (args.options.record_to, args.options.seed, args.options.name) = (path.as_ptr(), 99, c"Ann".as_ptr());
    let mut file = ptr::null();
    let mut now = 0;
    // SAFETY: a live handle and valid arguments.
    unsafe {
        assert_eq!(rebout_offline(handle.0, &raw const *args.options), Status::Ok, "{}", error(handle.0));
        assert_eq!(rebout_set_time(handle.0, now), Status::Ok);
        loop {
            assert_eq!(rebout_poll(handle.0, &raw mut *args.turn), Status::Ok);
            match args.turn.now {
                NowCode::Begin => {
                    assert_eq!(args.turn.seed, 99);
                    *args.game_state = Counters::new(99);
                    assert_eq!(rebout_start(handle.0, &raw const *args.game), Status::Ok);
                }
                NowCode::Frame => {
                    let inputs = [0, 1].map(|seat| u64::from(args.game_state.bot(seat).0));
                    rebout_advance_both(handle.0, inputs[0], inputs[1], ptr::null_mut());
                }
                NowCode::Finished => break,
                NowCode::Idle => {
                    now += 5_000_000;
                    assert_eq!(rebout_set_time(handle.0, now), Status::Ok);
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((args.turn.verdict, args.turn.frame), (VerdictCode::Local, FRAMES));
        // A finished match stays finished, and its file is closed.
        assert_eq!(rebout_recording(handle.0, &raw mut file), Status::Ok, "{}", error(handle.0));
        (CStr::from_ptr(file).to_owned(), *args.game_state)
    }
}

#[test]
fn recording_is_read_verified_and_watched() {
    let folder = folder("replays");
    let (file, last) = recorded(&folder);
    let handle = Owned::new();
    let mut info = sized::<CReplay>();
    let game = Box::into_raw(Box::new(Counters::new(99)));
    let table = table(game);
    // SAFETY: a live handle and valid arguments.
    unsafe {
        assert_eq!(rebout_replay_open(handle.0, file.as_ptr()), Status::Ok, "{}", error(handle.0));
        assert_eq!(rebout_replay_open(handle.0, file.as_ptr()), Status::Phase);
        assert_eq!(rebout_replay_get_info(handle.0, &raw mut *info), Status::Ok);
        assert_eq!((info.seed, info.frames, info.version, info.is_whole), (99, FRAMES, 2, 1));
        assert_eq!(
            (CStr::from_ptr(info.name_one), CStr::from_ptr(info.outcome)),
            (c"Ann", c"played at one machine")
        );

        let (mut inputs, mut copied) = ([9_u64; 20], 0);
        assert_eq!(
            rebout_replay_inputs(handle.0, FRAMES - 4, inputs.as_mut_ptr(), 10, &raw mut copied),
            Status::Ok
        );
        assert_eq!((copied, inputs[8]), (4, 9));

        let mut compared = 0;
        assert_eq!(
            rebout_replay_verify(handle.0, &raw const table, &raw mut compared),
            Status::Ok,
            "{}",
            error(handle.0)
        );
        assert!(compared >= 2 && *game == last, "{compared}");
        *game = Counters::new(98);
        assert_eq!(rebout_replay_verify(handle.0, &raw const table, &raw mut compared), Status::Failed);
        assert!(error(handle.0).contains("checksum"), "{}", error(handle.0));

        *game = Counters::new(99);
        assert_eq!(rebout_replay_seek(handle.0, 5), Status::Phase);
        assert_eq!(rebout_replay_start(handle.0, &raw const table), Status::Ok);
        assert_eq!(rebout_replay_start(handle.0, &raw const table), Status::Phase);
        let mut loaded = 0;
        assert_eq!(rebout_replay_load(handle.0, 1_000, &raw mut loaded), Status::Ok);
        assert_eq!((loaded, (*game).frame), (FRAMES, 0));
        for frame in [90, 10, FRAMES + 5, 90] {
            assert_eq!(rebout_replay_seek(handle.0, frame), Status::Ok);
            assert_eq!((*game).frame, frame.min(FRAMES));
        }
        let mut is_stepped = 0;
        assert_eq!(rebout_replay_step(handle.0, &raw mut is_stepped), Status::Ok);
        assert_eq!((is_stepped, (*game).frame), (1, 91));
        assert_eq!(rebout_replay_play(handle.0, 0, 2_000), Status::Ok);
        let mut stepped = 0;
        assert_eq!(rebout_replay_advance(handle.0, 34_000_000, &raw mut stepped), Status::Ok);
        assert_eq!((stepped, (*game).frame), (4, 95));
        assert_eq!(rebout_replay_seek(handle.0, FRAMES), Status::Ok);
        assert_eq!(rebout_replay_step(handle.0, &raw mut is_stepped), Status::Ok);
        assert_eq!((is_stepped, *game), (0, last));
        drop(handle);
        drop(Box::from_raw(game));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn files_that_are_no_recording_are_refused_by_name() {
    let folder = folder("no-replays");
    let handle = Owned::new();
    for (name, bytes) in [("empty", &b""[..]), ("text", b"hello, this is no recording"), ("cut", b"RPLK\x02")]
    {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        let path = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: a live handle and a text.
        assert_eq!(unsafe { rebout_replay_open(handle.0, path.as_ptr()) }, Status::Failed);
        assert!(error(handle.0).contains(name), "{}", error(handle.0));
    }
    std::fs::remove_dir_all(folder).unwrap();
}
