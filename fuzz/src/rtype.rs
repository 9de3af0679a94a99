//! R-Type packets.

use crate::memory::within;
use rebout::wire::rtype::{InputFlags, RtypeHeader, RtypePacket, RtypePayload};

pub fn run(data: &[u8]) {
    let _ = RtypePacket::refused_sequence(data);
    match within(0, || RtypePacket::decode(data)) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(packet) => {
            let mut buf = [0xA5; RtypePacket::MAX_LEN];
            let len = within(0, || RtypePacket::encode(packet.header, &packet.payload, &mut buf));
            assert_eq!(&buf[..len.expect("decoded")], data);
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    [
        RtypePayload::Ack(7),
        RtypePayload::Nack(7),
        RtypePayload::Hello { version: 1, name: "Ada" },
        RtypePayload::Welcome { player_id: 1, seed: 9 },
        RtypePayload::PlayerLeave,
        RtypePayload::PlayerLeft { player_id: 1 },
        RtypePayload::Input(InputFlags(5)),
        RtypePayload::EntitySpawn { id: 300, kind: 2, x: 4, y: 5 },
        RtypePayload::EntityUpdate { id: 300, x: 4, y: 5 },
        RtypePayload::EntityDestroy { id: 300 },
        RtypePayload::HitEvent { id: 300, damage: 3 },
        RtypePayload::Heartbeat,
    ]
    .iter()
    .map(|payload| {
        let mut buf = [0; RtypePacket::MAX_LEN];
        let header = RtypeHeader { asks_ack: payload.opcode().is_reliable(), sequence: 9 };
        let len = RtypePacket::encode(header, payload, &mut buf).expect("it fits");
        buf[..len].to_vec()
    })
    .collect()
}
