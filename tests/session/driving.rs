//! The calls of a driver: when there is something to send, and when a frame is due.

use crate::pair::{Pair, SOON, addr, config, hello, ms, pair, pair_with, plays, stranger};
use core::time::Duration;
use rebout::Protocol;
use rebout::lab::forge::{Knows, control, message};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{HOST, JOINER};
use rebout::wire::control::{ControlHeader, ControlPayload};

const MICRO: Duration = Duration::from_micros(1);

/// Before the time that a protocol names it sends nothing; at that time it does, or names a later one.
fn assert_deadline_holds(protocol: &(impl Protocol + Clone), now: Duration, what: &str) -> bool {
    let mut buf = [0; 2_048];
    let mut sends = |at: Duration| {
        let mut copy = protocol.clone();
        (copy.poll_transmit(at, &mut buf).is_some(), copy.poll_timeout())
    };
    let Some(due) = protocol.poll_timeout() else {
        assert!(!sends(now + Duration::from_secs(3_600)).0, "{what}: never due, and yet it sends");
        return false;
    };
    if due <= now {
        return false;
    }
    assert!(!sends(now).0 && !sends(due - MICRO).0, "{what}: sends before {due:?}");
    let (sent, next) = sends(due);
    assert!(
        sent || next.is_none_or(|next| next > due),
        "{what}: nothing to send at {due:?}, and again {next:?}"
    );
    true
}

#[test]
fn match_sends_when_it_says_and_not_before() {
    let lossy = LinkConfig { loss: Chance::percent(20), jitter: ms(10), ..LinkConfig::new(ms(40)) };
    let mut pair = pair();
    plays(&mut pair, 60);
    pair.world.network_mut().set_links(HOST, JOINER, lossy);
    let mut held = 0;
    for step in 0..4_000_u32 {
        if step % 500 == 0 {
            let now = pair.local_now(HOST);
            pair.session_mut(HOST).send(now, b"a message to be sent again").expect("room");
        }
        if step == 3_000 {
            // Silence, in which nothing is acknowledged.
            pair.world.network_mut().set_down(HOST, JOINER, true);
        }
        pair.run_for(ms(1));
        for id in [HOST, JOINER] {
            let now = pair.local_now(id);
            let session = pair.machine(id).session().expect("a match");
            held += u32::from(assert_deadline_holds(session, now, &format!("machine {id}, step {step}")));
        }
    }
    assert!(held > 6_000, "only {held} deadlines were looked at");
}

#[test]
fn lobby_sends_when_it_says_and_not_before() {
    let configs = [HOST, JOINER].map(|id| config(id).with(|config| config.rollback.delay_frames = None));
    let mut pair = pair_with(configs);
    let mut held = 0;
    while pair.world.now() < SOON && !pair.machine(HOST).has_agreed() {
        pair.run_for(ms(1));
        for id in [HOST, JOINER] {
            let now = pair.local_now(id);
            if let Some(lobby) = pair.machine_mut(id).lobby_mut() {
                held += u32::from(assert_deadline_holds(lobby, now, &format!("machine {id}")));
            }
        }
    }
    assert!(held > 200, "only {held} deadlines were looked at");
}

#[test]
fn answer_is_due_at_once() {
    let mut pair = pair();
    plays(&mut pair, 60);
    let idle =
        |pair: &mut Pair| pair.session_mut(HOST).poll_timeout().is_some_and(|due| due > Duration::ZERO);
    assert!(pair.step_until(SOON, |pair| {
        pair.machine(HOST).session().is_some_and(|session| session.poll_timeout() > Some(Duration::ZERO))
    }));
    let ping = control(Knows::of(&pair, HOST).header, &ControlPayload::Ping(7));
    let answered = [(addr(JOINER), ping), (stranger(), message(ControlHeader::default(), &hello(9, 0)))];
    for (from, datagram) in answered {
        let mut fork = pair.fork();
        assert!(idle(&mut fork));
        fork.inject(HOST, from, &datagram);
        assert_eq!(fork.session_mut(HOST).poll_timeout(), Some(Duration::ZERO), "from {from}");
        let (now, mut buf) = (fork.local_now(HOST), [0; 2_048]);
        let sent = fork.session_mut(HOST).poll_transmit(now, &mut buf);
        assert_eq!(sent.map(|(to, _)| to), Some(from));
    }
}

#[test]
fn lobby_answers_a_repeated_hello_at_once() {
    for accepts in [true, false] {
        let mut pair = pair_with([
            config(HOST).with(|config| config.lobby.ask_before_accepting = !accepts),
            config(JOINER),
        ]);
        let proven = |pair: &Pair| pair.said_by(JOINER, "HELLO").len() == 2;
        assert!(pair.step_until(SOON, proven));
        pair.run_for(ms(31));
        if !accepts {
            pair.lobby_mut(HOST).decline();
            pair.run_for(ms(1));
        }
        assert_ne!(pair.lobby_mut(HOST).poll_timeout(), Some(Duration::ZERO));
        let hello = pair.said_by(JOINER, "HELLO")[0].to_vec();
        pair.inject(HOST, addr(JOINER), &hello);
        assert_eq!(pair.lobby_mut(HOST).poll_timeout(), Some(Duration::ZERO), "accepts: {accepts}");
    }
}

#[test]
fn stalled_frame_wants_attention_when_its_input_comes() {
    let mut pair = pair();
    plays(&mut pair, 60);
    let asks = |pair: &Pair| {
        let (session, now) = (pair.machine(HOST).session().expect("a match"), pair.local_now(HOST));
        assert!(session.frame_due(session.next_frame_at()));
        assert!(!session.frame_due(session.next_frame_at() - MICRO));
        (session.is_stalled(), session.wants_attention(now), session.frame_due(now))
    };
    assert_eq!(asks(&pair), (false, false, false), "a frame is played when it is due");
    pair.world.network_mut().set_down(JOINER, HOST, true);
    pair.run_for(ms(500));
    assert_eq!(asks(&pair), (true, false, false));
    let inputs = pair.said_by(JOINER, "RBN1")[0].to_vec();
    pair.inject(HOST, addr(JOINER), &inputs);
    assert_eq!(asks(&pair), (true, true, true), "at once, and not when it would be looked at again");
    pair.session_mut(HOST).leave();
    assert_eq!(wants_attention_or_frame(&pair), (false, false));
}

fn wants_attention_or_frame(pair: &Pair) -> (bool, bool) {
    let (session, now) = (pair.machine(HOST).session().expect("a match"), pair.local_now(HOST));
    (session.wants_attention(now), session.frame_due(now + Duration::from_secs(9)))
}
