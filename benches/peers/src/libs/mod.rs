//! The libraries, each behind the same trait and in the loop that it recommends.

mod floor;
mod fortress;
mod ggrs;
mod rebout;
pub(crate) mod udp;

use crate::link::End;
use crate::sim_match::Machine;
use crate::world::{Paged, Script, World};
use ::rebout::Saving;
use std::net::SocketAddr;

pub(crate) use self::fortress::sync_test as fortress_sync_test;
pub(crate) use self::ggrs::sync_test as ggrs_sync_test;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Library {
    /// No library: a loop by hand.
    Floor,
    /// Rebout that saves every frame.
    Rebout,
    /// Rebout with its sparse saving.
    ReboutSparse,
    /// Rebout that saves every frame, with the same game on [`rebout::Pages`].
    ReboutPages,
    Ggrs,
    /// GGRS with its sparse saving.
    GgrsSparse,
    Fortress,
    FortressSparse,
}

impl Library {
    pub(crate) const ALL: [Self; 8] = [
        Self::Floor,
        Self::Rebout,
        Self::ReboutSparse,
        Self::ReboutPages,
        Self::Ggrs,
        Self::GgrsSparse,
        Self::Fortress,
        Self::FortressSparse,
    ];
    /// Those that differ on a link. Sparse saving changes nothing there.
    pub(crate) const ON_LINKS: [Self; 3] = [Self::Rebout, Self::Ggrs, Self::Fortress];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Floor => "by hand",
            Self::Rebout => "rebout",
            Self::ReboutSparse => "rebout sparse",
            Self::ReboutPages => "rebout Pages",
            Self::Ggrs => "GGRS",
            Self::GgrsSparse => "GGRS sparse",
            Self::Fortress => "Fortress",
            Self::FortressSparse => "Fortress sparse",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|library| library.name() == name)
    }
}

/// The configuration of both machines of a match.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    /// How many frames may be stepped on predictions, and so how deep a rollback may go. GGRS and Fortress count the
    /// frame that is stepped too: a prediction window of 9 is a depth of 8 there.
    pub(crate) depth_frames: u32,
    /// Whether states are hashed and compared, every thirtieth frame.
    pub(crate) checksums: bool,
    /// Whether a machine of GGRS or Fortress slows down when it is ahead. Rebout always does.
    pub(crate) paced: bool,
    /// The size of the state.
    pub(crate) bytes: usize,
    pub(crate) script: Script,
}

/// The frames between two compared checksums.
const CADENCE_FRAMES: u32 = 30;

impl Setup {
    pub(crate) fn new(bytes: usize, change_every: u32) -> Self {
        let script = Script { change_every, quiet_from: u32::MAX };
        Self { depth_frames: 8, checksums: true, paced: true, bytes, script }
    }

    /// Whether a state of a frame is hashed when it is saved. A sparse save may be of any frame.
    fn hashes(&self, frame: u32, sparse: bool) -> bool {
        self.checksums && (sparse || frame.is_multiple_of(CADENCE_FRAMES))
    }
}

fn address(of: usize) -> SocketAddr {
    ([192, 0, 2, 1 + of as u8], 7000).into()
}

/// A machine at one end of a link.
pub(crate) fn machine<W: World>(library: Library, setup: Setup, end: End) -> Box<dyn Machine> {
    let world = W::new(setup.bytes);
    match library {
        Library::Floor => Box::new(floor::ByHand::new(world, setup, end)),
        Library::Rebout => Box::new(rebout::Rebout::new(world, setup, Saving::Every, end)),
        Library::ReboutSparse => Box::new(rebout::Rebout::new(world, setup, Saving::Sparse, end)),
        Library::ReboutPages => {
            Box::new(rebout::Rebout::new(Paged::new(setup.bytes), setup, Saving::Every, end))
        }
        Library::Ggrs | Library::GgrsSparse => {
            let peer = address(1 - end.me);
            let (me, now) = (end.me, end.now.clone());
            let socket = ggrs::Socket::new(end);
            Box::new(ggrs::Ggrs::new(world, setup, library == Library::GgrsSparse, me, peer, socket, now))
        }
        Library::Fortress | Library::FortressSparse => {
            let peer = address(1 - end.me);
            let (me, now) = (end.me, end.now.clone());
            let sparse = library == Library::FortressSparse;
            let socket = fortress::Socket::new(end);
            Box::new(fortress::Fortress::new(world, setup, sparse, me, peer, socket, now))
        }
    }
}
