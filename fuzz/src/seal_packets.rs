//! The packets of a sealed link, as everybody can read them.

use crate::memory::within;
use rebout::MAX_DATAGRAM;
use rebout::lab::wire::seal::{
    Form, InitHead, Kind, Packet, Pattern, Request, Retry, control_head, data_head, decode, encode_request,
    encode_retry, init_head, is_sealed, put_mac, resp_head, split_mac,
};

pub fn run(data: &[u8]) {
    let packet = match within(0, || decode(data)) {
        Err(error) => return assert!(!error.to_string().is_empty()),
        Ok(packet) => packet,
    };
    assert!(is_sealed(data));
    let mac = |_: &[u8]| split_mac(data).map_or(0, |(_, mac)| mac);
    let mut buf = [0; MAX_DATAGRAM];
    match packet {
        Packet::Request(request) => {
            let len = encode_request(&request, mac, &mut buf).expect("decoded");
            assert_eq!(&buf[..len], data);
        }
        Packet::Retry(retry) => {
            let len = encode_retry(&retry, mac, &mut buf).expect("decoded");
            assert_eq!(&buf[..len], data);
        }
        Packet::Init(init) => {
            assert_eq!(&init_head(&init.head)[..], init.prologue);
            assert_eq!(init.message.len() + init.prologue.len() + 8, data.len());
            assert_eq!(init.ephemeral()[..], init.message[..32]);
        }
        Packet::Resp(resp) => {
            assert_eq!([&resp_head(resp.index)[..], resp.message].concat(), data);
        }
        Packet::Data(packet) => {
            let head = data_head(packet.form, packet.index, packet.counter.into());
            assert_eq!((head, [&head[..], packet.sealed].concat()), (packet.head, data.to_vec()));
        }
        Packet::Control(packet) => {
            let head = control_head(packet.index, packet.counter.into(), packet.kind);
            assert_eq!((head, [&head[..], packet.sealed].concat()), (packet.head, data.to_vec()));
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let written = |write: &dyn Fn(&mut [u8]) -> Option<usize>| {
        let mut buf = [0; MAX_DATAGRAM];
        let len = write(&mut buf).expect("it fits");
        buf[..len].to_vec()
    };
    let request = |pattern| Request { pattern, index: 7, nonce: 9 };
    let retry = |open_key| Retry { index: 7, nonce: 9, cookie: 3, open_key };
    let head = InitHead { pattern: Pattern::Invite, index: 7, nonce: 9, cookie: 3 };
    let mut seeds = vec![
        written(&|buf| encode_request(&request(Pattern::Invite), |_| 1, buf)),
        written(&|buf| encode_request(&request(Pattern::Open), |_| 1, buf)),
        written(&|buf| encode_retry(&retry(None), |_| 1, buf)),
        written(&|buf| encode_retry(&retry(Some([5; 32])), |_| 1, buf)),
        written(&|buf| {
            let (head, len) = (init_head(&head), 333 - 8);
            buf[..head.len()].copy_from_slice(&head);
            put_mac(len, |_| 1, buf)
        }),
        [&resp_head(7)[..], &[1; 90]].concat(),
    ];
    seeds.extend(
        [Form::Plain, Form::Inputs, Form::Game].map(|form| [&data_head(form, 7, 9)[..], &[2; 40]].concat()),
    );
    seeds.extend(
        Kind::ALL.map(|kind| [&control_head(7, 9, kind)[..], &vec![3; kind.plain_len() + 16]].concat()),
    );
    seeds
}
