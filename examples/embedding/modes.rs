//! The modes of the example besides those of `docs/EMBEDDING.md`.

use crate::{Terminal, engine, offline, online, own_loop};
use rebout::{ConnectOptions, Connection};
use std::error::Error;
use std::time::{Duration, Instant};

type Outcome = Result<(), Box<dyn Error>>;

const USAGE: &str =
    "usage: embedding host [RENDEZVOUS] | join INVITE | engine INVITE | loop [ADDRESS] | offline | test";

/// Runs the mode that the arguments name, if it is one of these.
pub(crate) fn run(args: &[&str]) -> Option<Outcome> {
    end_on_closed_pipe();
    match *args {
        ["--help" | "-h"] => Some(say(USAGE)),
        ["--version" | "-V"] => Some(say(concat!("embedding ", env!("CARGO_PKG_VERSION")))),
        ["host", rendezvous] => Some(host(rendezvous)),
        ["engine", invite] => Some(in_an_engine(invite)),
        ["loop"] => Some(on_the_parts(Connection::host(&ConnectOptions::new().bare().port(7000)))),
        ["loop", addr] => Some(on_the_parts(Connection::join(&ConnectOptions::new().bare(), addr))),
        ["offline"] => Some(at_one_machine()),
        _ => None,
    }
}

fn say(text: &str) -> Outcome {
    println!("{text}");
    Ok(())
}

/// Lets a reader that closes the pipe of our output end the program, where `println!` would panic.
fn end_on_closed_pipe() {
    #[cfg(unix)]
    {
        const SIGPIPE: i32 = 13;
        const DEFAULT: usize = 0;
        unsafe extern "C" {
            safe fn signal(number: i32, handler: usize) -> usize;
        }
        signal(SIGPIPE, DEFAULT);
    }
}

fn host(rendezvous: &str) -> Outcome {
    let online = online::open(online::options("Ada").rendezvous(rendezvous), None)?;
    println!("{}", online.share());
    println!("{}", online::play(online, &mut Terminal::default())?);
    Ok(())
}

fn in_an_engine(invite: &str) -> Outcome {
    let (mut online, mut game) = (online::open(online::options("Bob"), Some(invite))?, None);
    let mut terminal = Terminal::default();
    let finish = loop {
        if let Some(finish) = engine::turn(&mut online, &mut game, &mut terminal)? {
            break finish;
        }
        std::thread::sleep(Duration::from_millis(4)); // the engine's other work
    };
    println!("{finish}");
    Ok(online.close()?)
}

fn on_the_parts(connection: Result<Connection, rebout::ConnectError>) -> Outcome {
    let mut connection = connection?;
    println!("{}", connection.share());
    let lobby = own_loop::meet(&mut connection, own_loop::config("a bot"))?;
    if let Some(agreed) = lobby.agreed()? {
        println!("against {}", own_loop::name_of(agreed));
    }
    let own_loop::Played { verdict, game, replay } =
        own_loop::play(&mut connection, lobby, &mut Terminal::default())?;
    println!("{:?} after {} frames, {verdict:?}", game.points, replay.inputs.len());
    Ok(())
}

fn at_one_machine() -> Outcome {
    let begun = Instant::now();
    let played = offline::play_offline(7, &mut Terminal::default(), |until| {
        std::thread::sleep(until.saturating_sub(begun.elapsed()));
        begun.elapsed()
    })?;
    println!("{:?} after {} frames", played.game.points, played.replay.inputs.len());
    Ok(())
}
