//! The handshakes of a seal: REQUEST, RETRY, INIT and RESP, from the datagram to the association.

use super::Seal;
use super::access::AccessId;
use super::association::{Association, Peer, Pending};
use super::channel::Channel;
use super::code::Comparison;
use super::introduction::Introduction;
use super::joiner::{Joined, MAX_OPEN};
use super::rate_limiter::Waiting;
use super::sealed::{Sealed, serves, tell};
use super::stats::SealRefusal;
use crate::protocol::time::{Span, Time};
use crate::protocol::{ConnectionStep, PeerRole, Protocol};
use crate::wire::seal::{self, Init, InitHead, PADDED_LEN, Packet, Pattern, Request, Resp, Retry};
use core::ops::Range;
use core::time::Duration;
use std::net::SocketAddr;

/// The outcome of a handshake for the inner protocol.
pub(super) struct Met {
    inner_addr: SocketAddr,
    step: ConnectionStep,
    /// The peer's message, in the front of the seal's buffer.
    message: Range<usize>,
}

/// A datagram with its time and source.
#[derive(Clone, Copy)]
pub(super) struct Arrival<'a> {
    pub(super) now: Time,
    pub(super) from: SocketAddr,
    pub(super) datagram: &'a [u8],
}

impl Seal {
    /// Whether the sender of a REQUEST or INIT is served: it has the key of its mac, and this is a host. A machine that joins that very
    /// address serves it if its own nonce is larger and it has no connection there. All its guests have that one inner address:
    /// an observer could otherwise impersonate the peer by a handshake of its own.
    ///
    /// The key whose mac fits decides the role of the guest, if the INIT opens by it.
    fn serves(&self, arrival: Arrival<'_>, pattern: Pattern, nonce: u64) -> Result<AccessId, SealRefusal> {
        let host = self.host.as_ref().ok_or(SealRefusal::Unexpected)?;
        let access = host.admits(pattern, arrival.datagram).ok_or(SealRefusal::BadMac)?;
        if let (Some(only), Some(join)) = (access.only(), &self.join)
            && (only != arrival.from || join.nonce() <= nonce || self.associations.holds(only))
        {
            return Err(SealRefusal::Unexpected);
        }
        Ok(access.id())
    }

    /// Answers a REQUEST by a RETRY.
    pub(super) fn requested(&mut self, arrival: Arrival<'_>, request: &Request) -> Result<(), SealRefusal> {
        let access = self.serves(arrival, request.pattern, request.nonce)?;
        let access = self.host.as_ref().and_then(|host| host.access(access));
        let access = access.ok_or(SealRefusal::Unexpected)?;
        access.retry(arrival.now, arrival.from, request.index, request.nonce, &mut self.out);
        Ok(())
    }

    /// Answers a RETRY by an INIT.
    pub(super) fn retried(&mut self, arrival: Arrival<'_>, retry: &Retry) -> Result<(), SealRefusal> {
        let join = self.join.as_ref().ok_or(SealRefusal::Unexpected)?;
        let key = join.key_for(arrival, retry)?;
        let (index, ephemeral) = (self.free_index(), self.random.next_secret());
        let join = self.join.as_mut().ok_or(SealRefusal::Unexpected)?;
        join.retry(arrival.now, arrival.from, (retry, key), (index, ephemeral), &mut self.out)
    }

    /// Checks an INIT as far as that is cheap, and queues it for its Diffie-Hellman. `false` if there is no room.
    fn queue_init(&mut self, arrival: Arrival<'_>, init: &Init<'_>) -> Result<bool, SealRefusal> {
        let Arrival { now, from, datagram } = arrival;
        let (head, ephemeral) = (&init.head, init.ephemeral());
        let id = self.serves(arrival, head.pattern, head.nonce)?;
        let access = self.host.as_mut().and_then(|host| host.access_mut(id));
        let access = access.ok_or(SealRefusal::Unexpected)?;
        // The same INIT again: its RESP may have been lost.
        if let Some(known) = self.associations.of_init(id, &ephemeral) {
            if !known.resp().is_empty() {
                access.repeat(from, known.resp(), &mut self.out);
            }
            return Ok(true);
        }
        let Some(round_trip) = access.cookie_age(now, from, head, &ephemeral) else {
            access.retry(now, from, head.index, head.nonce, &mut self.out);
            return Err(SealRefusal::BadCookie);
        };
        if self.associations.has_confirmed(head, id, Some(from)) {
            return Err(SealRefusal::Unexpected);
        }
        self.out.stir();
        Ok(Waiting::new(from, round_trip, datagram).is_some_and(|init| access.rate_limiter().queue(init)))
    }

    /// Works off an INIT that was queued for a key. A guest whose INIT opens is reached, and the inner protocol hears of it unless it knows of too
    /// many others that are only reached.
    fn accept(&mut self, now: Time, access: AccessId, waiting: &Waiting) -> Result<Option<Met>, SealRefusal> {
        let Ok(Packet::Init(init)) = seal::decode(waiting.datagram()) else {
            return Err(SealRefusal::NoPacket);
        };
        let (head, from) = (&init.head, waiting.from);
        // Both may have changed while the INIT was queued.
        let arrival = Arrival { now, from, datagram: waiting.datagram() };
        let is_served = self.serves(arrival, head.pattern, head.nonce)? == access;
        if !is_served || self.associations.has_confirmed(head, access, Some(from)) {
            return Err(SealRefusal::Unexpected);
        }
        let admitting = self.host.as_mut().and_then(|host| host.access_mut(access));
        if !admitting.ok_or(SealRefusal::Unexpected)?.use_up(now, head.cookie, init.ephemeral()) {
            return Err(SealRefusal::BadCookie);
        }
        let (Peer { inner_addr, index, role, .. }, message) =
            self.open_init(now, &init, access, Some(from), waiting.round_trip)?;
        let Some(at) = self.associations.numbered(index) else { return Ok(None) };
        if self.associations.is_busy(inner_addr, role) || self.players.wants(role) {
            self.answer(now, at, b"");
            return Ok(None);
        }
        let Some(guest) = self.associations.get_mut(at) else { return Ok(None) };
        guest.introduce();
        Ok(Some(Met { inner_addr, step: guest.step(), message }))
    }

    /// The Diffie-Hellman of an INIT that a key has admitted, from an address or by signalling. Its guest is reached, in the role of that
    /// key, and its text is in the front of the seal's buffer.
    pub(super) fn open_init(
        &mut self,
        now: Time,
        init: &Init<'_>,
        access: AccessId,
        from: Option<SocketAddr>,
        round_trip: Span,
    ) -> Result<(Peer, Range<usize>), SealRefusal> {
        let (index, secret) = (self.free_index(), self.random.next_secret());
        self.stats.handshakes += 1;
        let admitting = self.host.as_ref().and_then(|host| host.access(access));
        let admitting = admitting.ok_or(SealRefusal::Unexpected)?;
        let (handshake, text) = admitting.open(init, secret, &mut self.scratch[..])?;
        let InitHead { pattern, nonce, .. } = init.head;
        let known = self.associations.inner_addr_of(&init.head, access, from).or(admitting.only());
        let (role, ephemeral) = (admitting.role(), init.ephemeral());
        let inner_addr = known.unwrap_or_else(|| self.associations.make_up(role));
        let peer = Peer { inner_addr, index, pattern, role, access: Some(access), nonce, ephemeral };
        let pending = Pending { handshake, index: init.head.index, to: from };
        self.associations.add(Association::guest(now, peer, pending, round_trip));
        self.out.stir();
        Ok((peer, text))
    }

    /// Sends the RESP of an association, with the inner protocol's answer in it if that fits.
    pub(super) fn answer(&mut self, now: Time, at: usize, answer: &[u8]) {
        let Some(guest) = self.associations.get_mut(at) else { return };
        if let Some(to) = guest.answer(now, answer, &mut self.random, &self.players, &mut self.key_log) {
            self.out.push(to, guest.resp());
        }
    }

    /// Answers a guest that the inner protocol has no answer for. `false` if there is none.
    pub(super) fn answer_next(&mut self, now: Time) -> bool {
        let waiting = self.associations.position(Association::awaits_answer);
        if let Some(at) = waiting {
            self.answer(now, at, b"");
        }
        waiting.is_some()
    }

    /// Takes a RESP: there is a connection. By signalling it has no path yet, and the inner protocol does not hear of it.
    pub(super) fn finish(&mut self, now: Time, resp: &Resp<'_>) -> Result<Option<Met>, SealRefusal> {
        let join = self.join.as_mut().ok_or(SealRefusal::Unexpected)?;
        let joined = join.resp(now, resp, &mut self.scratch[..])?;
        let Joined { peer, paths, split, their_index, commitment, answer } = joined;
        let Peer { inner_addr, index, pattern, .. } = peer;
        let channel = Channel::new(&split, false, their_index);
        self.key_log.note(&split, [their_index, index]);
        let part = self.random.next_16();
        let comparison = commitment.map_or_else(
            || Comparison::new(true),
            |commitment| Comparison::joiner(now, split.hash, commitment, part),
        );
        let wants = self.players.wants(peer.role);
        let introduction = Introduction::new(now, &split, &self.players, peer.role);
        let mut host = Association::host(now, peer, channel, paths, comparison, introduction);
        let step = host.step();
        if wants {
            host.withhold();
        }
        // An inner protocol without an opening message may be silent for longer than the host waits.
        if pattern != Pattern::Signal && join.opening().is_empty() {
            host.open(b"", &mut self.out);
        }
        self.associations.add(host);
        self.stats.connections += 1;
        self.out.stir();
        // Guests that were reached under the same address come too late: their DATA would take the place of this connection.
        self.associations.retain(|one| one.peer().inner_addr != inner_addr || one.is_confirmed());
        // Earlier keys are kept beside the newest, because an attacker may have answered. By address no more handshakes than
        // this succeed, so that an attacker cannot evict the host's keys.
        let of_host = |one: &Association| one.peer().role == PeerRole::Host;
        if self.associations.iter().filter(|one| of_host(one)).count() > MAX_OPEN as usize
            && let Some(oldest) = self.associations.position(of_host)
        {
            self.associations.remove(oldest);
        }
        if pattern == Pattern::Signal {
            let signal = self.scratch[answer].first_chunk().copied().unwrap_or([0; PADDED_LEN]);
            return self.signals.keep(inner_addr, &signal).map(|()| None);
        }
        if wants {
            return Ok(None);
        }
        Ok(Some(Met { inner_addr, step, message: answer }))
    }
}

impl<'a> Sealed<'a, dyn Protocol + 'a> {
    /// Takes an INIT: queues it, and works off those whose turn it is.
    pub(super) fn init(&mut self, arrival: Arrival<'_>, init: &Init<'_>) -> Result<(), SealRefusal> {
        let queued = self.seal.queue_init(arrival, init)?;
        self.admit(arrival.now.into());
        if queued { Ok(()) } else { Err(SealRefusal::Limited) }
    }

    /// Works off the INITs whose turn it is.
    pub(super) fn admit(&mut self, now: Duration) {
        while let Some((access, waiting)) = self.seal.host.as_mut().and_then(|host| host.next(now.into())) {
            match self.seal.accept(now.into(), access, &waiting) {
                Ok(met) => self.hand_over(now, met),
                Err(refusal) => self.seal.stats.refused.count(refusal),
            }
        }
    }

    /// Ends a joiner's handshake.
    pub(super) fn resp(&mut self, now: Duration, resp: &Resp<'_>) -> Result<(), SealRefusal> {
        let met = self.seal.finish(now.into(), resp)?;
        self.hand_over(now, met);
        Ok(())
    }

    /// Tells the inner protocol of a peer, and hands over its message.
    fn hand_over(&mut self, now: Duration, met: Option<Met>) {
        let Some(Met { inner_addr, step, message }) = met else { return };
        tell(self.inner, now, inner_addr, step);
        if !message.is_empty() && serves(self.inner, PeerRole::of_guest(inner_addr)) {
            self.inner.handle_datagram(now, inner_addr, &self.seal.scratch[message]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Randomness;
    use super::super::mac::Mac;
    use super::super::tests::{Rig, init};
    use super::*;

    /// Of two machines that join each other the one with the larger nonce hosts, until they are connected.
    #[test]
    fn joiner_by_address_serves_its_peer_with_a_smaller_nonce() {
        let [peer, other] = [7, 8].map(|port| SocketAddr::from(([192, 0, 2, 7], port)));
        let mut seal = Seal::join_open(Randomness::Seeded(1), peer).unwrap();
        let nonce = seal.join.as_ref().unwrap().nonce();
        let datagram = [[0; 8], Mac::open().write(&[0; 8]).to_be_bytes()].concat();
        let serves = |seal: &Seal, from, nonce| {
            seal.serves(Arrival { now: Time::ZERO, from, datagram: &datagram }, Pattern::Open, nonce).is_ok()
        };
        let served = |seal: &Seal| [nonce - 1, nonce, nonce + 1].map(|theirs| serves(seal, peer, theirs));
        assert_eq!(served(&seal), [true, false, false]);
        assert!(!serves(&seal, other, nonce - 1));
        let host = || Association::fake(peer, 9, PeerRole::Host);
        seal.associations.add(host().reached(Time::NEVER));
        assert_eq!(served(&seal), [true, false, false], "the connection is not confirmed");
        seal.associations.add(host());
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
            assert_eq!(rig.seal.associations.iter().last().map(Association::is_known), Some(confirmed));
        }
    }

    #[test]
    fn queued_init_of_a_guest_confirmed_since_is_refused() {
        let mut rig = Rig::new();
        let init = init(&mut rig);
        rig.hear(0, 2, &init);
        rig.add(77, 200, true);
        rig.poll(1_000);
        assert_eq!((rig.seal.stats.handshakes, rig.seal.stats.refused.of(SealRefusal::Unexpected)), (0, 1));
    }
}
