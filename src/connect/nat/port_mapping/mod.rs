//! Port mapping: asks the router to forward the port of this machine's socket, by PCP, NAT-PMP or UPnP-IGD.
//!
//! The protocols are tried one after the other, so that a router is never left with two mappings. Nothing that a router says is
//! trusted: the result is one more address for the peer to try, and only a public one.
//!
//! | file | |
//! |---|---|
//! | `pcp`, `nat_pmp`, `igd` | one protocol each |
//! | `http` | messages of HTTP and XML, as far as `igd` needs them |

mod http;
mod igd;
mod nat_pmp;
mod pcp;

use super::candidate::{is_admissible, is_private};
use crate::net::router::{Request, Route, RouterClient};
use core::fmt;
use core::time::Duration;
use igd::Igd;
use nat_pmp::NatPmp;
use pcp::Pcp;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

/// The UDP port of PCP and NAT-PMP.
const CONTROL_PORT: u16 = 5_351;
/// The lifetime to request, in seconds: a router forgets the port of a program that crashed after so long.
const LIFETIME: u32 = 3_600;
/// The shortest time between two renewals, for any lifetime that a router grants.
const MIN_RENEWAL: Duration = Duration::from_secs(30);
/// How often a question is sent as a datagram. The wait doubles each time.
const ATTEMPTS: u32 = 2;
/// Datagrams that are looked at until a question counts as unanswered: a flood must not keep the thread busy.
const MAX_HEARD: u32 = 32;

/// The mapping that a router grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Granted {
    outside: SocketAddrV4,
    /// In seconds.
    lifetime: u32,
}

/// The meaning of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It is none to our question.
    Ignored,
    /// The next question is to be asked.
    Next,
    Granted(Granted),
    /// The router refuses, or the mapping is gone.
    Over,
}

/// One protocol: questions that are asked one after the other.
trait Dialogue: fmt::Debug + Send {
    /// Begins to ask for a mapping, or for its end if the lifetime is 0. `false` if there is nothing to ask.
    fn begin(&mut self, lifetime: u32) -> bool;
    /// The question.
    fn request(&self) -> Request;
    /// The wait for the first answer to the question.
    fn patience(&self) -> Duration;
    fn take(&mut self, from: SocketAddrV4, answer: &[u8]) -> Step;
}

/// The mapping of one port.
#[derive(Debug)]
pub(crate) struct PortMapping {
    /// All protocols, and the one that is used.
    dialogues: [Box<dyn Dialogue>; 3],
    current: usize,
    state: State,
    outside: Option<SocketAddrV4>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Asking {
        is_release: bool,
        attempts: u32,
        heard: u32,
        next_at: Duration,
    },
    Held {
        renew_at: Duration,
    },
    /// The mapping is given back without waiting for an answer.
    Leaving,
    Over,
}

impl PortMapping {
    /// A mapping of the UDP port `port`. `nonce` is random.
    pub(crate) fn new(route: Route, port: u16, nonce: [u8; 12]) -> Self {
        let control = SocketAddrV4::new(route.gateway, CONTROL_PORT);
        let mut mapping = Self {
            dialogues: [
                Box::new(Pcp::new(control, SocketAddrV4::new(route.own, port), nonce)),
                Box::new(NatPmp::new(control, port)),
                Box::new(Igd::new(route, port)),
            ],
            current: 0,
            state: State::Over,
            outside: None,
        };
        mapping.begin(Duration::ZERO, LIFETIME);
        mapping
    }

    fn begin(&mut self, now: Duration, lifetime: u32) {
        let dialogue = self.dialogues.get_mut(self.current);
        let is_begun = dialogue.is_some_and(|dialogue| dialogue.begin(lifetime));
        self.state = if is_begun { Self::asking(now, lifetime == 0) } else { State::Over };
    }

    fn asking(now: Duration, is_release: bool) -> State {
        State::Asking { is_release, attempts: 0, heard: 0, next_at: now }
    }

    /// The protocol brings nothing.
    fn fail(&mut self, now: Duration, is_release: bool) {
        if is_release {
            self.state = State::Over;
            return;
        }
        // A router that held a mapping was perhaps restarted: it may know another protocol now.
        self.current = if self.outside.take().is_some() { 0 } else { self.current + 1 };
        self.begin(now, LIFETIME);
    }

    fn grant(&mut self, now: Duration, granted: Granted) {
        let renewal = Duration::from_secs(u64::from(granted.lifetime.min(LIFETIME) / 2));
        let is_public = is_public(granted.outside);
        self.outside = Some(granted.outside).filter(|_| is_public);
        if is_public {
            self.state = State::Held { renew_at: now + renewal.max(MIN_RENEWAL) };
        } else {
            // The router is behind another NAT, and this port cannot be reached from outside.
            self.begin(now, 0);
        }
    }
}

impl RouterClient for PortMapping {
    fn poll(&mut self, now: Duration) -> Option<Request> {
        if let State::Held { renew_at } = self.state
            && now >= renew_at
        {
            self.begin(now, LIFETIME);
        }
        while let State::Asking { is_release, attempts, next_at, heard } = &mut self.state {
            let is_flooded = *heard >= MAX_HEARD;
            if now < *next_at && !is_flooded {
                return None;
            }
            if *attempts < ATTEMPTS && !is_flooded {
                let dialogue = self.dialogues.get(self.current)?;
                *next_at = now + dialogue.patience() * (1 << *attempts);
                *attempts += 1;
                return Some(dialogue.request());
            }
            let is_release = *is_release;
            self.fail(now, is_release);
        }
        if matches!(self.state, State::Leaving) {
            self.state = State::Over;
            return self.dialogues.get(self.current).map(|dialogue| dialogue.request());
        }
        None
    }

    fn handle(&mut self, now: Duration, from: SocketAddrV4, answer: &[u8]) {
        let (State::Asking { is_release, heard, .. }, Some(dialogue)) =
            (&mut self.state, self.dialogues.get_mut(self.current))
        else {
            return;
        };
        *heard += 1;
        let is_release = *is_release;
        match dialogue.take(from, answer) {
            Step::Ignored => {}
            Step::Next => self.state = Self::asking(now, is_release),
            Step::Granted(granted) if !is_release && granted.lifetime > 0 => self.grant(now, granted),
            Step::Granted(_) | Step::Over => self.fail(now, is_release),
        }
    }

    fn is_whole(&self, answer: &[u8]) -> bool {
        http::is_whole(answer)
    }

    fn deadline(&self) -> Option<(Duration, bool)> {
        match self.state {
            State::Asking { heard: MAX_HEARD.., .. } | State::Leaving => Some((Duration::ZERO, false)),
            State::Asking { next_at, .. } => Some((next_at, true)),
            State::Held { renew_at } => Some((renew_at, false)),
            State::Over => None,
        }
    }

    fn outside(&self) -> Option<SocketAddr> {
        self.outside.map(SocketAddr::V4)
    }

    fn release(&mut self, now: Duration) {
        if self.outside.take().is_some() {
            self.begin(now, 0);
        } else if let State::Asking { is_release: false, .. } = self.state {
            // An answer may be on its way. A router that has not answered until now is not waited for.
            let dialogue = self.dialogues.get_mut(self.current);
            let is_asked = dialogue.is_some_and(|dialogue| dialogue.begin(0));
            self.state = if is_asked { State::Leaving } else { State::Over };
        }
    }
}

/// Whether an address may be told to a peer: a router or a neighbour in this network that lies must not make a peer send into
/// its own network.
fn is_public(addr: SocketAddrV4) -> bool {
    is_admissible(addr.into()) && !is_private((*addr.ip()).into()) && addr.ip().octets()[0] < 240
}

/// The IPv4 address in the 16 bytes of an IPv6 one.
fn mapped_v4(bytes: [u8; 16]) -> Option<Ipv4Addr> {
    std::net::Ipv6Addr::from(bytes).to_ipv4_mapped()
}

#[cfg(test)]
mod tests;
