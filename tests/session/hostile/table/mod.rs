//! The rules, as a table: which datagram, to whom, from whom, when, and what becomes of it.

mod malformed;
mod pauses;

use crate::hostile::forged::ordered;
use crate::hostile::phase::Phase::{
    self, Agreed, Challenged, Ending, Incoming, Offered, Over, Playing, Waiting,
};
use crate::pair::{hello, offer};
use Expect::{Refused, Taken};
use Source::{Peer, Stranger};
use core::num::NonZeroU8;
use rebout::lab::forge::{Knows, control, inputs, inputs_with_checksum, message, shifted};
use rebout::lab::wire::message::{
    Challenge, ForeignHello, Leaving, LeavingWhy, Message, Ordered, Refuse, RefuseField,
};
use rebout::lab::{HOST, JOINER};
use rebout::wire::WireFrame;
use rebout::wire::control::{ControlHeader, ControlPayload, Entries, PlayerInput, Snapshot};
use rebout::{Buttons, Refusal};

/// Who a datagram seems to come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Peer,
    Stranger,
}

/// The fate of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    /// It is dropped and counted once, for this reason and no other; the match goes on as if nothing had come.
    Refused(Refusal),
    /// It is refused as a conflict, and the game is told, once.
    Conflict,
    /// It breaks no rule, and the match goes on anyway.
    Taken,
    /// It is believed: the other side has left, so nobody confirms the verdict.
    EndsUnconfirmed,
}

type Make = fn(&Knows) -> Vec<u8>;
type Forge = Box<dyn Fn(&Knows) -> Vec<u8>>;
/// A frame of the wire, seen from the victim.
type At = fn(&Knows) -> u32;

/// One line of the table.
pub(crate) struct Row {
    pub(crate) class: String,
    pub(crate) make: Forge,
    pub(crate) phases: &'static [Phase],
    pub(crate) victims: &'static [usize],
    pub(crate) sources: &'static [Source],
    pub(crate) expect: Expect,
}

const BOTH: &[usize] = &[HOST, JOINER];
const ANYONE: &[Source] = &[Peer, Stranger];
const ALWAYS: &[Phase] = &[Waiting, Challenged, Incoming, Offered, Agreed, Playing, Ending, Over];
/// There is a connection, and a match on it.
const MATCH: &[Phase] = &[Playing, Ending, Over];
/// There is a connection between two machines that have both heard of each other.
const CONNECTED: &[Phase] = &[Incoming, Offered, Agreed, Playing, Ending, Over];

#[derive(Default)]
struct Table(Vec<Row>);

impl Table {
    fn add(
        &mut self,
        class: impl Into<String>,
        phases: &'static [Phase],
        victims: &'static [usize],
        sources: &'static [Source],
        make: impl Fn(&Knows) -> Vec<u8> + 'static,
        expect: Expect,
    ) {
        self.0.push(Row { class: class.into(), make: Box::new(make), phases, victims, sources, expect });
    }

    /// A datagram that breaks a rule of its format is dropped in every phase and from every address.
    fn malformed(
        &mut self,
        refusal: Refusal,
        class: impl Into<String>,
        make: impl Fn(&Knows) -> Vec<u8> + 'static,
    ) {
        self.add(class, ALWAYS, BOTH, ANYONE, make, Refused(refusal));
    }
}

/// The whole table.
pub(crate) fn rows() -> Vec<Row> {
    let mut table = Table::default();
    malformed::all(&mut table);
    well_formed_inputs(&mut table);
    numbers(&mut table);
    connection(&mut table);
    hellos(&mut table);
    answers(&mut table);
    messages(&mut table);
    strangers(&mut table);
    pauses::all(&mut table);
    table.0
}

/// Input packets in order, whose frames are not.
fn well_formed_inputs(table: &mut Table) {
    let none = Buttons::NONE;
    let newest: Make = |k| inputs(k.known, k.sent.wrapping_sub(1), &[Buttons::NONE]);
    table.add("inputs without a match", &[Waiting], &[HOST], ANYONE, newest, Refused(Refusal::Stranger));
    table.add("inputs without a match", &[Waiting], &[JOINER], &[Peer], newest, Refused(Refusal::OutOfPlace));
    table.add(
        "inputs without a match",
        &[Challenged],
        &[JOINER],
        &[Peer],
        newest,
        Refused(Refusal::OutOfPlace),
    );
    table.add("inputs without a match", &[Incoming], BOTH, &[Peer], newest, Refused(Refusal::OutOfPlace));

    const AGREED_ON: &[Phase] = &[Offered, Agreed, Playing, Ending, Over];
    let starts: [(&str, At, Refusal); 7] = [
        ("the frame after the next", |k| k.known + 1, Refusal::InputGap),
        ("a frame 1,000 ahead", |k| k.known + 1_000, Refusal::InputGap),
        ("a frame 2^30 ahead", |k| k.known + (1 << 30), Refusal::InputGap),
        ("frame u32::MAX", |_| u32::MAX, Refusal::InputGap),
        ("frame u32::MAX - 31", |_| u32::MAX - 31, Refusal::InputGap),
        ("the frame before the first", |k| k.first - 1, Refusal::BeforeMatch),
        ("frame 0", |_| 0, Refusal::BeforeMatch),
    ];
    for (class, start, refusal) in starts {
        let make = move |k: &Knows| inputs(start(k), k.first - 1, &[none]);
        table.add(format!("inputs from {class}"), AGREED_ON, BOTH, &[Peer], make, Refused(refusal));
        let full = move |k: &Knows| inputs(start(k), k.first - 1, &[none; 32]);
        table.add(format!("32 inputs from {class}"), &[Playing], BOTH, &[Peer], full, Refused(refusal));
    }
    let acks: [(&str, At, Refusal); 6] = [
        ("the next of ours, not sent yet", |k| k.sent, Refusal::InputAckUnsent),
        ("1,000 of ours, not sent yet", |k| k.sent + 1_000, Refusal::InputAckUnsent),
        ("u32::MAX", |_| u32::MAX, Refusal::InputAckUnsent),
        ("u32::MAX - 16", |_| u32::MAX - 16, Refusal::InputAckUnsent),
        ("a frame before none at all", |k| k.first - 2, Refusal::BeforeMatch),
        ("frame 0", |_| 0, Refusal::BeforeMatch),
    ];
    for (class, ack, refusal) in acks {
        let make = move |k: &Knows| inputs(k.first, ack(k), &[none]);
        table.add(format!("an acknowledgement of {class}"), AGREED_ON, BOTH, &[Peer], make, Refused(refusal));
    }
    table.add(
        "32 inputs beyond what is known and acknowledged",
        MATCH,
        BOTH,
        &[Peer],
        |k| inputs(k.known, k.known.min(k.sent) - 1, &[Buttons::NONE; 32]),
        Refused(Refusal::InputBeyondWindow),
    );
    table.add(
        "new inputs that acknowledge nothing",
        &[Playing],
        BOTH,
        &[Peer],
        |k| inputs(k.known, k.first - 1, &[Buttons::NONE]),
        Refused(Refusal::InputBeyondWindow),
    );
    let conflict: Make = |k| inputs(k.known - 1, k.sent - 1, &[Buttons(k.newest.buttons().0 ^ 1)]);
    table.add("another input for a confirmed frame", &[Playing], BOTH, &[Peer], conflict, Expect::Conflict);
    let conflict_within: Make = |k| {
        let other = Buttons(k.newest.buttons().0 ^ 0x8000);
        inputs(k.known - 1, k.sent - 1, &[other, Buttons::NONE, Buttons::NONE])
    };
    table.add("new inputs behind a conflict", &[Playing], BOTH, &[Peer], conflict_within, Expect::Conflict);
    let conflict_over = Refused(Refusal::InputConflict);
    table.add("another input for a confirmed frame", &[Over], BOTH, &[Peer], conflict, conflict_over);
    table.add("the same packet again", MATCH, BOTH, &[Peer], |k| k.last.clone(), Taken);
    let outdated = Refused(Refusal::InputOutdated);
    table.add("the first packet again", MATCH, BOTH, &[Peer], |k| k.oldest.clone(), outdated);
    let sums: [(&str, At); 5] = [
        ("off the cadence", |k| k.first + 31),
        ("not possible yet", |k| k.first + 30 * 1_000),
        ("before the match", |k| k.first - 30),
        ("of frame u32::MAX", |_| u32::MAX),
        ("of frame 0 on the wire", |_| 0),
    ];
    for (class, sum) in sums {
        let make =
            move |k: &Knows| inputs_with_checksum(k.known - 1, k.sent - 1, Some((sum(k), 5)), &[k.newest]);
        let refused = Refused(Refusal::ImplausibleChecksum);
        table.add(format!("a checksum {class}"), MATCH, BOTH, &[Peer], make, refused);
    }
    table.add(
        "a wrong checksum of a frame that was compared long ago",
        &[Playing],
        BOTH,
        &[Peer],
        |k| inputs_with_checksum(k.known - 1, k.sent - 1, Some((k.first, 5)), &[k.newest]),
        Taken,
    );
}

/// Sequence numbers and acknowledgements of control packets.
fn numbers(table: &mut Table) {
    // The victim's newest is at least one less than the number that is shifted, and the edges are tested on their own.
    for off in [64, 257, 5_000, 32_768, -40, -300] {
        let make = move |k: &Knows| control(shifted(k.header, off, 0), &ControlPayload::Heartbeat);
        let class = format!("HEARTBEAT with a sequence {off} off");
        let phases = &[Agreed, Playing, Ending, Over];
        table.add(class, phases, BOTH, &[Peer], make, Refused(Refusal::FarSequence));
        let class = format!("HEARTBEAT after the OFFER with a sequence {off} off");
        table.add(class, &[Offered], &[JOINER], &[Peer], make, Refused(Refusal::FarSequence));
    }
    // After the newest one number may have been skipped: neither is sent.
    for off in [1, 2, 200, 32_768, -300] {
        let make = move |k: &Knows| {
            let newest = ControlHeader { ack: k.victims, ack_bits: 0, ..k.header };
            control(shifted(newest, 0, off), &ControlPayload::Heartbeat)
        };
        let class = format!("HEARTBEAT with an acknowledgement {off} off");
        table.add(class, CONNECTED, BOTH, &[Peer], make, Refused(Refusal::AckUnsent));
    }
    // Nobody but the peer knows which numbers were skipped and which arrived.
    let full: Make =
        |k| control(ControlHeader { ack_bits: u32::MAX, ..k.header }, &ControlPayload::Heartbeat);
    table.add("HEARTBEAT that acknowledges all", CONNECTED, BOTH, &[Peer], full, Refused(Refusal::AckUnsent));
    let nothing: Make =
        |k| control(ControlHeader { ack: 0, ack_bits: 0, ..k.header }, &ControlPayload::Disconnect);
    const HEARD: &[Phase] = &[Challenged, Incoming, Offered, Agreed, Playing, Ending, Over];
    let refused = Refused(Refusal::AckUnsent);
    table.add("DISCONNECT that acknowledges nothing", HEARD, &[JOINER], &[Peer], nothing, refused);
    table.add("DISCONNECT that acknowledges nothing", CONNECTED, &[HOST], &[Peer], nothing, refused);
}

/// Packets of the connection, with all numbers right.
fn connection(table: &mut Table) {
    let heartbeat: Make = |k| control(k.header, &ControlPayload::Heartbeat);
    table.add("HEARTBEAT", CONNECTED, BOTH, &[Peer], heartbeat, Taken);
    table.add("PING", CONNECTED, BOTH, &[Peer], |k| control(k.header, &ControlPayload::Ping(5)), Taken);
    let pong: Make = |k| control(k.header, &ControlPayload::Pong(5));
    table.add("PONG to no ping", CONNECTED, BOTH, &[Peer], pong, Refused(Refusal::UnaskedPong));
    let misplaced = Refused(Refusal::OutOfPlace);
    const ONE: PlayerInput = PlayerInput { sequence: 1, move_x: 0.5, move_y: -0.5, actions: 3 };
    let input: Make = |k| control(k.header, &ControlPayload::Input(ONE));
    table.add("INPUT", CONNECTED, BOTH, &[Peer], input, misplaced);
    let many: Make = |k| control(k.header, &ControlPayload::Inputs(Entries::from(&[ONE; 255][..])));
    table.add("INPUT, 255 of them", CONNECTED, BOTH, &[Peer], many, misplaced);
    let snapshot: Make = |k| {
        let snapshot =
            Snapshot { tick: u32::MAX, entities: Entries::from(&[][..]), last_input: Some(u32::MAX) };
        control(k.header, &ControlPayload::Snapshot(snapshot))
    };
    table.add("SNAPSHOT", CONNECTED, BOTH, &[Peer], snapshot, misplaced);

    let request: Make = |k| control(k.header, &ControlPayload::ConnectReq);
    table.add("CONNECT_REQ", CONNECTED, &[JOINER], &[Peer], request, misplaced);
    table.add("CONNECT_REQ", &[Agreed, Playing, Ending, Over], &[HOST], &[Peer], request, Taken);
    let to_no_offer: Make =
        |k| control(ControlHeader { ack: k.victims, ack_bits: 0, ..k.header }, &ControlPayload::ConnectReq);
    table.add("CONNECT_REQ to no OFFER", &[Incoming, Offered], &[HOST], &[Peer], to_no_offer, misplaced);
    let ack = |seat: fn(&Knows) -> u8| {
        move |k: &Knows| {
            let client_id = NonZeroU8::new(seat(k)).expect("not 0");
            control(k.header, &ControlPayload::ConnectAck { client_id })
        }
    };
    table.add("CONNECT_ACK", CONNECTED, &[HOST], &[Peer], ack(|k| k.seat), misplaced);
    const HAS_OFFER: &[Phase] = &[Offered, Agreed, Playing, Ending, Over];
    table.add("CONNECT_ACK", &[Incoming], &[JOINER], &[Peer], ack(|k| k.seat), misplaced);
    table.add("CONNECT_ACK", HAS_OFFER, &[JOINER], &[Peer], ack(|k| k.seat), Taken);
    table.add(
        "CONNECT_ACK for the other seat",
        HAS_OFFER,
        &[JOINER],
        &[Peer],
        ack(|k| 3 - k.seat),
        misplaced,
    );
    table.add("CONNECT_ACK for seat 255", HAS_OFFER, &[JOINER], &[Peer], ack(|_| 255), misplaced);

    // Empty, so it can be forged: believed only if no new frame comes, and while the match ends.
    let leave: Make = |k| control(k.header, &ControlPayload::Disconnect);
    const GOES_ON: &[Phase] = &[Incoming, Offered, Agreed, Playing, Over];
    table.add("DISCONNECT", GOES_ON, BOTH, &[Peer], leave, Taken);
    table.add("DISCONNECT", &[Ending], BOTH, &[Peer], leave, Expect::EndsUnconfirmed);
    let leaving: Make = |k| {
        let leaving = Leaving { token: k.token ^ 1, end: WireFrame(k.known), why: LeavingWhy::Left };
        message(k.header, &Message::Leaving(leaving))
    };
    table.add("LEAVING of another match", MATCH, BOTH, &[Peer], leaving, Refused(Refusal::WrongToken));
}

fn hellos(table: &mut Table) {
    let first: Make = |k| message(ControlHeader::default(), &hello(k.nonce ^ 1, 0));
    table.add("HELLO", ALWAYS, &[HOST], ANYONE, first, Taken);
    table.add("HELLO", ALWAYS, &[JOINER], &[Stranger], first, Refused(Refusal::Stranger));
    let forged: Make = |k| message(ControlHeader::default(), &hello(k.nonce ^ 1, 0xDEAD_BEEF));
    table.add("HELLO with a forged cookie", ALWAYS, &[HOST], ANYONE, forged, Refused(Refusal::BadCookie));
    let max: Make = |k| message(ControlHeader::default(), &hello(k.nonce ^ 1, u64::MAX));
    table.add("HELLO with cookie u64::MAX", ALWAYS, &[HOST], ANYONE, max, Refused(Refusal::BadCookie));
    let smaller: Make = |_| message(ControlHeader::default(), &hello(0, 0));
    const UNDECIDED: &[Phase] = &[Waiting, Challenged, Incoming];
    table.add("HELLO with a smaller nonce", UNDECIDED, &[JOINER], &[Peer], smaller, Taken);
    let larger: Make = |_| message(ControlHeader::default(), &hello(u64::MAX, 0));
    let misplaced = Refused(Refusal::OutOfPlace);
    table.add("HELLO with a larger nonce", UNDECIDED, &[JOINER], &[Peer], larger, misplaced);
    table.add("HELLO to a joiner with an offer", &[Offered, Agreed], &[JOINER], &[Peer], smaller, misplaced);
    table.add("HELLO of the host started anew", MATCH, &[JOINER], &[Peer], larger, Taken);
    for version in [0, 2, 4, u16::MAX] {
        let foreign = move |_: &Knows| {
            message(
                ControlHeader::default(),
                &Message::ForeignHello(ForeignHello { version, nonce: 3, cookie: 0 }),
            )
        };
        let class = format!("HELLO of version {version}");
        table.add(class, ALWAYS, &[HOST], ANYONE, foreign, Taken);
        let class = format!("HELLO of version {version}");
        table.add(class, ALWAYS, &[JOINER], &[Stranger], foreign, Refused(Refusal::Stranger));
    }
    let foreign_cookie: Make = |_| {
        message(
            ControlHeader::default(),
            &Message::ForeignHello(ForeignHello { version: 9, nonce: 3, cookie: 9 }),
        )
    };
    let refused = Refused(Refusal::BadCookie);
    table.add("HELLO of version 9 with a forged cookie", ALWAYS, &[HOST], ANYONE, foreign_cookie, refused);
}

/// CHALLENGE, OFFER and REFUSE: only a joiner that has asked takes them, and only with its nonce.
fn answers(table: &mut Table) {
    type Build = fn(u64) -> Message<'static>;
    let kinds: [(&str, Build); 3] = [
        ("CHALLENGE", |nonce| Message::Challenge(Challenge { nonce, cookie: 5 })),
        ("OFFER", |nonce| offer(nonce, 5)),
        ("REFUSE", |nonce| {
            Message::Refuse(Refuse { nonce, field: RefuseField::Declined, ours: 0, theirs: 0 })
        }),
    ];
    let misplaced = Refused(Refusal::OutOfPlace);
    for (name, build) in kinds {
        let right = move |k: &Knows| message(k.header, &build(k.nonce));
        let wrong = move |k: &Knows| message(k.header, &build(k.nonce ^ 1));
        table.add(name, &[Waiting], &[HOST], ANYONE, right, Refused(Refusal::Stranger));
        table.add(name, CONNECTED, &[HOST], &[Peer], right, misplaced);
        let class = format!("{name} with a wrong nonce");
        const ASKING: &[Phase] = &[Waiting, Challenged, Incoming, Offered];
        table.add(class, ASKING, &[JOINER], &[Peer], wrong, Refused(Refusal::WrongNonce));
        let class = format!("{name} after the handshake");
        table.add(class, &[Agreed], &[JOINER], &[Peer], right, misplaced);
        if name == "OFFER" {
            let class = "OFFER with a wrong nonce";
            table.add(class, MATCH, &[JOINER], &[Peer], wrong, Refused(Refusal::WrongNonce));
            table.add("OFFER of another match", MATCH, &[JOINER], &[Peer], right, misplaced);
            let again = |k: &Knows| message(k.header, &offer(k.nonce, k.token));
            table.add("the OFFER again", MATCH, &[JOINER], &[Peer], again, Taken);
        } else {
            table.add(name, MATCH, &[JOINER], &[Peer], right, misplaced);
        }
    }
    let far: Make = |k| message(shifted(k.header, 5_000, 0), &offer(k.nonce, k.token));
    let refused = Refused(Refusal::FarSequence);
    table.add("the OFFER again with a sequence 5000 off", &[Offered], &[JOINER], &[Peer], far, refused);
    let refuse: Make = |k| {
        let (nonce, field) = (k.nonce, RefuseField::Full);
        message(k.header, &Message::Refuse(Refuse { nonce, field, ours: 0, theirs: 0 }))
    };
    table.add("REFUSE after an OFFER", &[Offered], &[JOINER], &[Peer], refuse, misplaced);
    // The host is asked again with a cookie that it does not know, and challenges again.
    let challenge: Make = |k| message(k.header, &Message::Challenge(Challenge { nonce: k.nonce, cookie: 5 }));
    table.add("CHALLENGE with a wrong cookie", &[Challenged, Offered], &[JOINER], &[Peer], challenge, Taken);
}

/// Messages with all numbers right.
fn messages(table: &mut Table) {
    let misplaced = Refused(Refusal::OutOfPlace);
    let implausible = Refused(Refusal::ImplausibleChecksum);
    let verdict = |frame: fn(&Knows) -> u32| {
        move |k: &Knows| {
            ordered(k, 0, Ordered::Verdict { frame: WireFrame(frame(k)), checksum: 5, finished: true })
        }
    };
    let report: Make = |k| {
        message(
            k.header,
            &Message::Report { sent: u32::MAX, received: u32::MAX, newest_frame: WireFrame(u32::MAX) },
        )
    };
    let early: [(&str, Make); 4] = [
        ("REPORT", report),
        ("VERDICT", |k| ordered(k, 0, Ordered::Verdict { frame: WireFrame(1), checksum: 1, finished: true })),
        ("USER", |k| ordered(k, 0, Ordered::User(b"x"))),
        ("DELAY", |k| ordered(k, 0, Ordered::Delay { from_frame: WireFrame(1), delay_frames: 2 })),
    ];
    for (name, make) in early {
        let phases = &[Incoming, Offered, Agreed];
        table.add(format!("{name} before the match"), phases, BOTH, &[Peer], make, misplaced);
        table.add(
            format!("{name} without a match"),
            &[Waiting],
            &[HOST],
            ANYONE,
            make,
            Refused(Refusal::Stranger),
        );
    }
    table.add("REPORT of nonsense", MATCH, BOTH, &[Peer], report, Taken);
    table.add("VERDICT of the future", &[Playing], BOTH, &[Peer], verdict(|k| k.sent + 1), implausible);
    table.add("VERDICT of frame u32::MAX", MATCH, BOTH, &[Peer], verdict(|_| u32::MAX), implausible);
    table.add("VERDICT of frame 0 on the wire", MATCH, BOTH, &[Peer], verdict(|_| 0), implausible);
    table.add("VERDICT before the match", MATCH, BOTH, &[Peer], verdict(|k| k.first - 1), implausible);
    for number in [16, 17, 1_000, 40_000, u16::MAX - 32] {
        let make = move |k: &Knows| ordered(k, number, Ordered::User(b"x"));
        let class = format!("USER with number {number}");
        table.add(class, &[Playing], BOTH, &[Peer], make, Refused(Refusal::NoRoom));
    }
    let user: Make = |k| ordered(k, 0, Ordered::User(&[b'x'; 1_024]));
    table.add("USER of 1,024 bytes", &[Playing], BOTH, &[Peer], user, Taken);
    let ahead: Make = |k| ordered(k, 15, Ordered::User(&[b'x'; 1_024]));
    table.add("USER that waits for 15 others", &[Playing], BOTH, &[Peer], ahead, Taken);
    let delay: Make = |k| ordered(k, 0, Ordered::Delay { from_frame: WireFrame(u32::MAX), delay_frames: 16 });
    table.add("DELAY of 16", &[Playing], BOTH, &[Peer], delay, Taken);
    let bad = Refused(Refusal::MalformedMessage);
    let autopsies: [(&str, &[u8]); 6] = [
        ("empty", &[]),
        ("of kind 99", &[99, 1, 2, 3]),
        ("that starts at frame u32::MAX", &[1, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]),
        ("that starts at frame 2^31", &[1, 0x80, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]),
        ("of an unexpected state", &[3, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF]),
        ("of leaves out of the blue", &[5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ];
    for (class, bytes) in autopsies {
        let make = |k: &Knows| ordered(k, 0, Ordered::Autopsy(bytes));
        table.add(format!("AUTOPSY {class}"), &[Playing], BOTH, &[Peer], make, bad);
    }
}

/// A datagram that the peer could send is refused from any other address.
fn strangers(table: &mut Table) {
    let all: [(&str, Make); 12] = [
        ("inputs", |k| inputs(k.known, k.sent.wrapping_sub(1), &[Buttons::NONE])),
        ("the peer's own packet", |k| {
            if k.last.is_empty() {
                inputs(k.known, k.sent.wrapping_sub(1), &[Buttons::NONE])
            } else {
                k.last.clone()
            }
        }),
        ("HEARTBEAT", |k| control(k.header, &ControlPayload::Heartbeat)),
        ("PING", |k| control(k.header, &ControlPayload::Ping(1))),
        ("PONG", |k| control(k.header, &ControlPayload::Pong(1))),
        ("DISCONNECT", |k| control(k.header, &ControlPayload::Disconnect)),
        ("CONNECT_REQ", |k| control(k.header, &ControlPayload::ConnectReq)),
        ("CONNECT_ACK", |k| {
            control(
                k.header,
                &ControlPayload::ConnectAck { client_id: NonZeroU8::new(k.seat).expect("not 0") },
            )
        }),
        ("VERDICT", |k| {
            ordered(k, 0, Ordered::Verdict { frame: WireFrame(k.known), checksum: 1, finished: true })
        }),
        ("USER", |k| ordered(k, 0, Ordered::User(b"hi"))),
        ("OFFER", |k| message(k.header, &offer(k.nonce, k.token))),
        ("REFUSE", |k| {
            let (nonce, field) = (k.nonce, RefuseField::Full);
            message(k.header, &Message::Refuse(Refuse { nonce, field, ours: 0, theirs: 0 }))
        }),
    ];
    for (name, make) in all {
        let refused = Refused(Refusal::Stranger);
        table.add(format!("{name} from elsewhere"), ALWAYS, BOTH, &[Stranger], make, refused);
    }
}
