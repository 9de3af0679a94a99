//! The channels that a relay was asked for: it sends on them before its answer has arrived, and on a lossy line that takes seconds.

use core::ops::Range;
use std::net::SocketAddr;
use turn_client_proto::types::attribute::{ChannelNumber, XorPeerAddress};
use turn_client_proto::types::channel::ChannelData;
use turn_client_proto::types::message::CHANNEL_BIND;
use turn_client_proto::types::stun::message::Message;

/// Channels that are known. A client that got no answer asks for another one for the same peer.
const MAX_CHANNELS: usize = 128;
/// The number and the length in front of the data.
const HEAD_LEN: usize = 4;

/// The channels that a relay was asked for, the newest last.
#[derive(Debug, Default)]
pub(super) struct Channels(Vec<(u16, SocketAddr)>);

impl Channels {
    /// Notes a request to the relay, if it is for a channel.
    pub(super) fn asked(&mut self, request: &[u8]) {
        let Ok(message) = Message::from_bytes(request) else { return };
        if message.method() != CHANNEL_BIND {
            return;
        }
        let (number, peer) = (message.attribute::<ChannelNumber>(), message.attribute::<XorPeerAddress>());
        let (Ok(number), Ok(peer)) = (number, peer) else { return };
        let asked = (number.channel(), peer.addr(message.transaction_id()));
        self.0.retain(|(number, _)| *number != asked.0);
        if self.0.len() == MAX_CHANNELS {
            self.0.remove(0);
        }
        self.0.push(asked);
    }

    /// The peer that has sent the data in a datagram of the relay, and the place of the data.
    pub(super) fn data(&self, datagram: &[u8]) -> Option<(SocketAddr, Range<usize>)> {
        let data = ChannelData::parse(datagram).ok()?;
        let (_, peer) = self.0.iter().find(|(number, _)| *number == data.id())?;
        Some((*peer, HEAD_LEN..HEAD_LEN + data.data().len()))
    }
}
