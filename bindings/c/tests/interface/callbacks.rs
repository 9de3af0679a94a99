//! Callbacks of a game at one machine and in the sync test, and callbacks of a transport that are wrong.

use crate::calls::{Args, error, options, sized};
use crate::connecting::text_of;
use crate::counters::{empty_table, region};
use crate::misuse::Owned;
use crate::pair::Pair;
use rebout_c::safe::codes::{NowCode, Status};
use rebout_c::*;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// Sums of both players' inputs, and the frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    frame: u32,
    sums: [u32; 2],
}

unsafe extern "C-unwind" fn add(user: *mut c_void, inputs: *const u64, _: *mut StepCues, _: i32) {
    // SAFETY: the game of this table, and two inputs.
    let (game, inputs) = unsafe { (&mut *user.cast::<Sums>(), [*inputs, *inputs.add(1)]) };
    game.frame += 1;
    game.sums.iter_mut().zip(inputs).for_each(|(sum, input)| *sum += input as u32);
}

/// The frame that a look ahead has drawn.
static DRAWN: AtomicU32 = AtomicU32::new(0);

unsafe extern "C-unwind" fn draw(user: *mut c_void) {
    // SAFETY: the game of this table.
    DRAWN.store(unsafe { &*user.cast::<Sums>() }.frame, Ordering::Relaxed);
}

#[test]
fn both_inputs_reach_the_step_and_look_ahead_draws_later_frames() {
    let (handle, mut game, mut given) = (Owned::new(), Sums::default(), options());
    given.look_ahead_frames = 3;
    let user = ptr::from_mut(&mut game);
    let table = GameTable {
        state_bytes: size_of::<Sums>() as u32,
        user: user.cast(),
        state: user.cast(),
        step: Some(add),
        ..empty_table()
    };
    let mut turn = sized::<CTurn>();
    // SAFETY: a live handle and valid arguments.
    unsafe {
        assert_eq!(rebout_offline(handle.0, &raw const *given), Status::Ok, "{}", error(handle.0));
        assert_eq!(rebout_set_time(handle.0, 1), Status::Ok);
        assert_eq!(rebout_poll(handle.0, &raw mut *turn), Status::Ok);
        assert_eq!(rebout_start(handle.0, &raw const table), Status::Ok);
        for frame in 1..=20 {
            rebout_set_time(handle.0, u64::from(frame) * 17_000_000);
            while turn.now != NowCode::Frame {
                assert_eq!(rebout_poll(handle.0, &raw mut *turn), Status::Ok);
            }
            turn.now = NowCode::Idle;
            assert_eq!(rebout_advance_both(handle.0, 1, 3, ptr::null_mut()), Status::Ok);
            assert_eq!(rebout_look_ahead(handle.0, Some(draw), user.cast()), Status::Ok);
            assert_eq!(DRAWN.load(Ordering::Relaxed), frame + 3);
            assert_eq!(*user, Sums { frame, sums: [frame, 3 * frame] });
        }
    }
}

/// A step that no resimulation repeats.
unsafe extern "C-unwind" fn count(user: *mut c_void, _: *const u64, _: *mut StepCues, _: i32) {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let calls = CALLS.fetch_add(1, Ordering::Relaxed) as i32;
    // SAFETY: the state of this table, three numbers.
    unsafe { *user.cast::<[i32; 3]>() = [-calls, calls, calls] };
}

#[test]
fn regions_are_signed_addressed_or_left_out_in_reports() {
    let (handle, mut state) = (Owned::new(), [0_i32; 3]);
    let mut regions = [
        region(c"depth", 0, 1, REBOUT_REGION_SIGNED),
        region(c"wram", 4, 1, REBOUT_REGION_ADDRESSED),
        region(c"scratch", 8, 1, REBOUT_REGION_NOT_COMPARED),
    ];
    regions[1].base = 0x7E_0010;
    let table = GameTable {
        state_bytes: 12,
        user: ptr::from_mut(&mut state).cast(),
        state: ptr::from_mut(&mut state).cast(),
        step: Some(count),
        regions: regions.as_ptr(),
        region_count: regions.len(),
        ..empty_table()
    };
    let mut plan = sized::<SyncTestPlan>();
    plan.frames = 40;
    let args = Args::new();
    // SAFETY: a live handle and valid arguments.
    unsafe {
        assert_eq!(rebout_sync_test(handle.0, &raw const table, &raw const *plan), Status::Failed);
        let text = error(handle.0);
        assert!(text.contains("depth: 0 / -") && text.contains("wram[0x7e0010]: "), "{text}");
        assert!(!text.contains("scratch"), "{text}");
        assert_eq!(rebout_sync_test(handle.0, &raw const *args.game, ptr::null()), Status::Ok);
        let report = text_of(handle.0, rebout_report);
        assert!(!report.is_empty());
        assert_eq!(rebout_offline(handle.0, &raw const *args.options), Status::Ok);
        assert_eq!(rebout_close(handle.0), Status::Ok);
        assert_eq!(text_of(handle.0, rebout_report), report, "it outlives a match");
    }
}

unsafe extern "C-unwind" fn lose(_: *mut c_void, _: u64, _: *const u8, _: usize) {}

/// Says that it has received more than the buffer holds.
unsafe extern "C-unwind" fn exaggerate(user: *mut c_void, from: *mut u64, _: *mut u8, bytes: usize) -> isize {
    // SAFETY: a number of this test, and a place for an id.
    unsafe {
        *from = 9;
        let left = &mut *user.cast::<u32>();
        *left = left.saturating_sub(1);
        if *left > 0 { bytes as isize + 500 } else { 0 }
    }
}

unsafe extern "C-unwind" fn return_at_once(_: *mut c_void, _: u64) {}

unsafe extern "C-unwind" fn noon(_: *mut c_void) -> u64 {
    12
}

#[test]
fn wrong_callbacks_of_a_transport_are_borne() {
    let (handle, mut left, mut given) = (Owned::new(), 5_u32, options());
    given.bind = ptr::null();
    let (mut transport, mut turn) = (sized::<TransportTable>(), sized::<CTurn>());
    (transport.local_id, transport.user) = (1, ptr::from_mut(&mut left).cast());
    transport.send = Some(lose);
    // SAFETY: a live handle and valid arguments.
    unsafe {
        let status = rebout_host_on(handle.0, &raw const *given, &raw const *transport);
        assert_eq!(status, Status::Invalid, "it cannot receive");
        transport.receive = Some(exaggerate);
        transport.wait = Some(return_at_once);
        transport.now = Some(noon);
        let status = rebout_host_on(handle.0, &raw const *given, &raw const *transport);
        assert_eq!(status, Status::Ok, "{}", error(handle.0));
        assert_eq!(rebout_poll(handle.0, &raw mut *turn), Status::Ok, "{}", error(handle.0));
        assert_eq!(left, 0, "all were received");
        assert_eq!(rebout_wait(handle.0, &raw mut *turn), Status::Transport);
        assert!(error(handle.0).contains("stands still"), "{}", error(handle.0));
    }
}

#[test]
fn buffers_that_are_null_or_too_small_lose_nothing() {
    let mut pair = Pair::new(30, |_, _| {});
    pair.run(20_000, |machines| machines.iter().all(|machine| machine.game.frame > 30));
    let handle = pair.machines[0].handle.0;
    let (mut to, mut bytes, mut count) = (0, [0; 1_264], 0);
    // SAFETY: a live handle and valid arguments.
    unsafe {
        assert_eq!(rebout_send(handle, ptr::null(), 9), Status::Null);
        assert_eq!(rebout_deliver(handle, 2, ptr::null(), 9), Status::Null);
        let sent = (0..2_000).map(|_| rebout_send(handle, bytes.as_ptr(), 1_000));
        assert_eq!(sent.into_iter().find(|status| *status != Status::Ok), Some(Status::Full));
        assert!(!error(handle).is_empty());
        rebout_set_time(handle, pair.now + 50_000_000);
        assert_eq!(rebout_poll(handle, &raw mut *sized::<CTurn>()), Status::Ok);
        let status = rebout_take(handle, &raw mut to, bytes.as_mut_ptr(), 4, &raw mut count);
        assert_eq!((status, bytes[0]), (Status::TooSmall, 0), "{}", error(handle));
        let needed = std::mem::take(&mut count);
        assert!(needed > 4);
        let status = rebout_take(handle, &raw mut to, bytes.as_mut_ptr(), needed, &raw mut count);
        assert_eq!((status, count, to), (Status::Ok, needed, 2));
    }
}
