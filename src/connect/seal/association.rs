//! One association: a handshake with a peer, the keys that came of it, and the paths to the peer.

use super::access::AccessId;
use super::channel::{self, Channel, MAX_TEXT};
use super::code::{Comparison, commitment};
use super::contact::Contact;
use super::host::Host;
use super::introduction::Introduction;
use super::key_log::KeyLog;
use super::noise::Handshake;
use super::outbox::Outbox;
use super::paths::Paths;
use super::players::Players;
use super::random::Random;
use super::stats::SealRefusal;
use crate::protocol::time::{Span, Time};
use crate::protocol::{ConnectionStep, PeerRole};
use crate::wire::seal::{
    self, COMMITMENT_LEN, CONTROL_HEAD_LEN, Control, DATA_HEAD_LEN, Data, INIT_LEN, InitHead, KEY_LEN, Kind,
    MAX_CONTROL_LEN, Pattern, TAG_LEN,
};
use std::net::SocketAddr;

/// A guest that answered no RESP by DATA is forgotten after this long.
const HALF_OPEN: Span = Span::from_secs(2);
/// The same for a guest by signalling: a path has to be found first.
const HALF_OPEN_BY_SIGNAL: Span = Span::from_secs(12);

/// The other end of an association, and the handshake with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    /// The address that the inner protocol knows it by.
    pub(super) inner_addr: SocketAddr,
    /// The number of the connection here.
    pub(super) index: u16,
    pub(super) pattern: Pattern,
    pub(super) role: PeerRole,
    /// The key here by which a guest was admitted; `None` for the host of a joiner.
    pub(super) access: Option<AccessId>,
    /// The joiner's nonce.
    pub(super) nonce: u64,
    /// The joiner's ephemeral key, by which a repeated INIT is known.
    pub(super) ephemeral: [u8; KEY_LEN],
}

/// A handshake whose RESP waits for its answer: by signalling for a signal, else for a packet of the inner protocol.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) handshake: Handshake,
    /// The number of the connection at the joiner.
    pub(super) index: u16,
    /// Where the INIT came from; `None` by signalling.
    pub(super) to: Option<SocketAddr>,
}

/// A packet that was opened.
#[derive(Debug)]
pub(super) struct Received {
    /// The length of its text.
    pub(super) len: usize,
    /// Whether it is the first of a guest, which it confirms.
    pub(super) is_first: bool,
    /// Whether its source is a new address of the peer.
    pub(super) has_strayed: bool,
}

/// How far a handshake is.
#[derive(Debug)]
struct Stage {
    /// When a guest without DATA is forgotten.
    expires_at: Time,
    pending: Option<Box<Pending>>,
    /// The RESP, for an INIT that comes again.
    resp: Vec<u8>,
    /// Whether DATA or a control packet was decrypted.
    is_confirmed: bool,
    /// Whether the inner protocol knows of it.
    is_known: bool,
}

/// One handshake with a peer and the keys that came of it. A guest may have several, until one of them is confirmed.
#[derive(Debug)]
pub(super) struct Association {
    peer: Peer,
    stage: Stage,
    /// The keys, once the RESP is written or read.
    channel: Option<Channel>,
    contact: Contact,
    paths: Paths,
    comparison: Comparison,
    introduction: Introduction,
}

impl Association {
    /// A guest whose INIT was opened, and whose RESP waits.
    pub(super) fn guest(now: Time, peer: Peer, pending: Pending, round_trip: Span) -> Self {
        let half_open = if pending.to.is_none() { HALF_OPEN_BY_SIGNAL } else { HALF_OPEN };
        let paths = Paths::new(pending.to, round_trip);
        let pending = Some(Box::new(pending));
        let (expires_at, resp, is_confirmed, is_known) = (now + half_open, Vec::new(), false, false);
        Self {
            stage: Stage { expires_at, pending, resp, is_confirmed, is_known },
            channel: None,
            contact: Contact::new(now),
            paths,
            comparison: Comparison::new(peer.pattern != Pattern::Open),
            introduction: Introduction::none(),
            peer,
        }
    }

    /// The host of a handshake that has succeeded. By signalling there is no path yet, and the inner protocol does not know.
    pub(super) fn host(
        now: Time,
        peer: Peer,
        channel: Option<Channel>,
        paths: Paths,
        comparison: Comparison,
        introduction: Introduction,
    ) -> Self {
        let is_known = peer.pattern != Pattern::Signal;
        let stage =
            Stage { expires_at: Time::NEVER, pending: None, resp: Vec::new(), is_confirmed: true, is_known };
        Self { peer, stage, channel, contact: Contact::new(now), paths, comparison, introduction }
    }

    #[inline]
    pub(super) fn peer(&self) -> &Peer {
        &self.peer
    }

    pub(super) fn contact(&self) -> &Contact {
        &self.contact
    }

    pub(super) fn paths(&self) -> &Paths {
        &self.paths
    }

    pub(super) fn paths_mut(&mut self) -> &mut Paths {
        &mut self.paths
    }

    pub(super) fn comparison(&self) -> &Comparison {
        &self.comparison
    }

    pub(super) fn comparison_mut(&mut self) -> &mut Comparison {
        &mut self.comparison
    }

    #[inline]
    pub(super) fn introduction(&self) -> &Introduction {
        &self.introduction
    }

    pub(super) fn introduction_mut(&mut self) -> &mut Introduction {
        &mut self.introduction
    }

    /// Whether DATA or a control packet was decrypted.
    #[inline]
    pub(super) fn is_confirmed(&self) -> bool {
        self.stage.is_confirmed
    }

    /// Whether the inner protocol knows of it.
    pub(super) fn is_known(&self) -> bool {
        self.stage.is_known
    }

    /// Whether the RESP waits for a packet of the inner protocol.
    #[inline]
    pub(super) fn awaits_answer(&self) -> bool {
        self.stage.pending.as_ref().is_some_and(|pending| pending.to.is_some())
    }

    /// Whether a guest has sent no DATA for too long.
    pub(super) fn has_expired(&self, now: Time) -> bool {
        !self.stage.is_confirmed && now >= self.stage.expires_at
    }

    /// Forgets the guest by this key, if it is not confirmed: its key was revoked.
    pub(super) fn revoke(&mut self, access: AccessId) {
        if self.peer.access == Some(access) {
            self.stage.expires_at = Time::ZERO;
        }
    }

    /// Whether it is a guest in this role that has sent no DATA yet.
    pub(super) fn is_reached(&self, role: PeerRole) -> bool {
        self.peer.role == role && !self.stage.is_confirmed
    }

    /// The RESP; empty before it is written.
    pub(super) fn resp(&self) -> &[u8] {
        &self.stage.resp
    }

    /// The step to tell the inner protocol of.
    pub(super) fn step(&self) -> ConnectionStep {
        let (round_trip, role) = (self.paths.round_trip().into(), self.peer.role);
        if self.stage.is_confirmed {
            ConnectionStep::Confirmed { round_trip, role }
        } else {
            ConnectionStep::Reached { round_trip, role }
        }
    }

    /// Whether the peer was there and nothing says that it is gone.
    pub(super) fn holds(&self) -> bool {
        self.stage.is_confirmed && self.contact.holds()
    }

    /// Whether an INIT to one of our keys is of the same guest, from this address or by signalling: an invited guest may try both ways at
    /// once. By address a nonce alone proves nothing: a watcher can repeat it. The same nonce with another key is another guest.
    pub(super) fn is_guest(&self, head: &InitHead, access: AccessId, from: Option<SocketAddr>) -> bool {
        let is_same_way = match (self.peer.pattern, head.pattern) {
            (Pattern::Open, Pattern::Open) => self.paths.outer_addr() == from,
            (ours, theirs) => ours != Pattern::Open && theirs != Pattern::Open,
        };
        self.peer.access == Some(access) && self.peer.nonce == head.nonce && is_same_way
    }

    /// Whether another handshake is of the same invited guest.
    pub(super) fn is_of_guest(&self, other: &Peer) -> bool {
        let of = |peer: &Peer| (peer.access, peer.pattern == Pattern::Open, peer.nonce);
        other.pattern != Pattern::Open && of(&self.peer) == of(other)
    }
}

impl Association {
    /// The inner protocol hears of it.
    pub(super) fn introduce(&mut self) {
        self.stage.is_known = true;
    }

    /// The inner protocol does not hear of it before the peer has proven its key.
    pub(super) fn withhold(&mut self) {
        self.stage.is_known = false;
    }

    /// The inner protocol looks for the peer by another handshake.
    pub(super) fn seek(&mut self, now: Time) {
        self.contact.seek(now);
    }

    /// Writes the RESP with this answer, if it then stays shorter than an INIT: there are keys. Returns where to send it.
    pub(super) fn answer(
        &mut self,
        now: Time,
        answer: &[u8],
        random: &mut Random,
        players: &Players,
        key_log: &mut KeyLog,
    ) -> Option<SocketAddr> {
        let Pending { handshake, index, to } = *self.stage.pending.take()?;
        let (mut text, mut front) = ([0; INIT_LEN], 2);
        text[..2].copy_from_slice(&self.peer.index.to_be_bytes());
        let part = (self.peer.pattern == Pattern::Open).then(|| random.next_16());
        if let Some(part) = &part {
            front += COMMITMENT_LEN;
            text[2..front].copy_from_slice(&commitment(part));
        }
        let head = seal::resp_head(index);
        // A RESP must be shorter than its INIT: no amplification.
        let around = head.len() + KEY_LEN + front + TAG_LEN;
        let answer = if around + answer.len() < INIT_LEN { answer } else { b"" };
        text[front..front + answer.len()].copy_from_slice(answer);
        let mut resp = vec![0; INIT_LEN];
        resp[..head.len()].copy_from_slice(&head);
        let (split, len) = handshake.answer(&text[..front + answer.len()], &mut resp[head.len()..])?;
        self.channel = Some(Channel::new(&split, true, index)?);
        if let Some(part) = part {
            self.comparison = Comparison::host(split.hash, part);
        }
        self.introduction = Introduction::new(now, &split, players, self.peer.role);
        key_log.note(&split, [self.peer.index, index]);
        resp.truncate(head.len() + len);
        self.stage.resp = resp;
        self.contact.restart(now);
        to
    }

    /// The key by which one of the two machines proves later that it was here, once there is a connection.
    pub(super) fn rejoin_key(&self) -> Option<[u8; KEY_LEN]> {
        self.channel.as_ref().map(Channel::rejoin_key)
    }

    /// The first packet of a guest was opened: it is there, at this address.
    pub(super) fn confirm(&mut self, from: SocketAddr, host: Option<&mut Host>) {
        (self.stage.is_confirmed, self.stage.is_known) = (true, true);
        self.paths.settle(from);
        if let Some(host) = host {
            self.comparison.confirm(|| host.count_guest());
        }
    }

    /// A path was checked. It is used at once if there was none, or none that has carried anything.
    pub(super) fn offer_path(&mut self, now: Time, path: SocketAddr, round_trip: Span) {
        if self.paths.outer_addr().is_none() || !self.stage.is_confirmed {
            self.paths.begin(path, round_trip);
            self.contact.restart(now);
        } else {
            self.paths.prefer(path);
        }
    }

    /// Opens DATA into the front of `buf`.
    #[inline(always)]
    pub(super) fn open_data(
        &mut self,
        now: Time,
        from: SocketAddr,
        data: &Data<'_>,
        buf: &mut [u8],
    ) -> Result<Received, SealRefusal> {
        let opened = self.channel.as_mut().ok_or(SealRefusal::UnknownIndex)?.open_data(data, buf)?;
        Ok(self.received(now, from, DATA_HEAD_LEN + data.sealed.len(), opened))
    }

    /// Opens a control packet into `text`.
    pub(super) fn open_control(
        &mut self,
        now: Time,
        from: SocketAddr,
        control: &Control<'_>,
        text: &mut [u8; MAX_TEXT + TAG_LEN],
    ) -> Result<Received, SealRefusal> {
        let opened = self.channel.as_mut().ok_or(SealRefusal::UnknownIndex)?.open_control(control, text)?;
        Ok(self.received(now, from, CONTROL_HEAD_LEN + control.sealed.len(), opened))
    }

    /// Opens a control packet that a rendezvous has brought: it came on no path.
    pub(super) fn open_brought(
        &mut self,
        control: &Control<'_>,
        text: &mut [u8; MAX_TEXT + TAG_LEN],
    ) -> Result<(), SealRefusal> {
        let channel = self.channel.as_mut().ok_or(SealRefusal::UnknownIndex)?;
        channel.open_control(control, text).map(|_| ())
    }

    #[inline(always)]
    fn received(&mut self, now: Time, from: SocketAddr, len: usize, opened: channel::Opened) -> Received {
        self.contact.opened(now);
        let is_first = !self.stage.is_confirmed;
        let has_strayed = !is_first && self.paths.heard(now, from, len, opened.newest);
        Received { len: opened.len, is_first, has_strayed }
    }

    /// Whether so much was forged that the connection has to end.
    pub(super) fn is_worn_out(&self) -> bool {
        self.channel.as_ref().is_some_and(Channel::is_worn_out)
    }

    /// Seals the datagram in the first `len` bytes of `buf` in place. Returns where it goes and the new length. Copies wait for the
    /// other addresses of a peer that may have moved.
    #[inline(always)]
    pub(super) fn seal_data(
        &mut self,
        buf: &mut [u8],
        len: usize,
        out: &mut Outbox,
    ) -> Option<(SocketAddr, usize)> {
        let to = self.paths.outer_addr()?;
        let len = self.channel.as_mut()?.seal_data(buf, len)?;
        if self.paths.is_roaming() {
            out.copy(&buf[..len], &mut self.paths);
        }
        Some((to, len))
    }

    /// Queues a control packet to the address in use, and to the others if there are any. `false` if there is no path.
    pub(super) fn say(&mut self, kind: Kind, text: &[u8], out: &mut Outbox) -> bool {
        let mut buf = [0; MAX_CONTROL_LEN];
        let Some(to) = self.paths.outer_addr() else { return false };
        let Some(len) = self.seal_control(kind, text, &mut buf) else { return false };
        out.push(to, &buf[..len]);
        self.paths.also_to(len, |to| out.push(to, &buf[..len]));
        true
    }

    /// Writes a control packet to the peer, and returns its length.
    pub(super) fn seal_control(
        &mut self,
        kind: Kind,
        text: &[u8],
        buf: &mut [u8; MAX_CONTROL_LEN],
    ) -> Option<usize> {
        self.channel.as_mut()?.seal_control(kind, text, buf)
    }

    /// Queues a control packet to one address.
    pub(super) fn say_to(&mut self, to: SocketAddr, kind: Kind, text: &[u8], out: &mut Outbox) {
        if let Some(channel) = &mut self.channel {
            out.write(to, |buf| channel.seal_control(kind, text, buf));
        }
    }

    /// Queues the opening message as the first packet, or a FIND if it is empty: only a decrypted packet confirms a guest.
    pub(super) fn open(&mut self, opening: &[u8], out: &mut Outbox) {
        match (&mut self.channel, self.paths.outer_addr()) {
            (Some(channel), Some(to)) if !opening.is_empty() => out.write(to, |buf| {
                buf.get_mut(..opening.len())?.copy_from_slice(opening);
                channel.seal_data(buf, opening.len())
            }),
            _ => {
                self.say(Kind::Find, b"", out);
            }
        }
    }

    /// Opens the connection on its first path. Returns whether the inner protocol is to be told. A host that has to prove its key first gets
    /// a FIND.
    pub(super) fn open_first_path(&mut self, opening: &[u8], is_admitted: bool, out: &mut Outbox) -> bool {
        let begins = self.stage.is_confirmed && self.paths.take_found() && !self.stage.is_known;
        if begins {
            self.stage.is_known = is_admitted;
            self.open(if is_admitted { opening } else { b"" }, out);
        }
        begins && is_admitted
    }

    /// Sends what is due at `now`, and returns when something is due next.
    pub(super) fn serve(&mut self, now: Time, is_kept: bool, random: &mut Random, out: &mut Outbox) -> Time {
        if !self.stage.is_confirmed {
            return self.stage.expires_at;
        }
        if self.paths.outer_addr().is_none() {
            return Time::NEVER;
        }
        // Nothing was decrypted for a second: 32 bits find the counter again. A guest that the inner protocol does not keep may be gone.
        let sealed = self.channel.as_ref().map_or(0, Channel::sealed);
        if self.contact.finds(now, is_kept, sealed) {
            self.say(Kind::Find, b"", out);
        }
        if let Some(part) = self.comparison.ask(now)
            && is_kept
        {
            self.say(Kind::CodeAsk, &part, out);
        }
        let silent_at = self.contact.silent_at();
        let try_at = if is_kept { self.paths.try_others(now, silent_at) } else { Time::NEVER };
        let roam_at = self.roam(now, random, out);
        self.contact.find_at().min(self.comparison.ask_at()).min(roam_at).min(try_at)
    }

    /// Decides between the addresses, and challenges all. Returns when to do so again.
    fn roam(&mut self, now: Time, random: &mut Random, out: &mut Outbox) -> Time {
        let Some((challenges, due)) = self.paths.decide(now, CONTROL_HEAD_LEN + 8 + TAG_LEN, random) else {
            return Time::NEVER;
        };
        for (to, value) in challenges.into_iter().flatten() {
            self.say_to(to, Kind::Challenge, &value.to_be_bytes(), out);
        }
        due
    }
}

#[cfg(test)]
mod tests;
