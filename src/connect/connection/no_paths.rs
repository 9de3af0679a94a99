//! The paths of a connection in a library without the feature `nat`: there are none.

use super::ConnectError;
use super::opening::{Here, Opening};
use super::peer::{ConnectionStats, PeerInfo};
use crate::Protocol;
use crate::connect::invite::{Rendezvous, ServerName};
use crate::connect::seal::{Seal, Sealed};
use crate::net::system::Servers;
use core::time::Duration;
use std::net::SocketAddr;

const WITHOUT: &str = "this program was built without the feature that finds paths through routers";

/// The relay policy, which has no choices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RelayPolicy(());
/// Never made.
pub(super) type Around<'a, P> = Sealed<'a, P>;

/// An offer cannot be read.
#[derive(Debug)]
pub(super) enum Offer {}

/// Paths, of which there are none.
#[derive(Debug)]
pub(super) enum Paths {}

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
    ConnectError::Options { why: WITHOUT }
}

impl Paths {
    pub(super) fn host(
        _: &Opening<'_>,
        _: &Seal,
        _: Servers,
        _: Option<&ServerName>,
    ) -> Result<(Self, Rendezvous), ConnectError> {
        Err(without())
    }

    pub(super) fn join(
        _: &Opening<'_>,
        _: &Rendezvous,
        _: Vec<SocketAddr>,
        _: Option<&ServerName>,
        _: bool,
    ) -> Result<Self, ConnectError> {
        Err(without())
    }

    pub(super) fn relay_word(&self) -> &'static str {
        match *self {}
    }

    pub(super) fn room_of(&self, _: &[u8; 32]) -> Option<(Rendezvous, Option<ServerName>)> {
        match *self {}
    }

    pub(super) fn open_room(&mut self, _: &[u8; 32]) {
        match *self {}
    }

    pub(super) fn close_room(&mut self, _: &[u8; 32]) {
        match *self {}
    }

    pub(super) fn forget_host(&mut self, _: SocketAddr) {
        match *self {}
    }

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
        match *self {}
    }

    pub(super) fn take_text(&mut self, _: Duration, _: &mut Seal) -> Option<String> {
        match *self {}
    }

    pub(super) fn around<'a, P: Protocol>(&mut self, _: &'a mut Seal, _: &'a mut P) -> Around<'a, P> {
        match *self {}
    }

    pub(super) fn take_answer(&mut self, _: Duration, _: &mut Seal, _: &str) -> Result<(), ConnectError> {
        match *self {}
    }

    pub(super) fn is_manual(&self) -> bool {
        match *self {}
    }

    pub(super) fn release(&mut self, _: Duration) {
        match *self {}
    }

    pub(super) fn expect_spectators(&mut self, _: u8) {
        match *self {}
    }

    pub(super) fn moved(&mut self, _: &Here) {
        match *self {}
    }

    pub(super) fn progress(&self) -> String {
        match *self {}
    }

    pub(super) fn failure(&self, _: Duration) -> Option<ConnectError> {
        match *self {}
    }

    pub(super) fn describe(&self, _: &Seal, _: SocketAddr, _: &mut PeerInfo) {
        match *self {}
    }

    pub(super) fn count(&self, _: &mut ConnectionStats) {
        match *self {}
    }
}
