//! The transports of a match in a page.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rebout::net::{Datagrams, Memory, Received};

/// A clock of the page: the time since it was opened.
pub type Clock = fn() -> Duration;

/// Where the datagrams of a match go.
#[derive(Debug)]
pub enum Wire {
    /// To the bot in the same page.
    Memory(Memory<Clock>),
    /// To another machine.
    #[cfg(target_family = "wasm")]
    Channels(crate::channel::Channels),
}

impl Datagrams for Wire {
    fn now(&self) -> Duration {
        match self {
            Self::Memory(memory) => memory.now(),
            #[cfg(target_family = "wasm")]
            Self::Channels(channels) => channels.now(),
        }
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        match self {
            Self::Memory(memory) => memory.recv(buf),
            #[cfg(target_family = "wasm")]
            Self::Channels(channels) => channels.recv(buf),
        }
    }

    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        match self {
            Self::Memory(memory) => memory.send(to, datagram),
            #[cfg(target_family = "wasm")]
            Self::Channels(channels) => channels.send(to, datagram),
        }
    }

    fn wait(&mut self, _at_most: Duration) -> io::Result<()> {
        // A page never waits: the browser calls it again.
        Ok(())
    }
}
