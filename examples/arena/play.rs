//! A player or a bot over UDP.

use crate::draw::draw;
use crate::hands::{Hands, Keys};
use crate::serve::{Service, serve};
use crate::world::{Arena, KILLED};
use crate::{Outcome, entropy, say};
use rebout::authority::{Client, ClientConfig, ClientEvent, Reason};
use rebout::net::link::LinkConfig;
use rebout::net::relay::Relay;
use rebout::net::udp::UdpDriver;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How a client plays.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    /// When to leave.
    pub(crate) seconds: Option<u64>,
    /// When a silent server is lost.
    pub(crate) timeout: u64,
    /// The link to the server, if it is to be worse than it is.
    pub(crate) link: Option<LinkConfig>,
    pub(crate) json: bool,
}

pub(crate) fn join(server: SocketAddr, way: &Way, bot: bool) -> Outcome {
    let hands = if bot || !std::io::stdin().is_terminal() {
        Hands::Bot(entropy())
    } else {
        stty(&["-icanon", "-echo"]);
        Hands::Keys(Keys::listen())
    };
    let reason = play(server, way, hands, "");
    stty(&["sane"]);
    match reason? {
        Reason::Left => Ok(()),
        reason => Err(reason.to_string().into()),
    }
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

fn play(server: SocketAddr, way: &Way, mut hands: Hands, name: &str) -> Outcome<Reason> {
    let Way { seconds, timeout, link, json } = *way;
    let relay = link.map(|link| Relay::start(any_port(server), server, link, entropy())).transpose()?;
    let server = relay.as_ref().map_or(server, Relay::addr);
    let mut udp = UdpDriver::bind(any_port(server))?;
    let mut config = ClientConfig::new(entropy());
    config.timeout = Duration::from_secs(timeout);
    let (mut client, world) = (Client::join(config, server)?, Arena::new());
    let mut seen = Seen::default();
    let end = seconds.map(|seconds| udp.now() + Duration::from_secs(seconds));
    loop {
        let due = client.next_frame_at();
        udp.run_until(&mut client, due)?;
        let now = udp.now();
        client.advance(now, &world, hands.command(now));
        udp.flush(&mut client)?;
        while let Some(event) = client.poll_event() {
            match event {
                ClientEvent::Joined { id } => {
                    let words = format!("{name}you are player {id}");
                    say(json, "joined", &[("id", id.to_string())], &words);
                }
                ClientEvent::Told { told, .. } if told.bytes().first() == Some(&KILLED) => seen.kills += 1,
                ClientEvent::Over(reason) => {
                    udp.close(&mut client, Duration::from_secs(1))?;
                    report(&client, json, name, seen, reason);
                    return Ok(reason);
                }
                _ => {}
            }
        }
        seen.most_others = seen.most_others.max(client.others().count());
        let shots = client.render_frame().map_or(0, |at| client.shots(at).count());
        seen.most_shots = seen.most_shots.max(shots);
        let mut quit = end.is_some_and(|end| now >= end) || signals::asked_to_stop();
        if let Hands::Keys(keys) = &hands {
            draw(&client, keys.raw, seen.kills);
            quit |= keys.quit;
        }
        if quit {
            client.leave(now);
        }
    }
}

/// A free port on this machine, on the loopback where the server is.
fn any_port(server: SocketAddr) -> SocketAddr {
    match (server.ip().is_loopback(), server) {
        (true, _) => SocketAddr::new(server.ip(), 0),
        (false, SocketAddr::V4(_)) => SocketAddr::from(([0, 0, 0, 0], 0)),
        (false, SocketAddr::V6(_)) => SocketAddr::from(([0_u16; 8], 0)),
    }
}

/// Says how it was.
fn report(client: &Client, json: bool, name: &str, seen: Seen, reason: Reason) {
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

pub(crate) fn bots(clients: u8, way: &Way) -> Outcome {
    let way = *way;
    let udp = UdpDriver::bind("127.0.0.1:0".parse()?)?;
    let addr = udp.local_addr();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    // All bots come from one address.
    let service = Service { seconds: None, timeout: 10, per_source: u8::MAX, json: way.json };
    let serving = thread::spawn(move || serve(udp, &service, || stopped.load(Ordering::Relaxed)));
    let playing: Vec<_> = (0..clients)
        .map(|n| {
            let name = format!("bot {n}: ");
            thread::spawn(move || play(addr, &way, Hands::Bot(u64::from(n) * 77), &name))
        })
        .collect();
    for bot in playing {
        bot.join().map_err(|_| "a bot has panicked")??;
    }
    stop.store(true, Ordering::Relaxed);
    serving.join().map_err(|_| "the server has panicked")?
}
