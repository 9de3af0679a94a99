//! A bot as a machine of its own: a thread with its own socket, lobby and session. It knows of the match what came
//! over the network, and nothing else.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rebout::net::relay::Relay;
use rebout::net::udp::UdpDriver;
use rebout::replay::{Header, Replay};
use rebout::seal::{Randomness, Seal};
use rebout::{Autopsy, Config, Event, Lobby, Player, Reason, Stats, Verdict};

use super::line::Line;
use super::link::{Link, LinkSetting};
use super::reel::{Reel, Saved};
use super::rules::Rules;
use super::table::Table;
use games::duel::bot::Bot;

/// A bot looks up from a wait this often.
const LOOK_UP: Duration = Duration::from_millis(16);

/// How a match of a bot went.
#[derive(Clone, Debug)]
pub struct Report {
    pub verdict: Option<Verdict>,
    pub reason: Option<Reason>,
    pub checksum: u32,
    pub stats: Stats,
    pub desyncs: u32,
    pub autopsy: Option<Autopsy>,
    pub replay: Replay,
    /// The file of the match, if one was wanted.
    pub saved: Option<Saved>,
}

/// Orders to a bot from another thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Orders {
    stop: Arc<AtomicBool>,
    pause: Arc<AtomicBool>,
}

/// Plays a whole match with a bot at the controls. `record` is the folder and the config of a match to be recorded.
///
/// # Errors
/// If there is no match, or the socket breaks.
pub(super) fn play(
    mut line: Line,
    mut lobby: Lobby,
    mut bot: Bot,
    rules: Rules,
    record: Option<&(PathBuf, Config)>,
    orders: &Orders,
) -> Result<Report, String> {
    let agreed = loop {
        if let Some(agreed) = lobby.agreed().map_err(|error| error.to_string())? {
            break agreed.clone();
        }
        if orders.stop.load(Ordering::Relaxed) {
            return Err("nobody came".to_owned());
        }
        let deadline = line.now() + LOOK_UP;
        line.run_until(&mut lobby, deadline).map_err(|error| error.to_string())?;
    };
    let reel = record.map(|(folder, config)| {
        let names = ["Bot one".to_owned(), "Bot two".to_owned()];
        Reel::begin(folder, Header::of_match(config, &agreed), &names)
    });
    let mut table = Table::begin(line, lobby, rules, reel).map_err(|error| error.to_string())?;
    let (mut verdict, mut reason, mut desyncs, mut autopsy) = (None, None, 0, None);
    loop {
        while let Some(event) = table.poll_event() {
            match event {
                Event::Ended(how) => verdict = Some(how),
                Event::Disconnected { reason: why } => reason = Some(why),
                Event::Desync(_) => desyncs += 1,
                Event::Autopsy(found) => autopsy = Some(*found),
                _ => {}
            }
        }
        if table.session.ended() {
            break;
        }
        if orders.stop.load(Ordering::Relaxed) {
            table.session.leave();
            continue;
        }
        if orders.pause.load(Ordering::Relaxed) {
            table.rest(LOOK_UP).map_err(|error| error.to_string())?;
            continue;
        }
        table.wait().map_err(|error| error.to_string())?;
        let buttons = bot.buttons(&table.duel, table.seat());
        table.advance(buttons).map_err(|error| error.to_string())?;
    }
    table.close();
    if let Some(error) = table.unrecorded() {
        return Err(error.to_string());
    }
    let saved = table.finish_recording();
    let (checksum, stats, replay) = (table.checksum(), table.session.stats(), table.replay().clone());
    Ok(Report { verdict, reason, checksum, stats, desyncs, autopsy, replay, saved })
}

/// A bot that hosts in a thread, behind a bad link.
pub struct Opponent {
    relay: Relay,
    /// The key of its invite, unless it plays bare.
    key: Option<[u8; 32]>,
    setting: LinkSetting,
    orders: Orders,
    thread: JoinHandle<Result<Report, String>>,
}

impl Opponent {
    /// Puts a bot on `seat`; it records the match in the folder `record`.
    ///
    /// # Errors
    /// What the system says to sockets and threads, or the lobby to the config.
    pub fn start(
        mut config: Config,
        seat: Player,
        bot: Bot,
        rules: Rules,
        setting: LinkSetting,
        bare: bool,
        record: Option<PathBuf>,
    ) -> io::Result<Self> {
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        config.lobby.seat = seat;
        let seed = config.lobby.seed.unwrap_or(1).into();
        let udp = UdpDriver::bind(here)?;
        let relay = Relay::start(here, udp.local_addr(), setting.config(), seed)?;
        let seal = (!bare).then(|| Seal::host(Randomness::System)).transpose().map_err(io::Error::other)?;
        let key = seal.as_ref().and_then(Seal::public_key);
        let line = match seal {
            Some(seal) => Line::sealed(udp, seal),
            None => Line::bare(udp),
        };
        let record = record.map(|folder| (folder, config.clone()));
        let lobby = Lobby::host(config).map_err(io::Error::other)?;
        let orders = Orders::default();
        let heard = orders.clone();
        let thread = std::thread::Builder::new()
            .name("bot".to_owned())
            .spawn(move || play(line, lobby, bot, rules, record.as_ref(), &heard))?;
        Ok(Self { relay, key, setting, orders, thread })
    }

    /// Where it is to be found, at the other end of the bad link.
    pub fn addr(&self) -> SocketAddr {
        self.relay.addr()
    }

    /// A line to it.
    ///
    /// # Errors
    /// What the system says to sockets and seals.
    pub fn line(&self) -> io::Result<Line> {
        let udp = UdpDriver::bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let Some(key) = self.key else { return Ok(Line::bare(udp)) };
        let seal = Seal::join(Randomness::System, key, &[self.addr()]).map_err(io::Error::other)?;
        Ok(Line::sealed(udp, seal))
    }

    pub fn link(&self) -> Link {
        Link::new(self.setting, self.relay.handle(), Arc::clone(&self.orders.pause))
    }

    /// Waits until its match is over, or sends it home if it is to `leave`.
    ///
    /// # Errors
    /// If it had no match.
    pub fn finish(self, leave: bool) -> Result<Report, String> {
        self.orders.stop.fetch_or(leave, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|_| Err("the bot's thread is broken".to_owned()))
    }
}
