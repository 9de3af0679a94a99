//! SCTP inside DTLS, with the one data channel that both sides know of: number 0, unordered, without retransmission.

use crate::connect::nat::origin::Point;
use crate::protocol::MAX_DATAGRAM;
use sctp_proto::{
    Association, AssociationHandle, ClientConfig, DatagramEvent, Endpoint, EndpointConfig, Event, Payload,
    PayloadProtocolIdentifier, ReliabilityType, ServerConfig, StreamEvent, TransportConfig,
};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;

/// The number of the data channel.
const CHANNEL: u16 = 0;
/// The most bytes of a message in one packet, with which the DTLS datagram stays below 1,232 bytes. Longer ones are taken apart.
const MAX_PAYLOAD: u32 = 1_120;
/// The most unsent bytes: more are those of a link that stands still.
const MAX_UNSENT: usize = 16 * 1024;
/// The most bytes of messages that are not whole yet.
const MAX_UNREAD: u32 = 64 * 1024;
const STREAMS: u16 = 16;
/// A lost message is given up after this long, in which it counts as unsent: in milliseconds.
const GIVES_UP_MS: u64 = 200;
/// SCTP wants addresses, and nobody looks at them.
const PEER: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 5_000));

/// The association of one data channel.
pub(super) struct Sctp {
    endpoint: Endpoint,
    association: Option<(AssociationHandle, Association)>,
    is_open: bool,
    is_lost: bool,
    /// Messages of another kind than ours, or on another channel.
    pub(super) refused: u64,
}

fn transport() -> Arc<TransportConfig> {
    let config = TransportConfig::default()
        .with_max_init_retransmits(None)
        .with_max_receive_buffer_size(MAX_UNREAD)
        .with_max_send_message_size(MAX_DATAGRAM as u32 * 2)
        .with_max_receive_message_size(MAX_DATAGRAM as u32 * 2)
        .with_max_num_inbound_streams(STREAMS)
        .with_max_num_outbound_streams(STREAMS)
        .with_rto_initial_ms(GIVES_UP_MS * 2)
        .with_rto_min_ms(GIVES_UP_MS);
    Arc::new(config)
}

impl Sctp {
    pub(super) fn new() -> Self {
        let (mut config, mut server) = (EndpointConfig::new(), ServerConfig::new());
        config.max_payload_size(MAX_PAYLOAD);
        server.transport = transport();
        let endpoint = Endpoint::new(Arc::new(config), Some(Arc::new(server)));
        Self { endpoint, association: None, is_open: false, is_lost: false, refused: 0 }
    }

    /// Begins the association, as the side that began DTLS does.
    pub(super) fn connect(&mut self) {
        let mut config = ClientConfig::new();
        config.transport = transport();
        if let (None, Ok(made)) = (&self.association, self.endpoint.connect(config, PEER)) {
            self.association = Some(made);
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open && !self.is_lost
    }

    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Takes a packet.
    pub(super) fn handle(&mut self, now: Point, packet: &[u8]) {
        let event = self.endpoint.handle(now, PEER, None, None, packet.to_vec().into());
        match event {
            // One that comes again, because our answer was lost, is the one that is there.
            Some((handle, DatagramEvent::NewAssociation(made))) if self.association.is_none() => {
                self.association = Some((handle, made));
            }
            Some((handle, DatagramEvent::AssociationEvent(event))) => {
                if let Some((_, association)) = self.association.as_mut().filter(|(own, _)| *own == handle) {
                    association.handle_event(event);
                }
            }
            _ => {}
        }
    }

    pub(super) fn run(&mut self, now: Point) {
        let Some((handle, association)) = &mut self.association else { return };
        if association.poll_timeout().is_some_and(|at| at <= now) {
            association.handle_timeout(now);
        }
        while let Some(event) = association.poll_endpoint_event() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                association.handle_event(event);
            }
        }
    }

    pub(super) fn timeout(&self) -> Option<Point> {
        self.association.as_ref().and_then(|(_, association)| association.poll_timeout())
    }

    /// Hands each message that came on the data channel to `take`.
    pub(super) fn read(&mut self, mut take: impl FnMut(Vec<u8>)) {
        let Some((_, association)) = &mut self.association else { return };
        let mut readable = Vec::new();
        while let Some(event) = association.poll() {
            match event {
                Event::Connected => {
                    self.is_open = true;
                    // The other side may have opened it already.
                    let _ = association.open_stream(CHANNEL, PayloadProtocolIdentifier::Binary);
                    if let Ok(mut stream) = association.stream(CHANNEL) {
                        let _ = stream.set_reliability_params(true, ReliabilityType::Rexmit, 0);
                    }
                }
                Event::AssociationLost { .. } => self.is_lost = true,
                Event::Stream(StreamEvent::Readable { id }) => readable.push(id),
                Event::Stream(
                    StreamEvent::Finished { id: CHANNEL } | StreamEvent::Stopped { id: CHANNEL, .. },
                ) => {
                    self.is_lost = true;
                }
                _ => {}
            }
        }
        readable.push(CHANNEL);
        for id in readable {
            let Ok(mut stream) = association.stream(id) else { continue };
            while let Ok(Some(message)) = stream.read() {
                let mut bytes = vec![0; message.len()];
                let is_ours = id == CHANNEL && message.ppi == PayloadProtocolIdentifier::Binary;
                if is_ours && message.len() <= MAX_DATAGRAM && message.read(&mut bytes).is_ok() {
                    take(bytes);
                } else {
                    self.refused += 1;
                }
            }
        }
    }

    /// Sends a message. `false` if there is no room for it.
    pub(super) fn send(&mut self, message: &[u8]) -> bool {
        let Some((_, association)) = self.association.as_mut().filter(|_| self.is_open && !self.is_lost)
        else {
            return false;
        };
        let Ok(mut stream) = association.stream(CHANNEL) else { return false };
        let has_room = stream.buffered_amount().is_ok_and(|unsent| unsent < MAX_UNSENT);
        has_room && stream.write_with_ppi(message, PayloadProtocolIdentifier::Binary).is_ok()
    }

    /// The next packets to send.
    pub(super) fn poll_transmit(&mut self, now: Point) -> Option<Vec<Vec<u8>>> {
        let of_association = |one: &mut (AssociationHandle, Association)| one.1.poll_transmit(now);
        let sent =
            self.endpoint.poll_transmit().or_else(|| self.association.as_mut().and_then(of_association))?;
        match sent.payload {
            Payload::RawEncode(packets) => Some(packets.into_iter().map(|packet| packet.to_vec()).collect()),
            Payload::PartialDecode(_) => Some(Vec::new()),
        }
    }
}
