//! An online match with its recording takes its memory at the start and none afterwards.

use crate::counted;
use core::cell::{Cell, RefCell};
use core::time::Duration;
use games::playground::Playground;
use rebout::net::{Datagrams, Received};
use rebout::{BroadcastConfig, Buttons, ConnectOptions, Connection, Now, Online, Options};
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

const MAX_LEN: usize = 1_264;
const TICK: Duration = Duration::from_millis(1);

type Waiting = Rc<RefCell<VecDeque<([u8; MAX_LEN], usize)>>>;

/// One end of a transport that keeps its memory, on a clock that the test moves.
struct Pipe {
    clock: Rc<Cell<Duration>>,
    peer: SocketAddr,
    inbox: Waiting,
    outbox: Waiting,
}

impl Datagrams for Pipe {
    fn now(&self) -> Duration {
        self.clock.get()
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        let Some((bytes, len)) = self.inbox.borrow_mut().pop_front() else { return Ok(Received::Empty) };
        buf[..len].copy_from_slice(&bytes[..len]);
        Ok(Received::Datagram(self.peer, len))
    }

    fn send(&mut self, _: SocketAddr, datagram: &[u8]) {
        let mut bytes = [0; MAX_LEN];
        bytes[..datagram.len()].copy_from_slice(datagram);
        self.outbox.borrow_mut().push_back((bytes, datagram.len()));
    }

    fn wait(&mut self, _: Duration) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn all() {
    for (connect, has_spectators) in
        [(ConnectOptions::new(), false), (ConnectOptions::new(), true), (ConnectOptions::new().bare(), false)]
    {
        a_recorded_match(&connect, has_spectators);
    }
    println!(
        "nothing is allocated in a frame of an online match that is recorded, or offered to spectators: ok"
    );
}

fn a_recorded_match(connect: &ConnectOptions, has_spectators: bool) {
    let folder = std::env::temp_dir().join(format!("rebout-alloc-online-{}", std::process::id()));
    let clock = Rc::new(Cell::new(Duration::ZERO));
    let waiting = || Rc::new(RefCell::new(VecDeque::with_capacity(256)));
    let (one, two): (Waiting, Waiting) = (waiting(), waiting());
    let addrs = [SocketAddr::from(([10, 0, 0, 1], 1)), SocketAddr::from(([10, 0, 0, 2], 1))];
    let pipe = |peer, inbox: &Waiting, outbox: &Waiting| Pipe {
        clock: Rc::clone(&clock),
        peer,
        inbox: Rc::clone(inbox),
        outbox: Rc::clone(outbox),
    };
    let host = Connection::host_on(connect, pipe(addrs[1], &one, &two), &addrs[..1]).expect("a host");
    let joiner =
        Connection::join_on(connect, pipe(addrs[0], &two, &one), &[], host.share()).expect("a guest");
    let options = || {
        let options = Options::new(7, 1).record_to(&folder).bundles_to(&folder);
        if has_spectators { options.spectators(BroadcastConfig::default()) } else { options }
    };
    let on = |connection| Online::on(options(), connection).expect("a valid config");
    let mut machines = [(on(host), None::<Playground>), (on(joiner), None)];
    let mut run_for = |time: Duration| {
        let (end, mut frames) = (clock.get() + time, 0);
        while clock.get() < end {
            for (online, game) in &mut machines {
                loop {
                    match online.poll().expect("a transport that never breaks") {
                        Now::Begin { seed, .. } => {
                            online.start(game.insert(Playground::new(seed).expect("a seed")));
                        }
                        Now::Frame => {
                            let buttons = Buttons((clock.get().as_millis() / 150) as u16 & 15);
                            online.advance(game.as_mut().expect("a match"), buttons);
                            frames += 1;
                        }
                        Now::Event(_) => {}
                        Now::Notice(text) => panic!("{text}"),
                        _ => break,
                    }
                }
            }
            clock.set(clock.get() + TICK);
        }
        frames
    };
    run_for(Duration::from_secs(5));
    let (calls, _, frames) = counted(|| run_for(Duration::from_secs(10)));
    assert!(frames > 1_000, "{frames} frames");
    assert_eq!(calls, 0, "allocations in {frames} frames");
    drop(machines);
    std::fs::remove_dir_all(&folder).expect("the recordings");
}
