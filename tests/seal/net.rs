//! Sealed lobbies on a network of one latency, on which every datagram can be seen, withheld and forged. Unlike the
//! machines of the simulated network, these can be removed and change their addresses in the middle of a test.

use core::time::Duration;
use rebout::Randomness;
use rebout::lab::seal::{Seal, SealRefusal};
use rebout::{Config, Lobby, MAX_DATAGRAM, Protocol};
use std::net::SocketAddr;

pub(crate) const LATENCY: Duration = Duration::from_millis(40);

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) fn addr(id: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, (id % 250) as u8 + 1], 7_000 + (id % 1_000) as u16))
}

pub(crate) fn config(id: usize) -> Config {
    Config::new(0xB0).with(|config| {
        config.rollback.delay_frames = Some(0);
        config.lobby.entropy = Some(0xC0FF_EE00 + id as u64);
        config.lobby.user_data = vec![id as u8];
    })
}

pub(crate) struct Machine {
    pub(crate) seal: Seal,
    pub(crate) lobby: Lobby,
    pub(crate) addr: SocketAddr,
    /// When the lobby agreed, or failed.
    pub(crate) done_at: Option<Duration>,
}

impl Machine {
    pub(crate) fn host(id: usize) -> Self {
        let seal = Seal::host(Randomness::Seeded(id as u64)).unwrap();
        Self::new(id, seal, Lobby::host(config(id)).unwrap())
    }

    pub(crate) fn host_open(id: usize) -> Self {
        let seal = Seal::host_open(Randomness::Seeded(id as u64)).unwrap();
        Self::new(id, seal, Lobby::host(config(id)).unwrap())
    }

    pub(crate) fn join(id: usize, key: [u8; 32], addrs: &[SocketAddr]) -> Self {
        let seal = Seal::join(Randomness::Seeded(id as u64), key, addrs).unwrap();
        let lobby = Lobby::join(config(id), seal.target().unwrap()).unwrap();
        Self::new(id, seal, lobby)
    }

    pub(crate) fn join_open(id: usize, to: SocketAddr) -> Self {
        let seal = Seal::join_open(Randomness::Seeded(id as u64), to).unwrap();
        let lobby = Lobby::join(config(id), seal.target().unwrap()).unwrap();
        Self::new(id, seal, lobby)
    }

    pub(crate) fn new(id: usize, seal: Seal, lobby: Lobby) -> Self {
        Self { seal, lobby, addr: addr(id), done_at: None }
    }

    pub(crate) fn agreed(&self) -> bool {
        matches!(self.lobby.agreed(), Ok(Some(_)))
    }

    pub(crate) fn refused(&self, refusal: SealRefusal) -> u64 {
        self.seal.stats().refused.of(refusal)
    }

    pub(crate) fn hand_in(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.seal.around(&mut self.lobby).handle_datagram(now, from, datagram);
    }

    pub(crate) fn poll(&mut self, now: Duration) -> Option<(SocketAddr, Vec<u8>)> {
        let mut buf = [0; MAX_DATAGRAM];
        let (to, len) = self.seal.around(&mut self.lobby).poll_transmit(now, &mut buf)?;
        Some((to, buf[..len].to_vec()))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Flying {
    pub(crate) at: Duration,
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) datagram: Vec<u8>,
}

/// Whether a datagram that is being sent arrives.
pub(crate) type Filter = Box<dyn FnMut(Duration, &Flying) -> bool>;

pub(crate) struct Net {
    pub(crate) now: Duration,
    pub(crate) machines: Vec<Machine>,
    flying: Vec<Flying>,
    /// Every datagram that was sent.
    pub(crate) sent: Vec<Flying>,
    pub(crate) filter: Filter,
}

impl Net {
    pub(crate) fn new(machines: Vec<Machine>) -> Self {
        Self { now: ms(0), machines, flying: Vec::new(), sent: Vec::new(), filter: Box::new(|_, _| true) }
    }

    /// Runs one millisecond.
    pub(crate) fn step(&mut self) {
        self.now += ms(1);
        let now = self.now;
        let (arrived, flying) = self.flying.drain(..).partition(|flying| flying.at <= now);
        self.flying = flying;
        let arrived: Vec<Flying> = arrived;
        for Flying { from, to, datagram, .. } in arrived {
            if let Some(machine) = self.machines.iter_mut().find(|machine| machine.addr == to) {
                machine.hand_in(now, from, &datagram);
            }
        }
        for id in 0..self.machines.len() {
            self.send_of(id);
        }
    }

    fn send_of(&mut self, id: usize) {
        let (now, machine) = (self.now, &mut self.machines[id]);
        while let Some((to, datagram)) = machine.poll(now) {
            let flying = Flying { at: now + LATENCY, from: machine.addr, to, datagram };
            self.sent.push(flying.clone());
            if (self.filter)(now, &flying) {
                self.flying.push(flying);
            }
        }
        if machine.done_at.is_none() && !matches!(machine.lobby.agreed(), Ok(None)) {
            machine.done_at = Some(now);
        }
    }

    pub(crate) fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.step();
        }
    }

    /// Runs until it is so; at most for `limit`.
    pub(crate) fn run_until(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + limit;
        while self.now < end && !done(self) {
            self.step();
        }
        done(self)
    }

    /// The datagrams that a machine sent whose first byte is this.
    pub(crate) fn sent_by(&self, id: usize, first: u8) -> Vec<&Flying> {
        let from = self.machines[id].addr;
        self.sent.iter().filter(|flying| flying.from == from && flying.datagram[0] == first).collect()
    }
}

/// A host by invite, and a joiner.
pub(crate) fn invited() -> Net {
    let host = Machine::host(0);
    let join = Machine::join(1, host.seal.public_key().unwrap(), &[addr(0)]);
    Net::new(vec![host, join])
}

/// A host by address, and a joiner.
pub(crate) fn open() -> Net {
    Net::new(vec![Machine::host_open(0), Machine::join_open(1, addr(0))])
}

pub(crate) fn both_agreed(net: &Net) -> bool {
    net.machines[0].agreed() && net.machines[1].agreed()
}
