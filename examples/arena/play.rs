//! A player or a bot.

use crate::connect::{self, Target, host};
use crate::draw::draw;
use crate::input_source::{InputSource, Keys};
use crate::serve::{Service, serve};
use crate::{Outcome, entropy, say};
use games::arena::{Arena, KILLED};
use rebout::Connection;
use rebout::authority::{Client, ClientConfig, ClientEvent, GameWire, OverReason};
use rebout::lab::link::LinkConfig;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How a client plays.
#[derive(Clone, Copy)]
pub(crate) struct PlayOptions {
    /// When to leave.
    pub(crate) seconds: Option<u64>,
    /// When a silent server is lost.
    pub(crate) timeout: u64,
    /// The link to the server, if it is to be worse than it is.
    pub(crate) link: Option<LinkConfig>,
    pub(crate) json: bool,
}

pub(crate) fn join(target: &Target, options: &PlayOptions, bot: bool) -> Outcome {
    let source = if bot || !std::io::stdin().is_terminal() {
        InputSource::Bot(entropy())
    } else {
        stty(&["-icanon", "-echo"]);
        InputSource::Keys(Keys::listen())
    };
    let played = play(target, options, source, "");
    stty(&["sane"]);
    played
}

/// Sets the terminal, where there is one.
fn stty(args: &[&str]) {
    if std::io::stdin().is_terminal() {
        let _ = std::process::Command::new("stty").args(args).status();
    }
}

/// The other entities that a client has seen; the most of them at once, because bots leave one after the other.
#[derive(Clone, Copy, Default)]
struct Seen {
    kills: u32,
    most_others: usize,
    most_shots: usize,
}

fn play(target: &Target, options: &PlayOptions, mut source: InputSource, name: &str) -> Outcome {
    let PlayOptions { seconds, timeout, link, json } = *options;
    let (mut connection, _relay) = connect::join(target, link)?;
    let mut config = ClientConfig::new(entropy());
    (config.timeout, config.join_timeout) = (Duration::from_secs(timeout), Duration::from_secs(timeout));
    let (mut client, world) = (connection.client::<GameWire>(config)?, Arena::new());
    let mut seen = Seen::default();
    let begun = connection.now();
    let end = seconds.map(|seconds| begun + Duration::from_secs(seconds));
    loop {
        let due = client.next_frame_at();
        let now = connection.run_until(&mut client, due)?;
        client.advance(now, &world, source.command(now));
        connection.flush(&mut client)?;
        while let Some(event) = client.poll_event() {
            match event {
                ClientEvent::Joined { id } => {
                    let words = format!("{name}you are player {id}");
                    say(json, "joined", &[("id", id.to_string())], &words);
                }
                ClientEvent::Told { told, .. } if told.bytes().first() == Some(&KILLED) => seen.kills += 1,
                ClientEvent::Over(reason) => {
                    connection.close(&mut client, Duration::from_secs(1))?;
                    report(&client, json, name, seen, reason);
                    return ended(reason, &connection, now - begun);
                }
                _ => {}
            }
        }
        if client.id().is_none()
            && let Some(error) = connection.failure()
        {
            return Err(error.into());
        }
        seen.most_others = seen.most_others.max(client.others().count());
        let shots = client.render_frame().map_or(0, |at| client.shots(at).count());
        seen.most_shots = seen.most_shots.max(shots);
        let mut quit = end.is_some_and(|end| now >= end) || signals::asked_to_stop();
        if let InputSource::Keys(keys) = &source {
            draw(&client, keys.raw, seen.kills);
            quit |= keys.quit;
        }
        if quit {
            client.leave(now);
        }
    }
}

/// The end of a game, in words unless the player has left. `waited` is how long an answer was waited for.
fn ended(reason: OverReason, connection: &Connection, waited: Duration) -> Outcome {
    match reason {
        OverReason::Left => Ok(()),
        OverReason::NoAnswer if connection.is_encrypted() => Err(connection.no_answer(waited).into()),
        reason => Err(reason.to_string().into()),
    }
}

/// Says how it was.
fn report(client: &Client<GameWire>, json: bool, name: &str, seen: Seen, reason: OverReason) {
    let (stats, kills) = (client.stats(), seen.kills);
    let prediction = stats.prediction;
    let fields = [
        ("reason", reason.to_string()),
        ("steps", stats.steps.to_string()),
        ("snapshots", stats.snapshots.to_string()),
        ("compared", prediction.compared.to_string()),
        ("exact", prediction.exact.to_string()),
        ("others", seen.most_others.to_string()),
        ("shots", seen.most_shots.to_string()),
        ("kills", kills.to_string()),
        ("round_trip_ms", format!("{:.2}", stats.round_trip.as_secs_f64() * 1e3)),
    ];
    let words = format!(
        "{name}{reason}: {} steps, {} of {} predictions exact, {kills} kills seen",
        stats.steps, prediction.exact, prediction.compared
    );
    say(json, "over", &fields, &words);
}

pub(crate) fn bots(clients: u8, is_bare: bool, options: &PlayOptions) -> Outcome {
    let options = *options;
    let connection = host("127.0.0.1:0".parse()?, None, is_bare)?;
    let target = Target { text: connection.share().to_owned(), is_bare };
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    // All bots come from one address.
    let service = Service { seconds: None, timeout: 10, per_source: u8::MAX, json: options.json };
    let serving = thread::spawn(move || serve(connection, &service, || stopped.load(Ordering::Relaxed)));
    let playing: Vec<_> = (0..clients)
        .map(|n| {
            let (target, name) = (target.clone(), format!("bot {n}: "));
            thread::spawn(move || play(&target, &options, InputSource::Bot(u64::from(n) * 77), &name))
        })
        .collect();
    for bot in playing {
        bot.join().map_err(|_| "a bot has panicked")??;
    }
    stop.store(true, Ordering::Relaxed);
    serving.join().map_err(|_| "the server has panicked")?
}
