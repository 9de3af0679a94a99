//! The accepted windows of every number at their edges, and the cost of a blind guess, both counted on a running session.

use super::forged::ordered;
use super::phase::Phase;
use crate::pair::{Pair, addr, config, held, ms};
use crate::round::Round;
use rebout::lab::forge::{Guesses, Knows, control, inputs, message, shifted};
use rebout::lab::sim::EntryKind;
use rebout::lab::wire::message::{Extensions, Leaving, LeavingWhy, Message, Ordered, Resync};
use rebout::lab::{HOST, JOINER};
use rebout::wire::control::{ControlHeader, ControlPayload};
use rebout::wire::rbn1::Flags;
use rebout::wire::{Packet, WireFrame};
use rebout::{Buttons, Event, Input, Protocol, Reason, Refusal, Save, Session};
use std::time::Duration;

type Victim = Session<<Round as Save>::Snapshot>;

/// A session in the middle of a match, to be asked what it takes.
struct Probe {
    session: Victim,
    /// Refused datagrams change nothing but a count, so this copy is renewed only after one that was taken.
    copy: Victim,
    now: Duration,
    victim: usize,
    knows: Knows,
    /// One past the newest input of the victim that the peer has acknowledged, as on the wire.
    acked: u32,
}

impl Probe {
    fn of(pair: &Pair, victim: usize) -> Self {
        let delivered = pair.world.network().transcript().entries().iter().rev();
        let acked = delivered
            .filter(|entry| entry.kind == EntryKind::Delivered && entry.to == addr(victim))
            .find_map(|entry| match Packet::decode(&entry.datagram, Flags::ALL) {
                Ok(Packet::Rbn1(packet)) => Some(packet.ack_frame().0 + 1),
                _ => None,
            });
        let session = pair.machine(victim).session().expect("a match").clone();
        Self {
            copy: session.clone(),
            session,
            now: pair.local_now(victim),
            victim,
            knows: Knows::of(pair, victim),
            acked: acked.expect("inputs"),
        }
    }

    fn playing(victim: usize) -> Self {
        Self::of(&Phase::Playing.pair(victim), victim)
    }

    /// The same between machines without extensions, which exchange many more control packets.
    fn playing_without_extensions(victim: usize) -> Self {
        let configs =
            [HOST, JOINER].map(|side| config(side).with(|config| config.lobby.extensions = Extensions::NONE));
        Self::of(&Phase::Playing.pair_of(victim, configs), victim)
    }

    /// Why a datagram from the peer's address is refused; `None` if it is taken.
    fn refusal(&mut self, datagram: &[u8]) -> Option<Refusal> {
        let before = self.copy.stats().refused;
        self.copy.handle_datagram(self.now, addr(1 - self.victim), datagram);
        let after = self.copy.stats().refused;
        let refusal = Refusal::ALL.iter().copied().find(|refusal| after.of(*refusal) > before.of(*refusal));
        if refusal.is_none() {
            self.copy = self.session.clone();
        }
        refusal
    }

    /// The peer's true input for a frame of the wire.
    fn input(&self, frame: u32) -> Input {
        held(self.session.local().other(), frame - self.knows.first, 0)
    }

    fn takes(&mut self, datagram: &[u8]) -> bool {
        self.refusal(datagram).is_none()
    }

    /// The numbers of the victim's newest packet of the peer and of its newest ack, found by what it takes.
    fn newest(&mut self) -> (u16, u16) {
        let header = self.knows.header;
        let highest = (0..100_u16)
            .filter(|off| self.takes(&heartbeat(shifted(header, i32::from(*off), 0))))
            .max()
            .expect("some are taken");
        (header.sequence.wrapping_add(highest).wrapping_sub(47), header.ack)
    }
}

fn heartbeat(header: ControlHeader) -> Vec<u8> {
    control(header, &ControlPayload::Heartbeat)
}

const NOTHING: Buttons = Buttons::NONE;

#[test]
fn input_starts_at_most_60_frames_before_the_known_ones() {
    for victim in [HOST, JOINER] {
        let mut probe = Probe::playing(victim);
        let Knows { known, sent, .. } = probe.knows;
        let mut refusal = |start: u32| {
            let input = probe.input(start);
            probe.refusal(&inputs(start, sent - 1, &[input]))
        };
        assert_eq!((refusal(known), refusal(known + 1)), (None, Some(Refusal::InputGap)));
        assert_eq!((refusal(known - 60), refusal(known - 61)), (None, Some(Refusal::InputOutdated)));
    }
}

#[test]
fn input_ack_is_at_most_60_frames_back_and_of_sent_frames() {
    for victim in [HOST, JOINER] {
        let mut probe = Probe::playing(victim);
        let (Knows { known, sent, newest, .. }, acked) = (probe.knows.clone(), probe.acked);
        // The newest input again: it contradicts nothing, and no acknowledgement is too low for it.
        let mut refusal = |acked: u32| probe.refusal(&inputs(known - 1, acked - 1, &[newest]));
        assert_eq!(refusal(sent + 1), Some(Refusal::InputAckUnsent));
        assert_eq!(refusal(sent), None);
        assert!(acked > known - 30, "the peer acknowledges what it has");
        let lowest = known - 30;
        assert_eq!(refusal(lowest), None, "its inputs end 30 after it");
        assert_eq!(refusal(lowest - 1), Some(Refusal::InputBeyondWindow));
        let oldest = probe.input(known - 60);
        let mut refusal = |acked: u32| probe.refusal(&inputs(known - 60, acked - 1, &[oldest]));
        assert_eq!((refusal(acked - 60), refusal(acked - 61)), (None, Some(Refusal::InputOutdated)));
    }
}

/// All that a session is, part by part, but for the figures that count datagrams.
fn parts(session: &Victim) -> Vec<String> {
    let counts = ["packets_in: ", "bytes_in: ", "received: ", "refused: "];
    let text = format!("{session:?}");
    text.split(", ")
        .filter(|part| !counts.iter().any(|count| part.contains(count)))
        .map(str::to_owned)
        .collect()
}

#[test]
fn old_input_packet_changes_nothing_but_the_loss() {
    for victim in [HOST, JOINER] {
        let mut pair = Phase::Playing.pair(victim);
        // Packets of a few frames ago, as they were: late ones.
        let recorded: Vec<Vec<u8>> =
            pair.said_by(1 - victim, "RBN1").iter().map(|said| said.to_vec()).collect();
        let mut probe = Probe::of(&pair, victim);
        // Time passes with every datagram.
        probe.session.handle_datagram(probe.now, addr(victim), b"nothing");
        let before = parts(&probe.session);
        let mut late = 0;
        for datagram in recorded.iter().take(40) {
            let Ok(Packet::Rbn1(packet)) = Packet::decode(datagram, Flags::ALL) else {
                panic!("an input packet")
            };
            let end = packet.start_frame().0 + packet.count() as u32;
            let mut session = probe.session.clone();
            session.handle_datagram(probe.now, addr(1 - victim), datagram);
            let refused = session.stats().refused.total() - probe.session.stats().refused.total();
            if end < probe.knows.known && refused == 0 {
                late += 1;
                let changed =
                    parts(&session).into_iter().zip(&before).find(|(after, before)| after != *before);
                assert_eq!(changed, None, "{} frames late", probe.knows.known - end);
            }
        }
        assert!(late > 10, "only {late} late packets");
        // A match that hears nothing else is lost after 30 s, however many of them come.
        pair.machine_mut(1 - victim).asleep = true;
        pair.run_for(ms(100));
        let known = Knows::of(&pair, victim).known;
        let datagram = recorded.iter().find(|datagram| {
            let Ok(Packet::Rbn1(packet)) = Packet::decode(datagram, Flags::ALL) else { return false };
            packet.start_frame().0 + packet.count() as u32 == known - 4
        });
        let datagram = datagram.expect("a packet of 4 frames ago").clone();
        for _ in 0..310 {
            pair.inject(victim, addr(1 - victim), &datagram);
            pair.run_for(ms(100));
        }
        let told: Vec<_> = pair.told(victim).collect();
        assert!(
            matches!(told[..], [Event::Interrupted { .. }, Event::Disconnected { reason: Reason::TimedOut }]),
            "{victim}: {told:?}"
        );
    }
}

#[test]
fn sequence_is_at_most_47_ahead_and_16_behind() {
    for victim in [HOST, JOINER] {
        let mut probe = Probe::playing(victim);
        let ((newest, _), header) = (probe.newest(), probe.knows.header);
        for (sequence, refusal) in [
            (newest.wrapping_add(47), None),
            (newest.wrapping_add(48), Some(Refusal::FarSequence)),
            (newest.wrapping_sub(16), None),
            (newest.wrapping_sub(17), Some(Refusal::FarSequence)),
            (newest.wrapping_add(0x8000), Some(Refusal::FarSequence)),
        ] {
            let forged = heartbeat(ControlHeader { sequence, ..header });
            assert_eq!(probe.refusal(&forged), refusal, "{}", sequence.wrapping_sub(newest).cast_signed());
        }
    }
}

#[test]
fn packet_ack_is_at_most_16_behind_and_keeps_its_newest_bit() {
    for victim in [HOST, JOINER] {
        let mut probe = Probe::playing_without_extensions(victim);
        let header = probe.knows.header;
        let taken = |probe: &mut Probe, ack: u16, ack_bits: u32| {
            probe.takes(&heartbeat(ControlHeader { ack, ack_bits, ..header }))
        };
        let back: Vec<u16> =
            (0..200).filter(|back| taken(&mut probe, header.ack.wrapping_sub(*back), 0)).collect();
        assert!(back.contains(&0) && back.iter().all(|back| *back <= 16), "{back:?}");
        assert!((8..=17).contains(&back.len()), "sent numbers only: {back:?}");
        let ahead = (1..200).filter(|ahead| taken(&mut probe, header.ack.wrapping_add(*ahead), 0));
        assert_eq!(ahead.count(), 0, "nothing newer without the bit of the newest");
        assert_eq!(
            probe.refusal(&heartbeat(ControlHeader { ack: 0, ack_bits: 0, ..header })),
            Some(Refusal::AckUnsent)
        );
        assert!(!taken(&mut probe, header.ack, u32::MAX), "nobody acknowledges what was skipped");
    }
}

#[test]
fn ordered_number_is_the_next_or_one_of_15_after_it() {
    for victim in [HOST, JOINER] {
        let mut probe = Probe::playing(victim);
        let knows = probe.knows.clone();
        let mut refusal = |number: u16| probe.refusal(&ordered(&knows, number, Ordered::User(b"x")));
        let far = Some(Refusal::NoRoom);
        assert_eq!((refusal(0), refusal(15), refusal(16)), (None, None, far));
        // Behind it are repetitions of what was delivered: taken, and not delivered again.
        assert_eq!((refusal(32_u16.wrapping_neg()), refusal(33_u16.wrapping_neg())), (None, far));
        let mut session = probe.session.clone();
        let behind = ordered(&knows, 1_u16.wrapping_neg(), Ordered::User(b"x"));
        session.handle_datagram(probe.now, addr(1 - victim), &behind);
        assert_eq!(session.poll_event(), None);
    }
}

#[test]
fn one_wrong_bit_of_a_token_is_refused() {
    for victim in [HOST, JOINER] {
        let mut probe = Probe::playing(victim);
        let Knows { header, token, known, first_number: expected, .. } = probe.knows;
        let end = WireFrame(known);
        for bit in 0..64 {
            let token = token ^ 1 << bit;
            let resync = message(header, &Message::Resync(Resync { token, expected, asks: true }));
            let leaving = Message::Leaving(Leaving { token, end, why: LeavingWhy::Left });
            let refused = Some(Refusal::WrongToken);
            assert_eq!(
                (probe.refusal(&resync), probe.refusal(&message(header, &leaving))),
                (refused, refused),
                "bit {bit}"
            );
        }
        assert!(probe.takes(&message(header, &Message::Resync(Resync { token, expected, asks: true }))));
    }
}

#[test]
fn verdict_is_of_one_of_47_frames() {
    for victim in [HOST, JOINER] {
        let mut probe = Probe::playing(victim);
        let knows = probe.knows.clone();
        let verdict = |frame| Ordered::Verdict { frame: WireFrame(frame), checksum: 1, finished: true };
        let around = knows.known - 90..knows.known + 90;
        let taken: Vec<u32> =
            around.filter(|frame| probe.takes(&ordered(&knows, 0, verdict(*frame)))).collect();
        let settled = knows.first + probe.session.settled().0;
        assert_eq!((taken.first(), taken.last()), (Some(&(settled - 30)), Some(&knows.sent)));
        assert!(taken.len() <= 47 && taken.windows(2).all(|two| two[1] == two[0] + 1), "{taken:?}");
    }
}

/// How many values of each number a session takes of the peer's address.
#[derive(Clone, Copy, Debug)]
struct Taken {
    sequences: u64,
    acks: u64,
    starts: u64,
    delivered: u64,
}

/// Writes a number into a datagram.
fn with_number(datagram: &mut [u8], at: usize, number: u16) -> &[u8] {
    datagram[at..at + 2].copy_from_slice(&number.to_be_bytes());
    datagram
}

/// Counts by trying all values of a number, with the best choice of every other.
fn count(probe: &mut Probe) -> Taken {
    let (knows, header) = (probe.knows.clone(), probe.knows.header);
    let mut forged = heartbeat(header);
    let sequences: Vec<u16> =
        (0..=u16::MAX).filter(|number| probe.takes(with_number(&mut forged, 4, *number))).collect();
    with_number(&mut forged, 4, header.sequence);
    let acks = [0_u32, 1, 2, 1 << 4, 3, 0xFF, u32::MAX].map(|bits| {
        forged[8..12].copy_from_slice(&bits.to_be_bytes());
        (0..=u16::MAX).filter(|number| probe.takes(with_number(&mut forged, 6, *number))).count() as u64
    });
    // The acknowledged frame follows from the start: the two machines are at most a few frames apart.
    // Late packets count for the loss and change nothing else.
    let starts = (knows.known - 1_000..knows.known + 1_000).filter(|start| {
        let counts = [1, 32].into_iter().filter(|count| start + count >= knows.known);
        let guesses = counts.flat_map(|count| (0..64).map(move |off| (count, off)));
        guesses.into_iter().any(|(count, off)| {
            let run = vec![NOTHING; count as usize];
            let refusal = probe.refusal(&inputs(*start, *start + off - 32, &run));
            matches!(refusal, None | Some(Refusal::InputConflict))
        })
    });
    let starts = starts.count() as u64;
    let mut forged = ordered(&knows, 0, Ordered::User(b"forged"));
    let delivered = (0..=u16::MAX).filter(|number| {
        let number = knows.first_number.wrapping_add(*number);
        probe.takes(with_number(&mut forged, 16, number)) && is_delivered(probe, &forged, number)
    });
    let delivered = delivered.count() as u64;
    Taken { sequences: sequences.len() as u64, acks: acks.into_iter().max().unwrap_or(0), starts, delivered }
}

/// Whether a forged message with this number reaches the game once all before it have come.
fn is_delivered(probe: &Probe, forged: &[u8], number: u16) -> bool {
    let mut session = probe.session.clone();
    session.handle_datagram(probe.now, addr(1 - probe.victim), forged);
    for earlier in 0..number.wrapping_sub(probe.knows.first_number) % 64 {
        let real = ordered(&probe.knows, earlier, Ordered::User(b"real"));
        session.handle_datagram(probe.now, addr(1 - probe.victim), &real);
    }
    std::iter::from_fn(|| session.poll_event()).any(|event| event == Event::Message(b"forged"[..].into()))
}

/// Holds the costs of blind forgery in `docs/WIRE.md`.
fn assert_documented_costs(probe: &mut Probe, when: &str) {
    let taken = count(probe);
    let Taken { sequences, acks, starts, delivered } = taken;
    let values = 1_u64 << 16;
    let game = values * values / (sequences * acks);
    assert!(game >= 1 << 22, "{when}: a GAME packet costs {game}: {taken:?}");
    assert!(game * values / delivered >= 1 << 34, "{when}: an ordered message: {taken:?}");
    assert!((1_u64 << 31) / starts >= 65_000_000, "{when}: an input: {taken:?}");
    assert!(
        sequences == 64 && (1..=33).contains(&starts) && (1..=16).contains(&delivered),
        "{when}: {taken:?}"
    );
}

#[test]
fn blind_guess_costs_as_documented() {
    for victim in [HOST, JOINER] {
        assert_documented_costs(&mut Probe::playing(victim), "in the middle of a match");
    }
}

#[test]
fn blind_guess_costs_as_much_in_a_flood() {
    for victim in [HOST, JOINER] {
        let mut pair = Phase::Playing.pair(victim);
        let mut guesses = Guesses::new(3);
        for _ in 0..1_000 {
            for _ in 0..20 {
                pair.inject(victim, addr(1 - victim), guesses.draw());
            }
            pair.run_for(ms(1));
        }
        assert!(pair.said_by(victim, "RESYNC").len() > 3, "a flood of wrong numbers");
        assert_documented_costs(&mut Probe::of(&pair, victim), "in a flood");
        pair.run_for(ms(130));
        assert_documented_costs(&mut Probe::of(&pair, victim), "just after a flood");
    }
}
