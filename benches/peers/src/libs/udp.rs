//! Machines on real sockets of the loopback interface, each with the socket that its library brings.

use super::{Library, Setup, fortress, ggrs, rebout};
use crate::sim_match::{FRAME_NS, Machine, Report};
use crate::world::World;
use ::rebout::net::udp::UdpDriver;
use ::rebout::{Buttons, Lobby, Saving, Session};
use std::cell::Cell;
use std::net::{SocketAddr, UdpSocket};
use std::rc::Rc;

/// Two machines of a library, which know each other's address.
pub(crate) fn pair<W: World>(
    library: Library,
    setup: Setup,
    now: &Rc<Cell<u64>>,
) -> std::io::Result<[Box<dyn Machine>; 2]> {
    let world = || W::new(setup.bytes);
    let here = |port| SocketAddr::from(([127, 0, 0, 1], port));
    Ok(match library {
        Library::Floor => {
            let [one, two] = [(); 2].map(|()| UdpSocket::bind(here(0)));
            let (one, two) = (one?, two?);
            let addresses = [one.local_addr()?, two.local_addr()?];
            [Box::new(Bare::new(one, addresses[1])?), Box::new(Bare::new(two, addresses[0])?)]
        }
        Library::Rebout | Library::ReboutSparse | Library::ReboutPages => {
            let host = UdpDriver::bind(here(0))?;
            let address = host.local_addr();
            let join = UdpDriver::bind(here(0))?;
            let lobby = Lobby::host(rebout::config(&setup, Saving::Auto, 0)).expect("a config");
            let guest = Lobby::join(rebout::config(&setup, Saving::Auto, 1), address).expect("a config");
            [
                Box::new(OnUdp::new(world(), setup, 0, host, lobby)),
                Box::new(OnUdp::new(world(), setup, 1, join, guest)),
            ]
        }
        Library::Ggrs | Library::GgrsSparse => {
            let ports = free_ports()?;
            let make = |me: usize| -> std::io::Result<Box<dyn Machine>> {
                let socket = ::ggrs::UdpNonBlockingSocket::bind_to_port(ports[me])?;
                let (peer, now) = (here(ports[1 - me]), Rc::clone(now));
                Ok(Box::new(ggrs::Ggrs::new(world(), setup, false, me, peer, socket, now)))
            };
            [make(0)?, make(1)?]
        }
        Library::Fortress | Library::FortressSparse => {
            let ports = free_ports()?;
            let make = |me: usize| -> std::io::Result<Box<dyn Machine>> {
                let socket = fortress_rollback::UdpNonBlockingSocket::bind_to_port(ports[me])?;
                let (peer, now) = (here(ports[1 - me]), Rc::clone(now));
                Ok(Box::new(fortress::Fortress::new(world(), setup, false, me, peer, socket, now)))
            };
            [make(0)?, make(1)?]
        }
    })
}

/// Two ports that are free now: those libraries must be told theirs.
fn free_ports() -> std::io::Result<[u16; 2]> {
    let (one, two) = (UdpSocket::bind("0.0.0.0:0")?, UdpSocket::bind("0.0.0.0:0")?);
    Ok([one.local_addr()?.port(), two.local_addr()?.port()])
}

/// The bare system calls of a frame: receive until nothing is left, send one datagram of a usual length.
struct Bare {
    socket: UdpSocket,
    peer: SocketAddr,
    frame: u32,
}

/// The length of an input packet on a link without loss.
const USUAL_BYTES: usize = 36;

impl Bare {
    fn new(socket: UdpSocket, peer: SocketAddr) -> std::io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { socket, peer, frame: 0 })
    }
}

impl Machine for Bare {
    fn turn(&mut self) {
        let mut buf = [0; 1_500];
        while self.socket.recv_from(&mut buf).is_ok() {}
        self.socket.send_to(&buf[..USUAL_BYTES], self.peer).expect("the loopback takes it");
        self.frame += 1;
    }

    fn wake(&self) -> u64 {
        0
    }

    fn frame(&self) -> Option<u32> {
        Some(self.frame)
    }

    fn report(&self) -> Report {
        Report::default()
    }

    fn state(&self) -> u32 {
        0
    }
}

/// Rebout on its own driver, in a loop that belongs to the game: `poll` once a turn, `flush` after a frame.
struct OnUdp<W> {
    driver: UdpDriver,
    lobby: Option<Lobby>,
    session: Option<Session<W>>,
    world: W,
    setup: Setup,
    me: usize,
}

impl<W: World> OnUdp<W> {
    fn new(world: W, setup: Setup, me: usize, driver: UdpDriver, lobby: Lobby) -> Self {
        Self { driver, lobby: Some(lobby), session: None, world, setup, me }
    }
}

impl<W: World> Machine for OnUdp<W> {
    fn turn(&mut self) {
        if let Some(session) = &mut self.session {
            let now = self.driver.poll(session).expect("the socket works");
            if session.frame_due(now) {
                let held = self.setup.script.held(self.me, session.current().0);
                session.advance(now, &mut self.world, Buttons(held));
                while session.poll_event().is_some() {}
                self.driver.flush(session).expect("the socket works");
            }
        } else if let Some(mut lobby) = self.lobby.take() {
            self.driver.poll(&mut lobby).expect("the socket works");
            if lobby.agreed().expect("they fit").is_some() {
                self.session = Some(lobby.start(self.driver.now(), &self.world).expect("agreed"));
            } else {
                self.lobby = Some(lobby);
            }
        }
    }

    fn wake(&self) -> u64 {
        FRAME_NS
    }

    fn frame(&self) -> Option<u32> {
        self.session.as_ref().map(|session| session.current().0)
    }

    fn report(&self) -> Report {
        self.session.as_ref().map_or_else(Report::default, |session| {
            let stats = session.stats();
            Report { stalled: stats.stalled_frames, resimulated: stats.rollback.resimulated_frames }
        })
    }

    fn state(&self) -> u32 {
        self.world.checksum()
    }
}
