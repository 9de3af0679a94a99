//! Every function of the interface, called with arguments that are valid or NULL.

use crate::counters::{Counters, table};
use rebout_c::safe::codes::{AdvancedCode, Status};
use rebout_c::*;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

/// A struct of the caller's as zeros with its size.
pub(crate) fn sized<T>() -> Box<T> {
    let mut bytes: Box<std::mem::MaybeUninit<T>> = Box::new(std::mem::MaybeUninit::zeroed());
    // SAFETY: every struct of the interface begins with its size, and zeros are a value of all of its fields.
    unsafe {
        bytes.as_mut_ptr().cast::<u32>().write(size_of::<T>() as u32);
        bytes.assume_init()
    }
}

/// Options with a game and nothing of the network beyond loopback.
pub(crate) fn options() -> Box<COptions> {
    let mut options = sized::<COptions>();
    // SAFETY: a struct of this size.
    assert_eq!(unsafe { rebout_options_init(&raw mut *options, size_of::<COptions>()) }, Status::Ok);
    options.game_id = 7;
    options.port_mapping = 0;
    options.bind = c"127.0.0.1:0".as_ptr();
    options
}

/// The error text of a handle.
pub(crate) fn error(handle: *const Handle) -> String {
    // SAFETY: a live handle or NULL.
    unsafe { CStr::from_ptr(rebout_error(handle)) }.to_str().expect("UTF-8").to_owned()
}

unsafe extern "C-unwind" fn draw(_: *mut c_void) {}

unsafe extern "C-unwind" fn make(_: *mut c_void, seed: u32, _: u32, game: *mut GameTable) -> i32 {
    unsafe extern "C-unwind" fn release(user: *mut c_void) {
        // SAFETY: made by `make`, and released once.
        drop(unsafe { Box::from_raw(user.cast::<Counters>()) });
    }
    let made = Box::into_raw(Box::new(Counters::new(seed)));
    // SAFETY: a struct to fill.
    unsafe { *game = GameTable { release: Some(release), finished: None, ..table(made) } };
    1
}

/// The arguments of all functions. NULL where a test wants it.
pub(crate) struct Args {
    pub(crate) game_state: Box<Counters>,
    pub(crate) options: Box<COptions>,
    pub(crate) game: Box<GameTable>,
    pub(crate) turn: Box<CTurn>,
    text: CString,
    transport: Box<TransportTable>,
    peer: Box<CPeer>,
    terms: Box<CAgreed>,
    stats: Box<CStats>,
    info: Box<CReplay>,
    watch: Box<CWatch>,
    audience: Box<CAudience>,
    sync: Box<SyncTestPlan>,
    stress: Box<CStressPlan>,
    numbers: [u64; 64],
    advanced: AdvancedCode,
}

impl Args {
    pub(crate) fn new() -> Self {
        let mut game_state = Box::new(Counters::new(1));
        let game = Box::new(table(&raw mut *game_state));
        let mut stress = sized::<CStressPlan>();
        stress.make = Some(make);
        (stress.frames, stress.link) = (30, c"clean".as_ptr());
        let mut sync = sized::<SyncTestPlan>();
        sync.frames = 20;
        Self {
            game_state,
            options: options(),
            game,
            turn: sized(),
            text: CString::new("127.0.0.1:9").unwrap(),
            transport: sized(),
            peer: sized(),
            terms: sized(),
            stats: sized(),
            info: sized(),
            watch: sized(),
            audience: sized(),
            sync,
            stress,
            numbers: [0; 64],
            advanced: AdvancedCode::Ended,
        }
    }
}

/// Calls the function with this number on a handle, with NULL in place of every pointer if `nulls` says so. `None` beyond the last.
pub(crate) fn call(
    number: usize,
    handle: *mut Handle,
    args: &mut Args,
    nulls: bool,
) -> Option<(&'static str, Status)> {
    fn or_null<T>(pointer: *mut T, nulls: bool) -> *mut T {
        if nulls { ptr::null_mut() } else { pointer }
    }
    let mut lent: *const c_char = ptr::null();
    let (mut cues, mut frames): (*const CueEvent, *const FrameInputs) = (ptr::null(), ptr::null());
    let mut count = 0_usize;
    let numbers = or_null(args.numbers.as_mut_ptr(), nulls);
    let out = or_null(&raw mut lent, nulls);
    let count = or_null(&raw mut count, nulls);
    let text = or_null(args.text.as_ptr().cast_mut(), nulls).cast_const();
    let options = or_null(&raw mut *args.options, nulls).cast_const();
    let game = or_null(&raw mut *args.game, nulls).cast_const();
    let transport = or_null(&raw mut *args.transport, nulls).cast_const();
    let turn = or_null(&raw mut *args.turn, nulls);
    // SAFETY: a live handle or NULL, and arguments that are NULL or valid.
    let answer = unsafe {
        match number {
            0 => ("rebout_host", rebout_host(handle, options)),
            1 => ("rebout_join", rebout_join(handle, options, text)),
            2 => ("rebout_host_on", rebout_host_on(handle, options, transport)),
            3 => ("rebout_join_on", rebout_join_on(handle, options, transport, text)),
            4 => ("rebout_offline", rebout_offline(handle, options)),
            5 => ("rebout_answer", rebout_answer(handle, 1)),
            6 => ("rebout_take_answer", rebout_take_answer(handle, text)),
            7 => ("rebout_verify", rebout_verify(handle)),
            8 => ("rebout_poll", rebout_poll(handle, turn)),
            9 => ("rebout_wait", rebout_wait(handle, turn)),
            10 => ("rebout_start", rebout_start(handle, game)),
            11 => ("rebout_advance", rebout_advance(handle, 1, or_null(&raw mut args.advanced, nulls))),
            12 => (
                "rebout_advance_both",
                rebout_advance_both(handle, 1, 2, or_null(&raw mut args.advanced, nulls)),
            ),
            13 => (
                "rebout_look_ahead",
                rebout_look_ahead(handle, if nulls { None } else { Some(draw) }, ptr::null_mut()),
            ),
            14 => ("rebout_cues", rebout_cues(handle, or_null(&raw mut cues, nulls), count)),
            15 => ("rebout_confirmed", rebout_confirmed(handle, or_null(&raw mut frames, nulls), count)),
            16 => ("rebout_send", rebout_send(handle, numbers.cast(), 9)),
            17 => ("rebout_pause", rebout_pause(handle)),
            18 => ("rebout_resume", rebout_resume(handle)),
            19 => ("rebout_set_delay", rebout_set_delay(handle, 2)),
            20 => ("rebout_set_winner", rebout_set_winner(handle, 1)),
            21 => ("rebout_leave", rebout_leave(handle)),
            22 => ("rebout_rematch", rebout_rematch(handle)),
            23 => ("rebout_close", rebout_close(handle)),
            24 => ("rebout_set_time", rebout_set_time(handle, args.numbers[0])),
            25 => ("rebout_deliver", rebout_deliver(handle, 1, numbers.cast(), 100)),
            26 => ("rebout_take", rebout_take(handle, numbers, numbers.cast(), 8 * 64, count)),
            27 => ("rebout_share", rebout_share(handle, out)),
            28 => ("rebout_progress", rebout_progress(handle, out)),
            29 => ("rebout_name", rebout_name(handle, 1, out)),
            30 => ("rebout_recording", rebout_recording(handle, out)),
            31 => ("rebout_peer", rebout_peer(handle, or_null(&raw mut *args.peer, nulls))),
            32 => ("rebout_agreed", rebout_agreed(handle, or_null(&raw mut *args.terms, nulls))),
            33 => ("rebout_get_stats", rebout_get_stats(handle, or_null(&raw mut *args.stats, nulls))),
            34 => ("rebout_frames", rebout_frames(handle, numbers.cast(), numbers.cast())),
            35 => ("rebout_next_frame_at", rebout_next_frame_at(handle, numbers)),
            36 => ("rebout_previous", rebout_previous(handle, numbers.cast(), 8 * 64, numbers.cast())),
            37 => ("rebout_replay_open", rebout_replay_open(handle, text)),
            38 => (
                "rebout_replay_get_info",
                rebout_replay_get_info(handle, or_null(&raw mut *args.info, nulls)),
            ),
            39 => ("rebout_replay_inputs", rebout_replay_inputs(handle, 3, numbers, 32, count)),
            40 => ("rebout_replay_verify", rebout_replay_verify(handle, game, numbers.cast())),
            41 => ("rebout_replay_start", rebout_replay_start(handle, game)),
            42 => ("rebout_replay_load", rebout_replay_load(handle, 5, numbers.cast())),
            43 => ("rebout_replay_seek", rebout_replay_seek(handle, 9)),
            44 => ("rebout_replay_step", rebout_replay_step(handle, numbers.cast())),
            45 => ("rebout_replay_play", rebout_replay_play(handle, 9, 1_000)),
            46 => ("rebout_replay_advance", rebout_replay_advance(handle, 1 << 30, numbers.cast())),
            47 => ("rebout_sync_test", rebout_sync_test(handle, game, or_null(&raw mut *args.sync, nulls))),
            48 => ("rebout_stress", rebout_stress(handle, or_null(&raw mut *args.stress, nulls))),
            49 => ("rebout_report", rebout_report(handle, out)),
            50 => ("rebout_player_key", rebout_player_key(handle, 1, numbers.cast(), out)),
            51 => ("rebout_rejoin", rebout_rejoin(handle, options, text)),
            52 => ("rebout_rejoin_on", rebout_rejoin_on(handle, options, transport, text)),
            53 => ("rebout_unfinished", rebout_unfinished(handle, text, out)),
            54 => ("rebout_invite_one", rebout_invite_one(handle, out)),
            55 => ("rebout_revoke", rebout_revoke(handle, text)),
            56 => ("rebout_rebind", rebout_rebind(handle, text)),
            57 => ("rebout_watch", rebout_watch(handle, options, text)),
            58 => ("rebout_watch_on", rebout_watch_on(handle, options, transport, text)),
            59 => ("rebout_watch_serve", rebout_watch_serve(handle, options)),
            60 => ("rebout_watch_another", rebout_watch_another(handle, options, text)),
            61 => {
                ("rebout_watch_get_info", rebout_watch_get_info(handle, or_null(&raw mut *args.watch, nulls)))
            }
            62 => ("rebout_share_to_watch", rebout_share_to_watch(handle, out)),
            63 => {
                ("rebout_get_audience", rebout_get_audience(handle, or_null(&raw mut *args.audience, nulls)))
            }
            _ => return None,
        }
    };
    Some(answer)
}

/// The functions without a handle, and the ones that make, free and describe it.
pub(crate) const OTHERS: [&str; 11] = [
    "rebout_new",
    "rebout_free",
    "rebout_error",
    "rebout_status_text",
    "rebout_options_init",
    "rebout_emit",
    "rebout_phase",
    "rebout_set_log",
    "rebout_version",
    "rebout_version_text",
    "rebout_rate",
];

#[test]
fn every_function_of_the_header_is_called_here() {
    let header = include_str!("../../include/rebout.h");
    let mut args = Args::new();
    let called =
        (0..).map_while(|number| call(number, ptr::null_mut(), &mut args, true)).map(|(name, _)| name);
    let called: Vec<&str> = called.chain(OTHERS).chain(["rebout_stick"]).collect();
    let declared =
        header.split("extern \"C\"").nth(1).unwrap().lines().filter(|line| !line.starts_with("//"));
    let declared = declared.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    let declared: Vec<&str> = declared.filter(|name| name.starts_with("rebout_")).collect();
    assert!(declared.len() > 50, "only {} functions found", declared.len());
    for name in &declared {
        assert!(called.contains(name), "{name} is not called");
    }
    assert_eq!(called.len(), declared.len(), "the header has other functions than are called here");
}
