//! The messages of a session: their contents, and when one is left out, refused or repeated.

use crate::hostile::ordered;
use crate::pair::{LATE, Pair, addr, both_ended, config, ms, pair, pair_until, pair_with, plays};
use core::time::Duration;
use rebout::lab::forge::{Knows, message_of};
use rebout::lab::wire::message::{Extensions, Message, Ordered};
use rebout::lab::{HOST, JOINER};
use rebout::wire::WireFrame;
use rebout::{Config, ConfigError, Event, Protocol, Refusal};

/// How many events wait for a game that does not poll them, besides those of the session itself.
const ROOM: usize = 32;

/// Polls all events of the host.
fn polled(pair: &mut Pair) -> Vec<Event> {
    std::iter::from_fn(|| pair.session_mut(HOST).poll_event()).collect()
}

/// The host receives these ordered messages of the joiner. Its game does not poll meanwhile.
fn receives(pair: &mut Pair, count: u16, body: fn(&u8) -> Ordered<'_>) {
    let knows = Knows::of(pair, HOST);
    for number in 0..count {
        pair.inject(HOST, addr(JOINER), &ordered(&knows, number, body(&(number as u8))));
    }
}

#[test]
fn message_waits_for_room_in_the_event_queue() {
    let mut pair = pair();
    plays(&mut pair, 30);
    let body: fn(&u8) -> Ordered<'_> = |number| Ordered::User(std::slice::from_ref(number));
    let expected = |numbers: core::ops::Range<u8>| -> Vec<Event> {
        numbers.map(|number| Event::Message([number].into())).collect()
    };
    receives(&mut pair, 70, body);
    assert_eq!(polled(&mut pair), expected(0..ROOM as u8));
    assert_eq!(pair.machine(HOST).refused().of(Refusal::NoRoom), 70 - ROOM as u64, "not acknowledged");
    receives(&mut pair, 40, body);
    assert_eq!(polled(&mut pair), expected(ROOM as u8..40), "sent again, each is told once");
}

#[test]
fn delay_messages_leave_room_for_other_events() {
    let mut pair = pair();
    plays(&mut pair, 30);
    receives(&mut pair, 70, |number| Ordered::Delay { from_frame: WireFrame(1), delay_frames: number % 9 });
    assert_eq!(polled(&mut pair).len(), ROOM);
    assert_eq!(pair.session_mut(HOST).agreed().peer_delay_frames, 69 % 9, "the newest counts all the same");
}

#[test]
fn delay_message_names_the_first_frame_with_the_new_delay() {
    let mut pair = pair();
    plays(&mut pair, 30);
    let (now, first) = (pair.local_now(HOST), Knows::of(&pair, HOST).first);
    let session = pair.session_mut(HOST);
    let current = session.current().0;
    session.set_delay(now, 3).expect("a delay");
    pair.run_for(ms(1));
    let said = message_of(pair.said_by(HOST, "DELAY")[0]);
    let Some(Message::Ordered { body, .. }) = said else { panic!("{said:?}") };
    let from_frame = WireFrame(first + current + 3);
    assert_eq!(body, Ordered::Delay { from_frame, delay_frames: 3 });
}

#[test]
fn delay_that_does_not_fit_beside_the_window_is_refused() {
    let wide = |id| config(id).with(|config| config.rollback.window_frames = 22);
    let mut pair = pair_with([HOST, JOINER].map(wide));
    plays(&mut pair, 10);
    let now = pair.local_now(HOST);
    let session = pair.session_mut(HOST);
    assert_eq!(session.set_delay(now, 25), Err(ConfigError::Delay { delay_frames: 25 }));
    let both = ConfigError::WindowAndDelay { window_frames: 22, delay_frames: 9 };
    assert_eq!((session.set_delay(now, 9), session.delay_frames()), (Err(both), 0));
    assert_eq!((session.set_delay(now, 8), session.delay_frames()), (Ok(()), 8));
}

/// The config of a machine whose packet counts travel in REPORTs.
fn reporting(id: usize) -> Config {
    config(id).with(|config| config.lobby.extensions = Extensions::NONE)
}

fn reports(pair: &Pair, by: usize) -> usize {
    pair.said_by(by, "REPORT").len()
}

#[test]
fn repeated_report_is_not_counted_again() {
    let mut pair = pair_with([HOST, JOINER].map(reporting));
    assert!(pair.step_until(LATE, |pair| reports(pair, JOINER) == 2));
    pair.run_for(ms(100));
    let older = pair.said_by(JOINER, "REPORT")[1].to_vec();
    pair.inject(HOST, addr(JOINER), &older);
    assert_eq!(pair.machine(HOST).refused().total(), 0, "taken as a duplicate");
    assert!(pair.step_until(LATE, |pair| reports(pair, JOINER) == 3));
    pair.run_for(ms(100));
    assert_eq!(pair.machine(HOST).stats().loss_in, Some(0.0), "nothing was lost");
}

#[test]
fn no_report_is_sent_while_nothing_is_acknowledged() {
    let mut pair = pair_with([HOST, JOINER].map(reporting));
    plays(&mut pair, 60);
    pair.world.network_mut().set_down(HOST, JOINER, true);
    let now = pair.local_now(HOST);
    (0..8).for_each(|_| pair.session_mut(HOST).send(now, b"in vain").expect("room"));
    pair.run_for(Duration::from_secs(1));
    let before = reports(&pair, HOST);
    pair.run_for(Duration::from_secs(3));
    assert!(!both_ended(&pair));
    assert_eq!(reports(&pair, HOST), before);
}

#[test]
fn no_report_is_due_after_the_match() {
    let mut pair = pair_until::<60>([HOST, JOINER].map(reporting));
    assert!(pair.step_until(LATE, both_ended));
    pair.run_for(Duration::from_secs(3));
    assert_eq!([HOST, JOINER].map(|id| pair.session_mut(id).poll_timeout()), [None, None]);
}
