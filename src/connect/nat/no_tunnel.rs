//! The data channels of a library without the feature `webrtc`: there are none.

use super::origin::Origin;
use crate::protocol::time::Time;
use std::net::SocketAddr;

/// First bytes of DTLS records.
pub(super) const DTLS: core::ops::RangeInclusive<u8> = 20..=63;

/// Never made.
#[derive(Clone, Debug)]
pub(super) enum Certificate {}

/// Never made.
#[derive(Debug)]
pub(super) enum Tunnel {}

pub(super) fn is_tunnel(_: SocketAddr) -> bool {
    false
}

impl Certificate {
    pub(super) fn draw() -> Option<Self> {
        None
    }

    pub(super) fn fingerprint(&self) -> [u8; 32] {
        match *self {}
    }
}

impl Tunnel {
    pub(super) fn new(_: Time, _: Origin, _: u64, own: &Certificate, _: [u8; 32], _: bool) -> Option<Self> {
        match *own {}
    }

    pub(super) fn addr(&self) -> SocketAddr {
        match *self {}
    }

    pub(super) fn take_opened(&mut self) -> bool {
        match *self {}
    }

    pub(super) fn take_refused(&mut self) -> u64 {
        match *self {}
    }

    pub(super) fn handle(&mut self, _: Time, _: &[u8]) {
        match *self {}
    }

    pub(super) fn send(&mut self, _: Time, _: &[u8]) -> bool {
        match *self {}
    }

    pub(super) fn run(&mut self, _: Time) {
        match *self {}
    }

    pub(super) fn deadline(&self) -> Time {
        match *self {}
    }

    pub(super) fn pop_message(&mut self) -> Option<Vec<u8>> {
        match *self {}
    }

    pub(super) fn pop_datagram(&mut self) -> Option<Vec<u8>> {
        match *self {}
    }
}
