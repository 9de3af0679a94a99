//! The session as a resource of the world that it plays.

use crate::rollback::{Rolled, Snapshot};
use bevy_ecs::prelude::{Mut, Resource, World};
use rebout::net::{Datagrams, Driver};
use rebout::{Event, Input, Lobby, LobbyError, Session};
use std::io;
use std::time::Duration;

/// A match and the driver that moves its datagrams.
#[derive(Resource)]
pub struct Online<D: Send + Sync + 'static> {
    session: Session<Snapshot>,
    driver: Driver<D>,
    /// The events that the game has not seen yet.
    pub events: Vec<Event>,
}

/// Begins the match that a lobby has agreed on, in a world that was made from its seed.
///
/// # Errors
/// If nothing was agreed on.
pub fn begin<D>(world: &mut World, lobby: Lobby, driver: Driver<D>) -> Result<(), LobbyError>
where
    D: Datagrams + Send + Sync + 'static,
{
    let session = lobby.start(driver.now(), &Rolled(&mut *world))?;
    world.insert_resource(Online { session, driver, events: Vec::new() });
    Ok(())
}

/// One turn of the engine's loop: moves datagrams, and plays the frames that are due. Returns the time.
///
/// The session is taken out of the world meanwhile, and the world is lent to it.
///
/// # Errors
/// A broken transport.
pub fn turn<D>(world: &mut World, press: impl Fn(&World, &Session<Snapshot>) -> Input) -> io::Result<Duration>
where
    D: Datagrams + Send + Sync + 'static,
{
    world.resource_scope(|world, mut online: Mut<'_, Online<D>>| {
        let Online { session, driver, events } = &mut *online;
        let now = driver.poll(session)?;
        while session.frame_due(now) {
            let input = press(world, session);
            session.advance(now, &mut Rolled(&mut *world), input);
            driver.flush(session)?;
        }
        events.extend(std::iter::from_fn(|| session.poll_event()));
        Ok(now)
    })
}
