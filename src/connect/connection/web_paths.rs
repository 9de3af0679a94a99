//! The paths of a connection in a page: data channels of the browser, at a rendezvous.

use super::ConnectError;
use super::opening::{Here, Opening};
use super::peer::{ConnectionStats, PeerInfo};
use crate::Protocol;
use crate::connect::invite::{Rendezvous, ServerName};
use crate::connect::seal::Seal;
use crate::connect::web::layer::WebLayer;
use crate::connect::web::traversal::WebTraversal;
use crate::net::system::Servers;
use core::time::Duration;
use std::net::SocketAddr;

/// The relay policy, which has no choices: the browser decides.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RelayPolicy(());
/// The paths and the encryption around a protocol.
pub(super) type Around<'a, P> = WebLayer<'a, P>;

/// An offer cannot be read.
#[derive(Debug)]
pub(super) enum Offer {}

/// The paths of a page.
#[derive(Debug)]
pub(super) struct Paths {
    web: WebTraversal,
}

/// Tells offers from addresses, no more.
pub(super) fn read_offer(text: &str) -> Result<Option<Offer>, ConnectError> {
    if text.trim_start().starts_with("rebout-") { Err(without()) } else { Ok(None) }
}

pub(super) fn hides(_: &RelayPolicy) -> bool {
    false
}

pub(super) fn read_relay(_: &str) -> Option<RelayPolicy> {
    Some(RelayPolicy(()))
}

fn without() -> ConnectError {
    ConnectError::Options { why: "a page meets others at a rendezvous, and has no offers" }
}

impl Paths {
    pub(super) fn host(
        opening: &Opening<'_>,
        seal: &Seal,
        (server, _): Servers,
        name: Option<&ServerName>,
    ) -> Result<(Self, Rendezvous), ConnectError> {
        let secret =
            seal.secret_key().ok_or(ConnectError::Options { why: "only a host by invite has a room" })?;
        let web = WebTraversal::host(server, name, &secret, opening.options.drawn()?)?;
        let rendezvous = web.rendezvous().ok_or(ConnectError::Options { why: "only a host has a room" })?;
        Ok((Self { web }, rendezvous))
    }

    pub(super) fn join(
        opening: &Opening<'_>,
        rendezvous: &Rendezvous,
        _: Vec<SocketAddr>,
        name: Option<&ServerName>,
        _: bool,
    ) -> Result<Self, ConnectError> {
        Ok(Self { web: WebTraversal::join(rendezvous, name, opening.options.drawn()?)? })
    }

    pub(super) fn relay_word(&self) -> &'static str {
        "allow"
    }

    /// A page that was closed does not come back into a match: it has no room of its own for that.
    pub(super) fn room_of(&self, _: &[u8; 32]) -> Option<(Rendezvous, Option<ServerName>)> {
        None
    }

    pub(super) fn open_room(&mut self, _: &[u8; 32]) {}

    pub(super) fn close_room(&mut self, _: &[u8; 32]) {}

    // A page keeps no ticket, so that no host of its own comes back at another address.
    pub(super) fn forget_host(&mut self, _: SocketAddr) {}

    pub(super) fn offer(_: &Opening<'_>, _: &mut Seal) -> Result<(Self, Option<String>), ConnectError> {
        Err(without())
    }

    pub(super) fn answer(
        _: &Opening<'_>,
        offer: &Offer,
    ) -> Result<(Self, Seal, Option<String>), ConnectError> {
        match *offer {}
    }

    pub(super) fn owes_text(&self) -> bool {
        false
    }

    pub(super) fn take_text(&mut self, _: Duration, _: &mut Seal) -> Option<String> {
        None
    }

    pub(super) fn around<'a, P: Protocol>(
        &'a mut self,
        seal: &'a mut Seal,
        inner: &'a mut P,
    ) -> Around<'a, P> {
        self.web.around(seal, inner)
    }

    pub(super) fn take_answer(&mut self, _: Duration, _: &mut Seal, _: &str) -> Result<(), ConnectError> {
        Err(without())
    }

    pub(super) fn is_manual(&self) -> bool {
        false
    }

    pub(super) fn release(&mut self, _: Duration) {
        self.web.close();
    }

    pub(super) fn expect_spectators(&mut self, _: u8) {}

    pub(super) fn moved(&mut self, _: &Here) {}

    pub(super) fn progress(&self) -> String {
        self.web.progress()
    }

    pub(super) fn failure(&self, now: Duration) -> Option<ConnectError> {
        self.web.failure(now).map(|why| ConnectError::NoPath { why })
    }

    pub(super) fn describe(&self, _: &Seal, _: SocketAddr, _: &mut PeerInfo) {}

    pub(super) fn count(&self, stats: &mut ConnectionStats) {
        stats.refused += self.web.refused();
    }
}
