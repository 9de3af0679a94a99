//! The ways to meet: a transport of callbacks, offer and answer, an open host with a code, a rendezvous, invites for one.

use crate::calls::{error, options, sized};
use crate::counters::{Counters, FRAMES};
use crate::misuse::Owned;
use crate::pair::Machine;
use rebout::Randomness;
use rebout::net::udp::UdpDriver;
use rebout::rendezvous::{RendezvousConfig, RendezvousServer};
use rebout_c::safe::codes::{FinishCode, Status, VerdictCode};
use rebout_c::*;
use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::time::{Duration, Instant};

/// No test waits for longer.
const LIMIT: Duration = Duration::from_secs(60);

/// Options on this machine alone, at a rate that makes a match short.
pub(crate) fn quick() -> Box<COptions> {
    let mut given = options();
    given.rate_numerator = 240;
    given
}

/// The text that a function lends.
pub(crate) fn text_of(
    handle: *mut Handle,
    lend: unsafe extern "C" fn(*mut Handle, *mut *const std::ffi::c_char) -> Status,
) -> CString {
    let mut text = ptr::null();
    // SAFETY: a live handle and a place for a pointer.
    unsafe {
        assert_eq!(lend(handle, &raw mut text), Status::Ok, "{}", error(handle));
        CStr::from_ptr(text).to_owned()
    }
}

/// Runs the machines on the clock of the system until `ends`.
pub(crate) fn until(machines: &mut [&mut Machine], mut ends: impl FnMut(&[&mut Machine]) -> bool) {
    let begun = Instant::now();
    while !ends(machines) {
        let texts = || machines.iter().map(|one| (one.game.frame, text_of(one.handle.0, rebout_progress)));
        assert!(begun.elapsed() < LIMIT, "{:?}", texts().collect::<Vec<_>>());
        machines.iter_mut().for_each(|machine| machine.turns(rebout_poll));
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn are_over(machines: &[&mut Machine]) -> bool {
    machines.iter().all(|machine| machine.over.is_some())
}

/// Checks that both played the whole match and agree.
fn assert_agreed(machines: [&Machine; 2]) {
    for machine in machines {
        let over = machine.over.as_ref().expect("an end");
        assert_eq!(over.turn.finish, FinishCode::Played as u32, "{over:?}");
        assert_eq!((over.turn.verdict, over.turn.frame), (VerdictCode::Agreed as u32, FRAMES), "{over:?}");
    }
    assert_eq!(machines[0].game, machines[1].game);
    assert_ne!(machines[0].game.counters, [0; 2]);
}

/// A network of two machines in the memory of this test, with a clock that goes on when it is waited on.
#[derive(Default)]
struct Wires {
    now: u64,
    waiting: [VecDeque<Vec<u8>>; 2],
    calls: [u32; 4],
    is_broken: bool,
}

/// The end of a machine: the wires, and its id.
struct Plug {
    wires: *mut Wires,
    id: u64,
}

/// The wires of a plug, and its index.
///
/// # Safety
/// `user` is a plug whose wires live, and nobody else uses them now.
unsafe fn plugged<'a>(user: *mut c_void) -> (&'a mut Wires, usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let plug = &*user.cast::<Plug>();
        (&mut *plug.wires, plug.id as usize - 1)
    }
}

unsafe extern "C-unwind" fn send(user: *mut c_void, to: u64, datagram: *const u8, bytes: usize) {
    // SAFETY: a plug of this test, and the bytes of a datagram.
    let ((wires, at), datagram) = unsafe { (plugged(user), std::slice::from_raw_parts(datagram, bytes)) };
    assert_eq!(to as usize, 2 - at, "to the other machine");
    wires.calls[0] += 1;
    wires.waiting[1 - at].push_back(datagram.to_vec());
}

unsafe extern "C-unwind" fn receive(
    user: *mut c_void,
    from: *mut u64,
    datagram: *mut u8,
    bytes: usize,
) -> isize {
    // SAFETY: a plug of this test.
    let (wires, at) = unsafe { plugged(user) };
    wires.calls[1] += 1;
    if wires.is_broken {
        return -1;
    }
    let Some(next) = wires.waiting[at].pop_front() else { return 0 };
    assert!(next.len() <= bytes);
    // SAFETY: a place for an id, and a buffer of this size.
    unsafe {
        *from = 2 - at as u64;
        ptr::copy_nonoverlapping(next.as_ptr(), datagram, next.len());
    }
    next.len() as isize
}

unsafe extern "C-unwind" fn wait(user: *mut c_void, at_most_nanos: u64) {
    // SAFETY: a plug of this test.
    let (wires, _) = unsafe { plugged(user) };
    wires.calls[2] += 1;
    wires.now += at_most_nanos.clamp(1_000, 1_000_000);
}

unsafe extern "C-unwind" fn now(user: *mut c_void) -> u64 {
    // SAFETY: a plug of this test.
    let (wires, _) = unsafe { plugged(user) };
    wires.calls[3] += 1;
    wires.now
}

#[test]
fn transport_of_callbacks_carries_a_match_and_can_fail() {
    for access in [Access::Invite, Access::Transport] {
        let mut wires = Box::new(Wires::default());
        let plugs = [1, 2].map(|id| Box::new(Plug { wires: &raw mut *wires, id }));
        let mut machines = [Machine::new(), Machine::new()];
        let mut given = quick();
        (given.access, given.bind, given.entropy) = (access as u32, ptr::null(), 5);
        let mut transport = sized::<TransportTable>();
        let mut invite = CString::default();
        for (at, machine) in machines.iter().enumerate() {
            (transport.local_id, transport.user) =
                (plugs[at].id, ptr::from_ref(&*plugs[at]).cast_mut().cast());
            transport.send = Some(send);
            transport.receive = Some(receive);
            transport.wait = Some(wait);
            transport.now = Some(now);
            let handle = machine.handle.0;
            given.entropy += 1;
            // SAFETY: a live handle and valid arguments.
            let status = unsafe {
                match at {
                    0 => rebout_host_on(handle, &raw const *given, &raw const *transport),
                    _ => rebout_join_on(handle, &raw const *given, &raw const *transport, invite.as_ptr()),
                }
            };
            assert_eq!(status, Status::Ok, "{}", error(handle));
            invite = text_of(handle, rebout_share);
        }
        let [one, two] = &mut machines;
        // Both wait on the same clock, one after the other.
        let mut rounds = 0;
        while one.over.is_none() || two.over.is_none() {
            one.turn(rebout_wait);
            two.turn(rebout_wait);
            rounds += 1;
            assert!(rounds < 100_000, "frames {} and {}", one.game.frame, two.game.frame);
        }
        assert_agreed([one, two]);
        assert!(wires.calls.iter().all(|calls| *calls > 100), "{:?}", wires.calls);
        wires.is_broken = true;
        let mut turn = sized::<CTurn>();
        // SAFETY: a live handle and a struct.
        let status = unsafe { rebout_poll(one.handle.0, &raw mut *turn) };
        assert_eq!(status, Status::Transport);
        assert!(error(one.handle.0).contains("receive callback failed"), "{}", error(one.handle.0));
        machines.iter().for_each(|machine| {
            // SAFETY: a live handle. The wires are gone after this.
            unsafe { rebout_close(machine.handle.0) };
        });
    }
}

/// An address of this machine that an offer may name, which loopback is not. Nothing is sent to find it.
fn own_address() -> Option<CString> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.200:9").ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then(|| CString::new(format!("{ip}:0")).unwrap())
}

#[test]
fn offer_and_answer_connect_two_handles() {
    let Some(own) = own_address() else {
        eprintln!("skipped: this machine has loopback only");
        return;
    };
    let mut machines = [Machine::new(), Machine::new()];
    let [host, joiner] = &mut machines;
    let mut given = quick();
    (given.access, given.bind) = (Access::Manual as u32, own.as_ptr());
    // SAFETY: live handles and valid arguments.
    unsafe {
        let status = rebout_host(host.handle.0, &raw const *given);
        assert_eq!(status, Status::Ok, "{}", error(host.handle.0));
        let offer = text_of(host.handle.0, rebout_share);
        given.access = Access::Invite as u32;
        let status = rebout_join(joiner.handle.0, &raw const *given, offer.as_ptr());
        assert_eq!(status, Status::Ok, "{}", error(joiner.handle.0));
        let answer = text_of(joiner.handle.0, rebout_share);
        assert_eq!(rebout_take_answer(host.handle.0, offer.as_ptr()), Status::Failed, "that is the offer");
        assert!(error(host.handle.0).contains("this is an offer"), "{}", error(host.handle.0));
        assert_eq!(rebout_take_answer(joiner.handle.0, answer.as_ptr()), Status::Failed, "it made no offer");
        let status = rebout_take_answer(host.handle.0, answer.as_ptr());
        assert_eq!(status, Status::Ok, "{}", error(host.handle.0));
    }
    until(&mut [host, joiner], are_over);
    assert_agreed([host, joiner]);
}

#[test]
fn open_host_and_guest_see_one_code_and_verify_it() {
    let mut machines = [Machine::new(), Machine::new()];
    let mut given = quick();
    given.access = Access::Open as u32;
    let [host, joiner] = &mut machines;
    // SAFETY: live handles and valid arguments.
    unsafe {
        assert_eq!(rebout_host(host.handle.0, &raw const *given), Status::Ok);
        assert_eq!(rebout_verify(host.handle.0), Status::Phase, "nobody is there");
        let address = text_of(host.handle.0, rebout_share);
        let status = rebout_join(joiner.handle.0, &raw const *given, address.as_ptr());
        assert_eq!(status, Status::Ok, "{}", error(joiner.handle.0));
    }
    until(&mut [host, joiner], |machines| machines.iter().all(|machine| machine.game.frame > 5));
    let peer = |machine: &Machine| {
        let mut peer = sized::<CPeer>();
        // SAFETY: a live handle and a struct.
        unsafe {
            assert_eq!(rebout_peer(machine.handle.0, &raw mut *peer), Status::Ok);
            (CStr::from_ptr(peer.code).to_owned(), peer.is_verified, CStr::from_ptr(peer.address).to_owned())
        }
    };
    assert_eq!(peer(host).0, peer(joiner).0);
    assert!(peer(host).0.count_bytes() >= 4 && peer(host).2.to_str().unwrap().starts_with("127.0.0.1:"));
    assert_eq!([peer(host).1, peer(joiner).1], [0, 0]);
    // SAFETY: a live handle.
    unsafe { assert_eq!(rebout_verify(host.handle.0), Status::Ok) };
    assert_eq!([peer(host).1, peer(joiner).1], [1, 0], "each player compares it");
}

#[test]
fn players_meet_at_a_rendezvous_and_a_moved_socket_goes_on() {
    let mut udp = UdpDriver::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let mut server = RendezvousServer::new(RendezvousConfig::default(), Randomness::System).unwrap();
    let at = CString::new(udp.local_addr().to_string()).unwrap();
    let mut machines = [Machine::new(), Machine::new()];
    let [host, joiner] = &mut machines;
    let mut given = quick();
    (given.rendezvous, given.leave_addresses_out) = (at.as_ptr(), 1);
    // SAFETY: live handles and valid arguments.
    unsafe {
        let status = rebout_host(host.handle.0, &raw const *given);
        assert_eq!(status, Status::Ok, "{}", error(host.handle.0));
        (given.rendezvous, given.leave_addresses_out) = (ptr::null(), 0);
        let invite = text_of(host.handle.0, rebout_share);
        let status = rebout_join(joiner.handle.0, &raw const *given, invite.as_ptr());
        assert_eq!(status, Status::Ok, "{}", error(joiner.handle.0));
    }
    let mut is_moved = false;
    until(&mut [host, joiner], |machines| {
        udp.poll(&mut server).unwrap();
        if machines[1].game.frame > 30 && !is_moved {
            let handle = machines[1].handle.0;
            // SAFETY: a live handle and texts.
            unsafe {
                assert_eq!(rebout_rebind(handle, c"here".as_ptr()), Status::Invalid);
                assert_eq!(rebout_rebind(handle, c"127.0.0.1:0".as_ptr()), Status::Ok, "{}", error(handle));
            }
            is_moved = true;
        }
        are_over(machines)
    });
    assert!(is_moved);
    assert_agreed([host, joiner]);
}

#[test]
fn invite_for_one_is_used_up_and_a_revoked_one_is_refused() {
    let [mut host, mut guest] = [Machine::new(), Machine::new()];
    let given = quick();
    // SAFETY: live handles and valid arguments.
    unsafe {
        assert_eq!(rebout_host(host.handle.0, &raw const *given), Status::Ok);
        let first = text_of(host.handle.0, rebout_share);
        let single = text_of(host.handle.0, rebout_invite_one);
        assert_ne!(first, single);
        assert_eq!(rebout_revoke(host.handle.0, first.as_ptr()), Status::Ok);
        assert_eq!(rebout_revoke(host.handle.0, first.as_ptr()), Status::Invalid, "it is revoked already");
        let status = rebout_join(guest.handle.0, &raw const *given, single.as_ptr());
        assert_eq!(status, Status::Ok, "{}", error(guest.handle.0));
        until(&mut [&mut host, &mut guest], |machines| machines.iter().all(|one| one.game.frame > 5));
        assert_eq!(rebout_revoke(host.handle.0, single.as_ptr()), Status::Invalid, "it is used up");
        let joiner = Owned::new();
        assert_eq!(rebout_invite_one(guest.handle.0, &mut ptr::null()), Status::Failed, "no host");
        assert_eq!(rebout_invite_one(joiner.0, &mut ptr::null()), Status::Phase);
    }
    assert_ne!(*host.game, Counters::default());
}
