//! The stress test of a game: the faults that it finds, its reports, and runs that it rejects because they prove nothing.

use games::faulty::{Fault, Faulty};
use rebout::lab::link::LinkConfig;
#[cfg(feature = "seal")]
use rebout::lab::stress::Condition;
use rebout::lab::stress::{Plan, Report, Stress, Trouble, random};
use rebout::replay::Replay;
use rebout::{Bundle, Buttons, Cues, Game, Inputs, Player, fields};

const JUMP: Buttons = Buttons(1);

/// The rules of a [`Toy`]. One type plays all of them: each type builds its own session, network and oracle, which takes
/// seconds.
#[derive(Clone, Copy, PartialEq)]
enum Rules {
    /// Two who jump; the more often, the higher.
    Jumps,
    /// Jumps, and it is over at ten of them.
    Race,
    /// The sticks move two points.
    Sticks,
    /// Much happens, whatever is pressed.
    Noise,
    /// Noise, and a lamp that is lit while a button is held.
    Lamp,
    /// Nothing ever happens.
    Still,
}

#[derive(Clone, Copy)]
struct Toy {
    rules: Rules,
    frame: u32,
    noise: u32,
    at: [i32; 2],
    held: [bool; 2],
}
fields!(Toy { rules: _, frame, noise, at, held });

impl Toy {
    fn new(rules: Rules, seed: u32) -> Self {
        Self { rules, frame: seed, noise: 0, at: [0; 2], held: [false; 2] }
    }
}

impl Game for Toy {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        match self.rules {
            Rules::Jumps | Rules::Race => {
                self.frame = self.frame.wrapping_add(1);
                for player in Player::BOTH {
                    let (at, holds) = (player.index(), inputs[player].holds(JUMP));
                    self.at[at] += i32::from(holds && !self.held[at]);
                    self.held[at] = holds;
                }
            }
            Rules::Sticks => {
                self.frame = self.frame.wrapping_add(1);
                for player in Player::BOTH {
                    self.at[player.index()] += i32::from(inputs[player].axis(1));
                }
            }
            Rules::Noise | Rules::Lamp => {
                self.frame = self.frame.wrapping_mul(0x9E37_79B1).wrapping_add(1);
                self.noise ^= self.frame;
                if self.rules == Rules::Lamp {
                    self.held = inputs.0.map(|input| input.holds(JUMP));
                }
            }
            Rules::Still => {}
        }
    }

    fn finished(&self) -> bool {
        self.rules == Rules::Race && self.at.iter().any(|jumps| *jumps >= 10)
    }
}

fn toy(rules: Rules) -> Stress<Toy> {
    Stress::new(move |seed| Toy::new(rules, seed))
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
fn correct_game_passes_on_all_links_with_random_inputs() {
    let stress = toy(Rules::Jumps).plan(short(600));
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
fn fault_is_found_shrunk_and_handed_over_as_values() {
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
fn failure_says_how_to_see_it_again() {
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
fn vacuous_run_fails() {
    // The state lives, and nobody presses a button that the game knows.
    let idle = toy(Rules::Jumps).press(|turn| random(turn, Buttons(0x8000), 0)).plan(short(600));
    let distant = Plan { links: vec![("distant", LinkConfig::distant())], ..short(600) };
    let unlike = toy(Rules::Jumps).expect("nobody flew", |game| game.at[0] > 10_000).plan(distant.clone());
    assert_eq!(why(&idle.run(1)), "vacuous: the state hardly changed");
    assert_eq!(why(&toy(Rules::Still).plan(distant.clone()).run(1)), "vacuous: the state hardly changed");
    assert_eq!(why(&unlike.run(1)), "vacuous: nobody flew");
    let lively = toy(Rules::Noise).press(|_| Buttons::NONE).plan(distant);
    assert_eq!(why(&lively.run(1)), "vacuous: nothing was predicted wrongly");
    let lively = toy(Rules::Noise).plan(short(600));
    assert_eq!(why(&lively.run(1)), "vacuous: the inputs made no difference");
}

#[test]
fn run_too_short_for_all_links_is_not_well() {
    let stress = toy(Rules::Jumps).plan(short(300));
    let report = stress.run(11 * 1_200);
    assert!(!report.is_well() && report.failure.is_none() && report.tally.failures == 0, "{report}");
    assert_eq!(report.tally.rows.len() + report.tally.unplayed.len(), 13);
    let [.., (one, _), (two, _)] = LinkConfig::presets();
    let line = format!(
        "NOT PLAYED, the run was too short: {one}, {two}; one match on each link takes 15,600 frames\n"
    );
    assert!(report.to_string().ends_with(&line), "{report}");
    let page = report.page();
    assert!(
        page.contains("Not well")
            && page.contains(&format!("<dt>links not played</dt><dd>{one}, {two}</dd>"))
    );
    assert!(stress.run(15_600).is_well(), "which is what the line says");

    assert!(stress.again("wifi", 1, 300, &[]).is_well(), "one link is all of its plan");
    assert!(!stress.again("the moon", 1, 60, &[]).is_well(), "nothing was played");
}

#[test]
fn input_source_sees_the_game_and_early_ends_pass() {
    // Jumps when it does not hold the button already: it looks at its own machine's state.
    let stress = toy(Rules::Race)
        .press(|turn| if turn.game.held[turn.player.index()] { Buttons::NONE } else { JUMP })
        .plan(short(600));
    let report = stress.run(13 * 2 * 900);
    assert!(report.is_well(), "{report}");
    let frames = report.tally.total().figures.frames;
    assert!(frames < 13 * 2 * 2 * 60, "{frames} frames: ten jumps of both");
}

#[test]
fn replays_of_failures_can_be_stored_and_read() {
    let report = toy(Rules::Noise).name("lively").plan(short(60)).run(1);
    let files = report.failure.expect("vacuous").files().unwrap();
    let [("match.rplk", bytes)] = &files[..] else { panic!("{files:?}") };
    let replay = Replay::read(&mut &bytes[..]).unwrap();
    assert_eq!(replay.inputs.len(), 60);
}

#[test]
fn analog_game_without_agreed_axes_proves_nothing() {
    let stress = || toy(Rules::Sticks).plan(short(300));
    let with = stress().axes(2).press(|turn| random(turn, Buttons::NONE, 2)).run(13 * 1_200);
    assert!(with.is_well(), "{with}");
    let without = stress().press(|turn| random(turn, Buttons(1), 2)).run(1);
    assert_eq!(why(&without), "vacuous: the inputs made no difference");
}

#[test]
fn inputs_without_effect_on_the_last_state_still_count() {
    let lamp = toy(Rules::Lamp)
        .press(|turn| if turn.frame.0 < 200 { random(turn, JUMP, 0).buttons() } else { Buttons::NONE })
        .plan(short(300));
    let report = lamp.run(13 * 1_200);
    assert!(report.is_well(), "{report}");
}

/// The match stands in the countdown after a pause when a program is killed, and the program is back before the countdown is over.
#[cfg(feature = "seal")]
#[test]
fn program_comes_back_while_a_countdown_runs() {
    let conditions = [Condition::Pauses, Condition::Barriers, Condition::Kills].into_iter().collect();
    let plan = Plan { sealed: true, conditions, ..Plan::default() };
    let report =
        toy(Rules::Jumps).plan(plan).again("distant", 15_153_808_630_035_558_496, 1_620, &["jitter", "loss"]);
    assert!(report.is_well(), "{report}");
}
