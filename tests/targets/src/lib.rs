//! Facts that must be the same bits on every target. `tests/targets/run` asks them of each and compares.

mod played;

use games::duel::Duel;
use games::playground::{Playground, script};
use rebout::lab::link::LinkConfig;
use rebout::lab::stress::{Plan, Stress, Turn, random};
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::replay::{Replay, play};
use rebout::{Buttons, Config, ConfigError, Fields, Frame, Inputs, Lobby, LobbyError, Player, checksum};

/// A fact: its name, and the number that stands for it.
pub type Fact = (&'static str, fn() -> u64);

/// The facts.
pub const FACTS: [Fact; 5] = [
    ("golden", golden),
    ("replays", replays),
    ("traffic", traffic),
    ("stress", stress),
    ("transport", played::transport),
];

/// The published checksum of a thousand scripted frames.
fn golden() -> u64 {
    let replay = Replay { seed: 1, inputs: (0..1_000).map(script::golden).collect(), ..Replay::default() };
    u64::from(last_checksum(&replay, Playground::new(1).expect("a seed")))
}

/// Four fights: their files byte by byte, and the states that the files lead to.
fn replays() -> u64 {
    let mut digest = Digest::default();
    for seed in [1, 7, 999, u32::MAX] {
        let inputs_of = |frame| {
            let held =
                |player| random(&Turn { game: &(), player, frame: Frame(frame), seed }, Buttons(0x3FF), 0);
            Inputs(Player::BOTH.map(held))
        };
        let replay = Replay { seed, inputs: (0..3_600).map(inputs_of).collect(), ..Replay::default() };
        let mut file = Vec::new();
        replay.write(&mut file).expect("it fits the format");
        digest.bytes(&file);
        let read = Replay::decode(&file).expect("it was just written");
        digest.bytes(&last_checksum(&read, Playground::new(seed).expect("a seed")).to_le_bytes());
        digest.bytes(&last_checksum(&read, Duel::new(seed)).to_le_bytes());
    }
    digest.0
}

/// Every byte and every nanosecond of a match on a bad link.
fn traffic() -> u64 {
    let play = Play { build: |seed| Playground::new(seed).expect("a seed"), script: every_fourth };
    let mut sim = SimMatch::new(Setup::new(7, LinkConfig::hostile()), play);
    assert!(sim.run_until_frame(1_800), "{sim:?}");
    assert_eq!(sim.flaw(true), None);
    sim.world.network().transcript().digest()
}

/// The report of matches on every link, letter by letter.
fn stress() -> u64 {
    let plan = Plan { match_frames: 600, ..Plan::default() };
    let report =
        Stress::new(Duel::new).press(|turn| random(turn, Buttons(0x3FF), 0)).plan(plan).run(13 * 1_800);
    assert!(report.is_well(), "{report}");
    let mut digest = Digest::default();
    digest.bytes(report.to_string().as_bytes());
    digest.bytes(report.page().as_bytes());
    digest.0
}

fn last_checksum<G: rebout::Game + Fields>(replay: &Replay, mut game: G) -> u32 {
    play(replay, &mut game, |_, _| {});
    checksum(&game)
}

/// FNV-1a of 64 bits.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Digest {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

/// Whether a lobby without entropy is refused here, as it must be where the target has no random numbers.
#[must_use]
pub fn refuses_without_entropy() -> bool {
    matches!(Lobby::host(Config::new(1)), Err(LobbyError::Config(ConfigError::Entropy)))
}

/// A fact by its number, for a program that loads this as a module; 0 for none.
// SAFETY: no other symbol of this module has the name.
#[unsafe(no_mangle)]
pub extern "C" fn fact(number: u32) -> u64 {
    FACTS.get(number as usize).map_or(0, |(_, fact)| fact())
}

/// 1 if a lobby without entropy is refused here, for a program that loads this as a module.
// SAFETY: no other symbol of this module has the name.
#[unsafe(no_mangle)]
pub extern "C" fn entropy_is_demanded() -> u32 {
    u32::from(refuses_without_entropy())
}
