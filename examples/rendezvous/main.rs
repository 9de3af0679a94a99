//! A rendezvous server on a UDP socket: `cargo run --release --features tls --example rendezvous`. `docs/NAT.md` tells
//! how to deploy it beside a TURN server. With the feature `nat` alone it has no TLS.
//!
//! It runs until Ctrl-C or `kill`, and then prints its counters. Who met whom is printed with `--log-meetings` alone.

mod counters;
mod metrics;
mod stop;
#[cfg(feature = "tls")]
mod tls;
mod web;

use clap::Parser;
use rebout::Randomness;
use rebout::net::udp::UdpDriver;
use rebout::rendezvous::{RendezvousConfig, RendezvousServer, TurnService};
use std::error::Error;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The environment variable that has the secret shared with the TURN server. A command line is seen by everybody.
const SECRET_VARIABLE: &str = "REBOUT_TURN_SECRET";

/// A stop that somebody has asked for is noticed after this long at the latest.
const LOOK_UP_EVERY: Duration = Duration::from_millis(100);

/// A rendezvous server: hosts without a reachable port are found here by their invite.
///
/// The secret shared with a TURN server comes from --turn-secret-file or from the environment variable REBOUT_TURN_SECRET.
#[derive(Parser)]
#[command(name = "rendezvous", version, max_term_width = 100)]
struct Args {
    /// The address to listen on. `[::]` accepts IPv6 and IPv4.
    #[arg(long, default_value = "[::]:3479")]
    bind: SocketAddr,
    /// The address of the TURN server, as players reach it.
    #[arg(long, value_name = "ADDRESS")]
    turn: Option<SocketAddr>,
    /// A file with the secret shared with the TURN server. Other users must not be able to read it.
    #[arg(long, value_name = "FILE", requires = "turn")]
    turn_secret_file: Option<PathBuf>,
    /// The lifetime of TURN credentials in seconds.
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u16).range(60..))]
    turn_valid: u16,
    /// The maximum number of rooms.
    #[arg(long, default_value_t = 10_000)]
    max_rooms: usize,
    /// The maximum number of rooms of one IPv4 address or IPv6 /64.
    #[arg(long, default_value_t = 32)]
    max_rooms_per_source: usize,
    /// The maximum number of signature checks a second, besides those that keep rooms open.
    #[arg(long, default_value_t = 2_000)]
    max_signatures: u32,
    /// The maximum number of guests that wait for an answer.
    #[arg(long, default_value_t = 4_096)]
    max_guests: usize,
    #[cfg(feature = "tls")]
    #[command(flatten)]
    tls: tls::TlsArgs,
    #[command(flatten)]
    web: web::WebArgs,
    /// Print the counters every this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    report: Option<u64>,
    /// Serve the counters to Prometheus over HTTP, at /metrics of this address. Anybody who reaches it can read them: use a loopback
    /// address, or one of a private network.
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    /// Log the addresses of each host and guest that meet. By default they are not logged.
    #[arg(long)]
    log_meetings: bool,
    /// Print JSON, one object a line.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    match serve(&signals::arguments()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "rendezvous: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(args: &Args) -> Result<(), Box<dyn Error>> {
    let turn = args.turn.map(|server| turn(server, args.turn_secret_file.as_deref())).transpose()?;
    let mut udp =
        UdpDriver::bind(args.bind).map_err(|error| format!("cannot listen on {}: {error}", args.bind))?;
    let unix =
        SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| "the clock shows a time before 1970")?;
    let config = RendezvousConfig {
        turn,
        unix_at_zero: unix.saturating_sub(udp.now()).as_secs(),
        credentials_valid: Duration::from_secs(args.turn_valid.into()),
        max_rooms: args.max_rooms,
        max_rooms_per_source: args.max_rooms_per_source,
        max_guests: args.max_guests,
        max_signatures_per_second: args.max_signatures,
        reports_meetings: args.log_meetings,
        ..RendezvousConfig::default()
    };
    let mut server = RendezvousServer::new(config, Randomness::System)
        .ok_or("the operating system has no random bytes")?;
    #[cfg(feature = "tls")]
    let tls = args.tls.listen(&mut udp)?;
    #[cfg(not(feature = "tls"))]
    let tls: Option<SocketAddr> = None;
    let mut web = args.web.listen()?;
    let metrics = args.metrics.map(metrics::Page::serve).transpose()?;
    stop::listen();
    let addr = udp.local_addr();
    let with = args.turn.map_or("no TURN server".to_owned(), |turn| format!("the TURN server {turn}"));
    say(
        args.json,
        "serving",
        &[("address", addr.to_string())],
        &format!("the rendezvous is open at {addr}, with {with}"),
    );
    if let Some(addr) = tls {
        say(
            args.json,
            "tls",
            &[("address", addr.to_string())],
            &format!("clients over TLS are accepted at {addr}"),
        );
    }
    if let Some(web) = &web {
        let addr = web.addr();
        say(
            args.json,
            "web",
            &[("address", addr.to_string())],
            &format!("pages in a browser are accepted at ws://{addr}"),
        );
    }
    if let Some(page) = &metrics {
        let url = format!("http://{}/metrics", page.addr());
        say(args.json, "metrics", &[("url", url.clone())], &format!("the counters are at {url}"));
    }
    let mut report_at = args.report.map(Duration::from_secs);
    while !stop::is_asked_for() {
        let patience = web.as_ref().map_or(LOOK_UP_EVERY, |web| web.patience(LOOK_UP_EVERY));
        let deadline = udp.now() + patience;
        udp.run_until(&mut web::Doors { server: &mut server, web: web.as_mut() }, deadline)?;
        if let Some(page) = &metrics {
            page.answer(|| counters::prometheus(&server, web.as_ref()));
        }
        while let Some(met) = server.poll_meeting() {
            let fields = [("host", met.host.to_string()), ("guest", met.guest.to_string())];
            say(args.json, "met", &fields, &format!("{} met {}", met.guest, met.host));
        }
        if let (Some(at), Some(every)) = (report_at, args.report)
            && at <= udp.now()
        {
            report(&server, web.as_ref(), "report", args.json);
            report_at = Some(udp.now() + Duration::from_secs(every));
        }
    }
    report(&server, web.as_ref(), "closed", args.json);
    Ok(())
}

/// The TURN server and the secret shared with it.
fn turn(server: SocketAddr, file: Option<&Path>) -> Result<TurnService, Box<dyn Error>> {
    let secret = match file {
        Some(path) => secret_file(path)?,
        None => std::env::var(SECRET_VARIABLE).map_err(|_| {
            format!("a TURN server needs the secret shared with it: name a file by --turn-secret-file, or set {SECRET_VARIABLE}")
        })?,
    };
    let secret = secret.trim();
    if secret.is_empty() {
        return Err("the secret shared with the TURN server is empty".into());
    }
    Ok(TurnService { server, secret: secret.as_bytes().to_vec() })
}

fn secret_file(path: &Path) -> Result<String, Box<dyn Error>> {
    let named = |error| format!("cannot read the secret in {}: {error}", path.display());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(path).map_err(named)?.permissions().mode();
        if mode & 0o007 != 0 {
            let fix = format!("chmod o= {}", path.display());
            return Err(format!("everybody can read the secret in {}: {fix}", path.display()).into());
        }
    }
    std::fs::read_to_string(path).map_err(|error| named(error).into())
}

/// Prints the counters, and those refusals that there were.
fn report(server: &RendezvousServer, web: Option<&web::Web>, event: &str, json: bool) {
    let fields: Vec<_> = counters::all(server, web)
        .into_iter()
        .map(|counter| (counter.name, counter.value))
        .chain(counters::refused(server).map(|(refusal, count)| (refusal.name(), count)))
        .map(|(name, value)| (name, value.to_string()))
        .collect();
    say(json, event, &fields, &counters::words(server, web));
}

/// Prints one line, as words or as JSON. Numbers and addresses need no escapes.
fn say(json: bool, event: &str, fields: &[(&str, String)], words: &str) {
    if json {
        let quoted = |value: &str| match value.parse::<u64>() {
            Ok(_) => value.to_owned(),
            Err(_) => format!("\"{value}\""),
        };
        let fields: String =
            fields.iter().map(|(name, value)| format!(",\"{name}\":{}", quoted(value))).collect();
        tell(&format!("{{\"event\":\"{event}\"{fields}}}"));
    } else {
        tell(words);
    }
}

/// Prints one line. A reader that has closed the pipe ends the output and never the server.
fn tell(line: &str) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
