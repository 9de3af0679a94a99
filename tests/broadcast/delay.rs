//! The delay at the source, by looking into every packet.

use crate::stage::{Stage, link, ms};
use rebout::lab::sim::{EntryKind, Recording as Recorded};
use rebout::lab::wire::broadcast::ToSpectator;
use rebout::replay::Recording;
use rebout::{BroadcastConfig, Player};

#[test]
fn no_packet_to_a_spectator_has_a_younger_frame() {
    const DELAY_MS: u64 = 60_000;
    let config = BroadcastConfig { delay: ms(DELAY_MS), chat: true, ..BroadcastConfig::default() };
    // Over before the delay has passed, so that events, a message and the verdict are delayed too.
    let mut stage = Stage::new(1_500, Some(config));
    stage.world.network_mut().record(Recorded::Full);
    let early = stage.watch(0, None, link(20, 0));
    // The time at which each frame was stepped at the host.
    let mut stepped = vec![stage.world.now()];
    while stage.world.now() < ms(90_000) {
        if stage.world.now() == ms(2_000) {
            let host = stage.host_mut();
            host.broadcast.as_mut().unwrap().message(ms(2_000), Player::One, b"good luck");
        }
        let settled = stage.settled() as usize;
        while stepped.len() <= settled {
            stepped.push(stage.world.now());
        }
        stage.run_for(ms(5));
    }
    assert!(stage.has_seen_the_end(early), "{:?}", stage.watcher(early).spectator.state());
    let (host, spectator) = (stage.host_addr(), stage.world.network().addr(early));
    let (mut log, mut looked, mut newest) = (Vec::new(), 0, 0);
    for entry in stage.world.network().transcript().entries() {
        if entry.kind != EntryKind::Sent || entry.from != host || entry.to != spectator {
            continue;
        }
        let Ok(packet) = ToSpectator::decode(&entry.datagram) else { panic!("{entry:?}") };
        looked += 1;
        let frame = match packet {
            ToSpectator::Data { offset, bytes, .. } => {
                assert!(offset as usize <= log.len(), "a link without loss");
                log.truncate(offset as usize);
                log.extend_from_slice(bytes);
                let recording = Recording::open(log.clone()).unwrap();
                let messages = recording.messages().count();
                assert!(messages == 0 || entry.at >= ms(2_000 + DELAY_MS), "the message at {:?}", entry.at);
                recording.frames()
            }
            // A statement is about bytes of the same age.
            ToSpectator::Head(head, _) => {
                assert!(entry.at >= ms(DELAY_MS), "{head:?} at {:?}", entry.at);
                continue;
            }
            _ => continue,
        };
        newest = newest.max(frame);
        let age = entry.at.saturating_sub(stepped[frame.saturating_sub(1) as usize]);
        // Frames are looked at every 5 ms here.
        assert!(age + ms(5) >= ms(DELAY_MS), "frame {frame} left at the age of {age:?}");
    }
    assert!(looked > 30 && newest == 1_500, "{looked} packets, up to frame {newest}");
    let recording = Recording::open(stage.watcher(early).spectator.bytes().to_vec()).unwrap();
    assert!(recording.messages().eq([(
        recording.messages().next().unwrap().0,
        Player::One,
        &b"good luck"[..]
    )]));
}

#[test]
fn messages_reach_spectators_only_if_the_config_says_so() {
    for chat in [false, true] {
        let mut stage = Stage::new(300, Some(BroadcastConfig { chat, ..BroadcastConfig::default() }));
        let id = stage.watch(0, None, link(20, 0));
        stage.run_for(ms(2_000));
        let now = stage.world.now();
        let host = stage.host_mut();
        host.session.as_mut().unwrap().send(now, b"hello").unwrap();
        host.broadcast.as_mut().unwrap().message(now, Player::One, b"hello");
        assert!(stage.run_until(ms(20_000), |stage| stage.has_seen_the_end(id)));
        let recording = Recording::open(stage.watcher(id).spectator.bytes().to_vec()).unwrap();
        assert_eq!(recording.messages().count(), usize::from(chat));
    }
}
