//! Spectators that flood, never acknowledge, come and go, lie and send inputs.

use crate::stage::{Out, Stage, link, ms};
use core::time::Duration;
use rebout::lab::wire::broadcast::{Bye, ToSpectator, encode_ack, encode_leave, encode_watch};
use rebout::{BroadcastConfig, Session};
use std::cell::RefCell;
use std::rc::Rc;

fn packet(write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Vec<u8> {
    let mut buf = vec![0; 1_200];
    let len = write(&mut buf).unwrap();
    buf.truncate(len);
    buf
}

fn watch() -> Vec<u8> {
    packet(|buf| encode_watch(&[0; 16], 0, buf))
}

/// The stalls, rollbacks and late frames of both players after a minute with these spectators.
fn played(hostile: bool) -> ([u64; 2], u64, [u32; 2]) {
    let config = BroadcastConfig { max_spectators: 16, ..BroadcastConfig::default() };
    let mut stage = Stage::new(u32::MAX, Some(config));
    let host = stage.host_addr();
    stage.run_for(ms(5_000));
    if hostile {
        // Two flood with requests and inputs, two never acknowledge, two join a hundred times, two leave in the middle.
        for kind in 0..8_u32 {
            let mut turn = 0_u32;
            stage.rogue(
                move |_, out: &mut Out| {
                    turn += 1;
                    match kind {
                        0 => out.extend((0..200).map(|_| (host, watch()))),
                        1 => out
                            .extend((0..200).map(|_| (host, b"RBN1\x01\0\0\0\0\0\x01\0\0\0\0\0\0".to_vec()))),
                        2 | 3 if turn == 1 => out.push((host, watch())),
                        4 | 5 if turn.is_multiple_of(20) => out.push((host, watch())),
                        6 | 7 => match turn % 60 {
                            1 => out.push((host, watch())),
                            30 => out.push((host, packet(encode_leave))),
                            _ => {}
                        },
                        _ => {}
                    }
                },
                move |_, _, datagram, out: &mut Out| {
                    if let (4..8, Ok(ToSpectator::Head(head, _))) = (kind, ToSpectator::decode(datagram)) {
                        let number = head.of.number;
                        out.push((host, packet(|buf| encode_ack(number, 0, head.len, &[], buf))));
                    }
                },
            );
        }
    }
    let honest = stage.watch(0, None, link(20, 0));
    stage.run_for(ms(60_000));
    let stalls = [0, 1].map(|side| {
        let stats = stage.player(side).session.as_ref().map(Session::stats).unwrap();
        stats.stalled_frames
    });
    let frames = [0, 1].map(|side| stage.player(side).session.as_ref().unwrap().current().0);
    let viewer = stage.watcher(honest).viewer.as_ref().expect("the honest one watches");
    assert!(stage.settled() - viewer.frame().0 <= 180, "the honest one is live");
    let stats = stage.broadcast().stats();
    println!("hostile {hostile}: {stats:?}, stalls {stalls:?}, frames {frames:?}");
    (stalls, stats.sent_bytes, frames)
}

#[test]
fn hostile_spectators_stall_no_player() {
    let (without, _, frames) = played(false);
    let (with, sent_bytes, hostile_frames) = played(true);
    assert_eq!(with, without, "stalls");
    assert_eq!(hostile_frames, frames, "frames in the same time");
    // A minute of the bandwidth of all spectators.
    assert!(sent_bytes <= 65 * 125_000, "{sent_bytes} bytes");
}

/// A spectator of an endless match that sends these packets once it was sent a head; what it hears.
fn answered_to(lie: impl Fn(u32, u32) -> Vec<u8> + 'static) -> (Vec<Bye>, u64) {
    let mut stage = Stage::new(u32::MAX, Some(BroadcastConfig::default()));
    stage.run_for(ms(5_000));
    let (host, byes) = (stage.host_addr(), Rc::new(RefCell::new(Vec::new())));
    let heard = Rc::clone(&byes);
    let mut begun = false;
    stage.rogue(
        move |_, out: &mut Out| {
            if !core::mem::replace(&mut begun, true) {
                out.push((host, watch()));
            }
        },
        move |_, _, datagram, out: &mut Out| match ToSpectator::decode(datagram) {
            Ok(ToSpectator::Head(head, _)) => {
                out.extend(Some((host, lie(head.of.number, head.len))).filter(|(_, lie)| !lie.is_empty()));
            }
            Ok(ToSpectator::Bye(bye)) => heard.borrow_mut().push(bye),
            _ => {}
        },
    );
    stage.run_for(Duration::from_secs(30));
    let byes = byes.borrow().clone();
    (byes, stage.broadcast().stats().sent_bytes)
}

#[test]
fn acks_of_bytes_that_were_never_sent_evict() {
    for (next, head) in [(u32::MAX, 0), (1_000_000, 0), (0, 1), (0, u32::MAX / 2)] {
        let (byes, _) = answered_to(move |number, len| {
            packet(|buf| encode_ack(number, next, len.saturating_add(head), &[], buf))
        });
        assert_eq!(byes, [Bye::Misbehaved], "{next} {head}");
    }
    let (byes, _) =
        answered_to(|number, len| packet(|buf| encode_ack(number, 0, len, &[100..200, 300..u32::MAX], buf)));
    assert_eq!(byes, [Bye::Misbehaved]);
}

#[test]
fn spectator_that_acknowledges_nothing_is_told_and_costs_little() {
    let (byes, sent) = answered_to(|number, len| packet(|buf| encode_ack(number, 0, len, &[], buf)));
    assert_eq!(byes.first(), Some(&Bye::TooSlow));
    assert!(sent < 200_000, "{sent} bytes to a machine that acknowledges nothing");
}

#[test]
fn silent_spectator_is_told_and_dropped() {
    let (byes, _) = answered_to(|_, _| Vec::new());
    assert!(byes.contains(&Bye::Silent), "{byes:?}");
}

#[test]
fn spectator_that_sends_inputs_is_evicted() {
    let config = BroadcastConfig::default();
    let mut stage = Stage::new(u32::MAX, Some(config));
    stage.run_for(ms(3_000));
    let (host, byes) = (stage.host_addr(), Rc::new(RefCell::new(Vec::new())));
    let heard = Rc::clone(&byes);
    let mut turn = 0;
    stage.rogue(
        move |_, out: &mut Out| {
            turn += 1;
            out.push((
                host,
                if turn == 1 { watch() } else { b"RBN1\x01\0\0\0\0\0\x01\0\0\0\0\0\0".to_vec() },
            ));
        },
        move |_, _, datagram, _| {
            if let Ok(ToSpectator::Bye(bye)) = ToSpectator::decode(datagram) {
                heard.borrow_mut().push(bye);
            }
        },
    );
    let refused = stage.player(0).session.as_ref().unwrap().stats().refused.total();
    stage.run_for(ms(10_000));
    assert_eq!(byes.borrow().first(), Some(&Bye::Misbehaved));
    assert_eq!(
        stage.player(0).session.as_ref().unwrap().stats().refused.total(),
        refused,
        "no player sees any of it"
    );
    assert!(stage.broadcast().stats().refused > 200);
}
