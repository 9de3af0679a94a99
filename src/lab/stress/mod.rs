//! A hunt for desyncs in a game: many matches on simulated links, with an oracle that knows every true state.
//!
//! [`Stress`] plays matches of two machines on every preset link, each followed by a second match in the same process, and
//! compares every confirmed frame with a direct simulation. A failure is played again and shrunk, to as few frames and
//! impairments as it still happens with. A match that proves nothing (nothing was mispredicted, the state hardly changed,
//! the inputs made no difference) is a failure too. A run that is too short for all links is not well, and its report names those
//! that were not played.
//!
//! ```
//! use rebout::lab::stress::Stress;
//! # use rebout::{Cues, Game, Inputs, Player, fields};
//! # #[derive(Clone, Copy)]
//! # struct Dots { at: [i32; 2] }
//! # fields!(Dots { at });
//! # impl Dots { fn new(seed: u32) -> Self { Self { at: [seed as i32, 0] } } }
//! # impl Game for Dots {
//! #     fn step(&mut self, inputs: Inputs, _: &mut Cues) {
//! #         for player in Player::BOTH {
//! #             self.at[player.index()] += i32::from(inputs[player].buttons().0 & 3) - 1;
//! #         }
//! #     }
//! # }
//!
//! let report = Stress::new(Dots::new).run(60_000);   // frames, on all links, with random inputs
//! assert!(report.is_well(), "{report}");
//! ```
//!
//! [`Report::page`] is the same with plots; [`Report::failure`] has the shrunk match, its autopsy, its replay and the files
//! of its bundle. Everything happens in the calling thread, and is a function of the seed.

mod case;
mod conditions;
mod examine;
mod failure;
mod heat;
mod inputs;
#[cfg(feature = "seal")]
mod kills;
mod outcome;
mod outside;
mod page;
mod pauses;
mod plot;
#[cfg(feature = "nat")]
mod relayed;
mod report;
mod sample;
mod shrink;
#[cfg(feature = "seal")]
mod spectators;
mod tally;
mod timed;
mod trial;

pub use case::{Case, Plan, extras};
pub use conditions::{Condition, Conditions};
pub use failure::{Failure, Files, FilesError};
pub use inputs::{Turn, random, random_pads};
pub use outcome::{Figures, Keep, Outcome, Trouble};
pub use page::Extras;
#[cfg(feature = "nat")]
pub use relayed::{ServerPorts, TurnRelay};
pub use report::Report;
pub use sample::{Moment, Sample};
pub use tally::{Row, Tally};

use crate::lab::link::LinkConfig;
use crate::{Buttons, Frame, Game, Input, Player};
use std::fmt;
use std::rc::Rc;

/// Makes a game for a seat, or for the oracle, which has none.
type Make<G> = dyn Fn(u32, Option<Player>) -> G;
/// The input that a player gives.
type Press<G> = dyn Fn(&Turn<'_, G>) -> Input;
/// The reason why a match proved nothing, unless the function says that something happened in it.
type Expected<G> = (&'static str, fn(&G) -> bool);

/// A stress test of a game.
pub struct Stress<G> {
    name: String,
    make: Rc<Make<G>>,
    /// Otherwise random inputs on every button, axis and pad.
    press: Option<Rc<Press<G>>>,
    again: Option<fn(G, u32, Player) -> G>,
    before: Option<timed::Before<G>>,
    expected: Option<Expected<G>>,
    axes: u8,
    pads: u8,
    #[cfg(feature = "nat")]
    turn_relay: Option<TurnRelay>,
    plan: Plan,
}

impl<G: Game + 'static> Stress<G> {
    /// A test of the game that `make` makes from a seed, with random inputs on all 16 buttons, on every axis and on every pad.
    #[must_use]
    pub fn new(make: impl Fn(u32) -> G + 'static) -> Self {
        Self::seated(move |seed, _| make(seed))
    }

    /// A test of a game that is made for a seat, for games whose machines are not alike. The oracle's has no seat.
    #[must_use]
    pub fn seated(make: impl Fn(u32, Option<Player>) -> G + 'static) -> Self {
        Self {
            name: "game".to_owned(),
            make: Rc::new(make),
            press: None,
            again: None,
            before: None,
            expected: None,
            axes: 0,
            pads: 1,
            #[cfg(feature = "nat")]
            turn_relay: None,
            plan: Plan::default(),
        }
    }

    /// Names the game, in the report and in the bundle of a desync.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Lets `press` give the inputs: a bot, a script, or [`random`] inputs on the buttons that the game has. With several pads a match in
    /// which one of them is never pressed proves nothing.
    #[must_use]
    pub fn press<I: Into<Input>>(self, press: impl Fn(&Turn<'_, G>) -> I + 'static) -> Self {
        Self { press: Some(Rc::new(move |turn| press(turn).into())), ..self }
    }

    /// Agrees on so many axes ([`GameConfig::axes`](crate::GameConfig::axes)), for a game that has any.
    #[must_use]
    pub fn axes(self, axes: u8) -> Self {
        Self { axes, ..self }
    }

    /// Agrees on so many pads at each machine ([`GameConfig::pads`](crate::GameConfig::pads)), for a game of more than two.
    #[must_use]
    pub fn pads(self, pads: u8) -> Self {
        Self { pads, ..self }
    }

    /// Has this server for matches with [`Condition::Relayed`]. Without one they are played without routers.
    #[cfg(feature = "nat")]
    #[must_use]
    pub fn turn_relay(self, relay: TurnRelay) -> Self {
        Self { turn_relay: Some(relay), ..self }
    }

    /// The function that gives the inputs.
    fn presses(&self) -> Rc<Press<G>> {
        let (axes, pads) = (self.axes, self.pads);
        let every = Buttons(u16::MAX);
        self.press.clone().unwrap_or_else(|| match pads {
            1 => Rc::new(move |turn| random(turn, every, axes)),
            _ => Rc::new(move |turn| random_pads(turn, every, pads)),
        })
    }

    /// Plays by another plan: other links, another seed, other lengths.
    #[must_use]
    pub fn plan(self, plan: Plan) -> Self {
        Self { plan, ..self }
    }

    /// Makes the game of the second match from that of the first, like a program that goes on; otherwise a new one is
    /// made.
    #[must_use]
    pub fn rematch(self, again: fn(G, u32, Player) -> G) -> Self {
        Self { again: Some(again), ..self }
    }

    /// Changes the game before every frame, like the program around it might.
    #[must_use]
    pub fn before_frame(self, before: fn(&mut G, Frame, Input)) -> Self {
        Self { before: Some(before), ..self }
    }

    /// Expects something to have happened in the last state of every match; a match without it proved nothing, for this
    /// reason. It takes the place of the question whether the inputs made a difference.
    #[must_use]
    pub fn expect(self, why: &'static str, happened: fn(&G) -> bool) -> Self {
        Self { expected: Some((why, happened)), ..self }
    }

    /// Plays about this many frames, counted as every machine steps them.
    ///
    /// The links take turns. With the default plan, 58,500 frames are one match on each of them; with fewer, the report
    /// [is not well](Report::is_well).
    #[must_use]
    pub fn run(&self, frames: u64) -> Report {
        let cases = (0..self.plan.matches(frames)).filter_map(|index| self.plan.case(index)).collect();
        self.played(&self.plan, cases)
    }

    /// Plays one match again, as a failure tells it: on a preset link, less some impairments. An unknown link gives a
    /// report without matches.
    #[must_use]
    pub fn again(&self, link: &str, seed: u64, frames: u32, without: &[&str]) -> Report {
        let known = self.plan.links.iter().copied().chain(LinkConfig::presets());
        let plan = Plan {
            links: known.filter(|(name, _)| *name == link).take(1).collect(),
            seed,
            match_frames: frames,
            without: without.iter().map(|name| (*name).to_owned()).collect(),
            #[cfg(feature = "seal")]
            sealed: self.plan.sealed,
            conditions: self.plan.conditions,
        };
        self.played(&plan, plan.case(0).into_iter().collect())
    }

    /// Plays one match.
    #[must_use]
    pub fn play(&self, case: &Case, keep: Keep) -> Outcome {
        trial::play(self, case, keep)
    }

    fn played(&self, plan: &Plan, cases: Vec<Case>) -> Report {
        let mut sampled: Vec<&str> = Vec::new();
        let outcomes = cases.iter().map(|case| {
            let sample = !sampled.contains(&case.link_name);
            sampled.push(case.link_name);
            self.play(case, Keep { sample, inputs: false })
        });
        let outcomes = outcomes.collect();
        Report::of(&self.name, plan, cases, outcomes, |case, keep| self.play(case, keep))
    }
}

impl<G> fmt::Debug for Stress<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stress").field("name", &self.name).field("plan", &self.plan).finish_non_exhaustive()
    }
}
