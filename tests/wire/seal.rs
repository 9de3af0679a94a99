//! The layout of sealed packets: golden bytes both ways, exact lengths, and every refusal by its name.

use rebout::lab::wire::seal::{
    self, Control, Data, DecodeError, Form, Init, InitHead, Kind, Packet, Pattern, Request, Resp, Retry,
};

const MAC: u64 = 0xA1A2_A3A4_A5A6_A7A8;
const MAC_BYTES: [u8; 8] = MAC.to_be_bytes();
const NONCE: u64 = 0x1122_3344_5566_7788;
const COOKIE: u64 = 0xC1C2_C3C4_C5C6_C7C8;

fn request(pattern: Pattern) -> Vec<u8> {
    let mut buf = [0xFF; 64];
    let len =
        seal::encode_request(&Request { pattern, index: 0x0A0B, nonce: NONCE }, |_| MAC, &mut buf).unwrap();
    buf[..len].to_vec()
}

fn retry(open_key: Option<[u8; 32]>) -> Vec<u8> {
    let mut buf = [0xFF; 64];
    let retry = Retry { index: 0x0A0B, nonce: NONCE, cookie: COOKIE, open_key };
    let len = seal::encode_retry(&retry, |_| MAC, &mut buf).unwrap();
    buf[..len].to_vec()
}

fn init(plain_len: usize) -> Vec<u8> {
    let head = InitHead { pattern: Pattern::Invite, index: 0x0A0B, nonce: NONCE, cookie: COOKIE };
    let mut bytes = seal::init_head(&head).to_vec();
    bytes.extend([0xEE; 32]);
    bytes.extend(vec![0x55; plain_len + 16]);
    bytes.extend(MAC_BYTES);
    bytes
}

#[test]
fn request_is_as_long_as_its_answer_and_longer() {
    for (pattern, number, len, answer) in [(Pattern::Invite, 1, 32, 27), (Pattern::Open, 2, 64, 59)] {
        let bytes = request(pattern);
        let mut golden = vec![0xE0, 1, number, 0x0A, 0x0B, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88];
        golden.resize(len - 8, 0);
        golden.extend(MAC_BYTES);
        assert_eq!(bytes, golden);
        assert_eq!((pattern.request_len(), pattern.retry_len()), (len, answer));
        assert_eq!(
            seal::decode(&bytes),
            Ok(Packet::Request(Request { pattern, index: 0x0A0B, nonce: NONCE }))
        );
    }
}

#[test]
fn retry_has_the_open_key_or_none() {
    for key in [None, Some([7; 32])] {
        let bytes = retry(key);
        let mut golden = vec![0xE1, 0x0A, 0x0B];
        golden.extend(NONCE.to_be_bytes());
        golden.extend(COOKIE.to_be_bytes());
        golden.extend(key.iter().flatten());
        golden.extend(MAC_BYTES);
        assert_eq!(bytes, golden);
        let retry = Retry { index: 0x0A0B, nonce: NONCE, cookie: COOKIE, open_key: key };
        assert_eq!(seal::decode(&bytes), Ok(Packet::Retry(retry)));
    }
}

#[test]
fn every_init_has_333_bytes() {
    let bytes = init(256);
    assert_eq!((bytes.len(), seal::INIT_LEN), (333, 333));
    assert_eq!(bytes[..5], [0xE2, 1, 1, 0x0A, 0x0B]);
    assert_eq!(bytes[5..21], [NONCE.to_be_bytes(), COOKIE.to_be_bytes()].concat());
    let Ok(Packet::Init(Init { head, prologue, message })) = seal::decode(&bytes) else {
        panic!("{:?}", seal::decode(&bytes))
    };
    assert_eq!((head.index, head.nonce, head.cookie, head.pattern), (0x0A0B, NONCE, COOKIE, Pattern::Invite));
    assert_eq!((prologue, message), (&bytes[..21], &bytes[21..325]));
    assert_eq!(seal::split_mac(&bytes), Some((&bytes[..325], MAC)));
    for (len, taken) in [(0, false), (123, false), (255, false), (256, true), (257, false)] {
        assert_eq!(seal::decode(&init(len)).is_ok(), taken, "{len}");
    }
}

#[test]
fn resp_is_shorter_than_an_init() {
    let resp = |len: usize| [seal::resp_head(0x0A0B).to_vec(), vec![9; len - 3]].concat();
    assert_eq!(resp(53)[..4], [0xE3, 0x0A, 0x0B, 9]);
    let bytes = resp(167);
    assert_eq!(seal::decode(&bytes), Ok(Packet::Resp(Resp { index: 0x0A0B, message: &bytes[3..] })));
    for (len, taken) in [(52, false), (53, true), (seal::INIT_LEN - 1, true), (seal::INIT_LEN, false)] {
        assert_eq!(seal::decode(&resp(len)).is_ok(), taken, "{len}");
    }
}

#[test]
fn data_drops_the_magic_of_its_format() {
    for (datagram, form, first, dropped) in [
        (&b"RBN1\x01rest"[..], Form::Inputs, 0xE5, 5),
        (b"GAMErest", Form::Game, 0xE6, 4),
        (b"RBN1\x02rest", Form::Plain, 0xE4, 0),
        (b"RBN", Form::Plain, 0xE4, 0),
        (b"", Form::Plain, 0xE4, 0),
    ] {
        assert_eq!(Form::of(datagram), form);
        assert_eq!((form.first_byte(), form.dropped().len()), (first, dropped));
        assert_eq!(form.dropped(), &datagram[..dropped]);
        let head = seal::data_head(form, 0x0A0B, 0x9_8765);
        assert_eq!(head, [first, 0x0A, 0x0B, 0x87, 0x65]);
        let bytes = [&head[..], &[3; 16]].concat();
        let data = Data { form, index: 0x0A0B, counter: 0x8765, head, sealed: &bytes[5..] };
        assert_eq!(seal::decode(&bytes), Ok(Packet::Data(data)));
        assert_eq!(seal::decode(&bytes[..20]), Err(DecodeError::Length), "no room for a tag");
    }
    let mut long = vec![0xE4; 1_200];
    assert!(seal::decode(&long).is_ok());
    long.push(0);
    assert_eq!(seal::decode(&long), Err(DecodeError::Length));
}

#[test]
fn control_packet_has_the_length_of_its_kind() {
    let kinds = [
        (Kind::Find, 1, 0),
        (Kind::Found, 2, 0),
        (Kind::Challenge, 3, 8),
        (Kind::Proof, 4, 8),
        (Kind::CodeAsk, 5, 16),
        (Kind::CodeReveal, 6, 20),
        (Kind::Signal, 7, 256),
        (Kind::Player, 8, 64),
        (Kind::PlayerAnswer, 9, 1),
    ];
    for (kind, number, plain_len) in kinds {
        let head = seal::control_head(0x0A0B, 0x1_2345_6789, kind);
        assert_eq!(head, [0xE7, 0x0A, 0x0B, 0x23, 0x45, 0x67, 0x89, number]);
        let bytes = [&head[..], &vec![3; plain_len + 16]].concat();
        let control = Control { index: 0x0A0B, counter: 0x2345_6789, kind, head, sealed: &bytes[8..] };
        assert_eq!(seal::decode(&bytes), Ok(Packet::Control(control)));
        for other in [&bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat()] {
            assert_eq!(seal::decode(other), Err(DecodeError::Length));
        }
    }
}

#[test]
fn each_rule_refuses_by_its_name() {
    let changed = |mut bytes: Vec<u8>, at: usize, value: u8| {
        bytes[at] = value;
        seal::decode(&bytes).map(|_| ()).map_err(|error| error.rule())
    };
    for packet in [request(Pattern::Invite), request(Pattern::Open), init(256)] {
        assert_eq!(changed(packet.clone(), 0, 0xE8), Err("seal-first"));
        assert_eq!(changed(packet.clone(), 0, 0xDF), Err("seal-first"));
        assert_eq!(changed(packet.clone(), 1, 2), Err("seal-version"));
        assert_eq!(changed(packet.clone(), 2, 4), Err("seal-pattern"));
    }
    // A guest by signalling does not request, and its INIT has the length of all others.
    assert_eq!(changed(request(Pattern::Invite), 2, 3), Err("seal-pattern"));
    assert_eq!(changed(init(256), 2, 3), Ok(()));
    assert_eq!(changed(request(Pattern::Invite), 23, 1), Err("seal-padding"));
    assert_eq!(changed(request(Pattern::Open), 55, 1), Err("seal-padding"));
    assert_eq!(changed(request(Pattern::Invite), 2, 2), Err("seal-length"), "an open one is longer");
    let find = [&seal::control_head(1, 1, Kind::Find)[..], &[0; 16]].concat();
    for kind in [0, 10] {
        assert_eq!(changed(find.clone(), 7, kind), Err("seal-kind"));
    }
    assert_eq!(seal::decode(b""), Err(DecodeError::First));
    assert_eq!(DecodeError::Version.to_string(), "another version of the sealed handshake");
    assert!(seal::is_sealed(&[0xE7]) && !seal::is_sealed(b"GAME") && !seal::is_sealed(b""));
}

#[test]
fn packet_that_is_cut_or_extended_is_refused() {
    let packets = [request(Pattern::Invite), request(Pattern::Open), retry(None), retry(Some([7; 32]))];
    for packet in packets {
        // A RETRY of 59 bytes cut to 27 has the layout of the shorter one, and bytes of a key where its mac should be.
        for len in (0..packet.len()).filter(|len| packet[0] != 0xE1 || *len != 27) {
            assert!(seal::decode(&packet[..len]).is_err(), "{len} of {packet:02X?}");
        }
        assert_eq!(seal::decode(&[&packet[..], &[0]].concat()), Err(DecodeError::Length));
    }
    for len in 0..333 {
        assert!(seal::decode(&init(256)[..len]).is_err(), "{len} of an INIT");
    }
}

#[test]
fn buffer_that_is_too_small_gets_no_packet() {
    let request = Request { pattern: Pattern::Open, index: 1, nonce: 2 };
    assert_eq!(seal::encode_request(&request, |_| 0, &mut [0; 63]), None);
    let retry = Retry { index: 1, nonce: 2, cookie: 3, open_key: None };
    assert_eq!(seal::encode_retry(&retry, |_| 0, &mut [0; 26]), None);
}
