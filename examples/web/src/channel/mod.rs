//! The transport of a page: a WebSocket to the rendezvous, and a data channel to each peer.
//!
//! Nothing here decides: the library says by `web::ChannelCommand` which peer connections there are, and gets `web::News` of them. A network
//! that goes away shows as silence, and the WebSocket is opened again.

mod inbox;
mod peer;
mod socket;

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use rebout::net::{Datagrams, Received};
use rebout::web::{ChannelCommand, News, SERVER, is_channel};

use crate::wire::Clock;
use inbox::Inbox;
use peer::Peer;
use socket::Socket;

/// Peer connections at once: a host has one for each guest that is on its way.
const MAX_PEERS: usize = 8;

/// The data channels of a match, and the way to the rendezvous.
#[derive(Debug)]
pub struct Channels {
    clock: Clock,
    inbox: Rc<Inbox>,
    socket: Socket,
    peers: Vec<Peer>,
}

impl Channels {
    /// A transport that meets others at the WebSocket of this URL. `wake` is called after each message.
    pub fn new(clock: Clock, url: String, wake: js_sys::Function) -> Self {
        let inbox = Rc::new(Inbox::new(wake));
        Self { clock, socket: Socket::new(url, Rc::clone(&inbox)), inbox, peers: Vec::new() }
    }

    /// Messages that were no datagrams of a match.
    pub fn refused(&self) -> u32 {
        self.inbox.refused()
    }

    fn obey(&mut self, addr: SocketAddr, command: ChannelCommand) {
        match command {
            ChannelCommand::Open { servers, offer } => {
                self.remove(addr);
                if self.peers.len() >= MAX_PEERS {
                    self.remove(self.peers[0].addr());
                }
                match Peer::open(addr, &servers, offer, &self.inbox, self.clock) {
                    Ok(peer) => self.peers.push(peer),
                    // The browser refuses, as without the permission or with too many connections.
                    Err(_) => self.inbox.push(addr, News::Closed.encode()),
                }
            }
            ChannelCommand::Answer(answer) => {
                if let Some(peer) = self.peers.iter().find(|peer| peer.addr() == addr) {
                    peer.answer(&answer);
                }
            }
            ChannelCommand::Close => self.remove(addr),
        }
    }

    fn remove(&mut self, addr: SocketAddr) {
        self.peers.retain(|peer| peer.addr() != addr);
        self.inbox.forget(addr);
    }
}

impl Datagrams for Channels {
    fn now(&self) -> Duration {
        (self.clock)()
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        self.socket.keep_open((self.clock)());
        let Some((from, datagram)) = self.inbox.pop() else { return Ok(Received::Empty) };
        let len = datagram.len().min(buf.len());
        buf[..len].copy_from_slice(&datagram[..len]);
        Ok(Received::Datagram(from, len))
    }

    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        if to == SERVER {
            self.socket.send(datagram);
        } else if is_channel(to) {
            match ChannelCommand::decode(datagram) {
                Some(command) => self.obey(to, command),
                None => {
                    if let Some(peer) = self.peers.iter().find(|peer| peer.addr() == to) {
                        peer.send(datagram);
                    }
                }
            }
        }
    }

    fn wait(&mut self, _at_most: Duration) -> io::Result<()> {
        // A page never waits: the browser calls it again.
        Ok(())
    }
}
