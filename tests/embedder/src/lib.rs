//! An embedder's game, written against the public interface alone: a world of floats, a transport of its own, and the
//! tests that every game should have.

use rebout::fields::Bits;
use rebout::net::{Datagrams, Received, opaque_addr};
use rebout::{Buttons, Cues, Game, Inputs, Player, fields};
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Heats the air of a player's balloon while it is held.
pub const BURN: Buttons = Buttons(1);

/// Two hot-air balloons; the first to be 30 metres high wins.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    height: [Bits<f32>; 2],
    climb: [Bits<f32>; 2],
    wind: Bits<f32>,
}
fields!(Race { height, climb, wind });

impl Race {
    /// A race from the agreed seed.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        Self { height: [Bits(0.0); 2], climb: [Bits(0.0); 2], wind: Bits(f32::from(seed as u16) / 65_536.0) }
    }
}

impl Game for Race {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        // Sums and products alone, which round the same on every processor.
        *self.wind = (*self.wind + 0.37) * 0.8;
        for (at, player) in Player::BOTH.into_iter().enumerate() {
            let lift = if inputs[player].holds(BURN) { 3.0 } else { -1.5 };
            *self.climb[at] = (*self.climb[at] + lift / 60.0) * 0.99;
            *self.height[at] = (*self.height[at] + *self.climb[at] / 4.0 + *self.wind / 60.0).max(0.0);
        }
    }

    fn finished(&self) -> bool {
        self.height.iter().any(|height| **height >= 30.0)
    }
}

/// A transport on two channels of the standard library.
pub struct Pipe {
    out: Sender<Vec<u8>>,
    inside: Receiver<Vec<u8>>,
    /// Taken in by a wait, and not handed over yet.
    next: Option<Vec<u8>>,
    peer: SocketAddr,
    epoch: Instant,
}

impl Pipe {
    /// Both ends: the first has the address of the id 1, the second that of 2.
    #[must_use]
    pub fn pair() -> [Self; 2] {
        let [(to_one, one), (to_two, two)] = [channel(), channel()];
        let end = |out, inside, peer| Self { out, inside, next: None, peer, epoch: Instant::now() };
        [end(to_two, one, opaque_addr(2)), end(to_one, two, opaque_addr(1))]
    }
}

impl Datagrams for Pipe {
    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        let Some(datagram) = self.next.take().or_else(|| self.inside.try_recv().ok()) else {
            return Ok(Received::Empty);
        };
        let len = datagram.len().min(buf.len());
        buf[..len].copy_from_slice(&datagram[..len]);
        Ok(Received::Datagram(self.peer, len))
    }

    fn send(&mut self, _: SocketAddr, datagram: &[u8]) {
        let _ = self.out.send(datagram.to_vec());
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        self.next = self.next.take().or_else(|| self.inside.recv_timeout(at_most).ok());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rebout::lab::stress::{Stress, Turn, random};
    use rebout::net::Driver;
    use rebout::{Config, Event, Frame, Lobby, SyncTest, Verdict};

    #[test]
    fn race_survives_rollbacks() {
        let mut race = Race::new(7);
        let mut test = SyncTest::new(&race, 8, 1);
        for frame in (0..1_800).map(Frame) {
            let pressed = |player| random(&Turn { game: &race, player, frame, seed: 7 }, BURN, 0);
            let inputs = Inputs(Player::BOTH.map(pressed));
            test.advance(&mut race, inputs).unwrap();
        }
        test.finish().unwrap();
    }

    #[test]
    fn race_desyncs_on_no_link() {
        let report = Stress::new(Race::new).press(|turn| random(turn, BURN, 0)).run(60_000);
        assert!(report.is_well(), "{report}");
    }

    fn race(pipe: Pipe, mut lobby: Lobby) -> Verdict {
        let mut driver = Driver::new(pipe);
        while lobby.agreed().unwrap().is_none() {
            let deadline = driver.now() + Duration::from_millis(16);
            driver.run_until(&mut lobby, deadline).unwrap();
        }
        let mut game = Race::new(lobby.agreed().unwrap().unwrap().seed);
        let mut session = lobby.start(driver.now(), &game).unwrap();
        loop {
            let due = session.next_frame_at();
            let now = driver.run_until(&mut session, due).unwrap();
            let rests = session.current().0 % 20 < session.local().index() as u32 * 5;
            session.advance(now, &mut game, if rests { Buttons::NONE } else { BURN });
            driver.flush(&mut session).unwrap();
            if let Some(Event::Ended(verdict)) = session.poll_event() {
                driver.close(&mut session, Duration::from_secs(2)).unwrap();
                return verdict;
            }
        }
    }

    #[test]
    fn two_players_race_over_a_pipe() {
        let [here, there] = Pipe::pair();
        let host = Lobby::host(Config::new(0x7261)).unwrap();
        let join = Lobby::join(Config::new(0x7261), opaque_addr(1)).unwrap();
        let other = std::thread::spawn(move || race(there, join));
        let verdict = race(here, host);
        assert!(matches!(verdict, Verdict::Agreed { .. }), "{verdict:?}");
        assert_eq!(other.join().unwrap(), verdict);
    }
}
