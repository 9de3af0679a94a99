//! The handshakes of a seal: REQUEST, RETRY, INIT and RESP, from the datagram to the connection.

use super::association::{Answering, Association};
use super::channel::Channel;
use super::code::{Comparison, commitment};
use super::joiner::MAX_OPEN;
use super::noise;
use super::outbox::copied;
use super::padding::unpadded;
use super::rate_limiter::Waiting;
use super::sealed::{Sealed, tell};
use super::stats::SealRefusal;
use super::{Seal, host};
use crate::protocol::time::Time;
use crate::protocol::{PeerRole, Protocol};
use crate::wire::seal::{
    self, COMMITMENT_LEN, INIT_LEN, Init, PADDED_LEN, Packet, Pattern, Request, Resp, Retry,
};
use core::time::Duration;
use std::net::SocketAddr;

impl Seal {
    /// Whether a joiner with this nonce is served: by a host always; by a machine that joins that very address, if its own
    /// nonce is larger and it has no connection there. All its guests have that one inner address: somebody who sees the
    /// traffic could otherwise speak in the peer's name by a handshake of its own.
    fn serves(&self, from: SocketAddr, nonce: u64) -> bool {
        match (&self.host, &self.join) {
            (Some(host::Host { only: Some(only), .. }), Some(join)) => {
                let met = self.associations.iter().any(|one| one.inner_addr == *only && one.holds());
                *only == from && join.nonce > nonce && !met
            }
            (Some(_), _) => true,
            (None, _) => false,
        }
    }

    /// Answers a REQUEST by a RETRY.
    pub(super) fn requested(
        &mut self,
        now: Time,
        from: SocketAddr,
        request: &Request,
        datagram: &[u8],
    ) -> Result<(), SealRefusal> {
        let serves = self.serves(from, request.nonce);
        let host = self.host.as_ref().filter(|_| serves).ok_or(SealRefusal::Unexpected)?;
        let access = host.access_of(request.pattern, datagram).ok_or(SealRefusal::BadMac)?;
        host.accesses[access].retry(now, from, request.index, request.nonce, &mut self.out);
        Ok(())
    }

    /// Answers a RETRY by an INIT.
    pub(super) fn retried(
        &mut self,
        now: Time,
        from: SocketAddr,
        retry: &Retry,
        datagram: &[u8],
    ) -> Result<(), SealRefusal> {
        let join = self.join.as_ref().ok_or(SealRefusal::Unexpected)?;
        let key = join.key_for(now, from, retry, datagram)?;
        let (index, ephemeral) = (self.free_index(), self.random.next_secret());
        let join = self.join.as_mut().ok_or(SealRefusal::Unexpected)?;
        join.retry(now, from, (retry, key), (index, ephemeral), &mut self.out)
    }

    /// Writes the RESP of a connection, with the inner protocol's answer in it if that fits.
    pub(super) fn answer(&mut self, now: Time, at: usize, answer: &[u8]) {
        let Some(association) = self.associations.get_mut(at) else { return };
        let Some(answering) = association.answering.take() else { return };
        let Answering { handshake, index, to } = *answering;
        let mut text = [0; INIT_LEN];
        text[..2].copy_from_slice(&association.index.to_be_bytes());
        let open = association.pattern == Pattern::Open;
        let ours = if open { self.random.next_16() } else { [0; 16] };
        if open {
            text[2..2 + COMMITMENT_LEN].copy_from_slice(&commitment(&ours));
        }
        let front = if open { 2 + COMMITMENT_LEN } else { 2 };
        let head = seal::resp_head(index);
        // A RESP is shorter than an INIT: nobody can make a host send more than it gets.
        let around = head.len() + 32 + front + 16;
        let answer = if around + answer.len() < INIT_LEN { answer } else { b"" };
        text[front..front + answer.len()].copy_from_slice(answer);
        let mut resp = vec![0; INIT_LEN];
        resp[..head.len()].copy_from_slice(&head);
        let text = &text[..front + answer.len()];
        if let Some((split, len)) = handshake.answer(text, &mut resp[head.len()..])
            && let Some(channel) = Channel::new(&split, true, index)
        {
            if open {
                let (handshake, theirs, revealed) = (split.hash, None, false);
                association.comparison =
                    Comparison::Host { handshake, ours, theirs, revealed, guests_before: 0 };
            }
            self.key_log.note(&split, [association.index, index]);
            resp.truncate(head.len() + len);
            self.out.push(to, &resp);
            (association.resp, association.channel, association.opened_at) = (resp, Some(channel), now);
        }
    }
}

impl<P: Protocol> Sealed<'_, P> {
    /// Checks an INIT as far as that is cheap, and queues it for its Diffie-Hellman.
    pub(super) fn init(
        &mut self,
        now: Duration,
        from: SocketAddr,
        init: &Init<'_>,
        datagram: &[u8],
    ) -> Result<(), SealRefusal> {
        let (at, seal) = (Time::from(now), &mut *self.seal);
        let (head, ephemeral) = (&init.head, init.ephemeral());
        let serves = seal.serves(from, head.nonce);
        let host = seal.host.as_mut().filter(|_| serves).ok_or(SealRefusal::Unexpected)?;
        let access = host.access_of(head.pattern, datagram).ok_or(SealRefusal::BadMac)?;
        // The same INIT again: its RESP may have been lost.
        if let Some(known) = seal.associations.iter().find(|one| one.ephemeral == ephemeral) {
            if !known.resp.is_empty() {
                seal.out.answer(from, |buf| copied(&known.resp, buf));
            }
            return Ok(());
        }
        let Some(round_trip) = host.cookie_age(at, access, from, head, &ephemeral) else {
            host.accesses[access].retry(at, from, head.index, head.nonce, &mut seal.out);
            return Err(SealRefusal::BadCookie);
        };
        if seal.associations.has_confirmed(head, from) {
            return Err(SealRefusal::Unexpected);
        }
        let queued =
            Waiting::new(from, round_trip, datagram).is_some_and(|init| host.rate_limiter.queue(init));
        seal.stir();
        self.admit(at);
        if queued { Ok(()) } else { Err(SealRefusal::Limited) }
    }

    /// Works off the INITs whose turn it is.
    pub(super) fn admit(&mut self, now: Time) {
        while let Some(waiting) = self.seal.host.as_mut().and_then(|host| host.rate_limiter.next(now)) {
            if let Err(refusal) = self.accept(now, &waiting) {
                self.seal.stats.refuse(refusal);
            }
        }
    }

    /// The Diffie-Hellman of an INIT. A guest whose INIT opens is reached, and its message goes to the inner protocol unless
    /// too many others are there that are only reached.
    fn accept(&mut self, now: Time, waiting: &Waiting) -> Result<(), SealRefusal> {
        let Ok(Packet::Init(init)) = seal::decode(waiting.datagram()) else {
            return Err(SealRefusal::NoPacket);
        };
        let index = self.seal.free_index();
        let seal = &mut *self.seal;
        // Both may have changed while the INIT was queued.
        let serves = seal.serves(waiting.from, init.head.nonce)
            && !seal.associations.has_confirmed(&init.head, waiting.from);
        let host = seal.host.as_mut().filter(|_| serves).ok_or(SealRefusal::Unexpected)?;
        let access = host.access_of(init.head.pattern, waiting.datagram()).ok_or(SealRefusal::BadMac)?;
        let ephemeral = init.ephemeral();
        if !host.use_up(now, init.head.cookie, ephemeral) {
            return Err(SealRefusal::BadCookie);
        }
        seal.stats.handshakes += 1;
        let mut text = [0; INIT_LEN];
        let secret = seal.random.next_secret();
        let accepted =
            noise::accept(&host.accesses[access].keys, init.prologue, secret, init.message, &mut text);
        let (handshake, len) = accepted.ok_or(SealRefusal::BadHandshake)?;
        let opening = unpadded(&text[..len]).ok_or(SealRefusal::BadHandshake)?;
        let (pattern, nonce, from) = (init.head.pattern, init.head.nonce, waiting.from);
        let known = seal.associations.iter().find(|one| one.is_guest(pattern, nonce, from));
        let inner_addr = match (known.map(|one| one.inner_addr), host.only) {
            (Some(inner_addr), _) | (None, Some(inner_addr)) => inner_addr,
            (None, None) => seal.associations.make_up(),
        };
        let reached = |one: &&Association| one.at_inner && !one.confirmed && one.inner_addr != inner_addr;
        let busy = seal.associations.iter().filter(reached).count() >= seal.limits.reached();
        let answering = Answering { handshake, index: init.head.index, to: from };
        let at = seal.associations.add(Association {
            answering: Some(Box::new(answering)),
            at_inner: !busy,
            round_trip: waiting.round_trip,
            ..Association::new(now, PeerRole::Player, (inner_addr, from), (index, pattern, nonce, ephemeral))
        });
        seal.stir();
        if busy {
            seal.answer(now, at, b"");
            return Ok(());
        }
        seal.answering = true;
        let (time, step) = (now.into(), seal.associations.get_mut(at).map(|one| one.step()));
        if let Some(step) = step {
            tell(self.inner, time, inner_addr, step);
        }
        if !opening.is_empty() {
            self.inner.handle_datagram(time, inner_addr, opening);
        }
        Ok(())
    }

    /// Answers the guests that the inner protocol has no answer for.
    pub(super) fn answer_all(&mut self, now: Time) {
        while let Some(at) = self.seal.associations.position(|one| one.answering.is_some()) {
            self.seal.answer(now, at, b"");
        }
        self.seal.answering = false;
    }

    /// Ends a joiner's handshake: there is a connection, and perhaps an answer in the RESP.
    pub(super) fn resp(&mut self, now: Duration, resp: &Resp<'_>) -> Result<(), SealRefusal> {
        let Finished { pattern, inner_addr, answer } = self.seal.finish(now.into(), resp)?;
        if pattern == Pattern::Signal {
            return Ok(());
        }
        let Seal { associations, join, out, .. } = &mut *self.seal;
        let newest = associations.len().saturating_sub(1);
        if let Some(association) = associations.get_mut(newest) {
            // An inner protocol without an opening message may be silent for longer than the host waits.
            if join.as_ref().is_some_and(|join| join.opening.is_empty()) {
                association.open(b"", out);
            }
            tell(self.inner, now, inner_addr, association.step());
        }
        if !answer.is_empty() {
            self.inner.handle_datagram(now, inner_addr, &self.seal.scratch[answer]);
        }
        Ok(())
    }
}

/// A handshake of a joiner that has come to its end.
pub(super) struct Finished {
    pub(super) pattern: Pattern,
    pub(super) inner_addr: SocketAddr,
    /// The inner protocol's answer, in the front of the seal's buffer.
    pub(super) answer: core::ops::Range<usize>,
}

impl Seal {
    /// Takes a RESP: there is a connection. By signalling it has no path yet, and the inner protocol is not told.
    pub(super) fn finish(&mut self, now: Time, resp: &Resp<'_>) -> Result<Finished, SealRefusal> {
        let (at, seal) = (now, &mut *self);
        let join = seal.join.as_mut().ok_or(SealRefusal::Unexpected)?;
        let joined = join.resp(at, resp, &mut seal.scratch[..])?;
        let channel = Channel::new(&joined.split, false, joined.their_index);
        seal.key_log.note(&joined.split, [joined.their_index, joined.index]);
        let (inner_addr, nonce, pattern) = (join.inner_addr, join.nonce, joined.pattern);
        let names = (joined.index, pattern, nonce, joined.ephemeral);
        let (handshake, ours) = (joined.split.hash, seal.random.next_16());
        let comparison = joined.commitment.map_or(Comparison::Invited, |commitment| Comparison::Joiner {
            handshake,
            commitment,
            ours,
            ask_at: at,
            code: None,
        });
        seal.associations.add(Association {
            channel,
            confirmed: true,
            at_inner: pattern != Pattern::Signal,
            round_trip: joined.round_trip,
            comparison,
            ..Association::new(at, PeerRole::Host, (inner_addr, joined.outer_addr), names)
        });
        seal.stats.connections += 1;
        seal.stir();
        // Guests that were reached under the same address come too late: their DATA would take the place of this connection.
        while let Some(late) =
            seal.associations.position(|one| one.inner_addr == inner_addr && !one.confirmed)
        {
            seal.associations.remove(late);
        }
        // Earlier keys are kept beside the newest, because somebody else may have answered. By address no more handshakes than
        // this succeed, so that nobody evicts the host's keys.
        let of_host = |one: &Association| one.role == PeerRole::Host;
        if seal.associations.iter().filter(|one| of_host(one)).count() > MAX_OPEN as usize
            && let Some(oldest) = seal.associations.position(of_host)
        {
            seal.associations.remove(oldest);
        }
        if pattern == Pattern::Signal {
            let signal = seal.scratch[joined.answer.clone()].first_chunk::<PADDED_LEN>().copied();
            seal.keep_signal(inner_addr, &signal.unwrap_or([0; PADDED_LEN]))?;
        }
        Ok(Finished { pattern, inner_addr, answer: joined.answer })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Randomness;
    use super::super::tests::{Rig, init};
    use super::*;

    /// Of two machines that join each other the one with the larger nonce hosts, until they are connected.
    #[test]
    fn joiner_by_address_serves_its_peer_with_a_smaller_nonce() {
        let [peer, other] = [7, 8].map(|port| SocketAddr::from(([192, 0, 2, 7], port)));
        let mut seal = Seal::join_open(Randomness::Seeded(1), peer).unwrap();
        let nonce = seal.join.as_ref().unwrap().nonce;
        let served = |seal: &Seal| [nonce - 1, nonce, nonce + 1].map(|theirs| seal.serves(peer, theirs));
        assert_eq!(served(&seal), [true, false, false]);
        assert!(!seal.serves(other, nonce - 1));
        let names = (9, Pattern::Open, nonce, [7; 32]);
        let at = seal.associations.add(Association::new(Time::ZERO, PeerRole::Host, (peer, peer), names));
        assert_eq!(served(&seal), [true, false, false], "the connection is not confirmed");
        seal.associations.get_mut(at).unwrap().confirmed = true;
        assert_eq!(served(&seal), [false; 3]);
    }

    /// One guest that is only reached is handed to the protocol at a time. Confirmed ones do not count.
    #[test]
    fn opening_waits_while_another_guest_is_only_reached() {
        for confirmed in [false, true] {
            let mut rig = Rig::new();
            let init = init(&mut rig);
            rig.add(7, 200, confirmed);
            rig.hear(0, 2, &init);
            let sent = rig.poll(1_000);
            let answers = sent.iter().filter(|(to, _)| *to == 2).map(|(_, packet)| packet[0]);
            assert_eq!(answers.collect::<Vec<_>>(), [0xE3], "a RESP either way");
            assert_eq!(rig.inner.told.len(), usize::from(confirmed));
            assert_eq!(rig.seal.associations.iter().last().map(|one| one.at_inner), Some(confirmed));
        }
    }

    #[test]
    fn queued_init_of_a_guest_confirmed_since_is_refused() {
        let mut rig = Rig::new();
        let init = init(&mut rig);
        rig.hear(0, 2, &init);
        rig.add(7, 200, true);
        rig.seal.associations.get_mut(0).unwrap().nonce = 77;
        rig.poll(1_000);
        assert_eq!((rig.seal.stats.handshakes, rig.seal.stats.refused(SealRefusal::Unexpected)), (0, 1));
    }
}
