//! Tests of checksums and of the start of an autopsy.

use super::*;
use crate::rollback::EngineConfig;
use crate::{Buttons, Cues, Inputs, Save, StateError, checksum};

const CADENCE: u16 = 4;

/// A game that counts its frames, with a state of any size, and ends in frame `last`.
struct Counter {
    words: Vec<u64>,
    last: u64,
}

impl Save for Counter {
    type Snapshot = Vec<u64>;
    fn snapshot(&self) -> Vec<u64> {
        self.words.clone()
    }
    fn save(&self, slot: &mut Vec<u64>) -> Result<(), StateError> {
        slot.clone_from(&self.words);
        Ok(())
    }
    fn restore(&mut self, snapshot: &Vec<u64>) -> Result<(), StateError> {
        self.words.clone_from(snapshot);
        Ok(())
    }
}

impl Game for Counter {
    fn step(&mut self, _: Inputs, _: &mut Cues) {
        self.words[0] += 1;
    }
    fn finished(&self) -> bool {
        self.words[0] >= self.last
    }
}

struct Machine {
    game: Counter,
    engine: Rollback<Vec<u64>>,
    watch: Watch<Vec<u64>>,
}

impl Machine {
    fn new(words: usize, last: u64, on_desync: OnDesync) -> Self {
        Self::with_window(8, words, last, on_desync)
    }

    fn with_window(window: u32, words: usize, last: u64, on_desync: OnDesync) -> Self {
        let game = Counter { words: vec![0; words], last };
        let cadence_frames = u32::from(CADENCE);
        let config = EngineConfig { window, cadence_frames, ..EngineConfig::default() };
        let engine = Rollback::new(config, &game);
        let watch = Watch::new(Player::One, CADENCE, on_desync, true, || game.snapshot());
        Self { game, engine, watch }
    }

    /// Steps the next frame, with the other player's inputs before `known`.
    fn step(&mut self, now: Time, known: u32) -> Option<Found> {
        let _ = self.engine.confirm(Player::One, self.engine.current(), Buttons(1));
        for frame in self.engine.next_input(Player::Two).until(Frame(known)) {
            self.engine.confirm(Player::Two, frame, Buttons(1)).unwrap();
        }
        self.engine.advance(&mut self.game);
        self.watch.settle(now, &mut self.engine)
    }

    fn work(&mut self, now: Time) -> Option<(Autopsy, Option<Stop>)> {
        let worked = self.watch.work(now, Span::from_millis(16), &mut self.game, &mut self.engine);
        let Worked { autopsy, stop, .. } = worked.expect("a state of words is always saved");
        autopsy.map(|autopsy| (autopsy, stop))
    }

    /// The payload of a START of the peer.
    fn hears_start(&mut self, now: Time, frame: u32) -> Result<(), Refusal> {
        let payload = [&[1][..], &frame.to_be_bytes(), &u32::MAX.to_be_bytes()].concat();
        self.watch.receive(now, self.engine.settled(), &payload)
    }

    /// The peer claims this checksum.
    fn hears_checksum(&mut self, frame: u32, value: u32) {
        let checked = self.watch.check(Frame(frame), value, Frame(u32::MAX)).unwrap();
        self.watch.heard(checked);
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// The checksum of a state of so many words in this frame.
fn checksum_at(words: usize, frame: u64) -> u32 {
    let mut state = vec![0; words];
    state[0] = frame;
    checksum(&state)
}

#[test]
fn checksum_is_finished_when_the_next_one_is_due() {
    const WORDS: usize = 20_000;
    let mut machine = Machine::new(WORDS, u64::MAX, OnDesync::Report);
    (0..8).for_each(|_| assert_eq!(machine.step(at(0), 0), None));
    let first = Some((Frame(0), checksum_at(WORDS, 0)));
    assert_eq!(machine.watch.carry(Frame(8)), first, "nothing else is certain");
    machine.step(at(0), 8);
    assert_eq!(machine.watch.carry(Frame(9)), Some((Frame(4), checksum_at(WORDS, 4))));
    for frame in 9..12 {
        machine.step(at(0), frame);
    }
    assert_eq!(machine.watch.carry(Frame(12)), Some((Frame(8), checksum_at(WORDS, 8))), "slice by slice");
}

/// The archive is closed meanwhile, and the engine does not keep the states for as long as hashing them takes.
#[test]
fn checksums_go_on_after_an_autopsy() {
    const WORDS: usize = 20_000;
    let mut machine = Machine::with_window(1, WORDS, u64::MAX, OnDesync::Stop);
    let play = |machine: &mut Machine, frames: core::ops::Range<u32>| {
        frames
            .filter_map(|frame| {
                machine.work(at(0));
                machine.step(at(0), frame + 1)
            })
            .count()
    };
    assert_eq!(play(&mut machine, 0..12), 0);
    machine.hears_checksum(4, 7);
    assert_eq!(play(&mut machine, 12..40), 1, "told once");
    assert!(machine.watch.carry(Frame(41)).is_some_and(|(frame, _)| frame < Frame(40)));
    let (autopsy, stop) = machine.work(at(10_000)).expect("the peer did not answer");
    assert_eq!((autopsy.first_divergence, stop), (Frame(4), Some(Stop::Withheld)));
    play(&mut machine, 40..60);
    let newest = machine.watch.carry(Frame(61)).map(|(frame, _)| frame);
    assert!(newest.is_some_and(|frame| frame >= Frame(48)), "{newest:?}");
}

#[test]
fn start_is_answered_after_a_while_but_not_at_the_end() {
    for (last, answers) in [(u64::MAX, true), (20, false)] {
        let mut machine = Machine::new(8, last, OnDesync::Report);
        (0..24).for_each(|frame| assert_eq!(machine.step(at(0), frame + 1), None));
        assert_eq!(machine.engine.ended().is_some(), !answers);
        machine.hears_start(at(0), 20).unwrap();
        assert!(machine.work(at(249)).is_none() && !machine.watch.has_messages());
        assert!(machine.work(at(250)).is_none());
        assert_eq!(machine.watch.has_messages(), answers, "ends in frame {last}");
    }
}

#[test]
fn autopsy_waits_until_its_frame_has_left_the_engine() {
    let mut machine = Machine::new(8, u64::MAX, OnDesync::Report);
    (0..9).for_each(|_| assert_eq!(machine.step(at(0), 1), None));
    machine.hears_checksum(8, 7);
    assert!(matches!(machine.step(at(0), 8), Some(Found::Desync(desync)) if desync.frame == Frame(8)));
    machine.hears_start(at(0), 8).unwrap();
    assert!(machine.work(at(0)).is_none());
    let said = |machine: &mut Machine| -> Vec<u8> {
        core::iter::from_fn(|| machine.watch.next_message()).map(|message| message[0]).collect()
    };
    assert_eq!(said(&mut machine), [1], "our START");
    machine.step(at(0), 9);
    assert!(machine.work(at(0)).is_none());
    assert_eq!(said(&mut machine), [2], "our TRACE as lived");
}

#[test]
fn start_about_a_frame_that_is_not_certain_is_refused() {
    let mut machine = Machine::new(8, u64::MAX, OnDesync::Report);
    (0..8).for_each(|_| assert_eq!(machine.step(at(0), 4), None));
    assert_eq!(machine.engine.settled(), Frame(4));
    assert_eq!(machine.hears_start(at(0), 5), Err(Refusal::MalformedMessage));
    assert_eq!(machine.hears_start(at(0), 4), Ok(()));
}

#[test]
fn machine_that_makes_no_autopsies_answers_none() {
    let mut machine = Machine::new(8, u64::MAX, OnDesync::GoOn);
    (0..8).for_each(|frame| assert_eq!(machine.step(at(0), frame + 1), None));
    assert_eq!(machine.hears_start(at(0), 4), Err(Refusal::OutOfPlace));
    machine.hears_checksum(4, 7);
    assert!(matches!(machine.step(at(0), 9), Some(Found::Desync(_))));
    assert!(!machine.watch.is_active() && !machine.watch.has_messages());
}
