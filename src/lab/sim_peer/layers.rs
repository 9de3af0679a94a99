//! The lobby or the match of a machine, and the layers of a connection around it.

use super::{SimPeer, Stage};
#[cfg(feature = "nat")]
use crate::connect::nat::NatTraversal;
#[cfg(feature = "seal")]
use crate::connect::seal::Seal;
#[cfg(feature = "seal")]
use crate::online::Beside;
#[cfg(feature = "seal")]
use crate::protocol::{ByRole, PeerRole};
use crate::{Game, Protocol};
use std::marker::PhantomData;

impl<G: Game> SimPeer<G> {
    /// The lobby or the match, with the layers around it.
    pub(super) fn outside<R>(&mut self, call: impl FnOnce(&mut dyn Protocol) -> R) -> Option<R> {
        #[cfg(feature = "nat")]
        if let Some(server) = &mut self.server {
            return Some(call(&mut **server));
        }
        let layers = Layers {
            #[cfg(feature = "seal")]
            seal: self.seal.as_mut(),
            #[cfg(feature = "nat")]
            nat: self.nat.as_mut(),
            #[cfg(feature = "seal")]
            audience: self.audience.as_deref_mut(),
            _none: PhantomData,
        };
        #[cfg(feature = "seal")]
        if let Some(spectator) = &mut self.spectator {
            return Some(layers.around(&mut **spectator, call));
        }
        match &mut self.stage {
            Stage::Lobby(lobby) => Some(layers.around(lobby.as_mut()?, call)),
            Stage::Match(session, _) => {
                #[cfg(feature = "seal")]
                if let Some(lobby) = self.rejoin.as_mut().and_then(|rejoin| rejoin.lobby_mut()) {
                    return Some(layers.around(&mut Beside { session, lobby }, call));
                }
                Some(layers.around(session, call))
            }
        }
    }
}

/// The layers of a connection around the lobby or the match of a machine.
struct Layers<'a> {
    #[cfg(feature = "seal")]
    seal: Option<&'a mut Seal>,
    #[cfg(feature = "nat")]
    nat: Option<&'a mut NatTraversal>,
    #[cfg(feature = "seal")]
    audience: Option<&'a mut super::watching::Audience>,
    /// Without these features there is no layer to borrow.
    _none: PhantomData<&'a ()>,
}

impl Layers<'_> {
    fn around<R>(self, inner: &mut impl Protocol, call: impl FnOnce(&mut dyn Protocol) -> R) -> R {
        #[cfg(feature = "seal")]
        if let Some(seal) = self.seal {
            if let Some(audience) = self.audience {
                let side = audience.broadcast_mut();
                return call(&mut seal.around(&mut ByRole {
                    others: inner,
                    role: PeerRole::Spectator,
                    side,
                }));
            }
            #[cfg(feature = "nat")]
            if let Some(nat) = self.nat {
                return call(&mut nat.around(seal, inner));
            }
            return call(&mut seal.around(inner));
        }
        call(inner)
    }
}
