//! The host's side of the handshake with one guest.

use super::Role;
use super::agreement::{Agreed, Incoming};
use super::measuring::{self, Measuring};
use super::transfer::{Progress, Sender};
use crate::channel::entropy::Entropy;
use crate::channel::refusal::Refusal;
use crate::channel::sequence::Sequences;
use crate::protocol::time::{Span, Time};
use crate::session::config::Config;
use crate::session::liveness::BELIEVED_AFTER;
use crate::session::peer::link::Link;
use crate::wire::control::ControlHeader;
use crate::wire::message::{Extensions, FirstStateAck, Hello, MAX_FIRST_FRAME, Message, Offer};
use crate::wire::{Numbering, WireFrame};
use crate::{Player, protocol::trace};
use core::num::NonZeroU8;
use std::net::SocketAddr;

/// A guest that does not take the offered seat within this long can be replaced by another. It gets a second more for each
/// part of the first state of this many bytes.
const MAX_OFFER: Span = Span::from_secs(5);
const BYTES_A_SECOND: u32 = 32 * 1_024;

/// A guest of which nothing was heard for this long, or that takes no more of the first state, is gone: others wait for the seat.
const SILENT: Span = Span::from_secs(5);

/// The number of newest OFFERs that a CONNECT_REQ may ack.
const OFFERS: usize = 4;

/// A guest, and the stage of its handshake.
#[derive(Clone, Debug)]
pub(super) struct Hosting {
    link: Link,
    guest: Guest,
    first_trip: Span,
    measuring: Measuring,
    last_heard: Time,
    /// When the guest sent a DISCONNECT, if no other packet came from it since.
    farewell_at: Option<Time>,
    /// When the first OFFER was sent, to this guest or to an earlier one at its address.
    offered_since: Option<Time>,
    /// Whether the guest is there for certain. One that may be recorded gets an OFFER, but holds no seat and is not shown.
    confirmed: bool,
    stage: HostStage,
}

/// The guest, by its HELLO.
#[derive(Clone, Debug)]
struct Guest {
    nonce: u64,
    user_data: Vec<u8>,
    delay_frames: u8,
    window_frames: u8,
    /// The RTT that the guest has measured.
    round_trip: Option<Span>,
    extensions: Extensions,
}

#[derive(Clone, Debug)]
// A lobby has only one of these.
#[allow(clippy::large_enum_variant)]
enum HostStage {
    /// The guest is not accepted yet.
    Incoming,
    Declined,
    Offered {
        terms: Agreed,
        /// The RTT that our delay is for, if it was measured.
        round_trip: Option<Span>,
        /// Whether an OFFER is to be sent.
        due: bool,
        /// The sequence numbers of the newest OFFERs.
        sent_as: [Option<u16>; OFFERS],
        /// The number of OFFERs sent.
        count: usize,
        /// The first state on its way to the guest.
        sending: Option<Sender>,
    },
}

impl Hosting {
    /// A guest whose HELLO came on this link. `confirmed`: it is there for certain.
    pub(super) fn new(now: Time, link: Link, hello: &Hello<'_>, first_trip: Span, confirmed: bool) -> Self {
        let guest = Guest {
            nonce: hello.nonce,
            user_data: hello.user_data.to_vec(),
            delay_frames: hello.delay_frames,
            window_frames: hello.window_frames,
            round_trip: measuring::from_wire(hello.round_trip),
            extensions: hello.capabilities,
        };
        let mut hosting = Self {
            link,
            guest,
            first_trip,
            measuring: Measuring::default(),
            last_heard: now,
            farewell_at: None,
            offered_since: None,
            confirmed: false,
            stage: HostStage::Incoming,
        };
        if confirmed {
            hosting.confirm(now);
        }
        hosting
    }

    /// Notes the guest that this one replaces. One that begins again and again at the same address holds the seat no longer
    /// for that.
    pub(super) fn replaces(&mut self, before: &Self) {
        if self.is_guest(before.link.addr()) {
            self.offered_since = before.offered_since;
        }
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    pub(super) fn link_mut(&mut self) -> &mut Link {
        &mut self.link
    }

    /// Whether the guest is at this address.
    pub(super) fn is_guest(&self, addr: SocketAddr) -> bool {
        self.link.is_peer(&addr)
    }

    /// Whether a HELLO from this address with this nonce is one of this guest, said again.
    pub(super) fn is_known(&self, addr: SocketAddr, nonce: u64) -> bool {
        self.is_guest(addr) && self.guest.nonce == nonce
    }

    /// Notes that the guest is there for certain.
    pub(super) fn confirm(&mut self, now: Time) {
        self.confirmed = true;
        self.measuring.begin(now);
    }

    pub(super) fn is_confirmed(&self) -> bool {
        self.confirmed
    }

    /// The terms that were offered to the guest.
    pub(super) fn terms(&self) -> Option<&Agreed> {
        match &self.stage {
            HostStage::Offered { terms, .. } => Some(terms),
            HostStage::Incoming | HostStage::Declined => None,
        }
    }

    /// The guest, if it waits to be accepted and may be shown.
    pub(super) fn incoming(&self, config: &Config) -> Option<Incoming> {
        (self.is_incoming() && self.confirmed).then(|| Incoming {
            addr: self.link.addr(),
            round_trip: self.round_trip().into(),
            user_data: self.guest.user_data.clone(),
            advice: measuring::advice(self.agreed_trip(), config),
        })
    }

    /// Whether the guest waits to be accepted.
    pub(super) fn is_incoming(&self) -> bool {
        matches!(self.stage, HostStage::Incoming)
    }

    /// Accepts the guest, if it waits to be, with terms drawn from `entropy` where the config has none.
    pub(super) fn accept(&mut self, config: &Config, entropy: &mut Entropy) {
        if !self.is_incoming() {
            return;
        }
        let chosen = config.rollback.delay_frames;
        let round_trip = chosen.is_none().then(|| self.agreed_trip());
        let suggested = round_trip.map(|rtt| measuring::suggested_delay(rtt, config));
        let delay_frames = chosen.or(suggested).unwrap_or_default();
        let (token, first_state) = (entropy.next_u64(), config.lobby.first_state.clone());
        let terms = Agreed {
            peer: self.link.addr(),
            seat: config.lobby.seat,
            seed: config.lobby.seed.unwrap_or_else(|| entropy.next_seed()),
            first_state: first_state.clone(),
            is_host: true,
            user_data: self.guest.user_data.clone(),
            delay_frames,
            peer_delay_frames: self.guest.delay_frames,
            peer_window_frames: self.guest.window_frames,
            round_trip: None,
            token,
            // 1..=2^31, which leaves half of all frame numbers for the match.
            numbering: Numbering::new(WireFrame(
                (entropy.next_u64() % u64::from(MAX_FIRST_FRAME)) as u32 + 1,
            )),
            cadence_frames: config.cadence_frames,
            nonce: self.guest.nonce,
            announced_delay_frames: delay_frames,
            extensions: config.capabilities().shared_with(self.guest.extensions),
        };
        trace::handshake(self.link.addr(), "offered");
        let sending = (!first_state.is_empty()).then(|| Sender::new(first_state, token));
        // The link is measured during the transfer.
        let round_trip = round_trip.filter(|_| sending.is_none());
        self.stage =
            HostStage::Offered { terms, round_trip, due: true, sent_as: [None; OFFERS], count: 0, sending };
    }

    /// Declines the guest, if it waits to be accepted.
    pub(super) fn decline(&mut self) {
        if self.is_incoming() {
            self.stage = HostStage::Declined;
        }
    }

    /// Ends the handshake if there is an offer. `confirmed` is the header of a CONNECT_REQ. A delay that was to be measured was
    /// offered before the transfer of a first state, and is taken after it.
    pub(super) fn conclude(mut self, config: &Config, confirmed: Option<ControlHeader>) -> Role {
        let round_trip = self.round_trip();
        let advised = measuring::suggested_delay(self.agreed_trip(), config);
        match self.stage {
            HostStage::Offered { mut terms, sending, .. } => {
                if sending.is_some() && config.rollback.delay_frames.is_none() {
                    terms.delay_frames = advised;
                }
                terms.round_trip = Some(round_trip.into());
                self.link.begin(terms.token, true, confirmed);
                Role::Agreed(self.link, terms)
            }
            _ => Role::Host(self),
        }
    }

    /// The first state on its way to the guest.
    fn sending(&self) -> Option<&Sender> {
        match &self.stage {
            HostStage::Offered { sending, .. } => sending.as_ref(),
            HostStage::Incoming | HostStage::Declined => None,
        }
    }

    /// How much of the first state the guest has.
    pub(super) fn progress(&self) -> Option<Progress> {
        self.sending().map(Sender::progress)
    }

    /// Takes in an acknowledgement of parts of the first state.
    pub(super) fn acknowledged(&mut self, now: Time, ack: &FirstStateAck) -> Result<(), Refusal> {
        let trip = self.round_trip();
        let HostStage::Offered { sending: Some(sending), .. } = &mut self.stage else {
            return Err(Refusal::OutOfPlace);
        };
        sending.acknowledged(now, ack, trip)?;
        self.heard(now);
        Ok(())
    }

    /// Notes a packet from the guest, which takes back an earlier DISCONNECT.
    pub(super) fn heard(&mut self, now: Time) {
        (self.last_heard, self.farewell_at) = (now, None);
    }

    /// Notes a DISCONNECT from the guest.
    pub(super) fn farewell(&mut self, now: Time) {
        self.farewell_at.get_or_insert(now);
    }

    /// Notes a repeated HELLO of the guest, and sends the OFFER again if there was one. `true` if the guest was declined.
    pub(super) fn hello_again(&mut self, now: Time, header: ControlHeader, hello: &Hello<'_>) -> bool {
        // The cookie proves the HELLO.
        self.link.heard_even_if_far(header);
        self.heard(now);
        self.guest.round_trip = measuring::from_wire(hello.round_trip).or(self.guest.round_trip);
        if let HostStage::Offered { due, .. } = &mut self.stage {
            *due = true;
        }
        self.is_declined()
    }

    fn is_declined(&self) -> bool {
        matches!(self.stage, HostStage::Declined)
    }

    /// Whether another guest may take the seat: this one was declined, may be a recorded one, or was offered the seat and
    /// does not take it.
    pub(super) fn makes_room(&self, now: Time) -> bool {
        self.is_declined()
            || !self.confirmed
            || self.offered_since.is_some_and(|at| now.since(at) > self.max_offer())
    }

    /// How long the guest may take from the OFFER to the CONNECT_REQ.
    fn max_offer(&self) -> Span {
        let bytes = self.progress().map_or(0, |progress| progress.of);
        MAX_OFFER + Span::from_secs(1) * bytes.div_ceil(BYTES_A_SECOND)
    }

    /// Whether the guest has been silent for too long, or does not take the first state, or has left.
    pub(super) fn has_gone(&self, now: Time) -> bool {
        now.since(self.last_heard) > SILENT
            || self.sending().is_some_and(|sending| sending.has_stalled(now, SILENT))
            || self.farewell_at.is_some_and(|at| now.since(at) >= BELIEVED_AFTER)
    }

    /// Whether this header acks one of the newest OFFERs.
    pub(super) fn offer_arrived(&self, header: ControlHeader) -> bool {
        match &self.stage {
            HostStage::Offered { sent_as, .. } => {
                sent_as.iter().flatten().any(|offer| Sequences::acknowledges(header, *offer))
            }
            HostStage::Incoming | HostStage::Declined => false,
        }
    }

    /// Whether the RTT has been measured often or long enough to suggest a delay.
    pub(super) fn has_measured(&self, now: Time) -> bool {
        now >= self.measuring.done_at(self.link.rtt())
    }

    fn round_trip(&self) -> Span {
        self.link.rtt().smoothed().unwrap_or(self.first_trip)
    }

    /// The RTT that both sides' measurements give, or that of the handshake.
    fn agreed_trip(&self) -> Span {
        measuring::agreed_trip(self.link.rtt(), self.guest.round_trip, Some(self.first_trip))
    }

    pub(super) fn poll_transmit(&mut self, now: Time, config: &Config, buf: &mut [u8]) -> Option<usize> {
        match &mut self.stage {
            HostStage::Offered { terms, round_trip, due, sent_as, count, .. } if *due => {
                *due = false;
                self.offered_since.get_or_insert(now);
                let header = self.link.stamp(now);
                sent_as[*count % OFFERS] = Some(header.sequence);
                *count = count.wrapping_add(1);
                let offer = Offer {
                    nonce: self.guest.nonce,
                    first_frame: terms.numbering.first(),
                    seed: terms.seed,
                    seat: terms.seat.other(),
                    delay_frames: terms.delay_frames,
                    window_frames: config.rollback.window_frames,
                    round_trip: measuring::to_wire(*round_trip),
                    cadence_frames: terms.cadence_frames,
                    capabilities: config.capabilities(),
                    token: terms.token,
                    first_state_len: terms.first_state.len() as u32,
                    first_state_hash: terms.first_state.hash(),
                    user_data: &config.lobby.user_data,
                };
                Message::Offer(offer).encode_packet(&header, buf).ok()
            }
            HostStage::Declined => None,
            // The seal would put a PING into the first answer to the guest and retransmit it: its answer would be late.
            _ if !self.confirmed => None,
            HostStage::Offered { sending: Some(sending), .. } => {
                let of_link = self.link.poll_transmit(now, buf);
                of_link.or_else(|| Message::FirstState(sending.poll(now)?).encode_outside(buf).ok())
            }
            _ => self.link.poll_transmit(now, buf),
        }
    }

    pub(super) fn poll_timeout(&self) -> Time {
        match &self.stage {
            HostStage::Offered { due: true, .. } => Time::ZERO,
            HostStage::Declined => Time::NEVER,
            _ if !self.confirmed => Time::NEVER,
            HostStage::Offered { sending: Some(sending), .. } => {
                self.link.poll_timeout().min(sending.poll_timeout())
            }
            _ => self.link.poll_timeout(),
        }
    }
}

/// The number of a seat in a CONNECT_ACK.
pub(in crate::session) fn seat_number(seat: Player) -> NonZeroU8 {
    match seat {
        Player::One => NonZeroU8::MIN,
        Player::Two => NonZeroU8::MIN.saturating_add(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn guest() -> Hosting {
        let link =
            Link::new(at(0), ([192, 0, 2, 1], 7_000).into(), Span::from_millis(16), &mut Entropy::new(1));
        let hello = Hello {
            nonce: 1,
            cookie: 0,
            game_id: 0,
            content_hash: 0,
            frame_rate: crate::FrameRate::default(),
            delay_frames: 0,
            window_frames: 8,
            round_trip: 0,
            axes: 0,
            pads: 1,
            first_state_limit: 0,
            capabilities: Extensions::NONE,
            user_data: b"",
        };
        Hosting::new(at(0), link, &hello, Span::ZERO, true)
    }

    #[test]
    fn any_packet_takes_a_disconnect_back() {
        let mut guest = guest();
        guest.farewell(at(100));
        guest.farewell(at(300));
        assert!(!guest.has_gone(at(599)) && guest.has_gone(at(600)), "the first one counts");
        guest.heard(at(400));
        assert!(!guest.has_gone(at(5_400)) && guest.has_gone(at(5_401)), "silence alone");
    }

    #[test]
    fn pings_wait_until_the_guest_is_there_for_certain() {
        let (config, mut buf) = (Config::new(1), [0; 1_200]);
        let mut guest = guest();
        guest.confirmed = false;
        guest.measuring = Measuring::default();
        assert_eq!(
            (guest.poll_transmit(at(500), &config, &mut buf), guest.poll_timeout()),
            (None, Time::NEVER)
        );
        assert!(!guest.has_measured(at(9_000)), "the measurement has not begun");
        guest.confirm(at(9_000));
        assert!(guest.poll_transmit(at(9_000), &config, &mut buf).is_some());
        assert!(!guest.has_measured(at(10_999)) && guest.has_measured(at(11_000)));
    }

    /// The delay that the host takes, and the RTT in its OFFER, after a handshake of 200 ms: both sides have measured these.
    fn offered(config: &Config, own: Option<Span>, guests: u16) -> (u8, Option<Span>) {
        let mut guest = guest();
        guest.first_trip = Span::from_millis(200);
        own.into_iter().for_each(|rtt| guest.link.measured(rtt));
        guest.guest.round_trip = measuring::from_wire(guests);
        guest.accept(config, &mut Entropy::new(1));
        let HostStage::Offered { terms, round_trip, .. } = guest.stage else { panic!("an offer") };
        (terms.delay_frames, round_trip)
    }

    #[test]
    fn host_takes_the_shorter_of_both_measurements() {
        let (config, ms) = (Config::new(1), |ms| Some(Span::from_millis(ms)));
        assert_eq!(offered(&config, ms(120), 0), (2, ms(120)));
        assert_eq!(offered(&config, ms(120), 400), (0, ms(40)), "the guest's is shorter");
        assert_eq!(offered(&config, ms(120), 60_000), (2, ms(120)), "and a longer one is not believed");
        assert_eq!((offered(&config, None, 400), offered(&config, None, 0)), ((0, ms(40)), (3, ms(200))));
        let with_state = config.clone().with(|config| config.lobby.first_state = vec![1].into());
        assert_eq!(offered(&with_state, ms(120), 0).1, None, "it is measured during the transfer");
        let chosen = config.with(|config| config.rollback.delay_frames = Some(5));
        assert_eq!(offered(&chosen, ms(120), 0), (5, None));
    }

    #[test]
    fn offer_makes_room_after_five_seconds() {
        let mut guest = guest();
        assert!(!guest.makes_room(at(60_000)), "not offered");
        guest.offered_since = Some(at(1_000));
        assert!(!guest.makes_room(at(6_000)) && guest.makes_room(at(6_001)));
        (guest.offered_since, guest.confirmed) = (None, false);
        assert!(guest.makes_room(at(0)), "it may be a recorded one");
    }
}
