//! A browser has no spectators: see `broadcast`.

use super::now::Finish;
use super::options::{Match, NoBroadcast};
use crate::net::Datagrams;
use crate::net::ticket::SpectatorKeys;
use crate::replay::Winner;
use crate::{Agreed, ConnectError, Connection, Event, Fields, Frame, Inputs, Player, Protocol, Session};
use core::time::Duration;
use std::io;

#[derive(Debug, Default)]
pub(super) struct Audience;

impl Audience {
    pub(super) fn open<D: Datagrams>(
        _: Option<NoBroadcast>,
        _: &mut Connection<D>,
    ) -> Result<Self, ConnectError> {
        Ok(Self)
    }

    pub(super) fn reopen<D: Datagrams>(
        _: Option<NoBroadcast>,
        _: &mut Connection<D>,
        _: Option<SpectatorKeys>,
    ) -> Result<Self, ConnectError> {
        Ok(Self)
    }

    pub(super) fn keys<D: Datagrams>(&self, _: &Connection<D>) -> Option<SpectatorKeys> {
        None
    }

    pub(super) fn log(&mut self, _: Duration, _: Frame, _: Inputs) {}

    #[inline]
    pub(super) fn run<P: Protocol, D: Datagrams>(
        &mut self,
        connection: &mut Connection<D>,
        protocol: &mut P,
        deadline: Option<Duration>,
    ) -> io::Result<Duration> {
        match deadline {
            Some(deadline) => connection.run_until(protocol, deadline),
            None => connection.poll(protocol),
        }
    }

    pub(super) fn close<P: Protocol, D: Datagrams>(
        &mut self,
        connection: &mut Connection<D>,
        protocol: &mut P,
        linger: Duration,
    ) -> io::Result<bool> {
        connection.close(protocol, linger)
    }

    pub(super) fn begin(&mut self, _: Duration, _: &Match, _: &Agreed) -> Option<String> {
        None
    }

    pub(super) fn lacks(&self) -> bool {
        false
    }

    pub(super) fn advanced<S: Fields>(&mut self, _: Duration, _: &Session<S>) {}

    pub(super) fn hear(&mut self, _: Duration, _: Player, _: &Event) {}

    pub(super) fn message(&mut self, _: Duration, _: Player, _: &[u8]) {}

    pub(super) fn delay(&mut self, _: Duration, _: Player, _: u8) {}

    pub(super) fn finish(&mut self, _: Duration, _: &Finish, _: Winner) {}
}
