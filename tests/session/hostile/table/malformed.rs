//! Datagrams that break a rule of their format.

use super::{ANYONE, BOTH, Expect, Table};
use crate::hostile::forged::{bent, event};
use crate::hostile::phase::Phase;
use crate::pair::{hello, offer};
use rebout::Refusal;
use rebout::lab::forge::{Knows, payload, raw};
use rebout::lab::wire::message::{
    Challenge, Leaving, LeavingWhy, Message, Ordered, Pause, PauseStep, Refuse, RefuseField, Resume, Resync,
};
use rebout::wire::WireFrame;
use rebout::wire::rbn1::{InputHeader, InputPacket, LossCounts, TimeSync};

pub(super) fn all(table: &mut Table) {
    no_packets(table);
    malformed_inputs(table);
    malformed_control(table);
    malformed_messages(table);
}

fn no_packets(table: &mut Table) {
    for len in [0_usize, 1, 3, 14, 15, 64, 1_200, 1_500, 2_048, 9_000] {
        table.malformed(Refusal::NoPacket, format!("{len} zero bytes"), move |_| vec![0; len]);
    }
    table.malformed(Refusal::NoPacket, "magic cut short", |_| b"RBN".to_vec());
    table.malformed(Refusal::NoPacket, "another magic", |_| b"RBN2-and-enough-of-it".to_vec());
    table.malformed(Refusal::NoPacket, "0xff bytes", |_| vec![0xFF; 87]);
}

fn malformed_inputs(table: &mut Table) {
    let bad = Refusal::MalformedInput;
    for len in [4_usize, 5, 10, 14, 15, 16] {
        table.malformed(bad, format!("RBN1 cut to {len} bytes"), move |k| bent(k, 4, 1)[..len].to_vec());
    }
    for version in [0, 2, 0xFF] {
        table.malformed(bad, format!("RBN1 of version {version}"), move |k| bent(k, 4, version));
    }
    for flags in [2, 4, 8, 15, 0x80, 0xFF] {
        table.malformed(bad, format!("RBN1 with flags {flags:#x}"), move |k| bent(k, 5, flags));
    }
    let header = |k: &Knows| InputHeader {
        start_frame: WireFrame(k.known),
        ack_frame: WireFrame(k.sent.wrapping_sub(1)),
        ..InputHeader::default()
    };
    let packet = |k: &Knows, header: &InputHeader| {
        let mut buf = [0; InputPacket::MAX_LEN];
        let len = InputPacket::encode(header, [k.newest], &mut buf).expect("a packet");
        buf[..len].to_vec()
    };
    for axes in 1..=6 {
        table.malformed(bad, format!("RBN1 with {axes} axes, where none were agreed on"), move |k| {
            packet(k, &InputHeader { axes, ..header(k) })
        });
    }
    let time = Some(TimeSync { mark: 1, echo: 2, held: 3 });
    table.malformed(bad, "RBN1 with mark 0", move |k| {
        let mut bytes = packet(k, &InputHeader { time, ..header(k) });
        bytes[15] = 0;
        bytes
    });
    let loss = Some(LossCounts { sent: 1, received: 2 });
    for (name, with) in [
        ("time", InputHeader { time, ..InputHeader::default() }),
        ("loss", InputHeader { loss, ..InputHeader::default() }),
    ] {
        let early = &[Phase::Waiting, Phase::Challenged, Phase::Incoming];
        let make = move |k: &Knows| packet(k, &InputHeader { time: with.time, loss: with.loss, ..header(k) });
        let refused = Expect::Refused(bad);
        table.add(
            format!("RBN1 with a {name} block before an agreement"),
            early,
            BOTH,
            ANYONE,
            make,
            refused,
        );
    }
    table.malformed(bad, "RBN1 that promises a checksum", |k| bent(k, 5, 1));
    for count in [0, 2, 32, 33, 0xFF] {
        table.malformed(bad, format!("RBN1 that says {count} inputs of 1"), move |k| bent(k, 10, count));
    }
    for len in [18_usize, 88, 1_500, 2_048, 9_000] {
        table.malformed(bad, format!("RBN1 made {len} bytes long"), move |k| {
            let mut bytes = bent(k, 4, 1);
            bytes.resize(len, 0);
            bytes
        });
    }
}

fn malformed_control(table: &mut Table) {
    let bad = Refusal::MalformedControl;
    for len in [4_usize, 12, 14] {
        table
            .malformed(bad, format!("GAME cut to {len} bytes"), move |k| raw(k.header, 9, &[])[..len].into());
    }
    for kind in [0, 11, 0x7F, 0xFF] {
        table.malformed(bad, format!("GAME of type {kind}"), move |k| raw(k.header, kind, &[]));
    }
    for declared in [1_u8, 0xFF] {
        table.malformed(bad, format!("HEARTBEAT that declares {declared} bytes"), move |k| {
            let mut bytes = raw(k.header, 9, &[]);
            bytes[14] = declared;
            bytes
        });
    }
    let wrong: &[(&str, u8, &[u8])] = &[
        ("CONNECT_REQ with a payload", 1, &[1]),
        ("CONNECT_ACK without a seat", 2, &[]),
        ("CONNECT_ACK with seat 0", 2, &[0]),
        ("CONNECT_ACK with two seats", 2, &[1, 2]),
        ("DISCONNECT with a payload", 3, &[0]),
        ("INPUT without inputs", 4, &[]),
        ("INPUT with count 0", 4, &[0]),
        ("INPUT of 12 bytes", 4, &[0; 12]),
        ("INPUT of 14 bytes that says 2", 4, &[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("INPUT that moves by NaN", 4, &[0, 0, 0, 1, 0x7F, 0xC0, 0, 0, 0, 0, 0, 0, 0]),
        ("INPUT that moves by 2", 4, &[0, 0, 0, 1, 0x40, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("SNAPSHOT of 4 bytes", 5, &[0; 4]),
        ("SNAPSHOT that says 255 entities", 5, &[0, 0, 0, 1, 0xFF]),
        ("SNAPSHOT with 3 bytes more", 5, &[0, 0, 0, 1, 0, 1, 2, 3]),
        ("PING of 7 bytes", 6, &[0; 7]),
        ("PING of NaN", 6, &[0x7F, 0xF8, 0, 0, 0, 0, 0, 1]),
        ("PONG of 9 bytes", 7, &[0; 9]),
        ("PONG of infinity", 7, &[0x7F, 0xF0, 0, 0, 0, 0, 0, 0]),
        ("HEARTBEAT with a payload", 9, &[9]),
        ("HEARTBEAT of 1,500 bytes", 9, &[0; 1_485]),
        ("PING of 9,000 bytes", 6, &[0; 8_985]),
    ];
    for (class, kind, payload) in wrong {
        table.malformed(bad, *class, |k| raw(k.header, *kind, payload));
    }
}

fn malformed_messages(table: &mut Table) {
    let bad = Refusal::MalformedMessage;
    table.malformed(bad, "empty message", |k| event(k, &[]));
    for kind in [0, 6, 15, 22, 31, 33, 48, 0xFF] {
        table.malformed(bad, format!("message of kind {kind}"), move |k| event(k, &[kind, 0, 0, 0, 0, 0]));
    }
    let whole: [(&str, Message<'_>); 11] = [
        ("HELLO", hello(7, 0)),
        ("CHALLENGE", Message::Challenge(Challenge { nonce: 7, cookie: 8 })),
        ("OFFER", offer(7, 8)),
        ("REFUSE", Message::Refuse(Refuse { nonce: 7, field: RefuseField::Full, ours: 0, theirs: 0 })),
        ("REPORT", Message::Report { sent: 1, received: 1, newest_frame: WireFrame(1) }),
        (
            "VERDICT",
            Message::Ordered {
                number: 0,
                body: Ordered::Verdict { frame: WireFrame(1), checksum: 1, finished: true },
            },
        ),
        (
            "DELAY",
            Message::Ordered {
                number: 0,
                body: Ordered::Delay { from_frame: WireFrame(1), delay_frames: 1 },
            },
        ),
        ("RESYNC", Message::Resync(Resync { token: 1, expected: 1, asks: true })),
        ("LEAVING", Message::Leaving(Leaving { token: 1, end: WireFrame(1), why: LeavingWhy::Left })),
        (
            "PAUSE",
            Message::Ordered {
                number: 0,
                body: Ordered::Pause(Pause { step: PauseStep::Asks, frame: WireFrame(1), limit_secs: 1 }),
            },
        ),
        ("RESUME", Message::Resume(Resume { token: 1, frame: WireFrame(1), left_millis: 0 })),
    ];
    for (name, message) in &whole {
        let bytes = payload(message);
        let short = bytes[..bytes.len() - 1].to_vec();
        table.malformed(bad, format!("{name}, a byte short"), move |k| event(k, &short));
        let mut long = bytes;
        long.push(0);
        table.malformed(bad, format!("{name}, a byte long"), move |k| event(k, &long));
    }
    table.malformed(bad, "USER without a number", |k| event(k, &[17, 0]));
    table.malformed(bad, "AUTOPSY without a number", |k| event(k, &[32]));
    table.malformed(bad, "USER of 1,025 bytes", |k| event(k, &[&[17, 0, 0][..], &[1; 1_025]].concat()));
    table.malformed(bad, "AUTOPSY of 1,101 bytes", |k| event(k, &[&[32, 0, 0][..], &[1; 1_101]].concat()));
    for len in [1_500_usize, 2_048, 9_000] {
        table.malformed(bad, format!("USER in a datagram of {len} bytes"), move |k| {
            event(k, &[&[17, 0, 0][..], &vec![1; len - 18]].concat())
        });
    }
    // Out of range, at an offset into the payload.
    let bent: &[(&str, &Message<'_>, usize, &[u8])] = &[
        ("HELLO with frame rate 0", &whole[0].1, 35, &[0; 4]),
        ("HELLO with frame rate 1,001", &whole[0].1, 35, &[0, 0, 3, 0xE9]),
        ("HELLO with a frame rate by 0", &whole[0].1, 39, &[0; 4]),
        ("HELLO with a frame rate not in lowest terms", &whole[0].1, 39, &[0, 0, 0, 2]),
        ("HELLO with window 255", &whole[0].1, 44, &[0xFF]),
        ("HELLO with 65 bytes of user data", &whole[0].1, 57, &[65]),
        ("HELLO with 7 axes", &whole[0].1, 47, &[7]),
        ("HELLO without a pad", &whole[0].1, 48, &[0]),
        ("HELLO with 5 pads", &whole[0].1, 48, &[5]),
        ("HELLO with 2 pads and an axis", &whole[0].1, 47, &[1, 2]),
        ("HELLO with padding that is not 0", &whole[0].1, 121, &[1]),
        ("CHALLENGE with cookie 0", &whole[1].1, 9, &[0; 8]),
        ("OFFER with first frame 0", &whole[2].1, 9, &[0; 4]),
        ("OFFER with first frame u32::MAX", &whole[2].1, 9, &[0xFF; 4]),
        ("OFFER with seed 0", &whole[2].1, 13, &[0; 4]),
        ("OFFER with seat 0", &whole[2].1, 17, &[0]),
        ("OFFER with seat 3", &whole[2].1, 17, &[3]),
        ("OFFER with delay 255", &whole[2].1, 18, &[0xFF]),
        ("OFFER with cadence 0", &whole[2].1, 22, &[0, 0]),
        ("OFFER with cadence 601", &whole[2].1, 22, &[2, 89]),
        ("VERDICT that is finished twice", &whole[5].1, 11, &[2]),
        ("RESYNC that asks twice", &whole[7].1, 11, &[2]),
        ("LEAVING for no reason", &whole[8].1, 13, &[0]),
        ("LEAVING for an unknown reason", &whole[8].1, 13, &[0xFF]),
        ("PAUSE without a step", &whole[9].1, 3, &[0]),
        ("PAUSE of an unknown step", &whole[9].1, 3, &[4]),
        ("OFFER with 255 bytes of user data", &whole[2].1, 48, &[0xFF]),
        ("REFUSE of field 0", &whole[3].1, 9, &[0]),
        ("REFUSE of field 10", &whole[3].1, 9, &[10]),
        ("DELAY of 31", &whole[6].1, 7, &[31]),
        ("DELAY of 255", &whole[6].1, 7, &[0xFF]),
    ];
    for (class, message, offset, bytes) in bent {
        let mut changed = payload(message);
        changed[*offset..offset + bytes.len()].copy_from_slice(bytes);
        table.malformed(bad, *class, move |k| event(k, &changed));
    }
}
