//! A seal around a protocol: the way of each datagram in and out.

use super::Seal;
use super::association::{Association, Peer};
use super::channel::MAX_TEXT;
use super::handshakes::Arrival;
use super::joiner::Joiner;
use super::stats::SealRefusal;
use crate::protocol::time::Time;
use crate::protocol::trace;
use crate::protocol::{ConnectionStep, PeerRole, Protocol};
use crate::wire::seal::{
    self, Control, Data, DecodeError, Form, Kind, MAX_MESSAGE_LEN, MAX_OVERHEAD, Packet, TAG_LEN,
};
use core::time::Duration;
use std::net::SocketAddr;

/// A [`Seal`] around a [`Protocol`], as [`Seal::around`] makes it.
#[derive(Debug)]
pub struct Sealed<'a, P: ?Sized> {
    pub(super) seal: &'a mut Seal,
    pub(super) inner: &'a mut P,
}

/// Whether the inner protocol serves peers in a role. One that does not say serves those of a match.
pub(super) fn serves(inner: &mut dyn Protocol, role: PeerRole) -> bool {
    role.plays() || inner.authenticated().is_some_and(|inner| inner.serves(role))
}

/// Whether the inner protocol keeps the connection to `peer`; `None` if it does not say.
fn keeps(inner: &mut dyn Protocol, peer: SocketAddr) -> Option<bool> {
    if !serves(inner, PeerRole::of_guest(peer)) {
        return Some(false);
    }
    inner.authenticated().map(|inner| inner.keeps(peer))
}

/// Tells the inner protocol of a step of a peer that it serves.
pub(super) fn tell(inner: &mut dyn Protocol, now: Duration, peer: SocketAddr, step: ConnectionStep) {
    if serves(inner, PeerRole::of_guest(peer))
        && let Some(inner) = inner.authenticated()
    {
        inner.connection(now, peer, step);
    }
}

impl<P: Protocol> Protocol for Sealed<'_, P> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let handled = match seal::decode_data(datagram) {
            Some(data) => self.data(now, from, &data),
            None => self.erased().rare(now, from, datagram),
        };
        if let Err(refusal) = handled {
            self.seal.stats.refused.count(refusal);
            trace::refused(from, &refusal, &"sealed");
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        // A driver asks several times a frame, and nearly always there is nothing.
        if !self.seal.out.is_idle(now.into()) {
            return self.erased().transmit(now, buf);
        }
        let room = buf.len().checked_sub(MAX_OVERHEAD)?;
        let (to, len) = self.inner.poll_transmit(now, &mut buf[..room])?;
        match self.erased().send(now.into(), to, len, buf) {
            None => self.erased().transmit(now, buf),
            sealed => sealed,
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        match (self.inner.poll_timeout(), self.seal.poll_timeout()) {
            (Some(inner), Some(ours)) => Some(inner.min(ours)),
            (inner, ours) => inner.or(ours),
        }
    }

    fn wants_attention(&self, now: Duration) -> bool {
        self.inner.wants_attention(now)
    }

    fn lingers(&self) -> bool {
        self.inner.lingers()
    }
}

impl<P: Protocol> Sealed<'_, P> {
    /// The same without the type of the inner protocol: code for rare packets is built once, and not again for every game.
    #[inline]
    fn erased(&mut self) -> Sealed<'_, dyn Protocol + '_> {
        Sealed { seal: self.seal, inner: self.inner }
    }

    #[inline]
    fn data(&mut self, now: Duration, from: SocketAddr, data: &Data<'_>) -> Result<(), SealRefusal> {
        let seal = &mut *self.seal;
        let at = seal.associations.numbered(data.index).ok_or(SealRefusal::UnknownIndex)?;
        let association = seal.associations.get_mut(at).ok_or(SealRefusal::UnknownIndex)?;
        let received = match association.open_data(now.into(), from, data, &mut seal.scratch[..]) {
            Ok(received) => received,
            Err(refusal) => return Err(self.erased().failed(now, at, refusal)),
        };
        let Peer { inner_addr, role, .. } = *association.peer();
        if received.is_first {
            self.erased().confirm(now, at, from)?;
        } else if received.has_strayed {
            seal.out.stir();
        }
        if !role.plays() && !serves(self.erased().inner, role) {
            return Err(SealRefusal::Unserved);
        }
        if self.seal.players.wants(role) && !self.seal.is_admitted(data.index) {
            return Err(SealRefusal::Unproven);
        }
        // Inputs are the most frequent packets, and never the first of a peer.
        if data.form != Form::Inputs
            && self.inner.authenticated().is_some_and(|inner| !inner.knows(inner_addr))
        {
            self.erased().tell(now, inner_addr);
        }
        self.inner.handle_datagram(now, inner_addr, &self.seal.scratch[..received.len]);
        Ok(())
    }
}

impl<'a> Sealed<'a, dyn Protocol + 'a> {
    /// Sends the next packet of the link itself, or else of the inner protocol.
    #[cold]
    fn transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let at = Time::from(now);
        if self.seal.out.is_due(at) {
            self.pass(now);
        }
        let room = buf.len().checked_sub(MAX_OVERHEAD)?;
        loop {
            if let Some(own) = self.seal.out.pop(buf) {
                return Some(own);
            }
            match self.inner.poll_transmit(now, &mut buf[..room]) {
                Some((to, len)) => {
                    if let Some(sealed) = self.send(at, to, len, buf) {
                        return Some(sealed);
                    }
                }
                None if self.seal.answer_next(at) => {}
                None => {
                    self.seal.out.rest();
                    return None;
                }
            }
        }
    }

    /// Seals a datagram of the inner protocol in place; `None` if nothing goes out for it at once. It is no part of
    /// `poll_transmit`, which a driver calls several times a frame, mostly for nothing.
    #[inline(never)]
    fn send(&mut self, now: Time, to: SocketAddr, len: usize, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let Some(at) = self.seal.associations.towards(to) else {
            self.open(now, to, false);
            return None;
        };
        let association = self.seal.associations.get_mut(at)?;
        if association.awaits_answer() {
            self.seal.answer(now, at, &buf[..len]);
            return None;
        }
        // A guest that is only reached gets its RESP and nothing else: its address may not be its own.
        if !association.is_confirmed() {
            return None;
        }
        // A host that has to prove its key first gets nothing either.
        if !self.seal.players.admits(association) {
            return None;
        }
        // The newest opening message waits for the first path.
        if association.paths().outer_addr().is_none() {
            self.open(now, to, false);
            return None;
        }
        // A session has no opening message: its match ends with the keys that it began with.
        if association.contact().is_quiet(now) && self.open(now, to, true) {
            self.seal.associations.get_mut(at)?.seek(now);
        }
        self.seal.associations.get_mut(at)?.seal_data(buf, len, &mut self.seal.out)
    }

    /// Begins the handshake with the host at `to`, or goes on with it, with the newest opening message of the inner protocol. Returns whether
    /// it did: not too soon, and if `needs_message` not without a message.
    #[cold]
    fn open(&mut self, now: Time, to: SocketAddr, needs_message: bool) -> bool {
        let join = self.seal.join.as_mut().filter(|join| join.inner_addr() == to && join.is_due(now));
        let Some(join) = join else { return false };
        let mut message = [0; MAX_MESSAGE_LEN];
        let len = self.inner.opening(now.into(), to, &mut message);
        join.set_opening(len.and_then(|len| message.get(..len)).unwrap_or_default());
        let opens = len.is_some() || !needs_message;
        if opens {
            join.request(now, &mut self.seal.out);
        }
        opens
    }

    #[cold]
    fn rare(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) -> Result<(), SealRefusal> {
        let arrival = Arrival { now: now.into(), from, datagram };
        match seal::decode(datagram) {
            Ok(Packet::Control(control)) => self.control(now, from, &control),
            Ok(Packet::Request(request)) => self.seal.requested(arrival, &request),
            Ok(Packet::Retry(retry)) => self.seal.retried(arrival, &retry),
            Ok(Packet::Init(init)) => self.init(arrival, &init),
            Ok(Packet::Resp(resp)) => self.resp(now, &resp),
            Err(DecodeError::Version) => Err(SealRefusal::OtherVersion),
            Err(_) if Form::of(datagram) != Form::Plain => Err(SealRefusal::Bare),
            Ok(Packet::Data(_)) | Err(_) => Err(SealRefusal::NoPacket),
        }
    }

    /// Notes that a packet could not be opened. A connection at which too much was forged ends.
    #[cold]
    fn failed(&mut self, now: Duration, at: usize, refusal: SealRefusal) -> SealRefusal {
        if self.seal.associations.get(at).is_some_and(Association::is_worn_out) {
            self.forget(now, at);
        }
        refusal
    }

    fn control(&mut self, now: Duration, from: SocketAddr, control: &Control<'_>) -> Result<(), SealRefusal> {
        let seal = &mut *self.seal;
        let at = seal.associations.numbered(control.index).ok_or(SealRefusal::UnknownIndex)?;
        let association = seal.associations.get_mut(at).ok_or(SealRefusal::UnknownIndex)?;
        let mut text = [0; MAX_TEXT + TAG_LEN];
        let received = match association.open_control(now.into(), from, control, &mut text) {
            Ok(received) => received,
            Err(refusal) => return Err(self.failed(now, at, refusal)),
        };
        if received.has_strayed {
            seal.out.stir();
        }
        let at = if received.is_first { self.confirm(now, at, from)? } else { at };
        let seal = &mut *self.seal;
        let Some(association) = seal.associations.get_mut(at) else { return Ok(()) };
        let value = u64::from_be_bytes(text.first_chunk().copied().unwrap_or_default());
        let part = text.first_chunk().unwrap_or(&[0; 20]);
        let makes_sense = match control.kind {
            Kind::Find => {
                association.say(Kind::Found, b"", &mut seal.out);
                true
            }
            Kind::Found => true,
            // To where it came from: the answer says that this machine receives there.
            Kind::Challenge => {
                association.say_to(from, Kind::Proof, &value.to_be_bytes(), &mut seal.out);
                true
            }
            Kind::Proof => association.paths_mut().proof(value),
            Kind::CodeAsk => self.code_asked(now.into(), at, &text),
            Kind::CodeReveal => association.comparison_mut().revealed(part),
            Kind::Player => return self.introduced(now, at, &text),
            Kind::PlayerAnswer => self.answered(now.into(), at, text[0]),
            Kind::Signal => return seal.signals.keep(association.peer().inner_addr, &text),
        };
        if makes_sense { Ok(()) } else { Err(SealRefusal::OutOfPlace) }
    }

    /// A joiner has sent its part of the code. Only the guest that the inner protocol keeps gets the host's, and a new code
    /// at most every ten seconds.
    fn code_asked(&mut self, now: Time, at: usize, text: &[u8]) -> bool {
        let seal = &mut *self.seal;
        let (Some(host), Some(guest)) = (&mut seal.host, seal.associations.get_mut(at)) else { return false };
        let part = text.first_chunk().copied().unwrap_or_default();
        let may_reveal = host.may_reveal(now) && keeps(self.inner, guest.peer().inner_addr) != Some(false);
        let Some((answer, first)) = guest.comparison_mut().asked(part, may_reveal) else { return false };
        if first {
            host.revealed(now);
        }
        guest.say(Kind::CodeReveal, &answer, &mut seal.out);
        true
    }

    /// The first packet of a guest was opened: it is there, at this address, and other handshakes with it are void, in both
    /// directions. Returns its place, or a refusal if the peer has been heard on an earlier connection since the handshake.
    #[cold]
    fn confirm(&mut self, now: Duration, at: usize, from: SocketAddr) -> Result<usize, SealRefusal> {
        let Some(peer) = self.seal.associations.get(at).map(|guest| *guest.peer()) else { return Ok(at) };
        let Peer { inner_addr, index, role, .. } = peer;
        // Its key may have been revoked since the handshake.
        let is_admitted = self
            .seal
            .host
            .as_ref()
            .zip(peer.access)
            .is_some_and(|(host, access)| host.access(access).is_some());
        if !is_admitted || self.seal.associations.holds(inner_addr) {
            self.forget(now, at);
            return Err(SealRefusal::Unexpected);
        }
        let Seal { associations, join, host, stats, out, .. } = &mut *self.seal;
        if let Some(join) = join.as_mut().filter(|join| join.inner_addr() == inner_addr) {
            join.abandon();
        }
        if let Some(guest) = associations.get_mut(at) {
            guest.confirm(from, host.as_mut());
        }
        stats.connections += 1;
        associations.retain(|one| one.peer().inner_addr != inner_addr || one.peer().index == index);
        out.stir();
        // Those of the same guest that came the other way, by an address or by signalling, had another inner address.
        let is_other = |one: &Association| one.peer().index != index && one.is_of_guest(&peer);
        while let Some(other) = self.seal.associations.position(is_other) {
            self.forget(now, other);
        }
        if self.seal.is_admitted(index) {
            self.seal.admitted(peer.access);
            self.tell(now, inner_addr);
        } else if let Some(guest) = self.seal.newest_mut(inner_addr) {
            guest.withhold();
        }
        self.drop_unkept(now, inner_addr, role);
        Ok(self.seal.associations.numbered(index).unwrap_or(at))
    }

    /// Drops the longest silent guest in a role that the inner protocol does not keep, if there are too many of them.
    fn drop_unkept(&mut self, now: Duration, newest: SocketAddr, of_role: PeerRole) {
        let Self { seal, inner } = self;
        let guests = seal.associations.iter().filter(|one| {
            let Peer { role, inner_addr, .. } = *one.peer();
            role == of_role
                && one.is_confirmed()
                && inner_addr != newest
                && keeps(&mut **inner, inner_addr) != Some(true)
        });
        let unkept: Vec<_> = guests.map(|one| (one.contact().opened_at(), one.peer().index)).collect();
        if seal.associations.are_too_many(unkept.len(), of_role)
            && let Some((_, index)) = unkept.iter().min_by_key(|(opened_at, _)| *opened_at)
            && let Some(at) = seal.associations.numbered(*index)
        {
            self.forget(now, at);
        }
    }

    /// Tells the inner protocol how far the connection at `inner_addr` is.
    #[cold]
    pub(super) fn tell(&mut self, now: Duration, inner_addr: SocketAddr) {
        if let Some(association) = self.seal.newest(inner_addr) {
            tell(self.inner, now, inner_addr, association.step());
        }
    }

    /// Drops a connection, and tells the inner protocol if it knew of it.
    pub(super) fn forget(&mut self, now: Duration, at: usize) {
        let gone = self.seal.associations.remove(at);
        let inner_addr = gone.peer().inner_addr;
        if gone.is_known() && self.seal.associations.towards(inner_addr).is_none() {
            tell(self.inner, now, inner_addr, ConnectionStep::Gone);
        }
    }

    /// Handles what is due by `now`, and computes when to look again.
    #[cold]
    fn pass(&mut self, now: Duration) {
        let at = Time::from(now);
        self.admit(now);
        while let Some(expired) = self.seal.associations.position(|one| one.has_expired(at)) {
            self.forget(now, expired);
        }
        let mut due = self.seal.host.as_ref().map_or(Time::NEVER, |host| host.due(at));
        for place in 0..self.seal.associations.len() {
            due = due.min(self.serve(at, place));
        }
        self.seal.out.due_at(due);
    }

    /// Sends what a connection has to say at `now`, and returns when it has something next.
    fn serve(&mut self, now: Time, at: usize) -> Time {
        let Seal { associations, join, out, random, players, .. } = &mut *self.seal;
        let Some(association) = associations.get_mut(at) else { return Time::NEVER };
        let inner_addr = association.peer().inner_addr;
        let is_admitted = players.admits(association);
        if association.open_first_path(join.as_ref().map_or(&[][..], Joiner::opening), is_admitted, out) {
            tell(self.inner, now.into(), inner_addr, association.step());
        }
        let is_kept = keeps(self.inner, inner_addr) != Some(false);
        let introduced_at = association.introduce_players(now, is_admitted, out);
        association.serve(now, is_kept, random, out).min(introduced_at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Rig, data};

    #[test]
    fn silent_peer_gets_a_find_every_second() {
        let mut rig = Rig::new();
        rig.add(7, 100, true);
        let finds: Vec<u64> = (0..=4_000).step_by(100).filter(|ms| !rig.poll(*ms).is_empty()).collect();
        assert_eq!(finds, [1_000, 2_000, 3_000, 4_000]);
    }

    #[test]
    fn guest_that_is_only_reached_gets_no_data() {
        let mut rig = Rig::new();
        let mut guest = rig.add(7, 100, false);
        rig.say(20);
        assert_eq!(rig.poll(0), []);
        rig.hear(10, 1, &data(&mut guest, 20));
        rig.say(20);
        assert_eq!(rig.poll(10).len(), 1);
    }

    #[test]
    fn confirmed_guest_ends_its_other_handshakes() {
        let mut rig = Rig::new();
        let mut guest = rig.add(7, 100, false);
        rig.add(8, 100, false);
        rig.add(9, 200, false);
        rig.hear(10, 1, &data(&mut guest, 20));
        let left: Vec<_> = rig.seal.associations.iter().map(|one| one.peer().index).collect();
        assert_eq!(left, [7, 9]);
        assert_eq!(rig.seal.stats.connections, 1);
    }
}
