//! The forwarded port of a host in a library without the features `nat` and `udp`: there is none.

use super::opening::Here;
use core::time::Duration;

pub(super) const LOOK_EVERY: Duration = Duration::MAX;

/// Never made.
#[derive(Debug)]
pub(super) enum Ports {}

impl Ports {
    pub(super) fn delays_offer(&self, _: Duration) -> bool {
        match *self {}
    }

    pub(super) fn poll(&mut self) -> Option<Here> {
        match *self {}
    }

    pub(super) fn is_over(&self) -> bool {
        match *self {}
    }

    pub(super) fn release(&mut self) {
        match *self {}
    }

    pub(super) fn wait(&mut self, _: Duration) {
        match *self {}
    }
}
