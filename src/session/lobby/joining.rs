//! A joiner and the host it knocks at.

use super::agreement::{Agreed, LobbyError};
use crate::peer::entropy::Entropy;
use crate::peer::link::Link;
use crate::peer::refusal::Refusal;
use crate::session::config::Config;
use crate::time::{Span, Time};
use crate::wire::control::{Header, Payload};
use crate::wire::message::{Challenge, Hello, Message, Offer, Refuse, RefuseField};
use crate::wire::{self, Numbering, WireFrame};
use std::net::SocketAddr;

/// How often a joiner says again what was not answered.
const SAY_AGAIN: Span = Span::from_millis(200);

/// Every so many times that a joiner confirms an offer without an answer, it says HELLO again instead: the host may
/// have forgotten it meanwhile, or have sent so much since the offer that nothing can acknowledge it any more.
const HELLO_AGAIN_EVERY: u32 = 5;

#[derive(Clone, Debug)]
pub(super) struct Joining {
    pub(super) link: Link,
    pub(super) nonce: u64,
    cookie: u64,
    next: Time,
    /// How often something was said.
    said: u32,
    /// What the host offered, which is now to be confirmed.
    pub(super) offer: Option<Agreed>,
    /// The token of an offer that the host has forgotten since: a late copy of it counts for nothing.
    outdated: Option<u64>,
}

impl Joining {
    pub(super) fn new(now: Time, addr: SocketAddr, config: &Config, entropy: &mut Entropy) -> Self {
        Self {
            link: Link::new(now, addr, config.frame_length().into(), entropy),
            nonce: entropy.next_u64(),
            cookie: 0,
            next: now,
            said: 0,
            offer: None,
            outdated: None,
        }
    }

    /// Whether numbers can be the host's. Before there is an OFFER nobody knows at which it counts, and a forged
    /// packet must not settle that.
    pub(super) fn check(&self, header: Header) -> Result<(), Refusal> {
        if self.offer.is_some() { self.link.check(header) } else { self.link.check_ack(header) }
    }

    /// Takes in an answer to our HELLO, if it is one; `Err` within is the host's no.
    pub(super) fn answer(
        &mut self,
        now: Time,
        config: &Config,
        header: Header,
        message: &Message<'_>,
    ) -> Result<Result<(), LobbyError>, Refusal> {
        let (Message::Challenge(Challenge { nonce, .. })
        | Message::Offer(Offer { nonce, .. })
        | Message::Refuse(Refuse { nonce, .. })) = message
        else {
            return Err(Refusal::OutOfPlace);
        };
        if *nonce != self.nonce {
            return Err(Refusal::WrongNonce);
        }
        match (message, &self.offer) {
            (Message::Challenge(challenge), _) => {
                if self.cookie != challenge.cookie {
                    (self.cookie, self.next, self.said) = (challenge.cookie, now, 0);
                }
            }
            (Message::Offer(offer), Some(taken)) if offer.token == taken.token => {
                self.link.check(header)?;
                self.link.heard(header);
            }
            (Message::Offer(offer), taken) if self.outdated != Some(offer.token) => {
                self.link.check_ack(header)?;
                // Only the host knows our nonce, so these are its numbers. If there was an offer before, it has
                // forgotten us in between, and counts from another number on.
                self.outdated = taken.as_ref().map(|taken| taken.token);
                self.link.heard_for_certain(header);
                self.offer = Some(self.terms(config, offer));
                (self.next, self.said) = (now, 1);
            }
            (Message::Refuse(refuse), None) => {
                return Ok(Err(match refuse.field {
                    RefuseField::Full => LobbyError::Full,
                    RefuseField::Declined => LobbyError::Declined,
                    // The host's "ours" is "theirs" here.
                    field => LobbyError::Incompatible { field, ours: refuse.theirs, theirs: refuse.ours },
                }));
            }
            _ => return Err(Refusal::OutOfPlace),
        }
        Ok(Ok(()))
    }

    /// What the host offers, as seen from here.
    fn terms(&self, config: &Config, offer: &Offer<'_>) -> Agreed {
        let announced_delay_frames = config.delay_frames.unwrap_or(0);
        Agreed {
            peer: self.link.addr,
            seat: offer.seat,
            seed: offer.seed,
            is_host: false,
            user_data: offer.user_data.to_vec(),
            // The host has measured the link: without a wish of its own, a joiner does as the host does.
            delay_frames: config.delay_frames.unwrap_or(offer.delay_frames).min(config.max_delay_frames()),
            peer_delay_frames: offer.delay_frames,
            peer_window_frames: offer.window_frames,
            round_trip: None,
            token: offer.token,
            numbering: Numbering::new(WireFrame(offer.first_frame)),
            cadence_frames: offer.cadence_frames,
            nonce: self.nonce,
            announced_delay_frames,
        }
    }

    pub(super) fn poll_transmit(&mut self, now: Time, config: &Config, buf: &mut [u8]) -> Option<usize> {
        if now < self.next {
            // Nothing but pongs before there is an offer: the host's pings are answered, not rivalled.
            return if self.offer.is_some() || self.link.owes_pong() {
                self.link.poll_transmit(now, buf)
            } else {
                None
            };
        }
        self.next = now + SAY_AGAIN;
        self.said = self.said.wrapping_add(1);
        if self.offer.is_some() && self.said % HELLO_AGAIN_EVERY != 1 {
            return self.link.write(now, &Payload::ConnectReq, buf);
        }
        let hello = Hello {
            nonce: self.nonce,
            cookie: self.cookie,
            game_id: config.game_id,
            content_hash: config.content_hash,
            frame_rate: config.frame_rate,
            delay_frames: config.delay_frames.unwrap_or(0),
            window_frames: config.window_frames,
            capabilities: 0,
            user_data: &config.user_data,
        };
        let header = self.link.stamp(now);
        wire::encode_message(&header, &Message::Hello(hello), buf).ok()
    }

    pub(super) fn poll_timeout(&self) -> Time {
        if self.offer.is_some() || self.link.owes_pong() {
            self.next.min(self.link.poll_timeout())
        } else {
            self.next
        }
    }
}
