//! Broadcasts that change, invent or withhold a log.

use crate::stage::{Stage, key, link, ms};
use core::time::Duration;
use rebout::lab::wire::broadcast::{Head, Status, ToSpectator};
use rebout::{Broadcast, BroadcastConfig, Protocol, Spectator, Watching};
use std::net::SocketAddr;

#[test]
fn flipped_byte_of_a_parent_is_refused_and_another_asked() {
    let mut stage = Stage::new(900, Some(BroadcastConfig::default()));
    let parent = stage.watch(0, Some(BroadcastConfig::default()), link(20, 0));
    let [lonely, other] = [(); 2].map(|()| stage.watch(parent, None, link(20, 0)));
    let (now, host) = (stage.world.now(), stage.host_addr());
    stage.watcher_mut(other).spectator.add_parent(now, host);
    stage.run_for(ms(6_000));
    let before = stage.watcher(lonely).spectator.bytes().to_vec();
    assert!(!before.is_empty());
    stage.watcher_mut(parent).flips = 2;
    stage.run_for(ms(4_000));
    // One ends and says why, and has nothing that the source did not sign.
    let spectator = &stage.watcher(lonely).spectator;
    assert_eq!((spectator.state(), spectator.forged()), (Watching::Forged, 1));
    assert!(stage.watcher(parent).spectator.bytes().starts_with(spectator.bytes()));
    assert_eq!(spectator.state().to_string(), "the broadcast sent a match that its source has not signed");
    // The other asks the source, and sees the match to its end.
    let spectator = &stage.watcher(other).spectator;
    assert_eq!((spectator.parent(), spectator.forged()), (host, 1));
    assert!(stage.run_until(ms(30_000), |stage| stage.has_seen_the_end(other)));
}

const PARENT: ([u8; 4], u16) = ([10, 0, 0, 1], 7_000);

/// A spectator that has asked, and the packet of a broadcast to it.
fn asked() -> (Spectator, SocketAddr) {
    let parent = SocketAddr::from(PARENT);
    let mut spectator = Spectator::new(Duration::ZERO, key(), parent);
    assert!(spectator.poll_transmit(Duration::ZERO, &mut [0; 1_200]).is_some());
    (spectator, parent)
}

fn tell(spectator: &mut Spectator, at: Duration, packet: &ToSpectator<'_>) {
    let mut buf = [0; 1_200];
    let len = packet.encode(&mut buf).unwrap();
    spectator.handle_datagram(at, PARENT.into(), &buf[..len]);
}

/// The newest head and bytes of the broadcast of a match of so many seconds, and of the one after it.
fn heads(seconds: u64) -> (Head, Vec<u8>) {
    let mut stage = Stage::new(u32::MAX, Some(BroadcastConfig::default()));
    let heard = std::rc::Rc::new(std::cell::Cell::new(None));
    let kept = std::rc::Rc::clone(&heard);
    let id = stage.watch(0, None, link(20, 0));
    stage.run_for(ms(seconds * 1_000));
    let bytes = stage.watcher(id).spectator.bytes().to_vec();
    let host = stage.host_addr();
    stage.rogue(
        move |_, out| {
            let mut buf = [0; 64];
            let len = rebout::lab::wire::broadcast::encode_watch(&[0; 16], 0, &mut buf).unwrap();
            out.push((host, buf[..len].to_vec()));
        },
        move |_, _, datagram, _| {
            if let Ok(ToSpectator::Head(head, _)) = ToSpectator::decode(datagram) {
                kept.set(kept.get().or(Some(head)));
            }
        },
    );
    stage.run_for(ms(300));
    (heard.get().unwrap(), bytes)
}

#[test]
fn endless_log_of_a_parent_takes_no_memory() {
    let (head, bytes) = heads(5);
    let (mut spectator, _) = asked();
    tell(&mut spectator, ms(10), &ToSpectator::Head(head, Status::default()));
    assert_eq!(spectator.state(), Watching::Receiving);
    let more = [7; 1_024];
    for step in 0..100_000_u32 {
        let offset = bytes.len() as u32 + step * 1_024;
        tell(&mut spectator, ms(20), &ToSpectator::Data { number: 1, offset, bytes: &more });
    }
    assert!(spectator.bytes().is_empty());
    for (at, piece) in bytes[..head.len as usize].chunks(1_000).enumerate() {
        let packet = ToSpectator::Data { number: 1, offset: at as u32 * 1_000, bytes: piece };
        tell(&mut spectator, ms(30), &packet);
    }
    assert_eq!(spectator.bytes(), &bytes[..head.len as usize], "what is signed is taken");
}

#[test]
fn heads_without_the_sources_signature_are_refused() {
    let (head, _) = heads(5);
    let mut signature = head.signature;
    signature[40] ^= 1;
    for forged in [
        Head { signature, ..head },
        Head { len: head.len + 1, ..head },
        Head { hash: [0; 32], ..head },
        Head { is_last: true, ..head },
        Head { of: rebout::lab::wire::broadcast::MatchId { number: 2, ..head.of }, ..head },
        Head { of: rebout::lab::wire::broadcast::MatchId { id: [9; 16], ..head.of }, ..head },
    ] {
        let (mut spectator, _) = asked();
        tell(&mut spectator, ms(10), &ToSpectator::Head(forged, Status::default()));
        assert_eq!((spectator.state(), spectator.forged()), (Watching::Forged, 1), "{forged:?}");
        assert_eq!(spectator.match_number(), 0);
    }
}

#[test]
fn old_signatures_take_nothing_back() {
    let ((old, _), (new, bytes)) = (heads(4), heads(8));
    assert!(old.len < new.len && old.of == new.of);
    let (mut spectator, _) = asked();
    tell(&mut spectator, ms(10), &ToSpectator::Head(new, Status::default()));
    for (at, piece) in bytes[..new.len as usize].chunks(1_000).enumerate() {
        tell(
            &mut spectator,
            ms(20),
            &ToSpectator::Data { number: 1, offset: at as u32 * 1_000, bytes: piece },
        );
    }
    assert_eq!(spectator.bytes().len(), new.len as usize);
    tell(&mut spectator, ms(30), &ToSpectator::Head(old, Status::default()));
    assert_eq!((spectator.bytes().len(), spectator.forged()), (new.len as usize, 0));
}

#[test]
fn signature_of_another_source_is_refused() {
    let (head, _) = heads(5);
    let other = Broadcast::new(BroadcastConfig::default(), &[1; 32]).key().unwrap();
    let mut spectator = Spectator::new(Duration::ZERO, other, PARENT.into());
    tell(&mut spectator, ms(10), &ToSpectator::Head(head, Status::default()));
    assert_eq!(spectator.state(), Watching::Forged);
}

#[test]
fn parent_that_announces_and_sends_nothing_is_given_up() {
    let (head, _) = heads(5);
    let (mut spectator, parent) = asked();
    let mut buf = [0; 1_200];
    for step in 0..110 {
        tell(&mut spectator, ms(step * 100), &ToSpectator::Head(head, Status::default()));
        while let Some((to, _)) = spectator.poll_transmit(ms(step * 100), &mut buf) {
            assert_eq!(to, parent);
        }
    }
    assert_eq!(spectator.state(), Watching::Lost);
}
