//! The paths of a page around a sealed protocol: the way of each datagram in and out.

use super::addr::{SERVER, is_channel};
use super::control::News;
use super::traversal::WebTraversal;
use crate::connect::seal::Seal;
use crate::protocol::time::Time;
use crate::protocol::{MAX_DATAGRAM, Protocol};
use core::time::Duration;
use std::net::SocketAddr;

/// First bytes of packets that may bring a signal.
const RESP: u8 = 0xE3;
const CONTROL: u8 = 0xE7;

/// [`WebTraversal`] around a [`Seal`] around a [`Protocol`].
#[derive(Debug)]
pub(crate) struct WebLayer<'a, P> {
    web: &'a mut WebTraversal,
    seal: &'a mut Seal,
    inner: &'a mut P,
}

impl<'a, P: Protocol> WebLayer<'a, P> {
    pub(super) fn new(web: &'a mut WebTraversal, seal: &'a mut Seal, inner: &'a mut P) -> Self {
        Self { web, seal, inner }
    }
}

impl<P: Protocol> Protocol for WebLayer<'_, P> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        if from == SERVER {
            self.web.take_from_server(now, datagram);
        } else if let Some(news) = News::decode(datagram).filter(|_| is_channel(from)) {
            self.web.take_news(now.into(), from, news, self.seal);
        } else if self.web.is_peer(from) {
            self.seal.around(self.inner).handle_datagram(now, from, datagram);
            if matches!(datagram.first(), Some(&(RESP | CONTROL))) {
                self.web.stir();
            }
        } else {
            self.web.refuse();
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        if self.web.next_at() <= Time::from(now) {
            self.web.work(now.into(), self.seal);
        }
        while let Some((to, datagram)) = self.web.pop() {
            if let Some(front) = buf.get_mut(..datagram.len()) {
                front.copy_from_slice(&datagram);
                return Some((to, datagram.len()));
            }
        }
        let room = buf.len().min(MAX_DATAGRAM);
        loop {
            let (to, len) = self.seal.around(self.inner).poll_transmit(now, &mut buf[..room])?;
            // There is no other way out of a page.
            if is_channel(to) {
                return Some((to, len));
            }
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        let own = Some(Duration::from(self.web.next_at()));
        [self.inner.poll_timeout(), self.seal.poll_timeout(), own].into_iter().flatten().min()
    }

    fn wants_attention(&self, now: Duration) -> bool {
        self.inner.wants_attention(now)
    }

    fn lingers(&self) -> bool {
        self.inner.lingers()
    }
}
