//! The rollback engine: late inputs and any prediction policy lead to the states of a direct simulation.

use games::playground::{JUMP, LEFT, Playground, RIGHT};
use proptest::prelude::*;
use rebout::replay::{Replay, play};
use rebout::rollback::{Advance, EngineConfig, InputError, MAX_WINDOW, Rollback, RollbackStats};
use rebout::{Buttons, Cues, Frame, Game, Input, Inputs, Player, Prediction, checksum};

const POLICIES: [Prediction; 3] = [
    Prediction::RepeatLast,
    Prediction::Neutral,
    Prediction::Custom(|[last, ..], ahead| if ahead > 2 { (!last.buttons()).into() } else { last }),
];

fn config(window: u32, prediction: Prediction) -> EngineConfig {
    EngineConfig { window, prediction, ..EngineConfig::default() }
}

/// The checksum of every state of a match that is played directly.
fn direct(seed: u32, inputs: &[Inputs]) -> Vec<u32> {
    let mut checksums = Vec::new();
    let replay = Replay { seed, inputs: inputs.to_vec(), ..Replay::default() };
    play(&replay, &mut Playground::new(seed).unwrap(), |_, game| checksums.push(checksum(game)));
    checksums
}

/// Plays with player two's inputs `lag` frames late, and answers the last state and what it cost.
fn lagged(inputs: &[Inputs], lag: usize, config: EngineConfig) -> (Playground, RollbackStats) {
    let mut game = Playground::new(1).unwrap();
    let mut engine = Rollback::new(config, &game);
    for now in 0..inputs.len() + lag {
        if let Some(inputs) = inputs.get(now) {
            engine.confirm(Player::One, Frame(now as u32), inputs[Player::One]).unwrap();
        }
        if let Some(late) = now.checked_sub(lag) {
            engine.confirm(Player::Two, Frame(late as u32), inputs[late][Player::Two]).unwrap();
        }
        if now < inputs.len() {
            assert_eq!(engine.advance(&mut game), Advance::Stepped, "frame {now}");
        } else {
            engine.mend(&mut game);
        }
    }
    assert_eq!(engine.settled().0 as usize, inputs.len());
    (game, *engine.stats())
}

#[test]
fn golden_value_is_reached_directly() {
    let inputs: Vec<Inputs> = (0..1000).map(games::playground::script::golden).collect();
    assert_eq!(*direct(1, &inputs).last().unwrap(), 0x41B7_3DB7);
}

#[test]
fn start_states_have_their_published_checksums() {
    assert_eq!(direct(1, &[]), [0xA54E_A31A]);
    assert_eq!(direct(7, &[]), [0x9F4E_99A8]);
    assert_eq!(Playground::new(0), None);
}

#[test]
fn golden_value_is_reached_at_every_lag_under_every_policy() {
    let inputs: Vec<Inputs> = (0..1000).map(games::playground::script::golden).collect();
    for prediction in POLICIES {
        for lag in 0..=8 {
            let (game, _) = lagged(&inputs, lag, config(8, prediction));
            assert_eq!(checksum(&game), 0x41B7_3DB7, "lag {lag}, {prediction:?}");
        }
    }
}

#[test]
fn constant_lag_costs_one_rollback_for_each_input_change() {
    let cycle = |f: usize| match f % 60 {
        0..30 => RIGHT,
        30..45 => LEFT,
        _ => JUMP,
    };
    let inputs: Vec<Inputs> = (0..300).map(|f| Inputs::from([Buttons::NONE, cycle(f)])).collect();
    for (lag, rollbacks, resimulated) in
        [(0, 0, 0), (1, 15, 15), (2, 15, 30), (3, 15, 45), (5, 15, 75), (7, 15, 105)]
    {
        let (game, stats) = lagged(&inputs, lag, EngineConfig::default());
        assert_eq!((stats.rollbacks, stats.resimulated_frames), (rollbacks, resimulated), "lag {lag}");
        assert_eq!(stats.depths[lag], rollbacks);
        assert_eq!(checksum(&game), *direct(1, &inputs).last().unwrap());
    }
}

/// How a match reaches an engine: how many inputs of each player come before each advance.
#[derive(Debug, Clone)]
struct Schedule {
    seed: u32,
    inputs: Vec<Inputs>,
    arrivals: Vec<[u8; 2]>,
    window: u32,
    policy: usize,
}

fn schedules() -> impl Strategy<Value = Schedule> {
    // Buttons that are held for a while, as people do; 16 for a bit that the simulation ignores.
    let held = (prop::sample::select(vec![0, 1, 2, 4, 8, 9, 10, 12, 6, 16]), 1_usize..12);
    let player = prop::collection::vec(held, 1..20)
        .prop_map(|runs| runs.iter().flat_map(|&(b, n)| vec![Buttons(b); n]).collect::<Vec<_>>());
    let source = 0..3;
    (
        1_u32..,
        player.clone(),
        player,
        source,
        prop::collection::vec([0_u8..4, 0_u8..4], 1..200),
        0..=MAX_WINDOW,
        0..POLICIES.len(),
    )
        .prop_map(|(seed, one, two, source, arrivals, window, policy)| {
            let arbitrary = one.iter().zip(&two).map(|(one, two)| Inputs::from([*one, *two]));
            let inputs = match source {
                0 => arbitrary.collect(),
                // Walk together first, so that the fight is one.
                1 => std::iter::repeat_n(Inputs::from([RIGHT, LEFT]), 19).chain(arbitrary).collect(),
                _ => games::playground::script::fight(seed, 150).unwrap(),
            };
            Schedule { seed, inputs, arrivals, window, policy }
        })
}

/// Runs a schedule to its end. Every settled state is held against `expected` as it leaves.
fn run(engine: &mut Rollback<Playground>, schedule: &Schedule, expected: &[u32]) -> Playground {
    let mut game = Playground::new(schedule.seed).unwrap();
    let total = schedule.inputs.len();
    let mut arrivals = schedule.arrivals.iter().copied().chain(std::iter::repeat([1, 1]));
    let mut settled = Frame::ZERO;
    while (engine.settled().0 as usize) < total {
        for (player, count) in Player::BOTH.into_iter().zip(arrivals.next().unwrap()) {
            for _ in 0..count {
                let next = engine.next_input(player).0 as usize;
                let Some(inputs) = schedule.inputs.get(next) else { break };
                match engine.confirm(player, Frame(next as u32), inputs[player]) {
                    Ok(new) => assert!(new),
                    // More than the engine keeps has arrived; it comes again later.
                    Err(InputError::TooFarAhead { .. }) => break,
                    Err(error) => panic!("{error}"),
                }
                // Redundancy: the same input again changes nothing.
                assert_eq!(engine.confirm(player, Frame(next as u32), inputs[player]), Ok(false));
            }
        }
        if (engine.current().0 as usize) < total {
            let may = engine.may_step();
            let outcome = engine.advance(&mut game);
            assert_eq!(outcome == Advance::Stepped, may);
        } else {
            engine.mend(&mut game);
        }
        assert_eq!(engine.mispredicted(), None);
        let known = engine.next_input(Player::One).min(engine.next_input(Player::Two));
        assert!(engine.current() <= known.plus(schedule.window), "more predicted than the window allows");
        let newly = engine.newly_settled();
        assert_eq!(newly.start, settled, "frames leave once and in order");
        settled = newly.end;
        for frame in newly.start.until(newly.end) {
            assert_eq!(engine.settled_inputs(frame), Some(schedule.inputs[frame.0 as usize]));
            let state = engine.snapshot(frame.next()).unwrap_or(&game);
            assert_eq!(checksum(state), expected[frame.next().0 as usize], "state {}", frame.next());
        }
    }
    game
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn late_inputs_lead_to_the_states_of_the_direct_run(schedule in schedules()) {
        let expected = direct(schedule.seed, &schedule.inputs);
        let game = Playground::new(schedule.seed).unwrap();
        let mut engine = Rollback::new(config(schedule.window, POLICIES[schedule.policy]), &game);
        let last = run(&mut engine, &schedule, &expected);
        prop_assert_eq!(checksum(&last), *expected.last().unwrap());
        if schedule.window == 0 {
            prop_assert_eq!(engine.stats().rollbacks, 0);
        }
    }

    #[test]
    fn second_match_in_the_same_memory_is_like_one_in_new_memory(a in schedules(), b in schedules()) {
        let game = Playground::new(a.seed).unwrap();
        let mut engine = Rollback::new(config(a.window, POLICIES[a.policy]), &game);
        run(&mut engine, &a, &direct(a.seed, &a.inputs));
        engine.reset();
        let b = Schedule { window: a.window, policy: a.policy, ..b };
        let expected = direct(b.seed, &b.inputs);
        let again = run(&mut engine, &b, &expected);
        let mut fresh = Rollback::new(config(a.window, POLICIES[a.policy]), &game);
        prop_assert_eq!(run(&mut fresh, &b, &expected), again);
        prop_assert_eq!(fresh.stats(), engine.stats());
    }

    #[test]
    fn delay_can_change_at_any_time_without_a_gap(
        presses in prop::collection::vec((0_u32..12, any::<u16>()), 1..150)
    ) {
        let mut game = Playground::new(1).unwrap();
        let mut engine = Rollback::new(EngineConfig::default(), &game);
        let mut queued: Vec<Input> = Vec::new();
        for (frame, (delay, buttons)) in presses.into_iter().enumerate() {
            let (target, buttons) = (frame + delay as usize, Input::from(Buttons(buttons)));
            let fits = queued.len() <= target;
            let last = queued.last().copied().unwrap_or_default();
            if fits {
                queued.resize(target, last);
                queued.push(buttons);
            }
            prop_assert_eq!(engine.press(Player::One, delay, buttons), fits);
            prop_assert_eq!(engine.next_input(Player::One).0 as usize, queued.len());
            prop_assert_eq!(engine.last_input(Player::One), *queued.last().unwrap());
            for (at, buttons) in queued.iter().enumerate() {
                prop_assert_eq!(engine.input(Player::One, Frame(at as u32)).unwrap_or(*buttons), *buttons);
            }
            engine.confirm(Player::Two, Frame(frame as u32), Buttons::NONE).unwrap();
            prop_assert_eq!(engine.advance(&mut game), Advance::Stepped);
            prop_assert_eq!(engine.settled_inputs(Frame(frame as u32)).unwrap()[Player::One], queued[frame]);
        }
    }
}

#[test]
fn scripted_players_hit_each_other_whatever_the_seed() {
    for seed in (1..50).chain([999, u32::MAX]) {
        let inputs = games::playground::script::fight(seed, 600).unwrap();
        let mut game = Playground::new(seed).unwrap();
        play(&Replay { seed, inputs, ..Replay::default() }, &mut game, |_, _| {});
        assert!(game.fighters.iter().all(|fighter| fighter.hp < 100), "seed {seed}: {game:?}");
    }
    assert_eq!(games::playground::script::fight(0, 1), None);
}

#[test]
fn conflicting_input_is_refused_and_changes_nothing() {
    let mut game = Playground::new(1).unwrap();
    let mut engine = Rollback::new(EngineConfig::default(), &game);
    for frame in 0..4 {
        engine.confirm(Player::One, Frame(frame), RIGHT).unwrap();
        engine.confirm(Player::Two, Frame(frame), LEFT).unwrap();
        engine.advance(&mut game);
    }
    let before = game;
    let error = engine.confirm(Player::Two, Frame(2), JUMP).unwrap_err();
    assert_eq!(error, InputError::Conflict { frame: Frame(2), have: LEFT.into(), got: JUMP.into() });
    assert_eq!(error.to_string(), "input 0x0004 for frame 2 conflicts with the confirmed 0x0001");
    assert_eq!(engine.mispredicted(), None);
    assert_eq!(engine.input(Player::Two, Frame(2)), Some(LEFT.into()));
    engine.mend(&mut game);
    assert_eq!((game, engine.stats().rollbacks), (before, 0));
}

#[test]
fn custom_prediction_sees_four_confirmed_inputs_newest_first() {
    let mut game = Playground::new(1).unwrap();
    let policy = Prediction::Custom(|last, ahead| {
        // Only the expected sight predicts a jump.
        let seen = [last.map(|input| input.buttons().0), [ahead as u16; 4]];
        let expected = [[[9, 8, 2, 0], [1; 4]], [[9, 8, 2, 0], [2; 4]]];
        if expected.contains(&seen) { JUMP.into() } else { LEFT.into() }
    });
    let mut engine = Rollback::new(config(8, policy), &game);
    engine.confirm(Player::One, Frame(0), RIGHT).unwrap();
    engine.advance(&mut game);
    for (frame, buttons) in [(0, 2), (1, 8), (2, 9)] {
        engine.confirm(Player::Two, Frame(frame), Buttons(buttons)).unwrap();
        if frame > 0 {
            engine.confirm(Player::One, Frame(frame), RIGHT).unwrap();
            engine.advance(&mut game);
        }
    }
    let before = engine.stats().rollbacks;
    for frame in 3..5 {
        engine.confirm(Player::One, Frame(frame), RIGHT).unwrap();
        engine.advance(&mut game);
    }
    // The truth is what was predicted: nothing is stepped again.
    for frame in 3..5 {
        engine.confirm(Player::Two, Frame(frame), JUMP).unwrap();
    }
    engine.mend(&mut game);
    assert_eq!(engine.stats().rollbacks, before);
}

#[test]
fn input_that_leaves_a_gap_is_refused() {
    let game = Playground::new(1).unwrap();
    let mut engine = Rollback::new(EngineConfig::default(), &game);
    assert_eq!(
        engine.confirm(Player::One, Frame(1), RIGHT),
        Err(InputError::Gap { frame: Frame(1), expected: Frame(0) })
    );
    assert_eq!(engine.next_input(Player::One), Frame(0));
    assert_eq!(engine.confirm(Player::One, Frame(0), RIGHT), Ok(true));
}

#[test]
fn inputs_far_ahead_are_refused_and_none_is_lost() {
    let mut game = Playground::new(1).unwrap();
    let mut engine = Rollback::new(EngineConfig::default(), &game);
    let taken =
        (0..1000).take_while(|f| engine.confirm(Player::One, Frame(*f), RIGHT).is_ok()).count() as u32;
    let refused = engine.confirm(Player::One, Frame(taken), RIGHT).unwrap_err();
    assert_eq!(refused, InputError::TooFarAhead { frame: Frame(taken), limit: Frame(taken - 1) });
    assert_eq!(engine.input(Player::One, Frame(0)), Some(RIGHT.into()), "still needed, so still there");
    engine.confirm(Player::Two, Frame(0), LEFT).unwrap();
    engine.advance(&mut game);
    assert_eq!(engine.confirm(Player::One, Frame(taken), RIGHT), Ok(true), "frame 0 is settled");
    let next = engine.next_input(Player::Two);
    assert!(!engine.press(Player::Two, u32::MAX, RIGHT), "nobody waits that long");
    assert!(!engine.press(Player::Two, 128, RIGHT));
    assert_eq!(engine.next_input(Player::Two), next, "and nothing was changed");
    assert!(engine.press(Player::Two, 126, RIGHT));
}

#[test]
fn full_window_stalls_until_an_input_comes() {
    let mut game = Playground::new(1).unwrap();
    let mut engine = Rollback::new(config(3, Prediction::RepeatLast), &game);
    for frame in 0..10 {
        engine.confirm(Player::One, Frame(frame), RIGHT).unwrap();
    }
    let outcomes: Vec<Advance> = (0..5).map(|_| engine.advance(&mut game)).collect();
    use Advance::{Stalled, Stepped};
    assert_eq!(outcomes, [Stepped, Stepped, Stepped, Stalled, Stalled]);
    let stalled = game;
    engine.advance(&mut game);
    assert_eq!(game, stalled, "a stall steps nothing");
    engine.confirm(Player::Two, Frame(0), LEFT).unwrap();
    assert_eq!(engine.advance(&mut game), Stepped);
    assert_eq!((engine.stats().rollbacks, engine.stats().depths[3]), (1, 1));
    assert_eq!(engine.advance(&mut game), Stalled);
}

#[test]
fn frame_waits_for_a_player_exactly_when_the_window_is_full() {
    for window in [0, 1, 3, MAX_WINDOW] {
        let mut game = Playground::new(1).unwrap();
        let mut engine = Rollback::new(config(window, Prediction::RepeatLast), &game);
        for frame in 0..40 {
            engine.confirm(Player::One, Frame(frame), RIGHT).unwrap();
        }
        for known in 0..4 {
            while !engine.is_waiting_for(Player::Two) {
                assert!(engine.may_step() && !engine.is_waiting_for(Player::One));
                assert_eq!(engine.advance(&mut game), Advance::Stepped);
            }
            assert!(!engine.may_step());
            assert_eq!(engine.current(), Frame(known + window), "window {window}");
            engine.confirm(Player::Two, Frame(known), LEFT).unwrap();
        }
    }
}

#[test]
fn rollback_while_stalled_mends_the_state_that_is_shown() {
    let mut game = Playground::new(1).unwrap();
    let mut engine = Rollback::new(config(2, Prediction::RepeatLast), &game);
    engine.advance(&mut game);
    engine.advance(&mut game);
    engine.confirm(Player::Two, Frame(0), LEFT).unwrap();
    assert_eq!(engine.advance(&mut game), Advance::Stalled, "player one is missing too");
    assert_eq!(game.fighters[1].x, 16_000 - 600);
}

#[test]
fn window_above_the_greatest_is_taken_as_the_greatest() {
    let game = Playground::new(1).unwrap();
    assert_eq!(Rollback::new(config(u32::MAX, Prediction::RepeatLast), &game).window(), MAX_WINDOW);
}

/// Over as soon as somebody has pressed something; predicted presses come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FirstPress {
    frame: u32,
    pressed: bool,
}
rebout::fields!(FirstPress { frame, pressed });

impl Game for FirstPress {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.frame += 1;
        self.pressed |= inputs != Inputs::default();
        cues.emit(rebout::Cue(self.frame));
    }

    fn finished(&self) -> bool {
        self.pressed
    }
}

#[test]
fn match_ends_in_its_first_confirmed_finished_state() {
    use rebout::CueChange::{Cancel, Confirm};
    let mut game = FirstPress { frame: 0, pressed: false };
    let mut engine = Rollback::new(config(8, Prediction::RepeatLast), &game);
    for frame in 0..8 {
        engine.confirm(Player::One, Frame(frame), Buttons::NONE).unwrap();
        assert_eq!(engine.advance(&mut game), Advance::Stepped);
    }
    for frame in 0..5 {
        engine.confirm(Player::Two, Frame(frame), Buttons(u16::from(frame == 4))).unwrap();
    }
    assert_eq!(engine.advance(&mut game), Advance::Ended);
    assert_eq!(engine.ended(), Some(Frame(5)));
    assert_eq!(game, FirstPress { frame: 5, pressed: true });
    assert_eq!((engine.current(), engine.settled()), (Frame(5), Frame(5)));
    assert_eq!(engine.newly_settled(), Frame(0)..Frame(5));
    assert_eq!(engine.snapshot(Frame(5)), Some(&game));
    let ends = |change| {
        let of = engine.cues().iter().filter(|event| event.change == change);
        of.map(|event| event.cue.0).collect::<Vec<_>>()
    };
    assert_eq!(ends(Confirm), [1, 2, 3, 4, 5]);
    assert_eq!(ends(Cancel), [6, 7, 8, 9], "the frame of this very advance too");

    assert!(!engine.may_step());
    assert_eq!(engine.advance(&mut game), Advance::Ended);
    assert!(engine.cues().is_empty() && engine.newly_settled().is_empty());
    assert_eq!(game.frame, 5);
}

#[test]
fn predicted_finish_does_not_end_the_match() {
    let mut game = FirstPress { frame: 0, pressed: false };
    let always = Prediction::Custom(|_, _| Buttons(1).into());
    let mut engine = Rollback::new(config(8, always), &game);
    for frame in 0..20 {
        engine.confirm(Player::One, Frame(frame), Buttons::NONE).unwrap();
        if let Some(late) = frame.checked_sub(3) {
            engine.confirm(Player::Two, Frame(late), Buttons::NONE).unwrap();
        }
        assert_eq!(engine.advance(&mut game), Advance::Stepped);
        assert!(game.pressed, "believed, every time");
    }
    assert_eq!(engine.ended(), None);
}

#[test]
fn match_ending_in_the_newest_state_keeps_its_snapshot() {
    let mut game = FirstPress { frame: 0, pressed: false };
    let mut engine = Rollback::new(EngineConfig::default(), &game);
    for player in Player::BOTH {
        engine.confirm(player, Frame(0), Buttons(1)).unwrap();
    }
    assert_eq!(engine.advance(&mut game), Advance::Ended);
    assert_eq!((engine.ended(), engine.snapshot(Frame(1))), (Some(Frame(1)), Some(&game)));
    engine.reset();
    game = FirstPress { frame: 0, pressed: false };
    assert_eq!((engine.ended(), engine.current(), engine.may_step()), (None, Frame(0), true));
    assert_eq!(engine.advance(&mut game), Advance::Stepped);
}

#[test]
fn match_finished_at_the_start_ends_in_its_first_state() {
    let mut game = FirstPress { frame: 0, pressed: true };
    let mut engine = Rollback::new(EngineConfig::default(), &game);
    assert_eq!(engine.advance(&mut game), Advance::Ended);
    assert_eq!((engine.ended(), engine.settled(), game.frame), (Some(Frame(0)), Frame(0), 0));
    assert_eq!(engine.snapshot(Frame(0)), Some(&game));
    assert!(engine.newly_settled().is_empty() && engine.cues().is_empty());
}
