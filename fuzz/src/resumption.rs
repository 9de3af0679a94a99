//! The log that a machine gets when it comes back into a match, from the machine that has waited.
//!
//! Memory is proportional to the log. A log that is taken is of the match, has no more frames than there can have been, and agrees with
//! the recording of the machine in every frame that both have.

use crate::bytes::Bytes;
use crate::game_of_sums::Sums;
use crate::memory::within;
use rebout::lab::link::LinkConfig;
use rebout::lab::{HOST, Setup, SimMatch};
use rebout::replay::{
    End, Header, Outcome, Recording, Remembered, Replay, Resumption, StreamRecorder, Winner,
};
use rebout::{Config, Frame, Inputs};
use std::cell::OnceCell;
use std::time::Duration;

const FRAMES: u32 = 120;
const OWN: usize = 90;
const TOKEN: u64 = 0x1234_5678_9ABC_DEF0;

/// A match: what the machine that comes back has of it, and the logs that the other one may send.
struct Match {
    config: Config,
    seed: u32,
    own: Recording,
    inputs: Vec<Inputs>,
    logs: Vec<Vec<u8>>,
}

thread_local! {
    static MATCH: OnceCell<Match> = const { OnceCell::new() };
}

/// The config, whose token stands in for that of the match: only the claim of the user data depends on it.
fn a_match() -> Match {
    let config = Config::new(0xB0);
    let setup = Setup::new(1, LinkConfig::new(Duration::from_millis(10)));
    let mut pair = SimMatch::new(setup, const { Sums::play::<{ u32::MAX }>() });
    pair.record();
    assert!(pair.run_until_frame(FRAMES));
    let machine = pair.machine(HOST);
    let (session, game) = (machine.session().expect("a match"), machine.game().expect("a match"));
    let (seed, token, settled) = (session.agreed().seed, session.agreed().token, session.settled());
    let (session, game) = (session.clone(), *game);
    let inputs: Vec<Inputs> = pair.take_record();
    let settled = (settled.0 as usize).min(inputs.len());
    let header = Header::of_offline(&config, seed);
    let recording = |until: usize| {
        let mut recorder = StreamRecorder::new(&header, Vec::new()).expect("a header");
        for (frame, inputs) in (0..).map(Frame).zip(&inputs[..until]) {
            recorder.record(frame, *inputs).expect("in order");
        }
        let end = End { outcome: Outcome::Local, winner: Winner::Undecided };
        Recording::open(recorder.finish(end).expect("in memory")).expect("just written")
    };
    let own = recording(OWN.min(settled));
    let replay = Replay { seed, inputs: inputs[..settled].to_vec(), ..Replay::default() };
    let remembered = |own| Remembered { token, seed, most_frames: u32::MAX, own };
    // The whole log, and the part that the recording lacks.
    let logs = [None, Some(&own)]
        .into_iter()
        .filter_map(|own| {
            let joins = Resumption::join_config(&config, &remembered(own));
            Resumption::log_for(&joins.lobby.user_data, &session, &game, &config, &replay)
        })
        .map(|log| log.to_vec())
        .collect();
    Match { config, seed, own, inputs, logs }
}

pub fn run(data: &[u8]) {
    MATCH.with(|cell| check(data, cell.get_or_init(a_match)));
}

fn check(data: &[u8], of: &Match) {
    let mut bytes = Bytes::new(data);
    let (has_own, most_frames) = (bytes.flag(), [u32::MAX, FRAMES + 60, 100][bytes.below(3)]);
    let mut log = match bytes.below(4) {
        0 => of.logs.first().cloned().unwrap_or_default(),
        1 => of.logs.last().cloned().unwrap_or_default(),
        _ => bytes.slice(4_096).to_vec(),
    };
    for _ in 0..bytes.below(4) {
        let at = usize::from(bytes.u16()) % log.len().max(1);
        match bytes.below(3) {
            0 => log.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << bytes.below(8)),
            1 => log.truncate(at),
            _ => log.iter_mut().skip(at).take(4).for_each(|byte| *byte = bytes.u8()),
        }
    }
    let own = has_own.then_some(&of.own);
    let remembered = Remembered { token: TOKEN, seed: of.seed, most_frames, own };
    let limit = 16 * log.len() + 512 * 1_024;
    let read = within(limit, || Resumption::read(&log, &of.config, &remembered));
    match read {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(log) => {
            assert!(log.frame().0 <= most_frames, "{} frames", log.frame());
            assert_eq!(log.recording().header().seed, of.seed);
            assert_eq!(log.recording().inputs().count(), log.frame().0 as usize);
            if has_own {
                let pairs = log.recording().inputs().zip(of.own.inputs());
                pairs
                    .zip(0_u32..)
                    .for_each(|((theirs, ours), frame)| assert_eq!(theirs, ours, "frame {frame}"));
            }
        }
    }
    assert!(!of.inputs.is_empty());
}

pub fn seeds() -> Vec<Vec<u8>> {
    crate::attack::random_seeds(&[&[0, 0, 0], &[1, 0, 1], &[1, 1, 0], &[1, 2, 1], &[0, 0, 2]])
}
