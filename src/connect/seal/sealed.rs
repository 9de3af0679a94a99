//! A seal around a protocol: the way of each datagram in and out.

use super::Seal;
use super::association::Association;
use super::channel::{Channel, MAX_TEXT};
use super::code::{Comparison, REVEAL_AFTER};
use super::joiner::PATIENCE;
use super::signals;
use super::stats::SealRefusal;
use crate::protocol::time::{Span, Time};
use crate::protocol::trace;
use crate::protocol::{ConnectionStep, PeerRole, Protocol};
use crate::wire::seal::{
    self, CONTROL_HEAD_LEN, Control, DATA_HEAD_LEN, Data, DecodeError, Form, Kind, MAX_MESSAGE_LEN,
    MAX_OVERHEAD, Packet, Pattern,
};
use core::time::Duration;
use std::net::SocketAddr;

/// A guest that answered no RESP by DATA is forgotten after this long.
const MAX_HALF_OPEN: Span = Span::from_secs(2);

/// A [`Seal`] around a [`Protocol`], as [`Seal::around`] makes it.
#[derive(Debug)]
pub struct Sealed<'a, P> {
    pub(super) seal: &'a mut Seal,
    pub(super) inner: &'a mut P,
}

/// How long a connection may wait for its first DATA.
fn half_open(one: &Association) -> Span {
    if one.pattern == Pattern::Signal { signals::HALF_OPEN } else { MAX_HALF_OPEN }
}

/// Whether the inner protocol keeps the connection to `peer`; `None` if it does not say.
fn keeps<P: Protocol>(inner: &mut P, peer: SocketAddr) -> Option<bool> {
    inner.authenticated().map(|inner| inner.keeps(peer))
}

/// Tells the inner protocol of a step.
pub(super) fn tell<P: Protocol>(inner: &mut P, now: Duration, peer: SocketAddr, step: ConnectionStep) {
    if let Some(inner) = inner.authenticated() {
        inner.connection(now, peer, step);
    }
}

impl<P: Protocol> Protocol for Sealed<'_, P> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let handled = match seal::decode_data(datagram) {
            Some(data) => self.data(now, from, &data),
            None => self.rare(now, from, datagram),
        };
        if let Err(refusal) = handled {
            self.seal.stats.refuse(refusal);
            trace::refused(from, &refusal, &"sealed");
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        // A driver asks several times a frame, and nearly always there is nothing.
        if !self.seal.out.is_idle(now.into()) {
            return self.transmit(now, buf);
        }
        let room = buf.len().checked_sub(MAX_OVERHEAD)?;
        let (to, len) = self.inner.poll_transmit(now, &mut buf[..room])?;
        match self.send(now.into(), to, len, buf) {
            None => self.transmit(now, buf),
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
    /// Sends the next packet of the link itself, or else of the inner protocol.
    #[cold]
    fn transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let at = Time::from(now);
        if self.seal.out.is_due(at) {
            self.pass(at);
        }
        let room = buf.len().checked_sub(MAX_OVERHEAD)?;
        loop {
            if !self.seal.out.is_empty() || !self.seal.copies.is_empty() {
                return self.seal.next_own(buf);
            }
            match self.inner.poll_transmit(now, &mut buf[..room]) {
                Some((to, len)) => {
                    if let Some(sealed) = self.send(at, to, len, buf) {
                        return Some(sealed);
                    }
                }
                None if self.seal.answering => self.answer_all(at),
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
            self.open(now, to);
            return None;
        };
        let association = self.seal.associations.get_mut(at)?;
        if association.answering.is_some() {
            self.seal.answer(now, at, &buf[..len]);
            return None;
        }
        // A guest that is only reached gets its RESP and nothing else: its address may not be its own.
        if !association.confirmed {
            return None;
        }
        // The newest opening message waits for the first path.
        if !association.has_path() {
            self.open(now, to);
            return None;
        }
        if now.since(association.opened_at) >= PATIENCE {
            self.open_again(now, to, at);
        }
        let association = self.seal.associations.get_mut(at)?;
        let len = association.channel.as_mut()?.seal_data(buf, len)?;
        let outer_addr = association.outer_addr;
        if association.roam.is_some() {
            self.seal.copy(at, &buf[..len]);
        }
        Some((outer_addr, len))
    }

    /// Begins the handshake with the host, or goes on with it, because the inner protocol sends to an address without a
    /// connection.
    #[cold]
    fn open(&mut self, now: Time, to: SocketAddr) {
        if self.renew_opening(now, to).is_some() {
            self.seal.request(now);
        }
    }

    /// Begins another handshake beside a connection on which nothing was opened for a second, if the inner protocol still has
    /// an opening message. A session has none: its match ends with the keys that it began with.
    #[cold]
    fn open_again(&mut self, now: Time, to: SocketAddr, at: usize) {
        if self.renew_opening(now, to) == Some(true)
            && let Some(association) = self.seal.associations.get_mut(at)
        {
            association.sought_at = Some(now);
            self.seal.request(now);
        }
    }

    /// Takes the newest opening message of the inner protocol, if the handshake with the host at `to` can go on. Returns whether
    /// there is one.
    fn renew_opening(&mut self, now: Time, to: SocketAddr) -> Option<bool> {
        let join = self.seal.join.as_mut().filter(|join| join.inner_addr == to && join.is_due(now))?;
        let mut message = [0; MAX_MESSAGE_LEN];
        let len = self.inner.opening(now.into(), to, &mut message);
        join.opening.clear();
        join.opening.extend_from_slice(len.and_then(|len| message.get(..len)).unwrap_or_default());
        Some(len.is_some())
    }
}

impl Seal {
    fn request(&mut self, now: Time) {
        if let Some(join) = &mut self.join {
            join.request(now, &mut self.out);
        }
    }

    /// Keeps a copy of a sealed packet for the other addresses of a peer that may have moved: the same bytes, because a
    /// counter seals one packet.
    #[cold]
    fn copy(&mut self, at: usize, packet: &[u8]) {
        let roam = self.associations.get_mut(at).and_then(|association| association.roam.as_mut());
        if let Some(roam) = roam {
            self.copied[..packet.len()].copy_from_slice(packet);
            self.copied_len = packet.len();
            roam.also_to(packet.len(), |to| self.copies.push(to));
            self.out.wake();
        }
    }

    /// The next packet of the seal's own.
    fn next_own(&mut self, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        if let Some(to) = self.copies.pop() {
            let len = self.copied_len;
            buf.get_mut(..len)?.copy_from_slice(&self.copied[..len]);
            return Some((to, len));
        }
        self.out.pop(buf)
    }
}

impl<P: Protocol> Sealed<'_, P> {
    #[inline]
    fn data(&mut self, now: Duration, from: SocketAddr, data: &Data<'_>) -> Result<(), SealRefusal> {
        let seal = &mut *self.seal;
        let at = seal.associations.numbered(data.index).ok_or(SealRefusal::UnknownIndex)?;
        let association = seal.associations.get_mut(at).ok_or(SealRefusal::UnknownIndex)?;
        let channel = association.channel.as_mut().ok_or(SealRefusal::UnknownIndex)?;
        let opened = match channel.open_data(data, &mut seal.scratch[..]) {
            Ok(opened) => opened,
            Err(refusal) => return Err(self.failed(now, at, refusal)),
        };
        association.opened(now.into());
        let inner_addr = association.inner_addr;
        if !association.confirmed {
            self.confirm(now, at, from)?;
        } else if association.outer_addr != from || association.roam.is_some() {
            let len = DATA_HEAD_LEN + data.sealed.len();
            if association.strayed(now.into(), from, len, opened.newest) {
                seal.stir();
            }
        }
        // Inputs are the most frequent packets, and never the first of a peer.
        if data.form != Form::Inputs
            && self.inner.authenticated().is_some_and(|inner| !inner.knows(inner_addr))
        {
            self.tell(now, inner_addr);
        }
        self.inner.handle_datagram(now, inner_addr, &self.seal.scratch[..opened.len]);
        Ok(())
    }

    #[cold]
    fn rare(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) -> Result<(), SealRefusal> {
        match seal::decode(datagram) {
            Ok(Packet::Data(data)) => self.data(now, from, &data),
            Ok(Packet::Control(control)) => self.control(now, from, &control),
            Ok(Packet::Request(request)) => self.seal.requested(now.into(), from, &request, datagram),
            Ok(Packet::Retry(retry)) => self.seal.retried(now.into(), from, &retry, datagram),
            Ok(Packet::Init(init)) => self.init(now, from, &init, datagram),
            Ok(Packet::Resp(resp)) => self.resp(now, &resp),
            Err(DecodeError::Version) => Err(SealRefusal::OtherVersion),
            Err(_) if Form::of(datagram) != Form::Plain => Err(SealRefusal::Bare),
            Err(_) => Err(SealRefusal::NoPacket),
        }
    }

    /// Notes that a packet could not be opened. A connection at which too much was forged ends.
    #[cold]
    fn failed(&mut self, now: Duration, at: usize, refusal: SealRefusal) -> SealRefusal {
        let association = self.seal.associations.get_mut(at);
        if association.and_then(|one| one.channel.as_ref()).is_some_and(Channel::is_worn_out) {
            self.forget(now, at);
        }
        refusal
    }

    fn control(&mut self, now: Duration, from: SocketAddr, control: &Control<'_>) -> Result<(), SealRefusal> {
        let seal = &mut *self.seal;
        let at = seal.associations.numbered(control.index).ok_or(SealRefusal::UnknownIndex)?;
        let association = seal.associations.get_mut(at).ok_or(SealRefusal::UnknownIndex)?;
        let channel = association.channel.as_mut().ok_or(SealRefusal::UnknownIndex)?;
        let mut text = [0; MAX_TEXT];
        let newest = match channel.open_control(control, &mut text) {
            Ok(opened) => opened.newest,
            Err(refusal) => return Err(self.failed(now, at, refusal)),
        };
        association.opened(now.into());
        let at = if association.confirmed { at } else { self.confirm(now, at, from)? };
        let seal = &mut *self.seal;
        let Some(association) = seal.associations.get_mut(at) else { return Ok(()) };
        if association.outer_addr != from || association.roam.is_some() {
            let len = CONTROL_HEAD_LEN + control.sealed.len();
            if association.strayed(now.into(), from, len, newest) {
                seal.out.stir();
            }
        }
        let value = u64::from_be_bytes(text.first_chunk().copied().unwrap_or_default());
        match control.kind {
            Kind::Find => association.say(Kind::Found, b"", &mut seal.out),
            Kind::Found => {}
            // To where it came from: the answer says that this machine receives there.
            Kind::Challenge => association.say_to(from, Kind::Proof, &value.to_be_bytes(), &mut seal.out),
            Kind::Proof => {
                let proves = association.roam.as_mut().is_none_or(|roam| roam.proof(value));
                return if proves { Ok(()) } else { Err(SealRefusal::OutOfPlace) };
            }
            Kind::CodeAsk => return self.code_asked(now.into(), at, text),
            Kind::CodeReveal if association.comparison.revealed(text.first_chunk().unwrap_or(&[0; 20])) => {}
            Kind::CodeReveal => return Err(SealRefusal::OutOfPlace),
            Kind::Signal => {
                let inner_addr = association.inner_addr;
                return self.seal.keep_signal(inner_addr, &text);
            }
        }
        Ok(())
    }

    /// A joiner has sent its part of the code. Only the guest that the inner protocol keeps gets the host's, and a new code
    /// at most every ten seconds: each is a chance for somebody in the middle.
    fn code_asked(&mut self, now: Time, at: usize, text: [u8; MAX_TEXT]) -> Result<(), SealRefusal> {
        let seal = &mut *self.seal;
        let (Some(host), Some(one)) = (&mut seal.host, seal.associations.get_mut(at)) else {
            return Err(SealRefusal::OutOfPlace);
        };
        let part = text.first_chunk().copied().unwrap_or_default();
        let rested = host.revealed_at.is_none_or(|last| now.since(last) >= REVEAL_AFTER);
        let may_reveal = rested && keeps(self.inner, one.inner_addr) != Some(false);
        let Some((answer, first)) = one.comparison.asked(part, may_reveal) else {
            return Err(SealRefusal::OutOfPlace);
        };
        if first {
            host.revealed_at = Some(now);
        }
        one.say(Kind::CodeReveal, &answer, &mut seal.out);
        Ok(())
    }

    /// The first packet of a guest was opened: it is there, at this address, and other handshakes with it are void, in both
    /// directions. Returns its place, or a refusal if the peer has been heard on an earlier connection since the handshake.
    #[cold]
    fn confirm(&mut self, now: Duration, at: usize, from: SocketAddr) -> Result<usize, SealRefusal> {
        let Some(association) = self.seal.associations.get_mut(at) else { return Ok(at) };
        let (inner_addr, index) = (association.inner_addr, association.index);
        if self.seal.associations.iter().any(|other| other.inner_addr == inner_addr && other.holds()) {
            self.forget(now, at);
            return Err(SealRefusal::Unexpected);
        }
        if let Some(join) = self.seal.join.as_mut().filter(|join| join.inner_addr == inner_addr) {
            join.abandon();
        }
        let Some(association) = self.seal.associations.get_mut(at) else { return Ok(at) };
        (association.confirmed, association.at_inner, association.outer_addr) = (true, true, from);
        if let (Comparison::Host { guests_before, .. }, Some(host)) =
            (&mut association.comparison, &mut self.seal.host)
        {
            *guests_before = host.guests;
            host.guests = host.guests.saturating_add(1);
        }
        self.seal.stats.connections += 1;
        while let Some(other) =
            self.seal.associations.position(|other| other.inner_addr == inner_addr && other.index != index)
        {
            self.seal.associations.remove(other);
        }
        self.tell(now, inner_addr);
        self.drop_unkept(now, inner_addr);
        self.seal.stir();
        Ok(self.seal.associations.numbered(index).unwrap_or(at))
    }

    /// Drops the longest silent guest that the inner protocol does not keep, if there are too many of them.
    fn drop_unkept(&mut self, now: Duration, newest: SocketAddr) {
        let Self { seal, inner } = self;
        let unkept = seal.associations.iter().filter(|one| {
            one.role == PeerRole::Player
                && one.confirmed
                && one.inner_addr != newest
                && keeps(*inner, one.inner_addr) != Some(true)
        });
        let (mut count, mut silent) = (0, None);
        for one in unkept {
            count += 1;
            if silent.is_none_or(|(opened_at, _)| one.opened_at < opened_at) {
                silent = Some((one.opened_at, one.index));
            }
        }
        if count >= self.seal.limits.unkept()
            && let Some((_, index)) = silent
            && let Some(at) = self.seal.associations.numbered(index)
        {
            self.forget(now, at);
        }
    }

    /// Tells the inner protocol how far the connection at `inner_addr` is.
    #[cold]
    fn tell(&mut self, now: Duration, inner_addr: SocketAddr) {
        let told =
            self.seal.associations.towards(inner_addr).and_then(|at| self.seal.associations.get_mut(at));
        if let Some(association) = told {
            tell(self.inner, now, inner_addr, association.step());
        }
    }

    /// Drops a connection, and tells the inner protocol if it knew of it.
    pub(super) fn forget(&mut self, now: Duration, at: usize) {
        let gone = self.seal.associations.remove(at);
        let others = self.seal.associations.position(|other| other.inner_addr == gone.inner_addr);
        if gone.at_inner && others.is_none() {
            tell(self.inner, now, gone.inner_addr, ConnectionStep::Gone);
        }
    }

    /// Handles what is due by `now`, and computes when to look again.
    #[cold]
    fn pass(&mut self, now: Time) {
        let time = Duration::from(now);
        self.admit(now);
        let expired = |one: &Association| !one.confirmed && now.since(one.since) >= half_open(one);
        while let Some(at) = self.seal.associations.position(expired) {
            self.forget(time, at);
        }
        let mut due = self.seal.host.as_ref().map_or(Time::NEVER, |host| host.rate_limiter.due(now));
        for at in 0..self.seal.associations.len() {
            due = due.min(self.serve(now, at));
        }
        self.seal.answering = self.seal.associations.iter().any(|one| one.answering.is_some());
        self.seal.out.due_at(due);
    }

    /// Sends what a connection has to say at `now`, and returns when it has something next.
    fn serve(&mut self, now: Time, at: usize) -> Time {
        let seal = &mut *self.seal;
        let Some(one) = seal.associations.get_mut(at) else { return Time::NEVER };
        if !one.confirmed {
            return one.since + half_open(one);
        }
        if !one.has_path() {
            return Time::NEVER;
        }
        if core::mem::take(&mut one.paths.found) && !one.at_inner {
            one.at_inner = true;
            one.open(seal.join.as_ref().map_or(&[][..], |join| &join.opening[..]), &mut seal.out);
            tell(self.inner, now.into(), one.inner_addr, one.step());
        }
        let is_kept = keeps(self.inner, one.inner_addr) != Some(false);
        // Nothing was opened for a second: 32 bits find the counter again. A guest that nobody keeps may be gone.
        let mut find_at = one.find_at.max(one.opened_at + PATIENCE);
        if now >= find_at {
            one.find_at = now + PATIENCE;
            find_at = one.find_at;
            if is_kept {
                one.seek(now, &mut seal.out);
            }
        }
        if let Some(part) = one.comparison.ask(now)
            && is_kept
        {
            one.say(Kind::CodeAsk, &part, &mut seal.out);
        }
        let try_at = if is_kept { one.try_paths(now) } else { Time::NEVER };
        let roam_at = one.roam(now, &mut seal.random, &mut seal.out);
        find_at.min(one.comparison.ask_at()).min(roam_at).min(try_at)
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
        let left: Vec<_> = rig.seal.associations.iter().map(|one| one.index).collect();
        assert_eq!(left, [7, 9]);
        assert_eq!(rig.seal.stats.connections, 1);
    }
}
