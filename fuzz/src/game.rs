//! GAME packets: control, the messages of a duel with its handshake and first state, and the packets of an authority.

use crate::memory::within;
use rebout::MAX_DATAGRAM;
use rebout::lab::forge::Guesses;
use rebout::lab::wire::message::{Message, Ordered};
use rebout::wire::control::{ControlPacket, ControlPayload};

pub fn run(data: &[u8]) {
    match within(0, || ControlPacket::decode(data)) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(packet) => {
            let mut buf = vec![0xA5; data.len()];
            let len = within(0, || ControlPacket::encode(&packet.header, &packet.payload, &mut buf));
            assert_eq!(&buf[..len.expect("decoded")], data);
            if let ControlPayload::ReliableEvent(payload) = packet.payload {
                message(payload);
            }
        }
    }
    // A message without its packet, so that the fuzzer need not find a length that fits.
    message(data);
}

fn message(payload: &[u8]) {
    let decoded = match within(0, || Message::decode(payload)) {
        Err(error) => return assert!(!error.to_string().is_empty()),
        Ok(decoded) => decoded,
    };
    let mut buf = [0xA5; 2 * MAX_DATAGRAM];
    let len = within(0, || decoded.encode(&mut buf)).expect("decoded");
    match decoded {
        // Of a version that is not ours, only the head is known.
        Message::ForeignHello(_) => assert_eq!(Message::decode(&buf[..len]), Ok(decoded)),
        _ => assert_eq!(&buf[..len], payload),
    }
    if let Message::Ordered { body: Ordered::Autopsy(note), .. } = decoded {
        crate::autopsy_notes::run(note);
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let mut guesses = Guesses::new(1);
    let packets: Vec<Vec<u8>> = (0..3 * Guesses::KINDS).map(|_| guesses.draw().to_vec()).collect();
    let payloads: Vec<Vec<u8>> = packets
        .iter()
        .filter_map(|packet| match ControlPacket::decode(packet).ok()?.payload {
            ControlPayload::ReliableEvent(payload) => Some(payload.to_vec()),
            _ => None,
        })
        .collect();
    [packets, payloads].concat()
}
