//! The line to the other machine: a socket, and the seal around everything that goes over it.

use std::fs::File;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::Duration;

use rebout::InviteError;
use rebout::Protocol;
use rebout::net::udp::UdpDriver;
use rebout::seal::{Call, Code, Seal, SealRefusal};

use super::reaching::Way;
use stage::letters;

/// A socket, and the seal around it unless the line is bare.
pub struct Line {
    udp: UdpDriver,
    /// The way through routers, if the other one is met at a rendezvous. Only a sealed line has one.
    way: Option<Way>,
    seal: Option<Seal>,
    key_log: Option<File>,
    /// The answer to the call of this host has come.
    is_answered: bool,
}

/// A hint why nobody answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Bare packets came.
    TheyAreBare,
    /// Sealed packets of another version came.
    OtherVersion,
}

impl Line {
    /// A line on which everything is sealed.
    pub fn sealed(udp: UdpDriver, seal: Seal) -> Self {
        Self { udp, way: None, seal: Some(seal), key_log: None, is_answered: false }
    }

    /// A sealed line that finds its way through routers.
    pub fn reaching(udp: UdpDriver, seal: Seal, way: Way) -> Self {
        Self { udp, way: Some(way), seal: Some(seal), key_log: None, is_answered: false }
    }

    /// Takes the answer to the call of a host without a server, as the other player has sent it.
    ///
    /// # Errors
    /// If it is none, or answers another call.
    pub fn take_answer(&mut self, text: &str) -> Result<(), String> {
        let answer = letters::copied(text).parse().map_err(|error| not_an_answer(text, &error))?;
        let now = self.udp.now();
        let (Some(way), Some(seal)) = (&mut self.way, &mut self.seal) else {
            return Err("nobody was called".to_owned());
        };
        way.reach.take_answer(now, seal, &answer).map_err(|_| {
            "this is an answer to another call: the other player needs the one of this page".to_owned()
        })?;
        self.is_answered = true;
        Ok(())
    }

    /// Whether the answer to the call of this host has come.
    pub fn is_answered(&self) -> bool {
        self.is_answered
    }

    /// The way through routers.
    pub fn way(&self) -> Option<&Way> {
        self.way.as_ref()
    }

    /// A line on which anybody on the way can read and forge.
    pub fn bare(udp: UdpDriver) -> Self {
        Self { udp, way: None, seal: None, key_log: None, is_answered: false }
    }

    /// Writes the keys of all connections to a file from now on.
    pub fn log_keys(&mut self, file: File) {
        self.key_log = Some(file);
        self.seal.iter_mut().for_each(Seal::log_keys);
    }

    fn write_keys(&mut self) -> io::Result<()> {
        let (Some(seal), Some(file)) = (&mut self.seal, &mut self.key_log) else { return Ok(()) };
        while let Some(keys) = seal.take_logged_keys() {
            writeln!(file, "{keys}")?;
        }
        Ok(())
    }

    /// The word for it in a report.
    pub fn kind(&self) -> &'static str {
        if self.seal.is_some() { "sealed" } else { "bare" }
    }

    pub fn now(&self) -> Duration {
        self.udp.now()
    }

    /// Moves packets until `deadline`, or until the protocol wants attention.
    ///
    /// # Errors
    /// A broken socket, or a full disk where keys are logged.
    pub fn run_until<P: Protocol>(&mut self, protocol: &mut P, deadline: Duration) -> io::Result<()> {
        match (&mut self.way, &mut self.seal) {
            (Some(way), Some(seal)) => {
                let now = self.udp.run_until(&mut way.reach.around(seal, protocol), deadline)?;
                way.look(now);
            }
            (_, Some(seal)) => drop(self.udp.run_until(&mut seal.around(protocol), deadline)?),
            (_, None) => drop(self.udp.run_until(protocol, deadline)?),
        }
        self.write_keys()
    }

    /// Sends what is due.
    ///
    /// # Errors
    /// A broken socket.
    pub fn flush<P: Protocol>(&mut self, protocol: &mut P) -> io::Result<()> {
        match (&mut self.way, &mut self.seal) {
            (Some(way), Some(seal)) => self.udp.flush(&mut way.reach.around(seal, protocol)),
            (_, Some(seal)) => self.udp.flush(&mut seal.around(protocol)),
            (_, None) => self.udp.flush(protocol),
        }
    }

    /// Sees to it that the last word gets through, for as long as `linger`.
    ///
    /// # Errors
    /// A broken socket.
    pub fn close<P: Protocol>(&mut self, protocol: &mut P, linger: Duration) -> io::Result<bool> {
        match (&mut self.way, &mut self.seal) {
            (Some(way), Some(seal)) => {
                let closed = self.udp.close(&mut way.reach.around(seal, protocol), linger);
                way.reach.close(self.udp.now());
                self.udp.flush(&mut way.reach.around(seal, protocol))?;
                closed
            }
            (_, Some(seal)) => self.udp.close(&mut seal.around(protocol), linger),
            (_, None) => self.udp.close(protocol, linger),
        }
    }

    /// The code to compare with a peer that was found by its address, once it is known.
    pub fn code(&self, peer: SocketAddr) -> Option<Code> {
        self.seal.as_ref()?.code(peer)
    }

    /// Whether it is certain who is at the other end: by invite, or because a player compared the code.
    pub fn is_verified(&self, peer: SocketAddr) -> bool {
        self.seal.as_ref().is_some_and(|seal| seal.is_verified(peer))
    }

    /// The player says that both machines show the same code.
    pub fn verify(&mut self, peer: SocketAddr) -> bool {
        self.seal.as_mut().is_some_and(|seal| seal.verify(peer))
    }

    /// Hints about a line on which nobody answers. Nobody has proven them: they are for words alone.
    pub fn hint(&self) -> Option<Hint> {
        let stats = self.seal.as_ref()?.stats();
        if stats.refused(SealRefusal::Bare) > 0 {
            Some(Hint::TheyAreBare)
        } else {
            (stats.refused(SealRefusal::OtherVersion) > 0).then_some(Hint::OtherVersion)
        }
    }

    /// The address of a peer for people to read: that of the socket, not the one that a seal made up.
    pub fn real(&self, peer: SocketAddr) -> SocketAddr {
        self.seal.as_ref().and_then(|seal| seal.real(peer)).unwrap_or(peer)
    }
}

/// Why a text is no answer, for the host who pasted it.
fn not_an_answer(text: &str, error: &InviteError) -> String {
    let text = letters::copied(text);
    match error {
        InviteError::NotAnInvite if text.parse::<Call>().is_ok() => {
            "this is a call, and the answer to it is wanted: send the call to the other player".to_owned()
        }
        InviteError::NotAnInvite => "this is no answer: one begins with rebout-answer:1:".to_owned(),
        error => format!("this answer is not whole: {}", error.to_string().replace("invite", "answer")),
    }
}
