//! The cost of a frame through the C interface and in Rust, for callgrind: two machines in one process and in virtual time, with the same
//! game, the same transport and the same inputs.
//!
//!     cargo build --release -p rebout-c --example cost
//!     valgrind --tool=callgrind --collect-atstart=no --toggle-collect='*measured_advance*' target/release/examples/cost c
//!
//! `cost rust` is the same in Rust.

use rebout::{Buttons, ConnectOptions, Connection, Cues, Game, Inputs, Now, Online, Options, Player, fields};
use rebout_c::safe::codes::{NowCode, Status};
use rebout_c::safe::mailbox::Mailbox;
use rebout_c::*;
use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::time::Duration;

const FRAMES: u32 = 2_000;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct World {
    frame: u32,
    at: [i32; 15],
}
fields!(World { frame, at });

impl World {
    fn press(&mut self, holds: [u16; 2]) {
        self.frame += 1;
        for (player, holds) in holds.into_iter().enumerate() {
            self.at[player] += i32::from(holds);
        }
    }
}

impl Game for World {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.press(Player::BOTH.map(|player| inputs[player].buttons().0));
    }
}

/// The buttons of a player in a frame: held for a while, so that there are rollbacks.
fn buttons(frame: u32, player: u32) -> u16 {
    (frame / (9 + player)) as u16 & 3
}

unsafe extern "C-unwind" fn step(user: *mut c_void, inputs: *const u64, _: *mut StepCues, _: i32) {
    // SAFETY: the world of this table, and two inputs.
    unsafe { (*user.cast::<World>()).press([*inputs as u16, *inputs.add(1) as u16]) };
}

#[inline(never)]
fn measured_advance_in_rust(online: &mut Online<World, Mailbox>, game: &mut World, input: Buttons) {
    online.advance(game, input);
}

#[inline(never)]
fn measured_advance_in_c(handle: *mut Handle, input: u64) {
    // SAFETY: a live handle.
    assert_eq!(unsafe { rebout_advance(handle, input, ptr::null_mut()) }, Status::Ok);
}

/// Both machines in Rust.
fn in_rust() {
    let boxes = [Mailbox::default(), Mailbox::default()];
    let connect = || ConnectOptions::new().encrypted_by_transport();
    let address = rebout::net::opaque_addr;
    let mut config = rebout::Config::new(7);
    config.lobby.entropy = Some(5);
    let host = Connection::host_on(&connect(), boxes[0].clone(), &[address(1)]).unwrap();
    let text = host.share().to_owned();
    let join = Connection::join_on(&connect(), boxes[1].clone(), &[address(2)], &text).unwrap();
    let mut machines = [host, join]
        .map(|connection| Online::<World, _>::on(Options::with_config(config.clone()), connection).unwrap());
    let mut games = [World::default(); 2];
    let mut sent: Vec<(u64, usize, Vec<u8>)> = Vec::new();
    for ms in 0.. {
        for at in 0..2 {
            boxes[at].set_time(Duration::from_millis(ms));
            loop {
                match machines[at].poll().unwrap() {
                    Now::Begin { .. } => machines[at].start(&games[at]),
                    Now::Frame => {
                        let input = Buttons(buttons(games[at].frame, at as u32));
                        measured_advance_in_rust(&mut machines[at], &mut games[at], input);
                    }
                    Now::Event(_) => {}
                    _ => break,
                }
            }
            while let Some((_, datagram)) = boxes[at].take() {
                sent.push((ms + 40, 1 - at, datagram));
            }
        }
        sent.retain(|(due, to, datagram)| *due > ms || boxes[*to].deliver(2 - *to as u64, datagram).is_err());
        if games.iter().all(|game| game.frame >= FRAMES) {
            break;
        }
    }
    println!("rust: {} rollbacks", machines[0].stats().unwrap().rollback.rollbacks);
}

/// Both machines in C.
fn in_c() {
    let mut handles = [rebout_new(), rebout_new()];
    let games = [0; 2].map(|_| Box::into_raw(Box::new(World::default())));
    let mut text = CString::default();
    let regions = [("frame", 0, 1), ("at", 4, 15)].map(|(name, offset, count)| CRegion {
        name: CString::new(name).unwrap().into_raw(),
        offset,
        width: 4,
        count,
        flags: if count > 1 { REBOUT_REGION_SIGNED } else { 0 },
        base: 0,
        reserved: 0,
    });
    let mut sent: Vec<(u64, usize, Vec<u8>)> = Vec::new();
    // SAFETY: live handles and valid arguments throughout.
    unsafe {
        for at in 0..2 {
            let mut options: COptions = std::mem::zeroed();
            rebout_options_init(&raw mut options, size_of::<COptions>());
            (options.game_id, options.entropy, options.access) = (7, 5, Access::Transport as u32);
            let mut transport: TransportTable = std::mem::zeroed();
            (transport.size, transport.local_id) = (size_of::<TransportTable>() as u32, 1 + at as u64);
            let opened = if at == 0 {
                rebout_host_on(handles[0], &raw const options, &raw const transport)
            } else {
                rebout_join_on(handles[1], &raw const options, &raw const transport, text.as_ptr())
            };
            assert_eq!(opened, Status::Ok, "{:?}", CStr::from_ptr(rebout_error(handles[at])));
            let mut share = ptr::null();
            rebout_share(handles[at], &raw mut share);
            text = CStr::from_ptr(share).to_owned();
        }
        for ms in 0.. {
            for at in 0..2 {
                let mut turn: CTurn = std::mem::zeroed();
                turn.size = size_of::<CTurn>() as u32;
                rebout_set_time(handles[at], ms * 1_000_000);
                while rebout_poll(handles[at], &raw mut turn) == Status::Ok {
                    match turn.now {
                        NowCode::Begin => {
                            let mut game: GameTable = std::mem::zeroed();
                            (game.size, game.state_bytes) =
                                (size_of::<GameTable>() as u32, size_of::<World>() as u32);
                            (game.user, game.state) = (games[at].cast(), games[at].cast());
                            game.step = Some(step);
                            (game.regions, game.region_count) = (regions.as_ptr(), regions.len());
                            assert_eq!(rebout_start(handles[at], &raw const game), Status::Ok);
                        }
                        NowCode::Frame => {
                            measured_advance_in_c(handles[at], buttons((*games[at]).frame, at as u32).into());
                        }
                        NowCode::Event => {}
                        _ => break,
                    }
                }
                let (mut to, mut datagram, mut count) = (0, [0; 1_264], 1);
                while rebout_take(handles[at], &raw mut to, datagram.as_mut_ptr(), 1_264, &raw mut count)
                    == Status::Ok
                    && count > 0
                {
                    sent.push((ms + 40, 1 - at, datagram[..count].to_vec()));
                }
            }
            sent.retain(|(due, to, datagram)| {
                *due > ms
                    || rebout_deliver(handles[*to], 2 - *to as u64, datagram.as_ptr(), datagram.len())
                        != Status::Ok
            });
            if games.iter().all(|game| (**game).frame >= FRAMES) {
                break;
            }
        }
        let mut stats: CStats = CStats { size: size_of::<CStats>() as u32, ..CStats::default() };
        rebout_get_stats(handles[0], &raw mut stats);
        println!("c: {} rollbacks", stats.rollbacks);
        handles.iter_mut().for_each(|handle| {
            rebout_free(handle);
        });
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("rust") => in_rust(),
        _ => in_c(),
    }
}
