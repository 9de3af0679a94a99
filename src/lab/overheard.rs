//! The numbers that can be read from a machine's traffic.

use crate::wire::Packet;
use crate::wire::control::ControlHeader;
use crate::wire::rbn1::Flags;
use crate::{Input, MAX_DATAGRAM};

/// The newest numbers in a machine's traffic. A forger needs them to write a packet that passes for the peer's.
#[derive(Clone, Debug)]
pub struct Overheard {
    /// One past the newest input frame delivered to the machine, as on the wire; 0 if there is none.
    pub heard_end: u32,
    /// The buttons of that input.
    pub heard_newest: Input,
    /// One past the newest input frame that the machine sent, as on the wire; 0 if there is none.
    pub said_end: u32,
    /// The header of the newest control packet of the connection that the machine sent.
    pub header: Option<ControlHeader>,
    /// The newest input packet that the machine sent.
    pub last_input: Vec<u8>,
}

impl Overheard {
    pub(super) fn new() -> Self {
        Self {
            heard_end: 0,
            heard_newest: Input::NEUTRAL,
            said_end: 0,
            header: None,
            last_input: Vec::with_capacity(MAX_DATAGRAM),
        }
    }

    pub(super) fn delivered(&mut self, datagram: &[u8]) {
        if let Ok(Packet::Rbn1(packet)) = Packet::decode(datagram, Flags::ALL) {
            let end = packet.start_frame().0.wrapping_add(packet.count() as u32);
            if end > self.heard_end {
                (self.heard_end, self.heard_newest) =
                    (end, packet.input(packet.count() - 1).unwrap_or_default());
            }
        }
    }

    /// # Panics
    ///
    /// When the machine sent a datagram that breaks a rule of its format.
    pub(super) fn sent(&mut self, datagram: &[u8]) {
        assert!(datagram.len() <= MAX_DATAGRAM, "a machine sent {} bytes", datagram.len());
        match Packet::decode(datagram, Flags::ALL) {
            Ok(Packet::Rbn1(packet)) => {
                self.said_end = packet.start_frame().0.wrapping_add(packet.count() as u32);
                self.last_input.clear();
                self.last_input.extend_from_slice(datagram);
            }
            // The answer of a host to an unproven address belongs to no connection, and has sequence 0.
            Ok(Packet::Game(packet)) if packet.header.sequence == 0 && packet.header.ack_bits == 0 => {}
            Ok(Packet::Game(packet)) => self.header = Some(packet.header),
            Err(error) => panic!("a machine sent what it would refuse itself: {error}"),
        }
    }
}
