//! Cues: after any rollbacks, the cues that were started and not cancelled are those of the final history.

use proptest::prelude::*;
use rebout::CueChange::{Cancel, Confirm, Start};
use rebout::rollback::{EngineConfig, Rollback};
use rebout::{Buttons, Cue, CueEvent, CueId, Cues, Frame, Game, Inputs, Player, Prediction, fields};
use std::collections::{BTreeMap, BTreeSet};

/// Makes a noise at once, a noise that depends on all that was, and a noise some frames later.
#[derive(Clone, Copy, Debug)]
struct Noisy {
    held_frames: u32,
    fuse: [u8; 2],
}
fields!(Noisy { held_frames, fuse });

impl Noisy {
    const NEW: Self = Self { held_frames: 0, fuse: [0; 2] };
}

impl Game for Noisy {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        for player in Player::BOTH {
            let (seat, held) = (player.index(), inputs[player]);
            self.held_frames += u32::from(held != Buttons::NONE.into());
            if held.holds(Buttons(1)) {
                cues.emit(Cue(seat as u32));
            }
            if held.holds(Buttons(2)) {
                cues.emit(Cue(10 + self.held_frames % 3));
            }
            if held.holds(Buttons(8)) {
                // More than a frame holds: the last two are left out, the same ones every time.
                (0..18).for_each(|cue| cues.emit(Cue(100 + cue)));
            }
            match self.fuse[seat] {
                0 if held.holds(Buttons(4)) => self.fuse[seat] = 4,
                0 => {}
                left => {
                    self.fuse[seat] = left - 1;
                    if left == 1 {
                        cues.emit(Cue(20));
                    }
                }
            }
        }
    }
}

/// The cues that the final history requests; the model looks at nothing else.
fn history(inputs: &[Inputs]) -> BTreeSet<(u32, u32)> {
    let (mut game, mut cues) = (Noisy::NEW, Cues::new());
    let mut asked = BTreeSet::new();
    for (frame, inputs) in inputs.iter().enumerate() {
        cues.clear();
        game.step(*inputs, &mut cues);
        asked.extend(cues.as_slice().iter().map(|cue| (frame as u32, cue.0)));
    }
    asked
}

/// Every event of a run, with the frame of the advance that told it.
fn run(inputs: &[Inputs], arrivals: &[[u8; 2]], config: EngineConfig) -> Vec<(Frame, CueEvent)> {
    let mut game = Noisy::NEW;
    let mut engine = Rollback::new(config, &game);
    let mut events = Vec::new();
    let mut arrivals = arrivals.iter().copied().chain(std::iter::repeat([1, 1]));
    while (engine.settled().0 as usize) < inputs.len() {
        for (player, count) in Player::BOTH.into_iter().zip(arrivals.next().unwrap()) {
            for _ in 0..count {
                let next = engine.next_input(player);
                let Some(inputs) = inputs.get(next.0 as usize) else { break };
                if engine.confirm(player, next, inputs[player]).is_err() {
                    break;
                }
            }
        }
        let now = engine.current();
        if (now.0 as usize) < inputs.len() {
            engine.advance(&mut game);
        } else {
            engine.mend(&mut game);
        }
        events.extend(engine.cues().iter().map(|event| (now, *event)));
    }
    events
}

#[derive(Debug)]
struct Lifetime {
    started: CueEvent,
    ended: Option<CueEvent>,
}

/// Follows each id, and refuses what is told twice, out of order or about another cue.
fn lifetimes(events: &[(Frame, CueEvent)]) -> BTreeMap<CueId, Lifetime> {
    let mut lifetimes = BTreeMap::new();
    for &(now, event) in events {
        match event.change {
            Start { late_by } => {
                assert_eq!(late_by, now.since(event.frame), "{event:?}");
                assert!(event.frame <= now);
                let twice = lifetimes.insert(event.id, Lifetime { started: event, ended: None });
                assert!(twice.is_none(), "started twice: {event:?}");
            }
            Cancel | Confirm => {
                let lifetime = lifetimes.get_mut(&event.id).expect("ended before it started");
                assert_eq!(lifetime.started.cue, event.cue);
                assert!(lifetime.ended.is_none(), "ended twice: {event:?}");
                lifetime.ended = Some(event);
            }
        }
    }
    lifetimes
}

fn inputs() -> impl Strategy<Value = Vec<Inputs>> {
    let held = prop::sample::select(vec![0_u16, 0, 1, 2, 3, 4, 5, 6, 8]);
    let runs = prop::collection::vec((held.clone(), held, 1_usize..6), 1..40);
    runs.prop_map(|runs| {
        runs.iter().flat_map(|&(a, b, n)| vec![Inputs::from([Buttons(a), Buttons(b)]); n]).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn cues_start_and_confirm_once_and_all_others_cancel_once(
        inputs in inputs(),
        arrivals in prop::collection::vec([0_u8..4, 0_u8..4], 0..120),
        window in 0_u32..=16,
        cue_moves_within in prop::sample::select(vec![0_u32, 3]),
        neutral in any::<bool>(),
    ) {
        let prediction = if neutral { Prediction::Neutral } else { Prediction::RepeatLast };
        let events = run(&inputs, &arrivals, EngineConfig { window, prediction, cue_moves_within, ..EngineConfig::default() });
        let mut confirmed = BTreeSet::new();
        for lifetime in lifetimes(&events).values() {
            let end = lifetime.ended.expect("every cue that was started ends");
            if end.change == Confirm {
                prop_assert!(confirmed.insert((end.frame.0, end.cue.0)), "confirmed twice: {:?}", end);
            }
            if cue_moves_within == 0 {
                prop_assert_eq!(lifetime.started.frame, end.frame, "nothing moves");
            }
        }
        prop_assert_eq!(confirmed, history(&inputs));
        if window == 0 {
            prop_assert!(events.iter().all(|(_, event)| event.change != Cancel), "lockstep takes nothing back");
        }
    }
}

/// Plays with player two's inputs three frames late.
fn late(two: &[u16], cue_moves_within: u32) -> Vec<(u32, CueEvent)> {
    let inputs: Vec<Inputs> = two.iter().map(|two| Inputs::from([Buttons::NONE, Buttons(*two)])).collect();
    let mut arrivals = vec![[1, 0]; 3];
    arrivals.resize(two.len(), [1, 1]);
    let config = EngineConfig { cue_moves_within, ..EngineConfig::default() };
    run(&inputs, &arrivals, config).into_iter().map(|(now, event)| (now.0, event)).collect()
}

fn told(events: &[(u32, CueEvent)]) -> Vec<(u32, u32, rebout::CueChange)> {
    events.iter().map(|(now, event)| (*now, event.frame.0, event.change)).collect()
}

#[test]
fn cue_of_a_late_input_starts_late_and_says_how_late() {
    let events = late(&[0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 3);
    // Held in frame 2, known before frame 5; predicted to be held on until frame 3 arrives.
    let starts = events.iter().filter(|(_, event)| matches!(event.change, Start { .. }));
    let starts: Vec<_> = starts.map(|(now, event)| (*now, event.frame.0, event.change)).collect();
    assert_eq!(
        starts,
        [
            (5, 2, Start { late_by: 3 }),
            (5, 3, Start { late_by: 2 }),
            (5, 4, Start { late_by: 1 }),
            (5, 5, Start { late_by: 0 })
        ]
    );
    let confirms: Vec<_> = told(&events).into_iter().filter(|(.., change)| *change == Confirm).collect();
    assert_eq!(confirms, [(5, 2, Confirm)]);
    assert_eq!(events.iter().filter(|(_, event)| event.change == Cancel).count(), 3);
}

#[test]
fn cue_that_moves_is_silent_within_the_limit() {
    let inputs = |lit: usize| (0..12).map(|f| if f == lit { 4 } else { 0 }).collect::<Vec<u16>>();
    let mut game = Noisy::NEW;
    for (cue_moves_within, silent) in [(3, true), (2, false), (0, false)] {
        // Believed: lit in frame 0, heard in frame 4. In truth lit in frame 3, heard in frame 7.
        let believed = Prediction::Custom(|_, ahead| Buttons(if ahead == 1 { 4 } else { 0 }).into());
        let mut engine = Rollback::new(
            EngineConfig { prediction: believed, cue_moves_within, ..EngineConfig::default() },
            &game,
        );
        let mut events = Vec::new();
        for frame in 0..8 {
            engine.confirm(Player::One, Frame(frame), Buttons::NONE).unwrap();
            engine.advance(&mut game);
            events.extend(engine.cues().iter().copied());
        }
        assert_eq!(events.len(), 1, "{events:?}");
        let started = events[0];
        assert_eq!((started.frame, started.change), (Frame(4), Start { late_by: 0 }));
        for (frame, held) in inputs(3).into_iter().enumerate() {
            engine.confirm(Player::Two, Frame(frame as u32), Buttons(held)).unwrap();
        }
        engine.advance(&mut game);
        let told: Vec<_> =
            engine.cues().iter().map(|event| (event.id, event.frame.0, event.change)).collect();
        let first = started.id;
        if silent {
            assert_eq!(told, [(first, 7, Confirm)]);
        } else {
            let second = CueId(first.0 + 1);
            let expected = [(first, 4, Cancel), (second, 7, Start { late_by: 1 }), (second, 7, Confirm)];
            assert_eq!(told, expected);
        }
        game = Noisy::NEW;
    }
}

#[test]
fn cues_beyond_sixteen_a_frame_are_counted_when_confirmed() {
    let mut game = Noisy::NEW;
    let mut engine = Rollback::new(EngineConfig::default(), &game);
    for frame in 0..6 {
        engine.confirm(Player::One, Frame(frame), Buttons(u16::from(frame < 3) * 8)).unwrap();
        engine.advance(&mut game);
    }
    assert_eq!(engine.cues_left_out(), 0, "nothing is certain yet");
    for frame in 0..6 {
        engine.confirm(Player::Two, Frame(frame), Buttons::NONE).unwrap();
    }
    engine.advance(&mut game);
    assert_eq!(engine.cues_left_out(), 3 * 2);
    assert_eq!(engine.cues().iter().filter(|event| event.change == Confirm).count(), 3 * Cues::MAX);
}

#[test]
fn asking_twice_in_one_frame_is_asking_once() {
    let mut cues = Cues::new();
    cues.emit(Cue(5));
    cues.emit(Cue(5));
    assert_eq!((cues.as_slice(), cues.left_out()), (&[Cue(5)][..], 0));
}

#[test]
fn second_match_knows_nothing_of_the_cues_of_the_first() {
    let mut game = Noisy::NEW;
    let mut engine = Rollback::new(EngineConfig::default(), &game);
    engine.confirm(Player::One, Frame(0), Buttons(1)).unwrap();
    engine.advance(&mut game);
    assert_eq!(engine.cues().len(), 1);
    engine.reset();
    game = Noisy::NEW;
    assert!(engine.cues().is_empty());
    for player in Player::BOTH {
        engine.confirm(player, Frame(0), Buttons::NONE).unwrap();
    }
    engine.advance(&mut game);
    assert!(engine.cues().is_empty(), "{:?}", engine.cues());
}
