//! A bot as a machine of its own: a thread with its own connection and match. It knows of the match what came over the
//! network, and nothing else.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use rebout::lab::relay::Relay;
use rebout::{Autopsy, Config, ConnectOptions, Connection, Event, Finish, Invite, Now, Player, Stats};

use super::link::{Link, LinkSetting};
use super::machine::Machine;
use super::rules::Rules;
use games::duel::bot::Bot;

/// A bot that rests looks up this often.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// How a match of a bot went.
#[derive(Clone, Debug)]
pub(super) struct Report {
    pub finish: Finish,
    pub checksum: u32,
    pub stats: Stats,
    pub desyncs: u32,
    pub autopsy: Option<Autopsy>,
    pub seed: u32,
    /// The frames that are certain.
    pub frames: u32,
    /// The file of the match, if one was wanted.
    pub recording: Option<PathBuf>,
    /// What there is to say about files.
    pub notices: Vec<String>,
}

/// Orders to a bot from another thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Orders {
    stop: Arc<AtomicBool>,
    pause: Arc<AtomicBool>,
}

/// Plays a whole match with a bot at the controls.
///
/// # Errors
/// If there is no match, or the socket breaks.
pub(super) fn play(mut machine: Machine, mut bot: Bot, orders: &Orders) -> Result<Report, String> {
    let (mut desyncs, mut autopsy, mut notices) = (0, None, Vec::new());
    let finish = loop {
        if orders.stop.load(Ordering::Relaxed) {
            machine.online.leave();
        }
        match machine.online.wait().map_err(|error| error.to_string())? {
            Now::Begin { seed, .. } => machine.begin(seed),
            Now::Frame if orders.pause.load(Ordering::Relaxed) => sleep(POLL_INTERVAL),
            Now::Frame => {
                let seat = machine.online.local().unwrap_or(Player::One);
                machine.advance(bot.buttons(&machine.duel, seat));
            }
            Now::Event(Event::Desync(_)) => desyncs += 1,
            Now::Event(Event::Autopsy(found)) => autopsy = Some(*found),
            Now::Notice(text) => notices.push(text),
            Now::Finished(finish) => break finish,
            _ => {}
        }
    };
    let (Some(stats), Some(agreed)) = (machine.online.stats(), machine.online.agreed()) else {
        return Err(finish.to_string());
    };
    let (seed, frames, checksum) = (agreed.seed, machine.frames(), machine.checksum());
    let recording = machine.online.recording().map(Path::to_owned);
    machine.online.close().map_err(|error| error.to_string())?;
    Ok(Report { finish, seed, frames, checksum, stats, desyncs, autopsy, recording, notices })
}

/// A bot that hosts in a thread, behind a bad link.
pub(super) struct Opponent {
    relay: Relay,
    /// The text by which it is joined at the other end of the link.
    text: String,
    setting: LinkSetting,
    orders: Orders,
    thread: JoinHandle<Result<Report, String>>,
}

/// How to connect on this machine.
fn options(bare: bool) -> ConnectOptions {
    let options = ConnectOptions::new().bind((Ipv4Addr::LOCALHOST, 0).into());
    if bare { options.bare() } else { options }
}

impl Opponent {
    /// Puts a bot on `seat`; it records the match in the folder `record`.
    ///
    /// # Errors
    /// What the system says to sockets and threads, or the library to the config.
    pub(super) fn start(
        mut config: Config,
        seat: Player,
        bot: Bot,
        rules: Rules,
        setting: LinkSetting,
        bare: bool,
        record: Option<&Path>,
    ) -> io::Result<Self> {
        config.lobby.seat = seat;
        let seed = config.lobby.seed.unwrap_or(1).into();
        let host = Connection::host(&options(bare)).map_err(io::Error::other)?;
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let relay = Relay::start(here, host.local_addr(), setting.config(), seed)?;
        let text = match host.share().parse::<Invite>() {
            Ok(invite) => Invite::new(*invite.key(), [relay.addr()]).map_err(io::Error::other)?.to_string(),
            Err(_) => relay.addr().to_string(),
        };
        let machine = Machine::new(host, config, rules, record, None, false).map_err(io::Error::other)?;
        let orders = Orders::default();
        let heard = orders.clone();
        let thread =
            std::thread::Builder::new().name("bot".to_owned()).spawn(move || play(machine, bot, &heard))?;
        Ok(Self { relay, text, setting, orders, thread })
    }

    /// A connection to it, through the bad link.
    ///
    /// # Errors
    /// What the system says to sockets.
    pub(super) fn join(&self, bare: bool) -> io::Result<Connection> {
        Connection::join(&options(bare), &self.text).map_err(io::Error::other)
    }

    pub(super) fn link(&self) -> Link {
        Link::new(self.setting, self.relay.handle(), Arc::clone(&self.orders.pause))
    }

    /// Waits until its match is over, or sends it home if it is to `leave`.
    ///
    /// # Errors
    /// If it had no match.
    pub(super) fn finish(self, leave: bool) -> Result<Report, String> {
        self.orders.stop.fetch_or(leave, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|_| Err("the bot's thread is broken".to_owned()))
    }
}
