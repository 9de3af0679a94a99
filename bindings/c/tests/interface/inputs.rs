//! Axes, pads, and a game whose state is saved and restored by callbacks.

use crate::counters::{FRAMES, empty_table};
use crate::pair::Pair;
use rebout_c::safe::codes::{EventCode, FinishCode, NowCode, ReasonCode, Status, VerdictCode};
use rebout_c::*;
use std::ffi::c_void;
use std::ptr;

/// A game in two places, which the library cannot copy: it is saved and restored by callbacks.
#[derive(Default)]
struct Scattered {
    frame: Box<u32>,
    /// The sum of each player's inputs, by groups of 8 bits.
    sums: Vec<[u64; 8]>,
    saves: u32,
    loads: u32,
    /// Steps whose state is not drawn, and steps whose state is.
    steps: [u32; 2],
    trouble: Trouble,
}

/// The trouble that a game makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Trouble {
    #[default]
    None,
    /// It cannot be saved from frame 60 on.
    Save,
    /// It cannot be restored from frame 60 on.
    Load,
    /// No step may be predicted.
    Barrier,
}

const BYTES: usize = 4 + 2 * 64;

unsafe extern "C-unwind" fn save(user: *mut c_void, state: *mut u8, bytes: usize) -> i32 {
    // SAFETY: the game of this table, and a buffer of this size.
    let (game, state) =
        unsafe { (&mut *user.cast::<Scattered>(), std::slice::from_raw_parts_mut(state, bytes)) };
    assert!(bytes == BYTES && state.iter().all(|byte| *byte == 0), "the buffer is zeroed");
    game.saves += 1;
    state[..4].copy_from_slice(&game.frame.to_ne_bytes());
    for (chunk, sum) in state[4..].as_chunks_mut::<8>().0.iter_mut().zip(game.sums.iter().flatten()) {
        *chunk = sum.to_ne_bytes();
    }
    i32::from(game.trouble != Trouble::Save || *game.frame < 60)
}

unsafe extern "C-unwind" fn load(user: *mut c_void, state: *const u8, bytes: usize) -> i32 {
    // SAFETY: the game of this table, and a state of this size.
    let (game, state) = unsafe { (&mut *user.cast::<Scattered>(), std::slice::from_raw_parts(state, bytes)) };
    game.loads += 1;
    if game.trouble == Trouble::Load && *game.frame >= 60 {
        return 0;
    }
    *game.frame = u32::from_ne_bytes(state[..4].try_into().unwrap());
    for (sum, chunk) in game.sums.iter_mut().flatten().zip(state[4..].as_chunks::<8>().0) {
        *sum = u64::from_ne_bytes(*chunk);
    }
    1
}

unsafe extern "C-unwind" fn step(user: *mut c_void, inputs: *const u64, _: *mut StepCues, shown: i32) {
    // SAFETY: the game of this table, and two inputs.
    let (game, inputs) = unsafe { (&mut *user.cast::<Scattered>(), [*inputs, *inputs.add(1)]) };
    *game.frame += 1;
    game.steps[shown as usize] += 1;
    for (sums, input) in game.sums.iter_mut().zip(inputs) {
        for (sum, byte) in sums.iter_mut().zip(input.to_le_bytes()) {
            *sum += u64::from(byte);
        }
    }
}

unsafe extern "C-unwind" fn finished(user: *mut c_void) -> i32 {
    // SAFETY: the game of this table.
    i32::from(*unsafe { &*user.cast::<Scattered>() }.frame >= FRAMES)
}

unsafe extern "C-unwind" fn barrier(user: *mut c_void) -> i32 {
    // SAFETY: the game of this table.
    i32::from(unsafe { &*user.cast::<Scattered>() }.trouble == Trouble::Barrier)
}

/// The input of a player in a frame.
fn input(seat: u32, frame: u32, bytes: usize) -> u64 {
    let mut input = [0; 8];
    for (at, byte) in input[..bytes].iter_mut().enumerate() {
        *byte = (frame / 7 + 31 * seat + 5 * at as u32) as u8;
    }
    u64::from_le_bytes(input)
}

/// Plays the game with inputs of so many bytes; the games, and the last turn of each machine.
fn play(axes: u32, pads: u32, bytes: usize, trouble: Trouble) -> ([Box<Scattered>; 2], [CTurn; 2]) {
    let mut pair = Pair::new(35, |options, _| {
        (options.axes, options.pads, options.delay_frames, options.kept_buttons) = (axes, pads, 0, 0);
    });
    let mut games = [(); 2].map(|()| {
        let game = Scattered { sums: vec![[0; 8]; 2], trouble, ..Scattered::default() };
        Box::new(game)
    });
    if trouble != Trouble::Barrier {
        games[1].trouble = Trouble::None;
    }
    let mut last: [Option<CTurn>; 2] = [None; 2];
    let mut seats = [0; 2];
    while last.iter().any(Option::is_none) {
        pair.pass(|at, machine, turn| {
            let table = GameTable {
                state_bytes: BYTES as u32,
                user: ptr::from_mut(&mut *games[at]).cast(),
                save: Some(save),
                load: Some(load),
                step: Some(step),
                finished: Some(finished),
                barrier: Some(barrier),
                ..empty_table()
            };
            let handle = machine.handle.0;
            // SAFETY: a live handle and valid arguments.
            unsafe {
                match turn.now {
                    NowCode::Begin => {
                        seats[at] = turn.seat;
                        assert_eq!(rebout_start(handle, &raw const table), Status::Ok);
                    }
                    NowCode::Frame => {
                        let input = input(seats[at], *games[at].frame, bytes);
                        assert_eq!(rebout_advance(handle, input, ptr::null_mut()), Status::Ok);
                    }
                    NowCode::Event => machine.events.push((turn.event, String::new())),
                    NowCode::Finished => last[at] = Some(*turn),
                    _ => {}
                }
            }
        });
        assert!(pair.now < 60_000_000_000, "no end");
    }
    if matches!(trouble, Trouble::Save | Trouble::Load) {
        assert!(pair.machines[0].events.iter().any(|(event, _)| *event == EventCode::StateFailed));
    }
    (games, last.map(Option::unwrap))
}

#[test]
fn axes_and_pads_reach_both_games_through_save_and_load() {
    for (axes, pads, bytes) in [(6, 1, 8), (2, 1, 4), (0, 4, 8), (0, 2, 4), (0, 1, 2)] {
        let (games, last) = play(axes, pads, bytes, Trouble::None);
        for (game, turn) in games.iter().zip(last) {
            assert_eq!((turn.finish, turn.verdict), (FinishCode::Played, VerdictCode::Agreed));
            for seat in 0..2 {
                let mut sums = [0; 8];
                for frame in 0..FRAMES {
                    let input = input(seat as u32, frame, bytes).to_le_bytes();
                    sums.iter_mut().zip(input).for_each(|(sum, byte)| *sum += u64::from(byte));
                }
                assert_eq!(game.sums[seat], sums, "{axes} axes, {pads} pads, player {seat}");
            }
            assert!(game.saves > FRAMES / 2 && game.loads > 5, "{} saves, {} loads", game.saves, game.loads);
            assert!(game.steps[0] > 5 && game.steps[1] > FRAMES / 2, "{:?}", game.steps);
        }
    }
}

#[test]
fn failed_save_or_load_ends_the_match_with_a_reason() {
    for trouble in [Trouble::Save, Trouble::Load] {
        let (games, last) = play(0, 1, 2, trouble);
        let reasons = last.map(|turn| (turn.finish, turn.reason));
        assert_eq!(
            reasons,
            [(FinishCode::Ended, ReasonCode::StateFailedHere), (FinishCode::Ended, ReasonCode::StateFailed)],
            "{trouble:?}"
        );
        assert!((60..90).contains(&*games[0].frame), "{trouble:?}: frame {}", games[0].frame);
    }
}

#[test]
fn step_behind_a_barrier_is_never_predicted() {
    let (games, last) = play(0, 1, 2, Trouble::Barrier);
    for (game, turn) in games.iter().zip(last) {
        assert_eq!((turn.finish, turn.verdict), (FinishCode::Played, VerdictCode::Agreed));
        assert_eq!((*game.frame, game.steps[0], game.loads), (FRAMES, 0, 0), "stepped once each");
    }
}

#[test]
fn stick_becomes_two_axes_of_the_header() {
    // The axes are signed bytes from bit 16 on: `rebout_axis` of the header reads them.
    let axes = |x, y| (u64::from(rebout_stick(x, y, 8)) << 16).to_le_bytes().map(|byte| byte as i8);
    assert_eq!(axes(32_767, 0), [0, 0, 127, 0, 0, 0, 0, 0]);
    assert_eq!(axes(0, -32_768), [0, 0, 0, -127, 0, 0, 0, 0]);
    assert_eq!(rebout_stick(900, -900, 8), 0, "a dead zone");
}
