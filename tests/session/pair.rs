//! The pair of machines that the tests of handshakes and of hostile datagrams act on: everything that goes over the wire
//! can be seen, withheld and forged, and the whole can be forked at any moment.

use crate::round::{Round, round};
use core::time::Duration;
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::Clock;
use rebout::lab::wire::message::Message;
use rebout::lab::{HOST, JOINER, Play, Setup, SimMatch, addresses, forge};
use rebout::{Buttons, Config, Event, Input, Lobby, Player};
use std::net::SocketAddr;
use std::sync::LazyLock;

pub(crate) type Pair = SimMatch<Round>;

pub(crate) const SOON: Duration = Duration::from_secs(3);
pub(crate) const LATE: Duration = Duration::from_secs(35);

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) fn addr(id: usize) -> SocketAddr {
    addresses()[id]
}

pub(crate) fn stranger() -> SocketAddr {
    SocketAddr::from(([203, 0, 113, 9], 9_999))
}

/// The buttons of a player: others every few frames.
pub(crate) fn held(player: Player, frame: u32, _: u32) -> Input {
    let mixed = (frame / 3 + 1).wrapping_mul(0x9E37_79B9) ^ (player.index() as u32 + 1) << 20;
    Buttons((mixed.wrapping_mul(0xC2B2_AE35) >> 28) as u16).into()
}

/// A round that ends at frame `LAST`.
const fn until<const LAST: u32>() -> Play<Round> {
    Play { build: |seed| round(seed, LAST), script: held }
}

pub(crate) fn config(side: usize) -> Config {
    let mut config = Config::new(0xB0);
    config.lobby.entropy = Some(0x1234_5678_9ABC_DEF0 ^ (side as u64 + 1) << 40);
    config.rollback.delay_frames = Some(0);
    config.lobby.seed = Some(77);
    config.lobby.user_data = if side == HOST { b"host".to_vec() } else { b"joiner".to_vec() };
    config
}

/// Somebody else, with a config that fits.
static MALLORY: LazyLock<Config> = LazyLock::new(|| {
    Config::new(0xB0).with(|config| {
        config.rollback.delay_frames = Some(0);
        config.lobby.user_data = b"mallory".to_vec();
    })
});

/// A HELLO that fits the host of these tests.
pub(crate) fn hello(nonce: u64, cookie: u64) -> Message<'static> {
    forge::hello(&MALLORY, nonce, cookie)
}

/// An OFFER that could be the host's.
pub(crate) fn offer(nonce: u64, token: u64) -> Message<'static> {
    forge::offer(&MALLORY, nonce, token)
}

/// Two machines 30 ms from each other, with these lobbies.
fn of_lobbies(lobbies: [Lobby; 2], play: Play<Round>) -> Pair {
    let mut setup = Setup::new(1, LinkConfig::new(ms(30)));
    setup.clocks = [HOST, JOINER].map(|_| Clock::new(Duration::from_secs(5), 0));
    setup.start_within = Duration::ZERO;
    let mut pair = SimMatch::of_lobbies(setup, lobbies, play);
    pair.set_strict(true);
    pair.eavesdrop();
    pair
}

fn lobbies([host, joiner]: [Config; 2]) -> [Lobby; 2] {
    [Lobby::host(host).expect("a good config"), Lobby::join(joiner, addr(HOST)).expect("a good config")]
}

/// Two machines whose round never ends.
pub(crate) fn pair() -> Pair {
    pair_with([config(HOST), config(JOINER)])
}

pub(crate) fn pair_with(configs: [Config; 2]) -> Pair {
    pair_of(lobbies(configs))
}

pub(crate) fn pair_of(lobbies: [Lobby; 2]) -> Pair {
    of_lobbies(lobbies, const { until::<{ u32::MAX }>() })
}

/// Two machines whose round ends at frame `LAST`.
pub(crate) fn pair_until<const LAST: u32>(configs: [Config; 2]) -> Pair {
    of_lobbies(lobbies(configs), const { until::<LAST>() })
}

pub(crate) fn set_latency(pair: &mut Pair, latency: Duration) {
    pair.world.network_mut().set_links(HOST, JOINER, LinkConfig::new(latency));
}

/// Both machines ended their match.
pub(crate) fn both_ended(pair: &Pair) -> bool {
    [HOST, JOINER].iter().all(|id| pair.machine(*id).session().is_some_and(rebout::Session::ended))
}

pub(crate) fn events(pair: &Pair, id: usize) -> Vec<Event> {
    pair.told(id).cloned().collect()
}

/// Plays this many frames; every one of them is compared with the direct simulation.
pub(crate) fn plays(pair: &mut Pair, frames: u32) {
    let goal = pair.checked().0 + frames;
    let played = pair.step_until(LATE, |pair| pair.checked().0 >= goal);
    assert!(played, "not {goal} frames: {pair:?}");
}
