//! The heap of a lobby and of a session, in bytes: a server may hold thousands of matches.

use rebout::{Buttons, Config, Cues, Game, Inputs, Lobby, Protocol, Session, fields};
use std::net::SocketAddr;
use std::time::Duration;
use support::heap::live;

/// The most that a lobby and a session of the default settings hold, for 64 bytes of state.
const LOBBY_BYTES: i64 = 8 * 1024;
const SESSION_BYTES: i64 = 48 * 1024;

#[derive(Clone, Copy)]
struct Words {
    words: [u32; 16],
}
fields!(Words { words });

impl Game for Words {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for input in inputs.0 {
            self.words[usize::from(input.buttons().0 % 16)] += 1;
        }
    }
}

pub(crate) fn all() {
    let before = live();
    let mut now = Duration::ZERO;
    let host: SocketAddr = "127.0.0.1:1".parse().unwrap();
    let joiner: SocketAddr = "127.0.0.1:2".parse().unwrap();
    let config = || Config::new(7).with(|config| config.rollback.delay_frames = Some(0));
    let mut lobbies = [Lobby::host(config()).unwrap(), Lobby::join(config(), host).unwrap()];
    while lobbies.iter().any(|lobby| lobby.agreed().unwrap().is_none()) {
        exchange(now, &mut lobbies, [host, joiner]);
        now += Duration::from_millis(5);
        assert!(now < Duration::from_secs(10), "no match");
    }
    let of_lobby = (live() - before) / 2;
    let mut games = [Words { words: [0; 16] }; 2];
    let mut sessions = lobbies.map(|lobby| -> Session<Words> { lobby.start(now, &games[0]).unwrap() });
    let at_start = (live() - before) / 2;
    for frame in 0..600 {
        for (session, game) in sessions.iter_mut().zip(&mut games) {
            session.advance(now, game, Buttons(frame / 4));
            while session.poll_event().is_some() {}
        }
        exchange(now, &mut sessions, [host, joiner]);
        now += Duration::from_micros(16_667);
    }
    let frames = sessions[0].stats().frames;
    assert!(frames > 500, "{frames} frames");
    let played = (live() - before) / 2;
    println!("a lobby holds {of_lobby} bytes, a session {at_start}, after {frames} frames {played}");
    assert_eq!(played, at_start, "a match without messages takes no more");
    assert!(of_lobby <= LOBBY_BYTES && at_start <= SESSION_BYTES);
    let message = [7; 1_000];
    sessions[0].send(now, &message).unwrap();
    let with_message = (live() - before) - 2 * at_start;
    assert!((900..1_100).contains(&with_message), "a long message: {with_message} bytes");
}

/// Moves all datagrams that are due, without a delay.
fn exchange(now: Duration, ends: &mut [impl Protocol; 2], addrs: [SocketAddr; 2]) {
    let mut buf = [0; 1_500];
    for from in [0, 1] {
        while let Some((_, len)) = ends[from].poll_transmit(now, &mut buf) {
            ends[1 - from].handle_datagram(now, addrs[from], &buf[..len]);
        }
    }
}
