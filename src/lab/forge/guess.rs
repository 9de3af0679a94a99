//! Blind guesses: datagrams of a stranger who can forge the peer's address and sees nothing of the traffic.

use crate::lab::link::Seeded;
use crate::wire::WireFrame;
use crate::wire::control::{ControlHeader, ControlPacket, ControlPayload, Entries, PlayerInput, Snapshot};
use crate::wire::message::{
    Challenge, Extensions, FirstStateAck, FirstStatePart, ForeignHello, Hello, Leaving, LeavingWhy,
    MAX_FIRST_FRAME, Message, Offer, Ordered, PART_LEN, Pause, PauseStep, Refuse, RefuseField, Resume,
    Resync,
};
use crate::wire::rbn1::{Checksum, InputHeader, InputPacket};
use crate::{Buttons, FrameRate, MAX_DATAGRAM, Player};
use core::num::NonZeroU8;
use std::fmt;

/// A match is guessed to be younger than this: half an hour at 60 frames a second.
const MAX_AGE_FRAMES: u64 = 108_000;

/// Guesses of every kind of packet and message, in turn. Each is well-formed, with every field that has to be guessed
/// drawn at random, and every other as it helps the forger most.
///
/// ```
/// use rebout::lab::forge::{Guesses, label};
///
/// let mut guesses = Guesses::new(1);
/// let kinds: Vec<String> = (0..Guesses::KINDS).map(|_| label(guesses.draw())).collect();
/// assert!(kinds.contains(&"RBN1".to_owned()) && kinds.contains(&"LEAVING".to_owned()));
/// ```
#[derive(Clone)]
pub struct Guesses {
    rng: Seeded,
    turn: usize,
    buf: Box<[u8; MAX_DATAGRAM]>,
}

impl Guesses {
    /// How many kinds there are: after so many guesses they begin again.
    pub const KINDS: usize = 28;

    /// Guesses that are a function of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { rng: Seeded::stream(seed, 0x6755_6573), turn: 0, buf: Box::new([0; MAX_DATAGRAM]) }
    }

    /// The next guess.
    ///
    /// # Panics
    ///
    /// Never: all that is guessed fits its format.
    pub fn draw(&mut self) -> &[u8] {
        self.turn = (self.turn + 1) % Self::KINDS;
        let written = match self.turn {
            0..=3 => self.inputs(),
            4..=12 => self.control(),
            _ => self.message(),
        };
        let len = written.expect("a guess fits its format");
        &self.buf[..len]
    }

    fn frame(&mut self) -> WireFrame {
        WireFrame(self.rng.below(u64::from(MAX_FIRST_FRAME) + MAX_AGE_FRAMES) as u32 + 1)
    }

    fn bits(&mut self) -> u16 {
        self.rng.next_u64() as u16
    }

    /// An input packet. The two machines are at most a few frames apart, so one frame gives away the other.
    fn inputs(&mut self) -> Option<usize> {
        let start_frame = self.frame();
        let ahead = self.rng.below(24) as u32;
        let ack_frame = WireFrame((start_frame.0 + ahead).saturating_sub(8));
        // A long run reaches what is new from further behind; a single input contradicts nothing.
        let count = if self.turn.is_multiple_of(2) { 1 } else { 1 + self.rng.below(16) as usize };
        let value = self.rng.next_u64() as u32;
        let checksum = (self.turn == 3).then_some(Checksum { frame: start_frame, value });
        let header = InputHeader { start_frame, ack_frame, checksum, ..Default::default() };
        let held = Buttons(self.bits() & 0xF);
        InputPacket::encode(&header, std::iter::repeat_n(held, count), &mut self.buf[..]).ok()
    }

    /// The numbers of a GAME packet. Bits would be a further guess: a packet that was skipped betrays the forger.
    fn header(&mut self) -> ControlHeader {
        ControlHeader { sequence: self.bits(), ack: self.bits(), ack_bits: 0 }
    }

    fn control(&mut self) -> Option<usize> {
        const ONE: PlayerInput = PlayerInput { sequence: 1, move_x: 0.5, move_y: -0.5, actions: 3 };
        let header = self.header();
        let value = ControlPacket::ping_value(self.rng.next_u64());
        let payload = match self.turn {
            4 => ControlPayload::Heartbeat,
            5 => ControlPayload::Ping(value),
            6 => ControlPayload::Pong(value),
            7 => ControlPayload::Disconnect,
            8 => ControlPayload::ConnectReq,
            9 => ControlPayload::ConnectAck { client_id: NonZeroU8::MIN.saturating_add(value as u8 & 1) },
            10 => ControlPayload::Input(ONE),
            11 => ControlPayload::Inputs(Entries::from(&[ONE; 2][..])),
            _ => ControlPayload::Snapshot(Snapshot {
                tick: 1,
                entities: Entries::from(&[][..]),
                last_input: None,
            }),
        };
        ControlPacket::encode(&header, &payload, &mut self.buf[..]).ok()
    }

    fn message(&mut self) -> Option<usize> {
        let header = self.header();
        let (one, two) = (self.rng.next_u64(), self.rng.next_u64());
        let (number, frame) = (self.bits(), self.frame());
        let ordered = |body| Message::Ordered { number, body };
        // START, with the frame that differs and the last that matched.
        let mut start = [1, 0, 0, 0, 60, 0, 0, 0, 30];
        start[3..5].copy_from_slice(&number.to_be_bytes());
        let message = match self.turn {
            13 => Message::Hello(Hello {
                nonce: one,
                cookie: two,
                game_id: 0xB0,
                content_hash: 0,
                frame_rate: FrameRate::default(),
                delay_frames: 0,
                window_frames: 8,
                round_trip: 0,
                axes: 0,
                pads: 1,
                first_state_limit: 0,
                capabilities: Extensions::ALL,
                user_data: b"?",
            }),
            14 => Message::ForeignHello(ForeignHello { version: 1, nonce: one, cookie: two }),
            15 => Message::Challenge(Challenge { nonce: one, cookie: two | 1 }),
            16 => Message::Offer(Offer {
                nonce: one,
                first_frame: frame.min(WireFrame(MAX_FIRST_FRAME)),
                seed: 1,
                seat: Player::Two,
                delay_frames: 8,
                window_frames: 8,
                round_trip: 0,
                cadence_frames: 600,
                capabilities: Extensions::ALL,
                token: two,
                first_state_len: 0,
                first_state_hash: 0,
                user_data: b"?",
            }),
            17 => Message::Refuse(Refuse { nonce: one, field: RefuseField::Declined, ours: 0, theirs: 0 }),
            18 => Message::Report { sent: u32::MAX / 4, received: 0, newest_frame: frame },
            19 => Message::Resync(Resync { token: one, expected: number, asks: true }),
            20 => Message::Leaving(Leaving { token: one, end: frame, why: LeavingWhy::Left }),
            24 => Message::FirstState(FirstStatePart {
                token: one,
                number: number % 128,
                bytes: &[1; PART_LEN],
            }),
            25 => {
                let is_damaged = two & 1 == 0;
                Message::FirstStateAck(FirstStateAck {
                    token: one,
                    is_damaged,
                    missing: number,
                    beyond: [0; 64],
                })
            }
            21 => ordered(Ordered::Verdict { frame, checksum: two as u32, finished: true }),
            22 => ordered(Ordered::User(b"forged")),
            26 => ordered(Ordered::Pause(Pause { step: PauseStep::Asks, frame, limit_secs: 1 })),
            27 => Message::Resume(Resume { token: one, frame, left_millis: 0 }),
            23 if one & 1 == 0 => ordered(Ordered::Delay { from_frame: frame, delay_frames: 16 }),
            _ => ordered(Ordered::Autopsy(&start)),
        };
        message.encode_packet(&header, &mut self.buf[..]).ok()
    }
}

impl fmt::Debug for Guesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guesses").field("turn", &self.turn).finish_non_exhaustive()
    }
}
