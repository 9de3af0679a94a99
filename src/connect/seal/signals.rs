//! Signals: INIT, RESP and the texts of NAT traversal, which a rendezvous or a person carries where there is no path.

use super::association::Association;
use super::channel::MAX_TEXT;
use super::limits::RoleLimits;
use super::padding::{padded, unpadded};
use super::random::Secret;
use super::stats::SealRefusal;
use super::{MAX_ADDRESSES, Randomness, Seal, SealError};
use crate::protocol::time::Span;
use crate::protocol::{PeerRole, canonical};
use crate::wire::seal::{
    self, Control, Init, KEY_LEN, Kind, MAX_CONTROL_LEN, PADDED_LEN, Packet, Pattern, TAG_LEN,
};
use core::time::Duration;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// Signals of one sender that wait for [`Seal::take_signal`].
const MAX_WAITING_OF_ONE: usize = 4;

/// The outcome of an INIT, RESP or SIGNAL that was brought by signalling.
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
    /// A SIGNAL of the connection at this inner address. Its text waits in [`Seal::take_signal`].
    Peer(SocketAddr),
}

/// The signals that were opened and wait for their reader.
#[derive(Debug, Default)]
pub(super) struct Signals {
    waiting: VecDeque<(SocketAddr, Vec<u8>)>,
    limits: RoleLimits,
}

impl Signals {
    /// Sets the limits by the number of guests that are expected.
    pub(super) fn expect(&mut self, limits: RoleLimits) {
        self.limits = limits;
    }

    /// Whether no more signals of peers in this role can wait.
    fn is_full(&self, role: PeerRole) -> bool {
        let of_role = |(from, _): &&(SocketAddr, _)| PeerRole::of_guest(*from) == role;
        self.waiting.iter().filter(of_role).count() >= self.limits.of(role).waiting_signals()
    }

    /// Keeps the padded signal of a sender.
    pub(super) fn keep(&mut self, inner_addr: SocketAddr, signal: &[u8]) -> Result<(), SealRefusal> {
        let signal = signal.get(..PADDED_LEN).unwrap_or_default();
        let text = unpadded(signal).ok_or(SealRefusal::OutOfPlace)?;
        let of_one = self.waiting.iter().filter(|(from, _)| *from == inner_addr).count();
        if self.is_full(PeerRole::of_guest(inner_addr)) || of_one >= MAX_WAITING_OF_ONE {
            return Err(SealRefusal::Limited);
        }
        self.waiting.push_back((inner_addr, signal[text].to_vec()));
        Ok(())
    }

    fn take_of(&mut self, inner_addr: SocketAddr) -> Option<Vec<u8>> {
        let at = self.waiting.iter().position(|(from, _)| *from == inner_addr)?;
        self.waiting.remove(at).map(|(_, text)| text)
    }
}

impl Seal {
    /// A joiner by invite whose handshake is brought by signalling. [`target`](Self::target) is the address for the lobby to join.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn join_by_signal(randomness: Randomness, host_key: [u8; KEY_LEN]) -> Result<Self, SealError> {
        let mut seal = Self::new(randomness)?;
        let inner_addr = seal.associations.make_up(PeerRole::Host);
        seal.joining(Some(Secret(host_key)), Vec::new(), inner_addr);
        Ok(seal)
    }

    /// Lets a joiner by signalling send REQUESTs to these addresses of its host too. The first of both ways that brings a path
    /// carries the match.
    ///
    /// # Errors
    /// If there are more than [`MAX_ADDRESSES`](super::MAX_ADDRESSES).
    pub fn ask_at(&mut self, addrs: &[SocketAddr]) -> Result<(), SealError> {
        if addrs.len() > MAX_ADDRESSES {
            return Err(SealError::TooManyAddresses { count: addrs.len() });
        }
        if let Some(join) = self.join.as_mut().filter(|join| join.is_by_signal()) {
            join.ask_at(addrs.iter().copied().map(canonical));
        }
        Ok(())
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
        self.host.as_mut()?.renew_ticket(ticket);
        Some(ticket)
    }

    /// Takes an INIT, a RESP or a SIGNAL that was brought by signalling.
    ///
    /// # Errors
    /// Why it was dropped. It changed nothing but a counter.
    pub fn handle_signal(&mut self, now: Duration, datagram: &[u8]) -> Result<Brought, SealRefusal> {
        let brought = match seal::decode(datagram) {
            Ok(Packet::Init(init)) if init.head.pattern == Pattern::Signal => {
                self.guest_by_signal(now, &init, datagram)
            }
            Ok(Packet::Resp(resp)) => match self.join.as_ref().filter(|join| join.is_by_signal()) {
                Some(join) => {
                    let inner_addr = join.inner_addr();
                    self.finish(now.into(), &resp).map(|_| Brought::Host(inner_addr))
                }
                None => Err(SealRefusal::Unexpected),
            },
            Ok(Packet::Control(control)) => self.brought(&control),
            _ => Err(SealRefusal::NoPacket),
        };
        brought.inspect_err(|refusal| self.stats.refused.count(*refusal))
    }

    /// Opens a SIGNAL that did not come on a path: it says nothing about silence or addresses, and confirms no guest.
    fn brought(&mut self, control: &Control<'_>) -> Result<Brought, SealRefusal> {
        if control.kind != Kind::Signal {
            return Err(SealRefusal::OutOfPlace);
        }
        let known = self.associations.numbered(control.index).and_then(|at| self.associations.get_mut(at));
        let association = known.ok_or(SealRefusal::UnknownIndex)?;
        let (inner_addr, mut text) = (association.peer().inner_addr, [0; MAX_TEXT + TAG_LEN]);
        association.open_brought(control, &mut text)?;
        self.signals.keep(inner_addr, &text).map(|()| Brought::Peer(inner_addr))
    }

    /// The Diffie-Hellman of an INIT by signalling. The inner protocol does not know of its guest before DATA comes from it.
    fn guest_by_signal(
        &mut self,
        now: Duration,
        init: &Init<'_>,
        datagram: &[u8],
    ) -> Result<Brought, SealRefusal> {
        let host = self.host.as_mut().ok_or(SealRefusal::Unexpected)?;
        let (head, ephemeral) = (&init.head, init.ephemeral());
        let access = host.admits(Pattern::Invite, datagram).ok_or(SealRefusal::BadMac)?;
        let (access, role) = (access.id(), access.role());
        if let Some(known) = self.associations.of_init(access, &ephemeral) {
            return Ok(Brought::Again(known.peer().inner_addr));
        }
        if self.associations.has_confirmed(head, access, None) {
            return Err(SealRefusal::Unexpected);
        }
        if self.associations.is_full_by_signal(role) || self.signals.is_full(role) {
            return Err(SealRefusal::Limited);
        }
        let (admitting, tickets) = host.with_tickets(access).ok_or(SealRefusal::Unexpected)?;
        admitting.admit_signal(now.into(), tickets, head.cookie, ephemeral)?;
        let (guest, text) = self.open_init(now.into(), init, access, None, Span::ZERO)?;
        self.signals.waiting.push_back((guest.inner_addr, self.scratch[text].to_vec()));
        Ok(Brought::Guest(guest.inner_addr))
    }

    /// The RESP for a guest by signalling, with a signal in it: the same one each time. `None` if there is no such guest, or the
    /// text is longer than 254 bytes.
    pub fn answer_signal(&mut self, now: Duration, inner_addr: SocketAddr, text: &[u8]) -> Option<Vec<u8>> {
        let signal = padded(text)?;
        let is_guest =
            |one: &Association| one.peer().inner_addr == inner_addr && one.peer().pattern == Pattern::Signal;
        let at = self.associations.position(is_guest)?;
        let guest = self.associations.get_mut(at)?;
        guest.answer(now.into(), &signal, &mut self.random, &self.players, &mut self.key_log);
        (!guest.resp().is_empty()).then(|| guest.resp().to_vec())
    }

    /// Sends a signal as a control packet of the connection at `inner_addr`, on the paths in use. It may be lost. `false` if there
    /// is no such connection, or the text is longer than 254 bytes.
    pub fn send_signal(&mut self, inner_addr: SocketAddr, text: &[u8]) -> bool {
        let Some(signal) = padded(text) else { return false };
        let at = self.associations.towards(inner_addr);
        let known = at.and_then(|at| self.associations.get_mut(at)).filter(|one| one.is_confirmed());
        known.is_some_and(|association| association.say(Kind::Signal, &signal, &mut self.out))
    }

    /// A SIGNAL of the connection at `inner_addr` for a rendezvous to carry. `None` if there is no such connection, or the text is longer
    /// than 254 bytes.
    pub fn write_signal(&mut self, inner_addr: SocketAddr, text: &[u8]) -> Option<Vec<u8>> {
        let (signal, mut buf) = (padded(text)?, [0; MAX_CONTROL_LEN]);
        let len = self.newest_mut(inner_addr)?.seal_control(Kind::Signal, &signal, &mut buf)?;
        Some(buf[..len].to_vec())
    }

    /// The next signal that was opened, and who sent it: with an INIT, with a RESP, or as a control packet.
    pub fn take_signal(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.signals.waiting.pop_front()
    }

    /// The next signal of this sender.
    pub fn take_signal_of(&mut self, inner_addr: SocketAddr) -> Option<Vec<u8>> {
        self.signals.take_of(inner_addr)
    }
}

const _: () = assert!(MAX_TEXT >= PADDED_LEN);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_signals_are_bounded_and_each_has_its_sender() {
        let mut seal = Seal::host(Randomness::Seeded(1)).unwrap();
        let sender = |number: usize| SocketAddr::from(([192, 0, 2, 7], number as u16));
        let kept = (0..40).filter(|number| {
            let signal = padded(&[*number as u8]).unwrap();
            seal.signals.keep(sender(number / 5), &signal).is_ok()
        });
        assert_eq!(kept.collect::<Vec<_>>(), [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 15, 16, 17, 18]);
        let mut joiner = Seal::join_by_signal(Randomness::Seeded(2), seal.public_key().unwrap()).unwrap();
        let ticket = seal.renew_ticket().unwrap();
        let init = joiner.write_init(Duration::ZERO, ticket, b"x").unwrap();
        assert_eq!(seal.handle_signal(Duration::ZERO, &init), Err(SealRefusal::Limited));
        assert_eq!(seal.stats.refused.of(SealRefusal::Limited), 1);
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
        for (mut seal, refusal) in [(joiner, SealRefusal::Unexpected), (by_address, SealRefusal::BadMac)] {
            assert_eq!(seal.handle_signal(Duration::ZERO, &init), Err(refusal));
            assert_eq!(seal.stats.refused.total(), 1);
        }
        assert!(host.handle_signal(Duration::ZERO, &init).is_ok());
    }

    /// A host and its guests with their inner addresses, all of them with keys and without a path.
    fn met(guests: u64) -> (Seal, Vec<(Seal, SocketAddr)>) {
        let mut host = Seal::host(Randomness::Seeded(1)).unwrap();
        let (key, ticket) = (host.public_key().unwrap(), host.renew_ticket().unwrap());
        let guests = (0..guests).map(|seed| {
            let mut joiner = Seal::join_by_signal(Randomness::Seeded(2 + seed), key).unwrap();
            let init = joiner.write_init(Duration::ZERO, ticket, b"offer").unwrap();
            let Ok(Brought::Guest(inner)) = host.handle_signal(Duration::ZERO, &init) else {
                panic!("a guest")
            };
            let resp = host.answer_signal(Duration::ZERO, inner, b"answer").unwrap();
            assert_eq!(
                joiner.handle_signal(Duration::ZERO, &resp),
                Ok(Brought::Host(joiner.target().unwrap()))
            );
            assert!(host.take_signal().is_some() && joiner.take_signal().is_some());
            (joiner, inner)
        });
        let guests = guests.collect();
        (host, guests)
    }

    #[test]
    fn brought_signals_open_by_their_connection_and_once() {
        let (mut host, mut guests) = met(2);
        for (joiner, inner) in &mut guests {
            let target = joiner.target().unwrap();
            let later = Duration::from_secs(3);
            let there = joiner.write_signal(target, b"late candidate").unwrap();
            assert_eq!(host.handle_signal(later, &there), Ok(Brought::Peer(*inner)));
            assert_eq!(host.take_signal(), Some((*inner, b"late candidate".to_vec())));
            assert_eq!(host.handle_signal(later, &there), Err(SealRefusal::Replayed));
            let back = host.write_signal(*inner, b"so is mine").unwrap();
            assert_eq!(joiner.handle_signal(later, &back), Ok(Brought::Peer(target)));
            assert_eq!(joiner.take_signal_of(target), Some(b"so is mine".to_vec()));
            assert_eq!(joiner.handle_signal(later, &back), Err(SealRefusal::Replayed));
            assert_eq!(host.silent_for(later, *inner), Some(later), "it came on no path");
        }
        assert_eq!(host.stats.connections, 0, "no guest is confirmed by it");
        assert_eq!(host.take_signal(), None);
        assert_eq!(host.write_signal(([192, 0, 2, 7], 7).into(), b"x"), None);
    }

    #[test]
    fn forged_and_foreign_signals_are_refused_by_reason() {
        let (mut host, mut guests) = met(2);
        let signal =
            |joiner: &mut Seal, text: &[u8]| joiner.write_signal(joiner.target().unwrap(), text).unwrap();
        let [one, two] = [0, 1].map(|at: usize| signal(&mut guests[at].0, b"text"));
        let mut refused = |packet: &[u8]| host.handle_signal(Duration::ZERO, packet).unwrap_err();
        // The number of one connection with the packet of the other.
        let foreign = [&one[..3], &two[3..]].concat();
        assert_eq!(refused(&foreign), SealRefusal::BadTag);
        for at in 8..one.len() {
            let mut forged = one.clone();
            forged[at] ^= 1;
            assert_eq!(refused(&forged), SealRefusal::BadTag, "{at}");
        }
        let mut unknown = one.clone();
        unknown[1] ^= 0x55;
        assert_eq!(refused(&unknown), SealRefusal::UnknownIndex);
        assert_eq!(refused(&one[..279]), SealRefusal::NoPacket);
        assert_eq!(refused(&[0xE7; 280]), SealRefusal::NoPacket);
        let find = [&[0xE7, one[1], one[2], 0, 0, 0, 9, 1][..], &[0; 16]].concat();
        assert_eq!(refused(&find), SealRefusal::OutOfPlace, "no SIGNAL");
        assert_eq!(host.stats.refused.total(), 1 + 272 + 4);
        assert_eq!(host.take_signal(), None);
        assert!(host.handle_signal(Duration::ZERO, &one).is_ok(), "forgeries did not use up its counter");
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
        let kept: Vec<_> = joiner
            .associations
            .iter()
            .map(|one| Duration::from(one.contact().opened_at()).as_secs())
            .collect();
        assert_eq!(kept, [2, 3, 4, 5]);
    }
}
