//! Two protocols on one connection, told apart by the role that a guest's key has proven.

use super::{Authenticated, ConnectionStep, PeerRole, Protocol};
use core::time::Duration;
use std::net::SocketAddr;

/// A protocol that serves the guests of one role, beside another protocol that serves all others. Borrow both again for each
/// call, as with a seal.
///
/// Datagrams go by the role of their sender's inner address. The other protocol, which is the match, is asked first what it has to
/// send; it has to bound what it sends at one time, as every protocol does, and then it is the turn of the side.
#[derive(Debug)]
pub struct ByRole<'a, P: ?Sized, S: ?Sized> {
    /// The protocol of all other peers.
    pub others: &'a mut P,
    /// The role that the side serves.
    pub role: PeerRole,
    /// The protocol of the guests in that role.
    pub side: &'a mut S,
}

impl<P: Protocol + ?Sized, S: Protocol + ?Sized> ByRole<'_, P, S> {
    #[inline]
    fn is_side(&self, peer: SocketAddr) -> bool {
        PeerRole::of_guest(peer) == self.role
    }
}

impl<P: Protocol + ?Sized, S: Protocol + ?Sized> Protocol for ByRole<'_, P, S> {
    #[inline]
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        match self.is_side(from) {
            false => self.others.handle_datagram(now, from, datagram),
            true => self.side.handle_datagram(now, from, datagram),
        }
    }

    #[inline]
    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.others.poll_transmit(now, buf).or_else(|| self.side.poll_transmit(now, buf))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        [self.others.poll_timeout(), self.side.poll_timeout()].into_iter().flatten().min()
    }

    /// The match alone has a frame that is due: spectators never wake a player's loop.
    fn wants_attention(&self, now: Duration) -> bool {
        self.others.wants_attention(now)
    }

    fn lingers(&self) -> bool {
        self.others.lingers() || self.side.lingers()
    }

    fn opening(&mut self, now: Duration, peer: SocketAddr, buf: &mut [u8]) -> Option<usize> {
        match self.is_side(peer) {
            false => self.others.opening(now, peer, buf),
            true => self.side.opening(now, peer, buf),
        }
    }

    #[inline]
    fn authenticated(&mut self) -> Option<&mut dyn Authenticated> {
        Some(self)
    }
}

/// Each protocol is asked about its own peers. A protocol that does not follow its connections knows and keeps everyone.
impl<P: Protocol + ?Sized, S: Protocol + ?Sized> Authenticated for ByRole<'_, P, S> {
    fn connection(&mut self, now: Duration, peer: SocketAddr, step: ConnectionStep) {
        let inner = if self.is_side(peer) { self.side.authenticated() } else { self.others.authenticated() };
        if let Some(inner) = inner {
            inner.connection(now, peer, step);
        }
    }

    fn knows(&mut self, peer: SocketAddr) -> bool {
        let inner = if self.is_side(peer) { self.side.authenticated() } else { self.others.authenticated() };
        inner.is_none_or(|inner| inner.knows(peer))
    }

    fn keeps(&mut self, peer: SocketAddr) -> bool {
        let inner = if self.is_side(peer) { self.side.authenticated() } else { self.others.authenticated() };
        inner.is_none_or(|inner| inner.keeps(peer))
    }

    fn serves(&mut self, role: PeerRole) -> bool {
        role == self.role || self.others.authenticated().map_or(role.plays(), |others| others.serves(role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A protocol with a number, which is in all that it says.
    #[derive(Default)]
    struct Numbered {
        number: u8,
        left: usize,
        heard: Vec<u8>,
        told: usize,
    }

    impl Protocol for Numbered {
        fn handle_datagram(&mut self, _: Duration, _: SocketAddr, datagram: &[u8]) {
            self.heard.extend(datagram);
        }

        fn poll_transmit(&mut self, _: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
            self.left = self.left.checked_sub(1)?;
            buf[0] = self.number;
            Some((PeerRole::Player.inner_addr(1), 1))
        }

        fn poll_timeout(&self) -> Option<Duration> {
            Some(Duration::from_secs(10 - u64::from(self.number)))
        }

        fn wants_attention(&self, _: Duration) -> bool {
            self.number == 2
        }

        fn lingers(&self) -> bool {
            self.number == 2
        }

        fn opening(&mut self, _: Duration, _: SocketAddr, buf: &mut [u8]) -> Option<usize> {
            buf[0] = self.number;
            Some(1)
        }

        fn authenticated(&mut self) -> Option<&mut dyn Authenticated> {
            Some(self)
        }
    }

    impl Authenticated for Numbered {
        fn connection(&mut self, _: Duration, _: SocketAddr, _: ConnectionStep) {
            self.told += 1;
        }

        fn knows(&mut self, _: SocketAddr) -> bool {
            self.number == 1
        }

        fn keeps(&mut self, _: SocketAddr) -> bool {
            self.number == 2
        }
    }

    #[test]
    fn each_role_has_its_protocol_and_players_send_first() {
        let (role, now, mut buf) = (PeerRole::Spectator, Duration::ZERO, [0; 8]);
        let mut players = Numbered { number: 1, left: 2, ..Numbered::default() };
        let mut spectators = Numbered { number: 2, left: 2, ..Numbered::default() };
        let [player, spectator] = [PeerRole::Player, role].map(|role| role.inner_addr(7));
        let mut both = ByRole { others: &mut players, role, side: &mut spectators };
        both.handle_datagram(now, player, &[3]);
        both.handle_datagram(now, spectator, &[4]);
        both.handle_datagram(now, ([192, 0, 2, 1], 7).into(), &[5]);
        let mut sent = Vec::new();
        while both.poll_transmit(now, &mut buf).is_some() {
            sent.push(buf[0]);
        }
        assert_eq!(sent, [1, 1, 2, 2]);
        assert_eq!((both.poll_timeout(), both.lingers()), (Some(Duration::from_secs(8)), true));
        assert!(!both.wants_attention(now), "spectators wake nobody");
        assert_eq!([player, spectator].map(|peer| both.knows(peer)), [true, false]);
        assert_eq!([player, spectator].map(|peer| both.keeps(peer)), [false, true]);
        let served =
            [PeerRole::Host, PeerRole::Player, role, PeerRole::Rejoiner].map(|role| both.serves(role));
        assert_eq!(served, [true, true, true, false]);
        let opened = [player, spectator].map(|peer| both.opening(now, peer, &mut buf).map(|_| buf[0]));
        assert_eq!(opened, [Some(1), Some(2)]);
        both.connection(now, spectator, ConnectionStep::Gone);
        assert_eq!((players.heard, spectators.heard), (vec![3, 5], vec![4]));
        assert_eq!((players.told, spectators.told), (0, 1));
    }
}
