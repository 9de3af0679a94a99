//! Tests of the first path by signalling, of timeouts and of challenges, around a protocol.

use super::{INNER, Inner, Rig, addr, at, control, data, init, ms, to};
use crate::connect::seal::association::Association;
use crate::connect::seal::channel::{Channel, MAX_TEXT};
use crate::connect::seal::{Brought, Randomness, Seal};
use crate::protocol::{ConnectionStep, PeerRole, Protocol};
use crate::wire::seal::{self, Kind, Packet, RESP, TAG_LEN};

/// A joiner by signalling that has sent a REQUEST, and the RESP to its INIT.
fn joiner_by_signal() -> (Rig, Vec<u8>) {
    let mut host = Seal::host(Randomness::Seeded(1)).unwrap();
    let mut seal = Seal::join_by_signal(Randomness::Seeded(2), host.public_key().unwrap()).unwrap();
    let init = seal.write_init(ms(0), host.renew_ticket().unwrap(), b"x").unwrap();
    let Ok(Brought::Guest(guest)) = host.handle_signal(ms(0), &init) else { panic!("a guest") };
    (Rig { seal, inner: Inner::default() }, host.answer_signal(ms(0), guest, b"y").unwrap())
}

/// The RESP of a handshake by signalling may come as a datagram. Either way the protocol hears of the first path alone.
#[test]
fn first_path_is_told_once_and_not_the_resp_by_signal() {
    for as_datagram in [false, true] {
        let (mut rig, resp) = joiner_by_signal();
        if as_datagram {
            rig.hear(10, 1, &resp);
        } else {
            assert!(rig.seal.handle_signal(ms(10), &resp).is_ok());
        }
        assert_eq!((rig.poll(10).len(), rig.first().is_known(), rig.inner.told.len()), (0, false, 0));
        let target = rig.seal.target().unwrap();
        rig.seal.offer_path(ms(20), target, addr(2), ms(50));
        (0..2).for_each(|_| drop(rig.poll(20)));
        let step = ConnectionStep::Confirmed { round_trip: ms(50), role: PeerRole::Host };
        assert_eq!(rig.inner.told, [(target.port(), step)]);
    }
}

#[test]
fn timeout_is_that_of_seal_or_protocol_whichever_is_sooner() {
    let (mut rig, _) = Rig::playing();
    let mut at = |timeout| {
        rig.inner.timeout = timeout;
        rig.seal.around(&mut rig.inner).poll_timeout()
    };
    assert_eq!([None, Some(ms(5)), Some(ms(5_000))].map(&mut at), [ms(1_000), ms(5), ms(1_000)].map(Some));
    let init = init(&mut rig);
    rig.hear(1_000, 1, &init);
    let waits = rig.seal.associations.iter().any(Association::awaits_answer);
    assert!(waits, "a RESP waits for the protocol's answer");
    assert_eq!(rig.seal.poll_timeout(), Some(ms(0)));
    assert!(rig.poll(1_000).iter().any(|(_, packet)| packet[0] == RESP));
    assert_eq!(rig.seal.poll_timeout(), Some(ms(2_000)));
}

#[test]
fn queued_init_of_one_key_is_due_whatever_other_keys_wait_for() {
    let mut rig = Rig::new();
    rig.seal.add_access(PeerRole::Spectator, Some([9; 32]), 4).unwrap();
    let init = init(&mut rig);
    rig.hear(0, 2, &init);
    rig.poll(0);
    assert_eq!((rig.seal.stats.handshakes, rig.seal.poll_timeout()), (0, Some(ms(1_000))));
    rig.poll(1_000);
    assert_eq!(rig.seal.stats.handshakes, 1);
}

#[test]
fn challenge_is_answered_to_where_it_came_from() {
    let (mut rig, mut guest) = Rig::playing();
    rig.hear(500, 1, &control(&mut guest, Kind::Found, b""));
    assert_eq!(rig.first().contact().opened_at(), at(500));
    rig.hear(600, 2, &control(&mut guest, Kind::Challenge, &[7; 8]));
    let sent = rig.poll(600);
    assert!(to(&sent, 2).iter().any(|packet| packet[7] == Kind::Proof as u8 + 1));
    assert!(to(&sent, 1).iter().all(|packet| packet[7] == Kind::Challenge as u8 + 1));
}

/// The answer of the guest to a challenge.
fn proof(guest: &mut Channel, challenge: &[u8]) -> Vec<u8> {
    let Ok(Packet::Control(challenge)) = seal::decode(challenge) else { panic!("no control packet") };
    let mut text = [0; MAX_TEXT + TAG_LEN];
    let len = guest.open_control(&challenge, &mut text).unwrap().len;
    control(guest, Kind::Proof, &text[..len])
}

#[test]
fn address_of_before_gets_copies_for_what_came_from_it() {
    for heard in [true, false] {
        let (mut rig, mut guest) = Rig::playing();
        rig.hear(10, 2, &data(&mut guest, 500));
        rig.poll(10);
        if heard {
            rig.hear(20, 1, &data(&mut guest, 500));
        }
        let challenges = rig.poll(110);
        rig.hear(150, 2, &proof(&mut guest, to(&challenges, 2)[0]));
        (2..5).for_each(|turn| drop(rig.poll(turn * 100 + 10)));
        assert_eq!(rig.seal.outer_addr(addr(INNER)), Some(addr(2)), "port 1 does not answer");
        rig.say(20);
        let sent = rig.poll(420);
        assert_eq!([to(&sent, 2).len(), to(&sent, 1).len()], [1, usize::from(heard)]);
    }
}
