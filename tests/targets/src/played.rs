//! A match through the driver, on a transport in memory and a clock that the game hands in.

use games::playground::{Playground, script};
use rebout::net::{Driver, Memory};
use rebout::{Config, Event, Game, Lobby, Save, Session, StateError, Verdict};
use std::cell::Cell;
use std::time::Duration;

/// The length of the match.
const FRAMES: u32 = 200;

/// The reference game, over after [`FRAMES`].
struct Short(Playground);

impl Save for Short {
    type Snapshot = Playground;
    fn snapshot(&self) -> Playground {
        self.0
    }
    fn save(&self, slot: &mut Playground) -> Result<(), StateError> {
        *slot = self.0;
        Ok(())
    }
    fn restore(&mut self, snapshot: &Playground) -> Result<(), StateError> {
        self.0 = *snapshot;
        Ok(())
    }
}

impl Game for Short {
    fn step(&mut self, inputs: rebout::Inputs, cues: &mut rebout::Cues) {
        self.0.step(inputs, cues);
    }
    fn finished(&self) -> bool {
        self.0.frame >= FRAMES
    }
}

/// The frame and the checksum on which two machines in one thread agree.
pub(crate) fn transport() -> u64 {
    let time = Cell::new(Duration::ZERO);
    let ends = Memory::pair(|| time.get());
    let config = |entropy| Config::new(1).with(|config| config.lobby.entropy = Some(entropy));
    let host = Lobby::host(config(1)).expect("a valid config");
    let join = Lobby::join(config(2), ends[0].local_addr()).expect("a valid config");
    let (mut drivers, mut lobbies) = (ends.map(Driver::new), [host, join]);
    while lobbies.iter().any(|lobby| !matches!(lobby.agreed(), Ok(Some(_)))) {
        time.set(time.get() + Duration::from_millis(1));
        for (driver, lobby) in drivers.iter_mut().zip(&mut lobbies) {
            driver.poll(lobby).expect("memory does not break");
        }
        assert!(time.get() < Duration::from_secs(10), "they never met");
    }
    let seed = |lobby: &Lobby| lobby.agreed().ok().flatten().map_or(1, |agreed| agreed.seed);
    let mut games = lobbies.each_ref().map(|lobby| Short(Playground::new(seed(lobby)).expect("a seed")));
    let mut sessions = lobbies.map(|lobby| lobby.start(time.get(), &games[0]).expect("agreed"));
    let mut verdicts = [None; 2];
    while verdicts.contains(&None) {
        time.set(time.get() + Duration::from_millis(2));
        for (id, driver) in drivers.iter_mut().enumerate() {
            let (session, game) = (&mut sessions[id], &mut games[id]);
            let now = driver.poll(session).expect("memory does not break");
            if session.frame_due(now) {
                let inputs = script::golden(session.current().0);
                session.advance(now, game, inputs[session.local()]);
                driver.flush(session).expect("memory does not break");
            }
            verdicts[id] = verdicts[id].or_else(|| verdict(session));
        }
        assert!(time.get() < Duration::from_secs(60), "the match never ended");
    }
    let [Some(Verdict::Agreed { frame, checksum, .. }), other] = verdicts else { panic!("{verdicts:?}") };
    assert_eq!(other, verdicts[0]);
    u64::from(frame.0) << 32 | u64::from(checksum)
}

fn verdict(session: &mut Session<Playground>) -> Option<Verdict> {
    std::iter::from_fn(|| session.poll_event()).find_map(|event| match event {
        Event::Ended(verdict) => Some(verdict),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    /// Short enough for an interpreter of the compiler's intermediate code.
    #[test]
    fn short_match_is_agreed_on() {
        assert_eq!(super::transport() >> 32, 200);
    }
}
