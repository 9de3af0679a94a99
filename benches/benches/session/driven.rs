//! The sealed match once more, with the driver: by the parts in a loop of their own, and by `Online`.

use super::{Bytes64, DelayLine, FIRST, LATENCY_FRAMES, SEEDS, addresses, config, frame_length, held};
use core::time::Duration;
use rebout::Randomness;
use rebout::lab::seal::Seal;
use rebout::net::{Datagrams, Driver, Received};
use rebout::{Buttons, ConnectOptions, Connection, Lobby, Now, Online, Options, Session, Stats};
use std::cell::RefCell;
use std::hint::black_box;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

/// The longest run of a lobby, as `Online` has it.
const TURN: Duration = Duration::from_millis(16);

/// One end of the link. Each end has a clock of its own, which moves when it waits: the side that is behind runs next,
/// and one frame is less than the latency, so that no datagram comes too late.
pub(super) struct End {
    now: Duration,
    peer: SocketAddr,
    incoming: Rc<RefCell<DelayLine>>,
    outgoing: Rc<RefCell<DelayLine>>,
}

impl End {
    fn pair() -> [Self; 2] {
        let lines: [Rc<RefCell<DelayLine>>; 2] = [(); 2].map(|()| Rc::new(RefCell::new(DelayLine::new())));
        let [one, two] = addresses();
        let end = |peer, at: usize| Self {
            now: Duration::ZERO,
            peer,
            incoming: Rc::clone(&lines[at]),
            outgoing: Rc::clone(&lines[1 - at]),
        };
        [end(two, 0), end(one, 1)]
    }

    #[inline(never)]
    fn unmeasured_recv(&mut self, buf: &mut [u8]) -> Received {
        let mut line = self.incoming.borrow_mut();
        if line.next_at() > self.now {
            return Received::Empty;
        }
        let Some((_, len, bytes)) = line.packets.pop_front() else { return Received::Empty };
        buf[..len].copy_from_slice(&bytes[..len]);
        Received::Datagram(self.peer, len)
    }

    #[inline(never)]
    fn unmeasured_send(&mut self, datagram: &[u8]) {
        let mut bytes = [0; rebout::MAX_DATAGRAM];
        bytes[..datagram.len()].copy_from_slice(datagram);
        let at = self.now + frame_length() * LATENCY_FRAMES;
        self.outgoing.borrow_mut().packets.push_back((at, datagram.len(), bytes));
    }

    #[inline(never)]
    fn unmeasured_wait(&mut self, at_most: Duration) {
        self.now = self.incoming.borrow().next_at().clamp(self.now, self.now + at_most);
    }
}

impl Datagrams for End {
    fn now(&self) -> Duration {
        self.now
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        Ok(self.unmeasured_recv(buf))
    }

    fn send(&mut self, _: SocketAddr, datagram: &[u8]) {
        self.unmeasured_send(datagram);
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        self.unmeasured_wait(at_most);
        Ok(())
    }
}

/// One side of the match.
trait Side {
    /// Runs until a frame was played, or for a while before the match.
    fn turn(&mut self);
    fn now(&self) -> Duration;
    fn session(&self) -> Option<&Session<Bytes64>>;
}

/// The parts of a match, in the loop that `docs/EMBEDDING.md` shows.
struct Parts {
    driver: Driver<End>,
    seal: Seal,
    stage: Option<Stage>,
    game: Bytes64,
}

// There are two of these.
#[allow(clippy::large_enum_variant)]
enum Stage {
    Meeting(Lobby),
    Playing(Session<Bytes64>),
}

#[inline(never)]
fn measured_parts(
    driver: &mut Driver<End>,
    seal: &mut Seal,
    session: &mut Session<Bytes64>,
    game: &mut Bytes64,
    buttons: Buttons,
) {
    loop {
        let due = session.next_frame_at();
        let now = driver.run_until(&mut seal.around(session), due).expect("a link");
        while let Some(event) = session.poll_event() {
            black_box(event);
        }
        if session.frame_due(now) {
            session.advance(now, game, buttons);
            driver.flush(&mut seal.around(session)).expect("a link");
            black_box(session.cues());
            return;
        }
    }
}

impl Side for Parts {
    fn turn(&mut self) {
        let Self { driver, seal, stage, game } = self;
        *stage = match stage.take().expect("a stage") {
            Stage::Meeting(mut lobby) => {
                let deadline = driver.now() + TURN;
                let now = driver.run_until(&mut seal.around(&mut lobby), deadline).expect("a link");
                match lobby.agreed().expect("they fit") {
                    Some(_) => Some(Stage::Playing(lobby.start(now, game).expect("agreed"))),
                    None => Some(Stage::Meeting(lobby)),
                }
            }
            Stage::Playing(mut session) => {
                let buttons = held(session.local(), session.current().0);
                measured_parts(driver, seal, &mut session, game, buttons);
                Some(Stage::Playing(session))
            }
        };
    }

    fn now(&self) -> Duration {
        self.driver.now()
    }

    fn session(&self) -> Option<&Session<Bytes64>> {
        match &self.stage {
            Some(Stage::Playing(session)) => Some(session),
            _ => None,
        }
    }
}

/// The same match with one owner.
struct Owned {
    online: Online<Bytes64, End>,
    game: Bytes64,
}

#[inline(never)]
fn measured_online(online: &mut Online<Bytes64, End>, game: &mut Bytes64, buttons: Buttons) {
    loop {
        match online.wait().expect("a link") {
            Now::Frame => {
                online.advance(game, buttons);
                black_box(online.cues());
                return;
            }
            now => {
                black_box(now);
            }
        }
    }
}

impl Side for Owned {
    fn turn(&mut self) {
        match self.session().map(|session| held(session.local(), session.current().0)) {
            Some(buttons) => measured_online(&mut self.online, &mut self.game, buttons),
            None => {
                if let Now::Begin { .. } = self.online.wait().expect("a link") {
                    self.online.start(&self.game);
                }
            }
        }
    }

    fn now(&self) -> Duration {
        self.online.connection().now()
    }

    fn session(&self) -> Option<&Session<Bytes64>> {
        self.online.session()
    }
}

/// The statistics of both sides after a match of this many frames by the parts.
pub(super) fn by_parts(frames: u32) -> [Stats; 2] {
    let seeded = SEEDS.map(Randomness::Seeded);
    let host = Seal::host(seeded[0]).expect("a seed");
    let key = host.public_key().expect("a host's key");
    let seals = [host, Seal::join(seeded[1], key, &addresses()[..1]).expect("an address")];
    let target = seals[1].target().expect("a joiner");
    let lobbies = [Lobby::host(config(SEEDS[0])), Lobby::join(config(SEEDS[1]), target)];
    let mut parts = End::pair().into_iter().zip(seals).zip(lobbies).map(|((end, seal), lobby)| Parts {
        driver: Driver::new(end),
        seal,
        stage: Some(Stage::Meeting(lobby.expect("a config"))),
        game: FIRST,
    });
    let sides = [(); 2].map(|()| parts.next().expect("two sides"));
    play(frames, sides)
}

/// The statistics of both sides after a match of this many frames by `Online`.
pub(super) fn by_online(frames: u32) -> [Stats; 2] {
    let [one, two] = End::pair();
    let connect = SEEDS.map(|seed| ConnectOptions::new().randomness(Randomness::Seeded(seed)));
    let host = Connection::host_on(&connect[0], one, &addresses()[..1]).expect("a host");
    let join = Connection::join_on(&connect[1], two, &addresses()[1..], host.share()).expect("an invite");
    let side = |connection, seed| {
        let online = Online::on(Options::with_config(config(seed)), connection).expect("a config");
        Owned { online, game: FIRST }
    };
    play(frames, [side(host, SEEDS[0]), side(join, SEEDS[1])])
}

fn play<S: Side>(frames: u32, mut sides: [S; 2]) -> [Stats; 2] {
    while sides[0].session().is_none_or(|session| session.current().0 < frames) {
        let behind = usize::from(sides[1].now() < sides[0].now());
        sides[behind].turn();
    }
    sides.map(|side| side.session().expect("a match").stats())
}
