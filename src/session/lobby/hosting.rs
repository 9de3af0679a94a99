//! The host's side of the handshake with one guest.

use super::agreement::Agreed;
use crate::Player;
use crate::channel::sequence::Sequences;
use crate::protocol::time::{Span, Time};
use crate::session::advice::{DelayAdvice, advise_delay};
use crate::session::config::Config;
use crate::session::liveness::BELIEVED_AFTER;
use crate::session::peer::desk::Desk;
use crate::session::peer::link::Link;
use crate::wire::control::ControlHeader;
use crate::wire::message::{Extensions, Hello, Message, Offer, Refuse, RefuseField};
use core::num::NonZeroU8;

/// The number of pongs that a host without a configured delay waits for before it suggests one.
const PONGS_FOR_ADVICE: u32 = 5;
/// The longest wait for those pongs.
const MAX_WAIT_FOR_ADVICE: Span = Span::from_secs(1);

/// The packet loss that a lobby assumes, because it cannot measure it.
pub(super) const ASSUMED_LOSS: f64 = 0.01;

/// A guest that was offered the seat takes it within this long, or makes room for somebody else.
const MAX_OFFER: Span = Span::from_secs(5);

/// The number of newest OFFERs that a CONNECT_REQ may ack.
const OFFERS: usize = 4;

/// A guest, and the stage of its handshake.
#[derive(Clone, Debug)]
pub(super) struct Hosting {
    pub(super) link: Link,
    pub(super) nonce: u64,
    pub(super) first_trip: Span,
    pub(super) user_data: Vec<u8>,
    pub(super) delay_frames: u8,
    pub(super) window_frames: u8,
    pub(super) extensions: Extensions,
    since: Time,
    last_heard: Time,
    /// When the guest sent a DISCONNECT, if no other packet came from it since.
    farewell_at: Option<Time>,
    /// When the first OFFER was sent, to this guest or to an earlier one at its address.
    pub(super) offered_since: Option<Time>,
    /// Whether the guest is there for certain. One that may be recorded gets an OFFER, but holds no seat and is not shown.
    pub(super) confirmed: bool,
    pub(super) stage: HostStage,
}

#[derive(Clone, Debug)]
// A lobby has only one of these.
#[allow(clippy::large_enum_variant)]
pub(super) enum HostStage {
    /// The guest is not accepted yet.
    Incoming,
    Declined {
        /// Whether a REFUSE is to be sent, in answer to the HELLO with `header`.
        answer: bool,
        header: ControlHeader,
    },
    Offered {
        terms: Agreed,
        /// Whether an OFFER is to be sent.
        due: bool,
        /// The sequence numbers of the newest OFFERs.
        sent_as: [Option<u16>; OFFERS],
        /// The number of OFFERs sent.
        count: usize,
    },
}

impl HostStage {
    pub(super) fn offered(terms: Agreed) -> Self {
        Self::Offered { terms, due: true, sent_as: [None; OFFERS], count: 0 }
    }
}

impl Hosting {
    pub(super) fn new(now: Time, link: Link, hello: &Hello<'_>, first_trip: Span) -> Self {
        Self {
            link,
            nonce: hello.nonce,
            first_trip,
            user_data: hello.user_data.to_vec(),
            delay_frames: hello.delay_frames,
            window_frames: hello.window_frames,
            extensions: hello.capabilities,
            since: now,
            last_heard: now,
            farewell_at: None,
            offered_since: None,
            confirmed: true,
            stage: HostStage::Incoming,
        }
    }

    /// Notes a packet from the guest, which takes back an earlier DISCONNECT.
    pub(super) fn heard(&mut self, now: Time) {
        (self.last_heard, self.farewell_at) = (now, None);
    }

    /// Notes a DISCONNECT from the guest.
    pub(super) fn farewell(&mut self, now: Time) {
        self.farewell_at.get_or_insert(now);
    }

    /// Notes a repeated HELLO of the guest, and sends the REFUSE or OFFER again if there was one.
    pub(super) fn hello_again(&mut self, now: Time, header: ControlHeader) {
        // The cookie proves the HELLO.
        self.link.heard_even_if_far(header);
        self.heard(now);
        match &mut self.stage {
            HostStage::Incoming => {}
            HostStage::Declined { answer, header: heard } => (*answer, *heard) = (true, header),
            HostStage::Offered { due, .. } => *due = true,
        }
    }

    /// Whether another guest may take the seat: this one was declined, may be a recorded one, or was offered the seat and
    /// does not take it.
    pub(super) fn makes_room(&self, now: Time) -> bool {
        matches!(self.stage, HostStage::Declined { .. })
            || !self.confirmed
            || self.offered_since.is_some_and(|at| now.since(at) > MAX_OFFER)
    }

    /// Whether the guest has been silent for too long, or has left.
    pub(super) fn has_gone(&self, now: Time, lost_after: Span) -> bool {
        now.since(self.last_heard) > lost_after
            || self.farewell_at.is_some_and(|at| now.since(at) >= BELIEVED_AFTER)
    }

    /// Whether this header acks one of the newest OFFERs.
    pub(super) fn offer_arrived(&self, header: ControlHeader) -> bool {
        match &self.stage {
            HostStage::Offered { sent_as, .. } => {
                sent_as.iter().flatten().any(|offer| Sequences::acknowledges(header, *offer))
            }
            HostStage::Incoming | HostStage::Declined { .. } => false,
        }
    }

    /// Whether the RTT has been measured often or long enough to suggest a delay.
    pub(super) fn has_measured(&self, now: Time) -> bool {
        self.link.rtt.count() >= PONGS_FOR_ADVICE || now.since(self.since) >= MAX_WAIT_FOR_ADVICE
    }

    pub(super) fn round_trip(&self) -> Span {
        self.link.rtt.smoothed().unwrap_or(self.first_trip)
    }

    pub(super) fn advice(&self, config: &Config) -> DelayAdvice {
        let rtt = self.link.rtt.percentile_95().unwrap_or(self.first_trip);
        advise_delay(rtt.into(), ASSUMED_LOSS, config.rollback.window_frames, config.game.frame_rate)
    }

    pub(super) fn poll_transmit(
        &mut self,
        now: Time,
        desk: &mut Desk,
        config: &Config,
        buf: &mut [u8],
    ) -> Option<usize> {
        match &mut self.stage {
            HostStage::Declined { answer, header } if *answer => {
                *answer = false;
                let refuse = Refuse { nonce: self.nonce, field: RefuseField::Declined, ours: 0, theirs: 0 };
                desk.refuse(self.link.addr, *header, refuse);
                desk.poll_transmit(buf).map(|(_, len)| len)
            }
            HostStage::Offered { terms, due, sent_as, count } if *due => {
                *due = false;
                self.offered_since.get_or_insert(now);
                let header = self.link.stamp(now);
                sent_as[*count % OFFERS] = Some(header.sequence);
                *count = count.wrapping_add(1);
                let offer = Offer {
                    nonce: self.nonce,
                    first_frame: terms.numbering.first(),
                    seed: terms.seed,
                    seat: terms.seat.other(),
                    delay_frames: terms.delay_frames,
                    window_frames: config.rollback.window_frames,
                    cadence_frames: terms.cadence_frames,
                    capabilities: config.lobby.extensions,
                    token: terms.token,
                    user_data: &config.lobby.user_data,
                };
                Message::Offer(offer).encode_packet(&header, buf).ok()
            }
            HostStage::Declined { .. } => None,
            _ => self.link.poll_transmit(now, buf),
        }
    }

    pub(super) fn poll_timeout(&self) -> Time {
        match &self.stage {
            HostStage::Declined { answer: true, .. } | HostStage::Offered { due: true, .. } => Time::ZERO,
            HostStage::Declined { .. } => Time::NEVER,
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
    use crate::channel::entropy::Entropy;

    const LOST: Span = Span::from_secs(5);

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
            frame_rate: 60,
            delay_frames: 0,
            window_frames: 8,
            axes: 0,
            capabilities: Extensions::NONE,
            user_data: b"",
        };
        Hosting::new(at(0), link, &hello, Span::ZERO)
    }

    #[test]
    fn any_packet_takes_a_disconnect_back() {
        let mut guest = guest();
        guest.farewell(at(100));
        guest.farewell(at(300));
        assert!(!guest.has_gone(at(599), LOST) && guest.has_gone(at(600), LOST), "the first one counts");
        guest.heard(at(400));
        assert!(!guest.has_gone(at(5_400), LOST) && guest.has_gone(at(5_401), LOST), "silence alone");
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
