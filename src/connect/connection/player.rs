//! The key of the player at this machine, and the players that are let in.

use super::options::Key;
use super::{ConnectError, ConnectOptions, Connection, Role};
use crate::PlayerKey;
use crate::connect::seal::{Seal, TurnedAway};
use crate::net::{Datagrams, private};
use std::io;

const NO_ENCRYPTION: &str =
    "a player is known by a key on encrypted connections only: leave bare or only out";

impl ConnectOptions {
    /// Gives the player's key to the encryption of a connection, and the players that are let in. A spectator shows no key.
    pub(super) fn introduce(&self, role: &Role, seal: Option<&mut Seal>) -> Result<(), ConnectError> {
        if matches!(role, Role::Join { broadcast_key: Some(_), .. }) {
            return Ok(());
        }
        let Some(seal) = seal else {
            let names_nobody = self.only.is_empty();
            return if names_nobody { Ok(()) } else { Err(ConnectError::Options { why: NO_ENCRYPTION }) };
        };
        if let Some(key) = self.secret_player_key()? {
            seal.set_player_key(key);
        }
        seal.only(&self.only);
        Ok(())
    }

    fn secret_player_key(&self) -> Result<Option<[u8; 32]>, ConnectError> {
        let path = match &self.player_key {
            Key::New => return Ok(None),
            Key::Given(key) => return Ok(Some(*key)),
            Key::Kept(path) => path,
        };
        let failed = |error| ConnectError::key_file(path, &error);
        if let Some(key) = private::read_key(path).map_err(failed)? {
            return Ok(Some(key));
        }
        let key = self.drawn()?.secret_key(b"player").ok_or(ConnectError::Randomness)?;
        match private::write_key(path, &key) {
            Ok(()) => Ok(Some(key)),
            // Another program of this player was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                private::read_key(path).map_err(failed)
            }
            Err(error) => Err(failed(error)),
        }
    }
}

impl<D: Datagrams> Connection<D> {
    /// The public key of the player at this machine, if the options name one.
    #[must_use]
    pub fn player_key(&self) -> Option<PlayerKey> {
        self.layers.seal().and_then(Seal::player_key)
    }

    /// A text about the newest guest that was not let in by its player's key, once.
    pub(crate) fn take_stranger(&mut self) -> Option<String> {
        Some(match self.layers.seal_mut()?.take_stranger()? {
            Some(player) => format!("A guest was refused: its player key {player} is none that you let in."),
            None => "A guest was refused: it has proven no player key.".to_owned(),
        })
    }

    /// Why the keys of the two players keep them apart, if they do.
    pub(super) fn turned_away(&self) -> Option<ConnectError> {
        let seal = self.layers.seal()?;
        let why = match seal.turned_away()? {
            TurnedAway::NotNamed => match seal.player_key() {
                Some(own) => format!("The host lets in other players only. Your player key is {own}."),
                None => "The host lets in other players only.".to_owned(),
            },
            TurnedAway::NeedsKey => {
                "The host lets in certain players only, and this machine has no player key.".to_owned()
            }
            TurnedAway::OtherHost(player) => {
                format!("Another player hosts there, with the player key {player}.")
            }
            TurnedAway::UnprovenHost => {
                "The host has not proven the player key that this machine asks for.".to_owned()
            }
        };
        Some(ConnectError::OtherPlayer { why })
    }
}
