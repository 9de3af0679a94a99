//! The stress test of a game of one's own: what it finds, what it says of it, and what it does not take for a proof.

use games::faulty::{Fault, Faulty};
use games::tilt::{self, Tilt};
use rebout::lab::stress::{Plan, Report, Stress, Trouble, random};
use rebout::net::link::LinkConfig;
use rebout::replay::Replay;
use rebout::{Bundle, Buttons, Cues, Game, Inputs, Player, fields};

const JUMP: Buttons = Buttons(1);

/// Two who jump; the more often, the higher.
#[derive(Clone, Copy)]
struct Jumpers {
    frame: u32,
    height: [u32; 2],
    held: [bool; 2],
}
fields!(Jumpers { frame, height, held });

impl Jumpers {
    fn new(seed: u32) -> Self {
        Self { frame: seed, height: [0; 2], held: [false; 2] }
    }
}

impl Game for Jumpers {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.frame = self.frame.wrapping_add(1);
        for player in Player::BOTH {
            let (at, holds) = (player.index(), inputs[player].holds(JUMP));
            self.height[at] += u32::from(holds && !self.held[at]);
            self.held[at] = holds;
        }
    }
}

fn short(match_frames: u32) -> Plan {
    Plan { match_frames, ..Plan::default() }
}

/// A game with a fault on the machine of player two.
fn faulty(fault: Fault) -> Stress<Faulty> {
    let make = move |seed, seat| {
        let mut game = Faulty::new(seed).expect("a seed");
        game.last = u32::MAX;
        if seat == Some(Player::Two) {
            game.fault = fault;
        }
        game
    };
    Stress::seated(make).name("faulty").press(|turn| random(turn, Buttons(0xF), 0)).plan(short(600))
}

fn why(report: &Report) -> String {
    let failure = report.failure.as_ref().expect("a failure");
    failure.outcome.trouble.as_ref().expect("which came again").to_string()
}

#[test]
fn a_good_game_is_well_on_all_links_with_random_hands() {
    let stress = Stress::new(Jumpers::new).plan(short(600));
    let report = stress.run(26 * 2 * 900);
    assert!(report.is_well(), "{report}");
    assert_eq!((report.cases.len(), report.tally.rows.len()), (26, 13));
    assert!(report.tally.total().figures.rollbacks > 500, "{report}");
    let text = report.to_string();
    assert!(text.starts_with("link ") && text.ends_with("; 0 diverged, 0 vacuous, 0 failed\n"), "{text}");
    assert_eq!(stress.run(26 * 2 * 900).to_string(), text, "a run is a function of its seed");
    let page = report.page();
    // Three plots of each link, folded but for one, and one map of all.
    assert!(page.contains("All is well") && page.matches("<svg").count() == 13 * 3 + 1, "{}", page.len());
    assert_eq!((page.matches("<details").count(), page.matches("<details open>").count()), (13, 1));
    assert!(page.contains("prefers-color-scheme: dark"), "readable in the dark");
    assert!(!page.contains("frames a second"), "nobody measured the time");
}

#[test]
fn a_fault_is_found_shrunk_and_handed_over_as_values() {
    let stress = faulty(Fault::Step { into: 100 });
    let report = stress.run(4 * 2 * 900);
    assert!(!report.is_well());
    assert_eq!(report.tally.failures, 4);
    let failure = report.failure.as_ref().expect("a failure");
    assert_eq!(failure.case, report.cases[0]);
    assert!(matches!(failure.outcome.trouble, Some(Trouble::Diverged { reported: true, .. })), "{report}");
    // The fault needs a hundred frames and no bad link.
    assert!((100..130).contains(&failure.shrunk.frames) && failure.shrunk.without.len() >= 2, "{report}");
    let autopsy = failure.autopsy().expect("an autopsy");
    assert_eq!((autopsy.first_divergence.0, &*autopsy.fields[0].path), (100, "fighters[1].hp"));
    let replay = failure.replay().expect("a match");
    assert!(replay.inputs.len() >= 100 && replay.inputs.len() <= failure.shrunk.frames as usize);
    let page = report.page();
    assert!(page.contains("Not well") && page.contains("<code>fighters[1].hp</code>"));

    let files = failure.files().unwrap();
    let bundle = Bundle::read(&files).unwrap();
    assert_eq!((bundle.game(), bundle.replay()), ("faulty", &replay));
}

#[test]
fn a_failure_says_how_to_see_it_again() {
    let stress = faulty(Fault::Outside { from: 30 });
    let report = stress.run(1);
    let text = report.to_string();
    assert!(text.contains("FAILED on link clean, seed 1: ") && text.contains("cooldown: "), "{text}");
    let failure = report.failure.expect("a failure");
    let shrunk = &failure.shrunk;
    let call = format!("  shrunk: .again(\"clean\", 1, {}, &{:?})\n", shrunk.frames, shrunk.without);
    assert!(text.contains(&call), "{text}");
    let without: Vec<&str> = shrunk.without.iter().map(String::as_str).collect();
    let again = stress.again("clean", 1, shrunk.frames, &without);
    assert_eq!(why(&again), failure.outcome.trouble.unwrap().to_string());
    assert_eq!(again.failure.unwrap().shrunk.frames, shrunk.frames, "it was as small as it gets");
    assert!(stress.again("the moon", 1, 60, &[]).cases.is_empty());
}

#[test]
fn a_run_that_proves_nothing_is_not_well() {
    // The state lives, and nobody presses a button that the game knows.
    let idle = Stress::new(Jumpers::new).press(|turn| random(turn, Buttons(0x8000), 0)).plan(short(600));
    let still = |_: u32| Jumpers { frame: 0, height: [0; 2], held: [false; 2] };
    let stuck = Stress::new(move |seed| Stuck(still(seed)));
    let distant = Plan { links: vec![("distant", LinkConfig::distant())], ..short(600) };
    let unlike =
        Stress::new(Jumpers::new).expect("nobody flew", |game| game.height[0] > 10_000).plan(distant.clone());
    assert_eq!(why(&idle.run(1)), "vacuous: the state hardly changed");
    assert_eq!(why(&stuck.plan(distant.clone()).run(1)), "vacuous: the state hardly changed");
    assert_eq!(why(&unlike.run(1)), "vacuous: nobody flew");
    let lively = Stress::new(Lively::new).press(|_| Buttons::NONE).plan(distant);
    assert_eq!(why(&lively.run(1)), "vacuous: nothing was predicted wrongly");
    let lively = Stress::new(Lively::new).plan(short(600));
    assert_eq!(why(&lively.run(1)), "vacuous: the inputs made no difference");
}

/// Nothing ever happens in it.
#[derive(Clone, Copy)]
struct Stuck(Jumpers);
fields!(Stuck(jumpers));

impl Game for Stuck {
    fn step(&mut self, _: Inputs, _: &mut Cues) {}
}

/// Much happens, whatever is pressed.
#[derive(Clone, Copy)]
struct Lively {
    a: u32,
    b: u32,
}
fields!(Lively { a, b });

impl Lively {
    fn new(seed: u32) -> Self {
        Self { a: seed, b: 0 }
    }
}

impl Game for Lively {
    fn step(&mut self, _: Inputs, _: &mut Cues) {
        self.a = self.a.wrapping_mul(0x9E37_79B1).wrapping_add(1);
        self.b ^= self.a;
    }
}

#[test]
fn a_bot_sees_the_game_and_a_match_that_ends_early_is_well() {
    /// Over at ten jumps.
    #[derive(Clone, Copy)]
    struct Race(Jumpers);
    fields!(Race(jumpers));
    impl Game for Race {
        fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
            self.0.step(inputs, cues);
        }
        fn finished(&self) -> bool {
            self.0.height.iter().any(|height| *height >= 10)
        }
    }
    // Jumps when it does not hold the button already: it looks at its own machine's state.
    let stress = Stress::new(|seed| Race(Jumpers::new(seed)))
        .press(|turn| if turn.game.0.held[turn.player.index()] { Buttons::NONE } else { JUMP })
        .plan(short(600));
    let report = stress.run(13 * 2 * 900);
    assert!(report.is_well(), "{report}");
    let frames = report.tally.total().figures.frames;
    assert!(frames < 13 * 2 * 2 * 60, "{frames} frames: ten jumps of both");
}

#[test]
fn replays_of_failures_can_be_stored_and_read() {
    let report = Stress::new(Lively::new).name("lively").plan(short(60)).run(1);
    let files = report.failure.expect("vacuous").files().unwrap();
    let [("match.rplk", bytes)] = &files[..] else { panic!("{files:?}") };
    let replay = Replay::read(&mut &bytes[..]).unwrap();
    assert_eq!(replay.inputs.len(), 60);
}

#[test]
fn a_game_of_sticks_is_well_where_its_axes_are_agreed_on_and_vacuous_where_not() {
    /// Goes where the sticks point.
    #[derive(Clone, Copy)]
    struct Sticks {
        at: [i32; 2],
        steps: [u32; 2],
    }
    fields!(Sticks { at, steps });
    impl Game for Sticks {
        fn step(&mut self, inputs: Inputs, _: &mut Cues) {
            for player in Player::BOTH {
                self.at[player.index()] += i32::from(inputs[player].axis(1));
                self.steps[player.index()] += 1;
            }
        }
    }
    let stress = || Stress::new(|_| Sticks { at: [0; 2], steps: [0; 2] }).plan(short(300));
    let with = stress().axes(2).press(|turn| random(turn, Buttons::NONE, 2)).run(13 * 1_200);
    assert!(with.is_well(), "{with}");
    let without = stress().press(|turn| random(turn, Buttons(1), 2)).run(1);
    assert_eq!(why(&without), "vacuous: the inputs made no difference");
}

#[test]
fn two_sticks_and_two_triggers_are_well_on_every_link() {
    let stress = Stress::new(Tilt::new)
        .axes(tilt::AXES)
        .press(|turn| random(turn, tilt::RECALL, tilt::AXES))
        .expect("nobody was shoved", |tilt| tilt.shoves() != [0; 2])
        .plan(short(900));
    let links = LinkConfig::presets().len();
    let report = stress.run(900 * 3 * links as u64);
    assert!(report.is_well(), "{report}");
    let played: std::collections::BTreeSet<_> = report.cases.iter().map(|case| case.link_name).collect();
    assert_eq!(played.len(), links, "{played:?}");
}

#[test]
fn inputs_that_leave_no_trace_in_the_last_state_made_a_difference_all_the_same() {
    /// Lit while a button is held.
    #[derive(Clone, Copy)]
    struct Lamp {
        time: Lively,
        lit: [bool; 2],
    }
    fields!(Lamp { time, lit });
    impl Game for Lamp {
        fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
            self.time.step(inputs, cues);
            self.lit = inputs.0.map(|input| input.holds(JUMP));
        }
    }
    let lamp = Stress::new(|seed| Lamp { time: Lively::new(seed), lit: [false; 2] })
        .press(|turn| if turn.frame.0 < 200 { random(turn, JUMP, 0).buttons() } else { Buttons::NONE })
        .plan(short(300));
    let report = lamp.run(13 * 1_200);
    assert!(report.is_well(), "{report}");
}
