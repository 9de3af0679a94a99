//! A match under siege: `cargo run --release --example siege -- 127.0.0.1:7000`, and join at the address that it prints.
//!
//! A relay between a joiner and a host, which sends blind guesses of every kind to the host between the real datagrams, from
//! the same address and port, as fast as one core can. That is what a stranger does who forges the joiner's address and
//! sees nothing of the match. Both machines must be this one: the relay sends to loopback addresses only.

use clap::Parser;
use rebout::lab::forge::Guesses;
use std::error::Error;
use std::net::{SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A relay to a host on this machine, with blind guesses from the joiner's address between the real datagrams.
#[derive(Parser)]
#[command(name = "siege", version, max_term_width = 100)]
struct Args {
    /// The address of the host.
    host: SocketAddr,
    /// The address that the joiner connects to; port 0 lets the system choose.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The duration of the guesses in seconds, from the joiner's first datagram on.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// The maximum number of guesses a second; 0 means no limit.
    #[arg(long, default_value_t = 0)]
    rate: u64,
    /// The seconds to wait for a joiner, and for the match to end after the guesses.
    #[arg(long, default_value_t = 60)]
    patience: u64,
}

/// What the threads of the relay share.
struct Relay {
    /// Towards the joiner and towards the host.
    front: UdpSocket,
    back: UdpSocket,
    host: SocketAddr,
    joiner: Mutex<Option<SocketAddr>>,
    forwarded: [AtomicU64; 2],
    guesses: AtomicU64,
    over: AtomicBool,
}

impl Relay {
    fn new(listen: SocketAddr, host: SocketAddr) -> Result<Self, Box<dyn Error>> {
        if !listen.ip().is_loopback() || !host.ip().is_loopback() {
            return Err("only addresses of this machine: nobody else is to be flooded".into());
        }
        let front = UdpSocket::bind(listen)?;
        let back = UdpSocket::bind(SocketAddr::new(host.ip(), 0))?;
        for socket in [&front, &back] {
            socket.set_read_timeout(Some(Duration::from_millis(100)))?;
        }
        let (forwarded, guesses, over) = (Default::default(), AtomicU64::new(0), AtomicBool::new(false));
        Ok(Self { front, back, host, joiner: Mutex::new(None), forwarded, guesses, over })
    }

    fn joiner(&self) -> Option<SocketAddr> {
        *self.joiner.lock().expect("no thread panics with it")
    }

    /// Carries what the joiner sends.
    fn carry_out(&self) {
        let mut buf = [0; 2_048];
        while !self.over.load(Relaxed) {
            if let Ok((len, from)) = self.front.recv_from(&mut buf) {
                *self.joiner.lock().expect("no thread panics with it") = Some(from);
                let sent = self.back.send_to(&buf[..len], self.host).is_ok();
                self.forwarded[0].fetch_add(u64::from(sent), Relaxed);
            }
        }
    }

    /// Carries what the host sends.
    fn carry_back(&self) {
        let mut buf = [0; 2_048];
        while !self.over.load(Relaxed) {
            if let (Ok((len, _)), Some(joiner)) = (self.back.recv_from(&mut buf), self.joiner()) {
                let sent = self.front.send_to(&buf[..len], joiner).is_ok();
                self.forwarded[1].fetch_add(u64::from(sent), Relaxed);
            }
        }
    }

    /// Guesses for this long.
    fn guess(&self, time: Duration, rate: u64) {
        let mut guesses = Guesses::new(u64::from(std::process::id()));
        let since = Instant::now();
        let mut sent = 0_u64;
        while since.elapsed() < time && !self.over.load(Relaxed) {
            for _ in 0..64 {
                sent += u64::from(self.back.send_to(guesses.draw(), self.host).is_ok());
            }
            self.guesses.store(sent, Relaxed);
            if rate > 0 {
                let due = Duration::from_secs_f64(sent as f64 / rate as f64);
                std::thread::sleep(due.saturating_sub(since.elapsed()));
            }
        }
    }

    fn carried(&self) -> u64 {
        self.forwarded.iter().map(|count| count.load(Relaxed)).sum()
    }

    /// Waits until `done`, at most so long; whether it was.
    fn wait(&self, time: Duration, mut done: impl FnMut(&Self) -> bool) -> bool {
        let since = Instant::now();
        while since.elapsed() < time {
            if done(self) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    }
}

fn siege(args: &Args) -> Result<(), Box<dyn Error>> {
    let relay = Relay::new(args.listen, args.host)?;
    println!("join at {}", relay.front.local_addr()?);
    let patience = Duration::from_secs(args.patience);
    std::thread::scope(|scope| {
        scope.spawn(|| relay.carry_out());
        scope.spawn(|| relay.carry_back());
        let came = relay.wait(patience, |relay| relay.joiner().is_some());
        if came {
            let since = Instant::now();
            relay.guess(Duration::from_secs(args.seconds), args.rate);
            let (seconds, sent) = (since.elapsed().as_secs_f64(), relay.guesses.load(Relaxed));
            let [out, back] = relay.forwarded.each_ref().map(|count| count.load(Relaxed));
            println!("{sent} guesses in {seconds:.1} s, {:.0} a second", sent as f64 / seconds);
            println!("{out} datagrams of the joiner, {back} of the host, its answers to guesses included");
            // The match goes on until nothing more is said for a second.
            let (mut last, mut quiet_since) = (relay.carried(), Instant::now());
            relay.wait(patience, |relay| {
                if relay.carried() != last {
                    (last, quiet_since) = (relay.carried(), Instant::now());
                }
                quiet_since.elapsed() > Duration::from_secs(1)
            });
        }
        relay.over.store(true, Relaxed);
        if came { Ok(()) } else { Err("nobody came".into()) }
    })
}

fn main() -> ExitCode {
    signals::end_on_closed_pipe();
    match siege(&signals::arguments()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("siege: {error}");
            ExitCode::FAILURE
        }
    }
}
