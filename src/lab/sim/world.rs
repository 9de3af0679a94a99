//! Machines on a simulated network, run in virtual time from event to event.

use super::Clock;
use super::{Network, Traffic};
use crate::Protocol;
use crate::lab::link::{Seeded, nanos};
use crate::protocol::MAX_WRAPPED;
use std::net::SocketAddr;
use std::time::Duration;

/// The most datagrams that a machine sends at one event, against one that never stops; the rest waits for its next
/// event.
const MAX_BATCH: usize = 1_024;
/// The delay until a machine whose timer stays in the past is served again. Virtual time therefore moves on.
const RETRY_NANOS: u64 = 1_000;
/// The most datagrams that are stored for endpoints without a machine; more are dropped.
const MAX_MAIL: usize = 4_096;

/// A simulated machine: a protocol, and the frames of its owner.
///
/// All times are local, as its [`Clock`] shows them.
pub trait Machine: Protocol {
    /// When the next frame is due; `None` if none is.
    fn next_frame_at(&self) -> Option<Duration>;

    /// Runs one frame of the owner of the protocol. Called when a frame is due, and when
    /// [`Protocol::wants_attention`] is true.
    fn frame(&mut self, now: Duration);
}

/// A datagram that reached an endpoint without a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// The true time of arrival.
    pub at: Duration,
    /// The endpoint.
    pub to: usize,
    /// The source address.
    pub from: SocketAddr,
    /// The bytes.
    pub datagram: Vec<u8>,
}

#[derive(Debug)]
struct Node<M> {
    endpoint: usize,
    machine: M,
    clock: Clock,
    start: u64,
    stopped: bool,
    /// When the protocol is to be polled, in true time; `u64::MAX` is never.
    timeout_at: u64,
    /// When a frame is due, in true time; `u64::MAX` is never.
    frame_at: u64,
    /// Whether a datagram was delivered since those two were computed.
    touched: bool,
}

/// Runs machines on a [`Network`].
///
/// At one moment of virtual time the order is: all deliveries; then the machines that received something or whose
/// timer has run out, then the frames that are due, both in the order in which the machines were added. The datagrams
/// of a machine are sent right after it was served.
#[derive(Debug)]
pub struct World<M> {
    network: Network,
    nodes: Vec<Node<M>>,
    /// The node of each endpoint.
    node_of: Vec<Option<usize>>,
    mail: Vec<Mail>,
    rng: Seeded,
    now: u64,
    buf: Box<[u8; MAX_WRAPPED]>,
}

impl<M: Machine> World<M> {
    /// An empty world at time zero.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            network: Network::new(seed),
            nodes: Vec::new(),
            node_of: Vec::new(),
            mail: Vec::new(),
            rng: Seeded::stream(seed, 0),
            now: 0,
            buf: Box::new([0; MAX_WRAPPED]),
        }
    }

    // Commands.

    /// Draws a time from 0 up to, but not including, `bound`, from the seed, for example the start of a machine.
    pub fn draw(&mut self, bound: Duration) -> Duration {
        Duration::from_nanos(self.rng.below(nanos(bound)))
    }

    /// Adds a machine at `addr` that starts at true time `start`, when its own clock shows `clock.local(start)`.
    /// Datagrams that arrive before are dropped. Returns the number of its endpoint.
    pub fn add(&mut self, addr: SocketAddr, clock: Clock, start: Duration, machine: M) -> usize {
        let endpoint = self.network.add(addr);
        self.network.set_clock(endpoint, clock.clone());
        self.network.open_from(endpoint, start);
        let start = clock.runs_nanos(nanos(start).max(self.now));
        let (timeout_at, frame_at) = (start, u64::MAX);
        self.node_of.push(Some(self.nodes.len()));
        let (stopped, touched) = (false, false);
        self.nodes.push(Node { endpoint, machine, clock, start, stopped, timeout_at, frame_at, touched });
        endpoint
    }

    /// Adds an endpoint without a machine. Datagrams that reach it are stored as [`mail`](Self::mail).
    pub fn add_stranger(&mut self, addr: SocketAddr) -> usize {
        self.node_of.push(None);
        self.network.add(addr)
    }

    /// Stops a machine for good without letting it send anything, like a killed process.
    pub fn stop(&mut self, endpoint: usize) {
        let now = Duration::from_nanos(self.now);
        self.network.close_from(endpoint, now);
        let node = self.node_mut(endpoint);
        (node.stopped, node.timeout_at, node.frame_at) = (true, u64::MAX, u64::MAX);
    }

    /// Pauses a machine for `length` from `start` on, in true time, like a process stopped by a signal.
    pub fn pause(&mut self, endpoint: usize, start: Duration, length: Duration) {
        let node = self.node_mut(endpoint);
        node.clock = std::mem::take(&mut node.clock).with_pause(start, length);
        node.timeout_at = node.clock.runs_nanos(node.timeout_at);
        node.frame_at = node.clock.runs_nanos(node.frame_at);
        let clock = node.clock.clone();
        self.network.set_clock(endpoint, clock);
    }

    /// Replaces a machine by another one now, under the same address, like a program that is restarted. Returns the
    /// old machine.
    pub fn restart(&mut self, endpoint: usize, machine: M) -> M {
        let now = self.now;
        self.network.reopen(endpoint, Duration::from_nanos(now));
        let node = self.node_mut(endpoint);
        (node.stopped, node.start, node.frame_at) = (false, now, u64::MAX);
        node.timeout_at = node.clock.runs_nanos(now);
        std::mem::replace(&mut node.machine, machine)
    }

    /// Runs all events up to and including `until`.
    pub fn run_until(&mut self, until: Duration) {
        while self.step(until) {}
    }

    /// Runs all events of the next moment that has any. If that is after `until`, only the time is set to `until`, and
    /// the result is `false`.
    pub fn step(&mut self, until: Duration) -> bool {
        let until = nanos(until);
        let Some(at) = self.next_event().filter(|at| *at <= until) else {
            self.now = self.now.max(until);
            return false;
        };
        self.now = self.now.max(at);
        self.deliver_all();
        self.serve_timers();
        self.serve_frames();
        true
    }

    /// A second world that goes on from this moment, with copies of the machines.
    pub(crate) fn fork(&self, mut copy: impl FnMut(&M) -> M) -> Self {
        let nodes = self.nodes.iter().map(|node| Node {
            machine: copy(&node.machine),
            clock: node.clock.clone(),
            ..*node
        });
        Self {
            network: self.network.clone(),
            nodes: nodes.collect(),
            node_of: self.node_of.clone(),
            mail: self.mail.clone(),
            rng: self.rng.clone(),
            now: self.now,
            buf: self.buf.clone(),
        }
    }

    // Getters.

    /// The true time.
    #[must_use]
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.now)
    }

    /// The local time of a machine.
    #[must_use]
    pub fn local_now(&self, endpoint: usize) -> Duration {
        Duration::from_nanos(self.node(endpoint).clock.local_nanos(self.now))
    }

    /// The clock of a machine.
    #[must_use]
    pub fn clock(&self, endpoint: usize) -> &Clock {
        &self.node(endpoint).clock
    }

    /// A machine.
    #[must_use]
    pub fn machine(&self, endpoint: usize) -> &M {
        &self.node(endpoint).machine
    }

    /// A machine, to be changed between events. Datagrams that it then has to send go out at the next step.
    pub fn machine_mut(&mut self, endpoint: usize) -> &mut M {
        let now = self.now;
        let node = self.node_mut(endpoint);
        if !node.stopped {
            node.timeout_at = node.clock.runs_nanos(now.max(node.start));
        }
        &mut node.machine
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The network, to change or cut links, add NATs or inject datagrams. Endpoints must be added through the
    /// world.
    pub fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    /// The traffic that a machine has sent, and the traffic delivered to it.
    #[must_use]
    pub fn traffic(&self, endpoint: usize) -> (Traffic, Traffic) {
        (self.network.sent(endpoint), self.network.received(endpoint))
    }

    /// The first few thousand datagrams that reached endpoints without a machine, in order.
    #[must_use]
    pub fn mail(&self) -> &[Mail] {
        &self.mail
    }

    /// Clears the mail.
    pub fn clear_mail(&mut self) {
        self.mail.clear();
    }

    // Internal.

    fn node(&self, endpoint: usize) -> &Node<M> {
        let index = self.node_of[endpoint];
        &self.nodes[index.expect("the endpoint has a machine")]
    }

    fn node_mut(&mut self, endpoint: usize) -> &mut Node<M> {
        let index = self.node_of[endpoint];
        &mut self.nodes[index.expect("the endpoint has a machine")]
    }

    fn next_event(&self) -> Option<u64> {
        let arrival = self.network.next_nanos().unwrap_or(u64::MAX);
        let next = self.nodes.iter().fold(arrival, |at, node| at.min(node.timeout_at).min(node.frame_at));
        (next != u64::MAX).then_some(next)
    }

    /// Delivers all datagrams that have arrived. It ends, because every delay is at least a microsecond.
    fn deliver_all(&mut self) {
        while let Some(delivery) = self.network.deliver_nanos(self.now) {
            if let Some(index) = self.node_of[delivery.to] {
                let node = &mut self.nodes[index];
                let now = Duration::from_nanos(node.clock.local_nanos(self.now));
                node.machine.handle_datagram(now, delivery.from, delivery.datagram);
                node.touched = true;
            } else if self.mail.len() < MAX_MAIL {
                let datagram = delivery.datagram.to_vec();
                self.mail.push(Mail { at: delivery.at, to: delivery.to, from: delivery.from, datagram });
            }
        }
    }

    /// Polls the machines that received something or whose timer has run out, and computes when their next frame is
    /// due.
    fn serve_timers(&mut self) {
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            if node.touched || node.timeout_at <= self.now {
                let now = self.transmit(index);
                let node = &mut self.nodes[index];
                node.touched = false;
                // A machine that wants attention gets a frame at this moment, as does one whose frame is due already.
                let wanted = node.machine.wants_attention(now);
                node.frame_at =
                    if wanted { self.now } else { node.due(node.machine.next_frame_at(), self.now) };
            }
        }
    }

    /// Runs the frames that are due.
    fn serve_frames(&mut self) {
        for index in 0..self.nodes.len() {
            let node = &mut self.nodes[index];
            if node.frame_at <= self.now {
                let now = Duration::from_nanos(node.clock.local_nanos(self.now));
                node.machine.frame(now);
                self.transmit(index);
                let node = &mut self.nodes[index];
                node.frame_at = node.due(node.machine.next_frame_at(), self.now + RETRY_NANOS);
            }
        }
    }

    /// Sends the datagrams of a machine, and computes when its protocol is to be polled next. Returns its local time.
    fn transmit(&mut self, index: usize) -> Duration {
        let node = &mut self.nodes[index];
        let now = Duration::from_nanos(node.clock.local_nanos(self.now));
        for _ in 0..MAX_BATCH {
            let Some((to, len)) = node.machine.poll_transmit(now, &mut self.buf[..]) else { break };
            self.network.send_nanos(self.now, node.endpoint, to, &self.buf[..len]);
        }
        node.timeout_at = node.due(node.machine.poll_timeout(), self.now + RETRY_NANOS);
        now
    }
}

impl<M> Node<M> {
    /// Converts a local time of the machine to the true time outside its pauses, at least `overdue`; `None` is never.
    #[inline]
    fn due(&self, local: Option<Duration>, overdue: u64) -> u64 {
        local
            .map_or(u64::MAX, |local| self.clock.runs_nanos(self.clock.true_nanos(nanos(local)).max(overdue)))
    }
}
