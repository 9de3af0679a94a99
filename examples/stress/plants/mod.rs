//! Mistakes as embedders really make them, each planted into a small game on top of the playground.
//!
//! Every mistake says which field it lives in and which verdict of an autopsy is the right one for it. Where in real
//! life it would be a global, a clock or a thread of the program, it is a field of the mistake here: both machines of
//! a simulation share one process, and each must have its own.

mod outside;
mod saving;
mod stepping;

use crate::subjects::{NO_BLOW, brawl, struck};
use games::playground::Playground;
use rebout::lab::stress::Stress;
use rebout::{Cues, Frame, Game, Input, Inputs, Player, Save, StateError, fields};

/// The fight, and around it the sort of thing that mistakes are made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arena {
    pub(crate) fight: Playground,
    /// Attacks begun.
    pub(crate) combo: u32,
    /// How hard the last attack was.
    pub(crate) power: u32,
    pub(crate) wind: i32,
    /// In which order the sparks of the last attack flew.
    pub(crate) sparks: u32,
    /// The bits of a float.
    pub(crate) heat: u32,
    /// When something last blinked.
    pub(crate) blink: u32,
    /// The beat of the music.
    pub(crate) beat: u32,
    pub(crate) charge: u32,
    /// How far shots have spread.
    pub(crate) spread: u32,
    /// Who was first how often.
    pub(crate) score: [u32; 2],
    /// How much the camera shakes.
    pub(crate) shake: u32,
    pub(crate) toasts: u32,
    /// The buttons of the last frames, the newest last.
    pub(crate) history: [u32; 8],
}
fields!(Arena {
    fight,
    combo,
    power,
    wind,
    sparks,
    heat,
    blink,
    beat,
    charge,
    spread,
    score,
    shake,
    toasts,
    history
});

impl Arena {
    fn new(seed: u32) -> Self {
        Self {
            fight: Playground::new(seed).expect("a match never has seed 0"),
            combo: 0,
            power: 0,
            wind: 0,
            sparks: 0,
            heat: 1.0_f32.to_bits(),
            blink: 0,
            beat: 0,
            charge: 0,
            spread: 0,
            score: [0; 2],
            shake: 0,
            toasts: 0,
            history: [0; 8],
        }
    }

    /// How many fighters began an attack in this step.
    fn attacks(&self) -> u32 {
        self.fight.fighters.iter().filter(|fighter| fighter.cooldown == 30).count() as u32
    }
}

/// A mistake, with all that it keeps outside the state.
pub(crate) trait Mistake {
    /// The rest of the step, after the fight. `seat` is that of the machine; the oracle has none.
    fn step(&mut self, arena: &mut Arena, inputs: Inputs, seat: Option<Player>);

    fn save(&self, arena: &Arena, slot: &mut Arena) {
        *slot = *arena;
    }

    fn restore(&mut self, arena: &mut Arena, snapshot: &Arena) {
        *arena = *snapshot;
    }

    /// Changes the game between frames, like the program around it might.
    fn before_frame(&mut self, arena: &mut Arena, frame: Frame, held: Input, seat: Option<Player>) {
        let _ = (arena, frame, held, seat);
    }

    /// A match begins.
    fn start(&mut self, arena: &mut Arena, seat: Option<Player>) {
        let _ = (arena, seat);
    }
}

/// A mistake, and how it is expected to be found.
pub(crate) struct Plant {
    pub(crate) name: &'static str,
    /// The mistake, in a line.
    pub(crate) what: &'static str,
    /// The field that an autopsy has to name first; `#` stands for any number.
    pub(crate) field: &'static str,
    /// The verdict that is right for it.
    pub(crate) side: &'static str,
    pub(crate) mistake: fn() -> Box<dyn Mistake>,
}

impl Plant {
    /// Whether this is the field in which the mistake lives.
    pub(crate) fn lives_in(&self, path: &str) -> bool {
        let bare = |path: &str| path.replace(|c: char| c.is_ascii_digit(), "#");
        path == self.field || (self.field.contains('#') && bare(path) == self.field)
    }
}

/// All of them.
pub(crate) static PLANTS: [Plant; 17] = [
    Plant {
        name: "global-state",
        what: "a counter in a global: a rollback does not take it back",
        field: "combo",
        side: "both",
        mistake: || Box::new(outside::GlobalState::default()),
    },
    Plant {
        name: "unseeded-random",
        what: "randomness from outside the state",
        field: "power",
        side: "both",
        mistake: || Box::new(outside::UnseededRandom::new()),
    },
    Plant {
        name: "wall-clock",
        what: "the time of day in the step",
        field: "blink",
        side: "both",
        mistake: || Box::new(outside::WallClock::new()),
    },
    Plant {
        name: "step-count",
        what: "something happens every so many calls of step, resimulated ones included",
        field: "beat",
        side: "both",
        mistake: || Box::new(outside::StepCount::default()),
    },
    Plant {
        name: "live-input",
        what: "the step asks the gamepad what is held now, where it is given what was held then",
        field: "charge",
        side: "both",
        mistake: || Box::new(outside::LiveInput::default()),
    },
    Plant {
        name: "hidden-cache",
        what: "a cached value behind a method, which the restore does not know of",
        field: "wind",
        side: "both",
        mistake: || Box::new(outside::HiddenCache::default()),
    },
    Plant {
        name: "one-sided-hook",
        what: "a hook of one player's own keeps a count of its own and writes it into the state",
        field: "toasts",
        side: "player-two",
        mistake: || Box::new(outside::OneSidedHook::default()),
    },
    Plant {
        name: "touched-outside",
        what: "a menu changes the state between two frames, on one machine",
        field: "shake",
        side: "player-one",
        mistake: || Box::new(outside::TouchedOutside),
    },
    Plant {
        name: "flipped-once",
        what: "a bit of the state flips in memory, once and on one machine",
        field: "wind",
        side: "player-one",
        mistake: || Box::new(outside::FlippedOnce::default()),
    },
    Plant {
        name: "field-not-copied",
        what: "the restore leaves one field as it is",
        field: "fight.rng",
        side: "both",
        mistake: || Box::new(saving::FieldNotCopied),
    },
    Plant {
        name: "save-off-by-one",
        what: "the save leaves out the last element of a list",
        field: "history[6]",
        side: "both",
        mistake: || Box::new(saving::SaveOffByOne),
    },
    Plant {
        name: "kept-scratch",
        what: "a table that was made for the last match is still there in the next",
        field: "spread",
        side: "step",
        mistake: || Box::new(saving::KeptScratch::default()),
    },
    Plant {
        name: "unequal-start",
        what: "the first state is built from a setting that each player has for themselves",
        field: "fight.fighters[1].hp",
        side: "start",
        mistake: || Box::new(saving::UnequalStart),
    },
    Plant {
        name: "iteration-order",
        what: "a hash map is iterated, in an order that is another on every machine",
        field: "sparks",
        side: "step",
        mistake: || Box::new(stepping::IterationOrder::new()),
    },
    Plant {
        name: "float-rounding",
        what: "a float that one machine rounds once and the other twice",
        field: "heat",
        side: "step",
        mistake: || Box::new(stepping::FloatRounding),
    },
    Plant {
        name: "update-order",
        what: "the local player is updated first",
        field: "score[0]",
        side: "step",
        mistake: || Box::new(stepping::UpdateOrder),
    },
    Plant {
        name: "other-build",
        what: "one machine has last week's rules",
        field: "fight.fighters[#].cooldown",
        side: "step",
        mistake: || Box::new(stepping::OtherBuild),
    },
];

/// A game with a mistake in it.
pub(crate) struct Planted {
    arena: Arena,
    mistake: Box<dyn Mistake>,
    seat: Option<Player>,
}

impl Planted {
    pub(crate) fn new(mistake: Box<dyn Mistake>, seed: u32, seat: Option<Player>) -> Self {
        let mut planted = Self { arena: Arena::new(seed), mistake, seat };
        planted.mistake.start(&mut planted.arena, seat);
        planted
    }
}

impl Save for Planted {
    type Snapshot = Arena;

    fn snapshot(&self) -> Arena {
        let mut slot = Arena::new(1);
        self.mistake.save(&self.arena, &mut slot);
        slot
    }

    fn save(&self, slot: &mut Arena) -> Result<(), StateError> {
        self.mistake.save(&self.arena, slot);
        Ok(())
    }

    fn restore(&mut self, snapshot: &Arena) -> Result<(), StateError> {
        self.mistake.restore(&mut self.arena, snapshot);
        Ok(())
    }
}

impl Game for Planted {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.arena.fight.step(inputs, cues);
        self.mistake.step(&mut self.arena, inputs, self.seat);
    }
}

impl Planted {
    pub(crate) fn before_frame(&mut self, frame: Frame, held: Input) {
        self.mistake.before_frame(&mut self.arena, frame, held, self.seat);
    }
}

/// The stress test of a game with this mistake in it.
pub(crate) fn planted(plant: &Plant) -> Stress<Planted> {
    let mistake = plant.mistake;
    Stress::seated(move |seed, seat| Planted::new(mistake(), seed, seat))
        .press(brawl)
        // The process goes on, and with it whatever the mistake has kept.
        .rematch(|planted, seed, seat| Planted::new(planted.mistake, seed, Some(seat)))
        .before_frame(Planted::before_frame)
        .expect(NO_BLOW, |planted| struck(&planted.arena.fight))
}
