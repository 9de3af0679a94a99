//! Handshakes by signalling: a rendezvous, or a person, brings INIT and RESP before there is a path between the two machines.
//!
//! Their texts are signals of whoever looks for paths, instead of packets of the inner protocol. The limits are apart from
//! those of INITs that come by themselves, so that neither way can be closed by a flood of the other.

use super::Seal;
use super::association::{Answering, Association, NO_PATH};
use super::channel::{Channel, MAX_TEXT};
use super::joiner::Join;
use super::limits::Limits;
use super::noise;
use super::padding::{padded, unpadded};
use super::random::Secret;
use super::stats::SealRefusal;
use super::{Randomness, SealError};
use crate::protocol::PeerRole;
use crate::protocol::time::{Span, Time};
use crate::wire::seal::{self, INIT_LEN, Init, KEY_LEN, Kind, PADDED_LEN, Packet, Pattern};
use core::time::Duration;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// A guest by signalling has this long to send DATA: a path has to be found first.
pub(super) const HALF_OPEN: Span = Span::from_secs(12);
/// Signals of one sender that wait for [`Seal::take_signal`].
const MAX_WAITING_OF_ONE: usize = 4;

/// The outcome of an INIT or RESP that was brought by signalling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Brought {
    /// An INIT of a guest, who gets this inner address. Its signal waits in [`Seal::take_signal`], and
    /// [`Seal::answer_signal`] writes the RESP.
    Guest(SocketAddr),
    /// The same INIT again: its RESP was lost, and [`Seal::answer_signal`] has it.
    Again(SocketAddr),
    /// The RESP of the host, which has this inner address. Its signal waits in [`Seal::take_signal`].
    Host(SocketAddr),
}

/// The host's side of handshakes by signalling.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// The newest ticket, and the one before it.
    tickets: [Option<u64>; 2],
    /// When handshakes of the last second were worked off.
    passed: VecDeque<Time>,
    /// The tickets and ephemeral keys of INITs that were worked off: each opens one handshake.
    keys: VecDeque<(u64, [u8; KEY_LEN])>,
    pub(super) limits: Limits,
}

impl Signals {
    fn renew(&mut self, ticket: u64) {
        self.tickets = [Some(ticket), self.tickets[0]];
        let tickets = self.tickets;
        self.keys.retain(|(used, _)| tickets.contains(&Some(*used)));
    }

    /// Admits an INIT, or says why not.
    fn admit(&mut self, now: Time, ticket: u64, ephemeral: [u8; KEY_LEN]) -> Result<(), SealRefusal> {
        if !self.tickets.contains(&Some(ticket)) || self.keys.iter().any(|(_, used)| *used == ephemeral) {
            return Err(SealRefusal::BadCookie);
        }
        while self.passed.front().is_some_and(|at| now.since(*at) >= Span::from_secs(1)) {
            self.passed.pop_front();
        }
        let limits = self.limits;
        if self.passed.len() >= limits.signals() || self.keys.len() >= limits.keys_by_signal() {
            return Err(SealRefusal::Limited);
        }
        self.passed.push_back(now);
        self.keys.push_back((ticket, ephemeral));
        Ok(())
    }
}

impl Seal {
    /// A joiner by invite whose handshake is brought by signalling. [`target`](Self::target) is the address for the lobby to join.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn join_by_signal(randomness: Randomness, host_key: [u8; KEY_LEN]) -> Result<Self, SealError> {
        let mut seal = Self::new(randomness)?;
        let inner_addr = seal.associations.make_up();
        let (nonce, index) = (seal.random.next_u64(), seal.random.next_u64() as u16);
        seal.join = Some(Join::new(Some(Secret(host_key)), Vec::new(), inner_addr, nonce, index));
        Ok(seal)
    }

    /// The INIT of a joiner by signalling, with the ticket of the host's room in the place of a cookie. `None` if this seal is none,
    /// or the text is longer than 254 bytes.
    pub fn write_init(&mut self, now: Duration, ticket: u64, text: &[u8]) -> Option<Vec<u8>> {
        let signal = padded(text)?;
        let (index, ephemeral) = (self.free_index(), self.random.next_secret());
        let join = self.join.as_mut().filter(|join| join.is_by_signal())?;
        join.by_signal(now.into(), ticket, (index, ephemeral), &signal)
    }

    /// A new ticket of a host, for the registration of its room. The one before it stays good.
    pub fn renew_ticket(&mut self) -> Option<u64> {
        let ticket = self.random.next_u64();
        self.host.as_mut()?.signals.renew(ticket);
        Some(ticket)
    }

    /// Takes an INIT or a RESP that was brought by signalling.
    ///
    /// # Errors
    /// Why it was dropped. It changed nothing but a counter.
    pub fn handle_signal(&mut self, now: Duration, datagram: &[u8]) -> Result<Brought, SealRefusal> {
        let brought = match seal::decode(datagram) {
            Ok(Packet::Init(init)) if init.head.pattern == Pattern::Signal => {
                self.guest_by_signal(now.into(), &init, datagram)
            }
            Ok(Packet::Resp(resp)) if self.join.as_ref().is_some_and(Join::is_by_signal) => {
                self.finish(now.into(), &resp).map(|finished| Brought::Host(finished.inner_addr))
            }
            Ok(Packet::Resp(_)) => Err(SealRefusal::Unexpected),
            _ => Err(SealRefusal::NoPacket),
        };
        brought.inspect_err(|refusal| self.stats.refuse(*refusal))
    }

    /// The Diffie-Hellman of an INIT by signalling. Its guest is nobody to the inner protocol before DATA comes from it.
    fn guest_by_signal(
        &mut self,
        now: Time,
        init: &Init<'_>,
        datagram: &[u8],
    ) -> Result<Brought, SealRefusal> {
        let index = self.free_index();
        let host = self.host.as_mut().filter(|host| host.only.is_none()).ok_or(SealRefusal::Unexpected)?;
        let access = host.access_of(Pattern::Invite, datagram).ok_or(SealRefusal::BadMac)?;
        let (head, ephemeral) = (&init.head, init.ephemeral());
        if let Some(known) = self.associations.iter().find(|one| one.ephemeral == ephemeral) {
            return Ok(Brought::Again(known.inner_addr));
        }
        let by_signal = |one: &&Association| one.pattern == Pattern::Signal;
        if self.associations.iter().filter(by_signal).any(|one| one.confirmed && one.nonce == head.nonce) {
            return Err(SealRefusal::Unexpected);
        }
        let half_open = self.associations.iter().filter(by_signal).filter(|one| !one.confirmed).count();
        let limits = host.signals.limits;
        if half_open >= limits.half_open_by_signal() || self.signals.len() >= limits.waiting_signals() {
            return Err(SealRefusal::Limited);
        }
        host.signals.admit(now, head.cookie, ephemeral)?;
        self.stats.handshakes += 1;
        let mut text = [0; INIT_LEN];
        let secret = self.random.next_secret();
        let accepted =
            noise::accept(&host.accesses[access].keys, init.prologue, secret, init.message, &mut text);
        let (handshake, len) = accepted.ok_or(SealRefusal::BadHandshake)?;
        let signal = unpadded(&text[..len]).ok_or(SealRefusal::BadHandshake)?;
        let inner_addr = self.associations.make_up();
        let answering = Answering { handshake, index: head.index, to: NO_PATH };
        let names = (index, Pattern::Signal, head.nonce, ephemeral);
        self.signals.push_back((inner_addr, signal.to_vec()));
        self.associations.add(Association {
            unanswered: Some(Box::new(answering)),
            ..Association::new(now, PeerRole::Player, (inner_addr, NO_PATH), names)
        });
        self.stir();
        Ok(Brought::Guest(inner_addr))
    }

    /// The RESP for a guest by signalling, with a signal in it: the same one each time. `None` if there is no such guest, or the
    /// text is longer than 254 bytes.
    pub fn answer_signal(&mut self, now: Duration, inner_addr: SocketAddr, text: &[u8]) -> Option<Vec<u8>> {
        let signal = padded(text)?;
        let at = self
            .associations
            .position(|one| one.inner_addr == inner_addr && one.pattern == Pattern::Signal)?;
        let association = self.associations.get_mut(at)?;
        if let Some(answering) = association.unanswered.take() {
            let Answering { handshake, index, .. } = *answering;
            let mut text = [0; 2 + PADDED_LEN];
            text[..2].copy_from_slice(&association.index.to_be_bytes());
            text[2..].copy_from_slice(&signal);
            let head = seal::resp_head(index);
            let mut resp = vec![0; INIT_LEN];
            resp[..head.len()].copy_from_slice(&head);
            let (split, len) = handshake.answer(&text, &mut resp[head.len()..])?;
            self.key_log.note(&split, [association.index, index]);
            resp.truncate(head.len() + len);
            association.channel = Some(Channel::new(&split, true, index)?);
            (association.resp, association.opened_at) = (resp, now.into());
        }
        (!association.resp.is_empty()).then(|| association.resp.clone())
    }

    /// Sends a signal as a control packet of the connection at `inner_addr`, on the paths in use. It may be lost. `false` if there
    /// is no such connection, or the text is longer than 254 bytes.
    pub fn send_signal(&mut self, inner_addr: SocketAddr, text: &[u8]) -> bool {
        let Some(signal) = padded(text) else { return false };
        let at = self.associations.towards(inner_addr);
        let known = at.and_then(|at| self.associations.get_mut(at));
        let Some(association) = known.filter(|one| one.confirmed && one.has_path()) else { return false };
        association.say(Kind::Signal, &signal, &mut self.out);
        true
    }

    /// The next signal that was opened, and who sent it: with an INIT, with a RESP, or as a control packet.
    pub fn take_signal(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.signals.pop_front()
    }

    /// The next signal of this sender.
    pub fn take_signal_of(&mut self, inner_addr: SocketAddr) -> Option<Vec<u8>> {
        let at = self.signals.iter().position(|(from, _)| *from == inner_addr)?;
        self.signals.remove(at).map(|(_, text)| text)
    }

    /// Keeps a signal for [`take_signal`](Self::take_signal).
    pub(super) fn keep_signal(&mut self, inner_addr: SocketAddr, signal: &[u8]) -> Result<(), SealRefusal> {
        let text = unpadded(signal.get(..PADDED_LEN).unwrap_or_default()).ok_or(SealRefusal::OutOfPlace)?;
        let of_one = self.signals.iter().filter(|(from, _)| *from == inner_addr).count();
        if self.signals.len() >= self.limits.waiting_signals() || of_one >= MAX_WAITING_OF_ONE {
            return Err(SealRefusal::Limited);
        }
        self.signals.push_back((inner_addr, text.to_vec()));
        Ok(())
    }
}

const _: () = assert!(MAX_TEXT >= PADDED_LEN);

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> [u8; KEY_LEN] {
        [number; KEY_LEN]
    }

    #[test]
    fn four_a_second_and_as_many_keys_as_are_remembered() {
        let (mut signals, limited) = (Signals::default(), Err(SealRefusal::Limited));
        signals.renew(1);
        for number in 0..128_u8 {
            let now = Time::ZERO + Span::from_millis(250) * u32::from(number);
            assert_eq!(signals.admit(now, 1, key(number)), Ok(()));
            if number > 2 {
                assert_eq!(signals.admit(now, 1, key(200)), limited, "the fifth in a second");
            }
        }
        let later = Time::ZERO + Span::from_secs(60);
        assert_eq!(signals.admit(later, 1, key(200)), limited, "no more keys than are remembered");
        signals.renew(2);
        assert_eq!(signals.admit(later, 2, key(200)), limited, "the ticket before is still good");
        signals.renew(3);
        assert_eq!(signals.admit(later, 3, key(200)), Ok(()), "its keys went with it");
    }

    #[test]
    fn waiting_signals_are_bounded_and_each_has_its_sender() {
        let mut seal = Seal::host(Randomness::Seeded(1)).unwrap();
        let sender = |number: usize| SocketAddr::from(([192, 0, 2, 7], number as u16));
        let kept = (0..40).filter(|number| {
            let signal = padded(&[*number as u8]).unwrap();
            seal.keep_signal(sender(number / 5), &signal).is_ok()
        });
        assert_eq!(kept.collect::<Vec<_>>(), [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 15, 16, 17, 18]);
        let mut joiner = Seal::join_by_signal(Randomness::Seeded(2), seal.public_key().unwrap()).unwrap();
        let ticket = seal.renew_ticket().unwrap();
        let init = joiner.write_init(Duration::ZERO, ticket, b"x").unwrap();
        assert_eq!(seal.handle_signal(Duration::ZERO, &init), Err(SealRefusal::Limited));
        assert_eq!(seal.stats.refused(SealRefusal::Limited), 1);
        assert_eq!(seal.take_signal_of(sender(1)), Some(vec![5]));
        assert_eq!(seal.take_signal(), Some((sender(0), vec![0])));
        let later = Duration::from_secs(1);
        let Ok(Brought::Guest(guest)) = seal.handle_signal(Duration::ZERO, &init) else { panic!("a guest") };
        assert!(seal.answer_signal(later, guest, b"y").is_some());
        assert_eq!(seal.silent_for(later, guest), Some(Duration::ZERO), "the time begins with the answer");
    }

    #[test]
    fn joiner_takes_no_init_by_signal() {
        let mut host = Seal::host(Randomness::Seeded(1)).unwrap();
        let mut joiner = Seal::join_by_signal(Randomness::Seeded(2), host.public_key().unwrap()).unwrap();
        let init = joiner.write_init(Duration::ZERO, host.renew_ticket().unwrap(), b"x").unwrap();
        let by_address = Seal::join_open(Randomness::Seeded(3), ([192, 0, 2, 7], 7).into()).unwrap();
        for mut seal in [joiner, by_address] {
            assert_eq!(seal.handle_signal(Duration::ZERO, &init), Err(SealRefusal::Unexpected));
            assert_eq!(seal.stats.refused_total(), 1);
        }
        assert!(host.handle_signal(Duration::ZERO, &init).is_ok());
    }

    #[test]
    fn joiner_keeps_the_keys_of_its_last_four_handshakes() {
        let mut host = Seal::host(Randomness::Seeded(1)).unwrap();
        let mut joiner = Seal::join_by_signal(Randomness::Seeded(2), host.public_key().unwrap()).unwrap();
        let ticket = host.renew_ticket().unwrap();
        for now in (0..6).map(Duration::from_secs) {
            let init = joiner.write_init(now, ticket, b"x").unwrap();
            let Ok(Brought::Guest(guest)) = host.handle_signal(now, &init) else { panic!("a guest") };
            let resp = host.answer_signal(now, guest, b"y").unwrap();
            assert!(joiner.handle_signal(now, &resp).is_ok());
            assert!(host.take_signal().is_some() && joiner.take_signal().is_some());
            let target = joiner.target().unwrap();
            assert!(!joiner.send_signal(target, b"x"), "there is no path yet");
        }
        let kept: Vec<_> =
            joiner.associations.iter().map(|one| Duration::from(one.since).as_secs()).collect();
        assert_eq!(kept, [2, 3, 4, 5]);
    }
}
