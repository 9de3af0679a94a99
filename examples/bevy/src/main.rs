//! Two worlds in one process play a match in virtual time, and say what they agree on.
//!
//! ```text
//! cargo run -p bevy_arena
//! ```

use bevy_arena::arena::{self, Broken, Traps};
use bevy_arena::online::{Online, begin, turn};
use bevy_arena::rollback::Snapshot;
use bevy_ecs::prelude::World;
use rebout::net::{Driver, Memory};
use rebout::{Config, Event, Input, Lobby, Session, Verdict};
use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The time of both worlds. A program with a window has a real clock here.
static MILLIS: AtomicU64 = AtomicU64::new(0);

fn clock() -> Duration {
    Duration::from_millis(MILLIS.load(Relaxed))
}

/// The transport. A program that plays over a network has `Udp` here.
type Wire = Memory<fn() -> Duration>;

fn main() -> ExitCode {
    match play() {
        Ok(agreed) => {
            println!("{agreed}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Sways up and down, and fires most of the time.
fn press(_: &World, session: &Session<Snapshot>) -> Input {
    let frame = session.current().0 + 17 * session.local().index() as u32;
    let way = if (frame / 40).is_multiple_of(2) { arena::UP } else { arena::DOWN };
    if frame % 90 < 60 { (way | arena::FIRE).into() } else { way.into() }
}

/// Plays a match from its handshake to its verdict.
fn play() -> Result<String, Box<dyn Error>> {
    let ends = Memory::pair(clock as fn() -> Duration);
    let config = |entropy| Config::new(0xBE).with(|config| config.lobby.entropy = Some(entropy));
    let join = Lobby::join(config(2), ends[0].local_addr())?;
    let mut lobbies = [Lobby::host(config(1))?, join];
    let mut drivers = ends.map(Driver::new);
    while lobbies.iter().any(|lobby| !matches!(lobby.agreed(), Ok(Some(_)))) {
        MILLIS.fetch_add(1, Relaxed);
        for (driver, lobby) in drivers.iter_mut().zip(&mut lobbies) {
            driver.poll(lobby)?;
            lobby.agreed()?;
        }
    }
    let mut worlds = Vec::new();
    for (driver, lobby) in drivers.into_iter().zip(lobbies) {
        let seed = lobby.agreed()?.ok_or("nothing is agreed on")?.seed;
        let mut world = arena::world(seed, Traps::default());
        begin(&mut world, lobby, driver)?;
        worlds.push(world);
    }
    let mut verdicts = vec![None; 2];
    while verdicts.contains(&None) {
        MILLIS.fetch_add(4, Relaxed);
        for (world, verdict) in worlds.iter_mut().zip(&mut verdicts) {
            turn::<Wire>(world, press)?;
            for event in world.resource_mut::<Online<Wire>>().events.drain(..) {
                match event {
                    Event::Ended(ended) => *verdict = Some(ended),
                    Event::Disconnected { reason } => return Err(reason.to_string().into()),
                    _ => {}
                }
            }
        }
    }
    let broken = worlds.iter().map(|world| world.resource::<Broken>().0).collect::<Vec<_>>();
    match (&verdicts[0], verdicts[0] == verdicts[1]) {
        (Some(Verdict::Agreed { frame, .. }), true) => {
            Ok(format!("both worlds agree after {frame} frames, with {} rocks broken", broken[0]))
        }
        _ => Err(format!("the worlds do not agree: {verdicts:?}").into()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_worlds_with_the_session_as_a_resource_agree() {
        let agreed = super::play().unwrap();
        assert!(agreed.starts_with("both worlds agree after "), "{agreed}");
    }
}
