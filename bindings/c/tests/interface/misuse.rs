//! Calls that are wrong: NULL, another phase, twice, from a callback, from another thread, with other sizes.

use crate::calls::{Args, call, error, options, sized};
use crate::counters::{Counters, empty_table, region, table};
use rebout_c::safe::codes::{NowCode, Status};
use rebout_c::*;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// A handle that is freed at the end.
pub(crate) struct Owned(pub(crate) *mut Handle);

impl Owned {
    pub(crate) fn new() -> Self {
        Self(rebout_new())
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: a live handle.
        unsafe { rebout_free(&raw mut self.0) };
    }
}

#[test]
fn every_function_answers_null_to_a_null_handle() {
    let mut args = Args::new();
    for nulls in [true, false] {
        for number in 0.. {
            let Some((name, status)) = call(number, ptr::null_mut(), &mut args, nulls) else { break };
            assert_eq!(status, Status::Null, "{name}");
        }
    }
    assert_eq!(error(ptr::null()), "the handle is NULL");
    // SAFETY: NULL is what is tested.
    unsafe {
        assert_eq!(rebout_free(ptr::null_mut()), Status::Null);
        assert_eq!(rebout_emit(ptr::null_mut(), 1), Status::Null);
        assert_eq!(rebout_phase(ptr::null_mut(), ptr::null()), Status::Null);
        assert_eq!(rebout_options_init(ptr::null_mut(), 9), Status::Null);
        assert_eq!(rebout_rate(60.0, ptr::null_mut(), ptr::null_mut()), Status::Null);
        assert_eq!(rebout_set_log(None, ptr::null_mut(), 9), Status::Invalid);
    }
}

/// The functions that an empty handle answers.
const ON_EMPTY: [&str; 11] = [
    "rebout_host",
    "rebout_join",
    "rebout_host_on",
    "rebout_join_on",
    "rebout_offline",
    "rebout_cues",
    "rebout_confirmed",
    "rebout_sync_test",
    "rebout_stress",
    "rebout_report",
    "rebout_unfinished",
];

#[test]
fn functions_without_a_match_answer_their_phase_twice() {
    let handle = Owned::new();
    let mut args = Args::new();
    let names = (0..).map_while(|number| call(number, ptr::null_mut(), &mut args, true)).collect::<Vec<_>>();
    for (number, (name, _)) in names.into_iter().enumerate().filter(|(_, (name, _))| !ON_EMPTY.contains(name))
    {
        for nulls in [false, false, true] {
            let (_, status) = call(number, handle.0, &mut args, nulls).unwrap();
            let expected = match name {
                "rebout_close" => Status::Ok,
                // The text is an address, and neither a file nor an invite to watch.
                "rebout_replay_open" | "rebout_rejoin" | "rebout_rejoin_on" | "rebout_watch"
                | "rebout_watch_on"
                    if !nulls =>
                {
                    Status::Failed
                }
                _ => Status::Phase,
            };
            let is_expected = status == expected || nulls && status == Status::Null;
            assert!(is_expected, "{name}: {status:?}, {}", error(handle.0));
        }
    }
}

#[test]
fn null_arguments_change_nothing_in_any_phase() {
    // The phases of a match at one machine and of an online one, and the functions that need no pointer.
    for online in [false, true] {
        let handle = Owned::new();
        let mut args = Args::new();
        let check = |args: &mut Args| {
            for number in 0.. {
                let Some((name, _)) = call(number, ptr::null_mut(), args, true) else { break };
                let moves = [
                    "rebout_leave",
                    "rebout_close",
                    "rebout_rematch",
                    "rebout_pause",
                    "rebout_resume",
                    "rebout_set_winner",
                ];
                let optional = [
                    "rebout_advance",
                    "rebout_advance_both",
                    "rebout_frames",
                    "rebout_answer",
                    "rebout_set_time",
                ];
                if moves.contains(&name) {
                    continue;
                }
                let Some((_, status)) = call(number, handle.0, args, true) else { break };
                let is_well = matches!(status, Status::Null | Status::Phase | Status::Invalid)
                    || status == Status::Ok && optional.contains(&name);
                assert!(is_well, "{name}: {status:?}");
            }
        };
        check(&mut args);
        let opened = call(if online { 0 } else { 4 }, handle.0, &mut args, false).unwrap();
        assert_eq!(opened.1, Status::Ok, "{}", error(handle.0));
        check(&mut args);
        if !online {
            // A turn without a struct to fill was not taken.
            assert_eq!(call(8, handle.0, &mut args, false).unwrap().1, Status::Ok);
            assert_eq!(args.turn.now, NowCode::Begin);
            assert_eq!(call(10, handle.0, &mut args, false).unwrap().1, Status::Ok, "{}", error(handle.0));
        }
        check(&mut args);
        assert_eq!(call(23, handle.0, &mut args, false).unwrap().1, Status::Ok);
    }
}

#[test]
fn second_open_second_start_and_second_free_are_harmless() {
    let mut handle = rebout_new();
    let mut args = Args::new();
    // SAFETY: a live handle and valid arguments.
    unsafe {
        assert_eq!(rebout_offline(handle, &raw const *args.options), Status::Ok);
        assert_eq!(rebout_offline(handle, &raw const *args.options), Status::Phase);
        assert!(error(handle).contains("rebout_close"), "{}", error(handle));
        assert_eq!(rebout_poll(handle, &raw mut *args.turn), Status::Ok);
        assert_eq!(rebout_start(handle, &raw const *args.game), Status::Ok);
        assert_eq!(rebout_start(handle, &raw const *args.game), Status::Phase);
        for _ in 0..2 {
            assert_eq!(rebout_pause(handle), Status::Ok);
        }
        assert_eq!(rebout_set_winner(handle, 4), Status::Invalid);
        assert_eq!(rebout_close(handle), Status::Ok);
        assert_eq!(rebout_close(handle), Status::Ok);
        assert_eq!(rebout_free(&raw mut handle), Status::Ok);
        assert!(handle.is_null());
        assert_eq!(rebout_free(&raw mut handle), Status::Ok);
    }
}

static RELEASED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C-unwind" fn release(_: *mut c_void) {
    RELEASED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn game_is_released_once_and_only_if_it_was_taken() {
    let handle = Owned::new();
    let mut args = Args::new();
    args.game.release = Some(release);
    // SAFETY: a live handle and valid arguments.
    unsafe {
        assert_eq!(rebout_start(handle.0, &raw const *args.game), Status::Phase);
        assert_eq!(
            rebout_sync_test(handle.0, &raw const *args.game, ptr::null()),
            Status::Ok,
            "{}",
            error(handle.0)
        );
        assert_eq!(RELEASED.load(Ordering::Relaxed), 0);
        rebout_offline(handle.0, &raw const *args.options);
        rebout_poll(handle.0, &raw mut *args.turn);
        *args.game_state = Counters::new(1);
        assert_eq!(rebout_start(handle.0, &raw const *args.game), Status::Ok);
        assert_eq!(rebout_start(handle.0, &raw const *args.game), Status::Phase);
        assert_eq!(RELEASED.load(Ordering::Relaxed), 0);
        rebout_close(handle.0);
    }
    assert_eq!(RELEASED.load(Ordering::Relaxed), 1);
    drop(handle);
    assert_eq!(RELEASED.load(Ordering::Relaxed), 1);
}

/// A handle whose game has another step, begun at one machine, with its first frame due.
fn playing(
    args: &mut Args,
    step: unsafe extern "C-unwind" fn(*mut c_void, *const u64, *mut StepCues, i32),
) -> Owned {
    let handle = Owned::new();
    args.game.step = Some(step);
    // SAFETY: a live handle and valid arguments.
    unsafe {
        rebout_offline(handle.0, &raw const *args.options);
        rebout_poll(handle.0, &raw mut *args.turn);
        assert_eq!(rebout_start(handle.0, &raw const *args.game), Status::Ok);
    }
    handle
}

#[test]
fn panic_in_a_callback_is_a_status() {
    unsafe extern "C-unwind" fn panics(_: *mut c_void, _: *const u64, _: *mut StepCues, _: i32) {
        panic!("the stage is on fire");
    }
    let mut args = Args::new();
    let mut handle = playing(&mut args, panics);
    // SAFETY: a live handle and valid arguments.
    unsafe {
        assert_eq!(rebout_advance(handle.0, 0, ptr::null_mut()), Status::Panicked);
        assert_eq!(error(handle.0), "panicked: the stage is on fire");
        for number in 0.. {
            let Some((name, status)) = call(number, handle.0, &mut args, false) else { break };
            assert_eq!(status, Status::Panicked, "{name}");
        }
        assert_eq!(rebout_free(&raw mut handle.0), Status::Ok);
    }
}

static INSIDE: AtomicU32 = AtomicU32::new(0);

#[test]
fn call_from_a_callback_is_busy_and_old_cues_are_refused() {
    use std::sync::atomic::AtomicPtr;
    static HANDLE: AtomicPtr<Handle> = AtomicPtr::new(ptr::null_mut());
    static OLD: AtomicPtr<StepCues> = AtomicPtr::new(ptr::null_mut());
    unsafe extern "C-unwind" fn calls(_: *mut c_void, _: *const u64, cues: *mut StepCues, _: i32) {
        let mut handle = HANDLE.load(Ordering::Relaxed);
        // SAFETY: a live handle, in use; and the cues of this step.
        unsafe {
            let busy = [rebout_leave(handle), rebout_close(handle), rebout_free(&raw mut handle)];
            assert!(busy.iter().all(|status| *status == Status::Busy), "{busy:?}");
            assert_eq!(error(handle), "another call on this handle has not returned");
            assert_eq!(rebout_emit(cues, 3), Status::Ok);
            assert_eq!(rebout_phase(cues, ptr::null()), Status::Null);
            assert_eq!(rebout_phase(cues, c"\xff".as_ptr()), Status::Invalid);
        }
        OLD.store(cues, Ordering::Relaxed);
        INSIDE.fetch_add(1, Ordering::Relaxed);
    }
    let mut args = Args::new();
    let handle = playing(&mut args, calls);
    HANDLE.store(handle.0, Ordering::Relaxed);
    // SAFETY: a live handle. The old cues are only compared.
    unsafe {
        assert_eq!(rebout_advance(handle.0, 0, ptr::null_mut()), Status::Ok, "{}", error(handle.0));
        assert_eq!(rebout_emit(OLD.load(Ordering::Relaxed), 3), Status::Phase);
        assert_eq!(rebout_phase(OLD.load(Ordering::Relaxed), c"late".as_ptr()), Status::Phase);
        let (mut cues, mut count) = (ptr::null(), 0);
        assert_eq!(rebout_cues(handle.0, &raw mut cues, &raw mut count), Status::Ok);
        assert_eq!((count, (*cues).cue, (*cues).frame), (2, 3, 0));
    }
    assert_eq!(INSIDE.load(Ordering::Relaxed), 1);
}

#[test]
fn two_threads_on_one_handle_get_busy_and_no_race() {
    struct Shared(*mut Handle);
    // SAFETY: the interface allows calls from any thread.
    unsafe impl Sync for Shared {}
    let handle = Owned::new();
    let args = Args::new();
    // SAFETY: a live handle and valid options.
    assert_eq!(unsafe { rebout_host(handle.0, &raw const *args.options) }, Status::Ok, "{}", error(handle.0));
    let shared = Shared(handle.0);
    let counts: Vec<[u32; 2]> = std::thread::scope(|scope| {
        let shared = &shared;
        let run = move || {
            let mut turn = sized::<CTurn>();
            let mut counts = [0; 2];
            for _ in 0..400 {
                // SAFETY: a live handle and a struct.
                match unsafe { rebout_poll(shared.0, &raw mut *turn) } {
                    Status::Ok => counts[0] += 1,
                    Status::Busy => counts[1] += 1,
                    other => panic!("{other:?}"),
                }
            }
            counts
        };
        let threads = [0; 3].map(|_| scope.spawn(run));
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(counts.iter().all(|[done, busy]| done + busy == 400));
    assert!(counts.iter().map(|[done, _]| done).sum::<u32>() > 0);
}

#[test]
fn structs_of_other_sizes_are_served_or_refused() {
    let handle = Owned::new();
    let refused = |options: &COptions| {
        // SAFETY: a live handle; the struct has at least the size that it states.
        let status = unsafe { rebout_offline(handle.0, &raw const *options) };
        assert_eq!(status, Status::Invalid);
        error(handle.0)
    };
    let mut given = options();
    for size in [0, 4, 16, size_of::<COptions>() as u32 - 1, 5_000, u32::MAX] {
        given.size = size;
        let text = refused(&given);
        assert!(text.contains(&format!("its size is {size}; set it to sizeof(rebout_options)")), "{text}");
    }
    #[repr(C)]
    struct Newer {
        options: COptions,
        added: u64,
    }
    let mut newer = Newer { options: *options(), added: 1 };
    newer.options.size = size_of::<Newer>() as u32;
    assert!(refused(&newer.options).contains("a newer header"));
    newer.added = 0;
    // SAFETY: a live handle; the struct has the size that it states.
    let status = unsafe { rebout_offline(handle.0, (&raw const newer).cast()) };
    assert_eq!(status, Status::Ok, "{}", error(handle.0));
}

#[test]
fn wrong_options_are_named() {
    let handle = Owned::new();
    let check = |change: &dyn Fn(&mut COptions), words: &str| {
        let mut given = options();
        change(&mut given);
        // SAFETY: a live handle and a valid struct.
        let status = unsafe { rebout_host(handle.0, &raw const *given) };
        assert_eq!(status, Status::Invalid, "{words}");
        assert!(error(handle.0).contains(words), "{} has no {words:?}", error(handle.0));
    };
    check(&|o| o.access = 9, "options->access is 9");
    check(&|o| o.pads = 900, "options->pads is 900");
    check(&|o| o.axes = 7, "options: ");
    check(&|o| (o.axes, o.pads) = (1, 2), "options: ");
    check(&|o| o.rate_denominator = 0, "options: ");
    check(&|o| o.delay_frames = -2, "options->delay_frames");
    check(&|o| o.seat = 2, "options->seat is 2");
    check(&|o| o.ask = 2, "options->ask is 2");
    check(&|o| o.port = 7, "bind has a port already");
    check(&|o| o.bind = c"here".as_ptr(), "\"here\" is no address");
    check(&|o| o.public_addresses = c"1.2.3.4:5,x".as_ptr(), "\"x\" is no address");
    check(&|o| o.name = c"\xff".as_ptr(), "options->name is not UTF-8");
    check(
        &|o| (o.name, o.user_data, o.user_data_bytes) = (c"a".as_ptr(), c"b".as_ptr().cast(), 1),
        "name one of them",
    );
    check(&|o| o.access = Access::Transport as u32, "");
}

#[test]
fn wrong_games_are_named() {
    let handle = Owned::new();
    let mut state = Counters::new(1);
    let good = table(&raw mut state);
    let check = |game: GameTable, status: Status, words: &str| {
        // SAFETY: a live handle and a struct.
        let answer = unsafe { rebout_sync_test(handle.0, &raw const game, ptr::null()) };
        assert_eq!(answer, status, "{words}");
        assert!(error(handle.0).contains(words), "{} has no {words:?}", error(handle.0));
    };
    check(GameTable { size: 8, ..good }, Status::Invalid, "sizeof(rebout_game)");
    check(GameTable { step: None, ..good }, Status::Null, "game->step is NULL");
    check(GameTable { state: ptr::null_mut(), ..good }, Status::Invalid, "needs save and load, or state");
    check(GameTable { state_bytes: 0, ..good }, Status::Invalid, "state_bytes is 0");
    check(
        GameTable { state_bytes: 23, ..good },
        Status::Invalid,
        "\"held\" (2 of 4 bytes at 16) ends beyond the 23 bytes",
    );
    check(GameTable { regions: ptr::null(), ..good }, Status::Null, "regions is NULL");
    let bad = [region(c"frame", 0, 1, 0), region(c"rng", 2, 1, 0)];
    check(
        GameTable { regions: bad.as_ptr(), region_count: 2, ..good },
        Status::Invalid,
        "\"rng\" overlaps another at byte 2",
    );
    let unknown = [region(c"frame", 0, 1, 64)];
    check(GameTable { regions: unknown.as_ptr(), region_count: 1, ..good }, Status::Invalid, "unknown bits");
    check(empty_table(), Status::Null, "game->step");
}

#[test]
fn every_status_has_a_text() {
    for status in 0..=11 {
        // SAFETY: a text that lives for ever.
        let text = unsafe { std::ffi::CStr::from_ptr(rebout_status_text(status)) }.to_str().unwrap();
        assert!(!text.is_empty() && (status == 11) == text.starts_with("no status"), "{status}: {text}");
    }
}

#[test]
fn log_tells_of_a_refused_datagram() {
    static LINES: std::sync::Mutex<Vec<(u32, String)>> = std::sync::Mutex::new(Vec::new());
    unsafe extern "C-unwind" fn log(_: *mut c_void, level: u32, text: *const c_char) {
        // SAFETY: a text for the length of this call.
        let text = unsafe { std::ffi::CStr::from_ptr(text) }.to_str().unwrap().to_owned();
        LINES.lock().unwrap().push((level, text));
    }
    let handle = Owned::new();
    let mut args = Args::new();
    args.options.access = Access::Bare as u32;
    let mut address = ptr::null();
    // SAFETY: a live handle and valid arguments.
    unsafe {
        assert_eq!(rebout_set_log(Some(log), ptr::null_mut(), 5), Status::Ok);
        assert_eq!(rebout_host(handle.0, &raw const *args.options), Status::Ok, "{}", error(handle.0));
        assert_eq!(rebout_share(handle.0, &raw mut address), Status::Ok);
        let address = std::ffi::CStr::from_ptr(address).to_str().unwrap();
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(b"RNBxxxxxxxxxxxxxxxxxxxxxxxxxxx", address).unwrap();
        for _ in 0..20 {
            assert_eq!(rebout_wait(handle.0, &raw mut *args.turn), Status::Ok);
        }
        assert_eq!(rebout_set_log(None, ptr::null_mut(), 5), Status::Ok);
    }
    let lines = LINES.lock().unwrap();
    assert!(
        lines.iter().any(|(level, text)| *level == 4
            && text.starts_with("datagram refused")
            && text.contains("from=127.0.0.1")),
        "{lines:?}"
    );
}
