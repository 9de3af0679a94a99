//! Input packets, and the choice between the two formats of a bare link.

use crate::memory::within;
use rebout::wire::rbn1::{Checksum, Flags, InputHeader, InputPacket, LossCounts, TimeSync};
use rebout::wire::{Packet, WireFrame};
use rebout::{Buttons, Input, MAX_DATAGRAM};

pub fn run(data: &[u8]) {
    let decoded = within(0, || InputPacket::decode(data, Flags::ALL));
    let old = InputPacket::decode(data, Flags::VERSION_1);
    match (decoded, Packet::decode(data, Flags::ALL)) {
        (Ok(packet), Ok(Packet::Rbn1(same))) => assert_eq!(packet, same),
        (Ok(packet), other) => panic!("{packet:?} is {other:?}"),
        (Err(error), _) => {
            assert!(old.is_err() && !error.to_string().is_empty());
            return;
        }
    }
    let Ok(packet) = decoded else { return };
    if let Ok(old) = old {
        assert_eq!(old, packet, "more flags change no packet that has none of them");
    }
    assert_eq!(packet.inputs().len(), packet.count());
    for (at, input) in packet.inputs().enumerate() {
        assert_eq!(packet.input(at), Some(input));
    }
    let mut buf = [0xA5; InputPacket::MAX_LEN];
    let len =
        within(0, || InputPacket::encode(&packet.header(), packet.inputs(), &mut buf)).expect("decoded");
    assert_eq!(&buf[..len], data);
}

pub fn seeds() -> Vec<Vec<u8>> {
    let header =
        InputHeader { start_frame: WireFrame(1_000), ack_frame: WireFrame(999), ..Default::default() };
    let checksum = Some(Checksum { frame: WireFrame(990), value: 7 });
    let time = Some(TimeSync { mark: 3, echo: 2, held: 5 });
    let loss = Some(LossCounts { sent: 9, received: 8 });
    let headers = [
        header,
        InputHeader { checksum, ..header },
        InputHeader { checksum, time, loss, ..header },
        InputHeader { axes: 6, time, ..header },
    ];
    let inputs: Vec<Input> = (0..8).map(|at| Input::from(Buttons(at)).with_axis(1, at as i8)).collect();
    headers
        .iter()
        .map(|header| {
            let mut buf = [0; MAX_DATAGRAM];
            let len = InputPacket::encode(header, inputs.iter().copied(), &mut buf).expect("a few inputs");
            buf[..len].to_vec()
        })
        .collect()
}
