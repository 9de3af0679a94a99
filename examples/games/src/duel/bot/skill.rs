//! The levels, as numbers.

/// How well a bot plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Easy,
    Normal,
    Hard,
}

/// The parameters of a level. Chances are in percent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skill {
    /// The age of the newest state that the bot knows of the other.
    pub(super) reaction_frames: u32,
    /// Thinks again when the other begins something, instead of going on with its plan.
    pub(super) notice: u32,
    /// How many ways it imagines the other to go on.
    pub(super) guesses: u32,
    /// How much the last thing that the other did counts in what the bot expects next, in percent.
    pub(super) learning: u32,
    /// The error of its judgement, in points of health to either side.
    pub(super) error: i32,
    /// How much better a habit seems than it is, in points of health.
    pub(super) habit: i32,
    /// How much worse a plan seems for a while once it was answered with a blow, in points of health.
    pub(super) regret: i32,
    /// Does nothing for a while instead of something.
    pub(super) hesitate: u32,
}

impl Level {
    pub(super) const fn skill(self) -> Skill {
        match self {
            Self::Easy => Skill {
                reaction_frames: 24,
                notice: 25,
                guesses: 1,
                learning: 2,
                error: 240,
                habit: 100,
                regret: 0,
                hesitate: 38,
            },
            Self::Normal => Skill {
                reaction_frames: 18,
                notice: 65,
                guesses: 2,
                learning: 8,
                error: 80,
                habit: 90,
                regret: 10,
                hesitate: 12,
            },
            Self::Hard => Skill {
                reaction_frames: 12,
                notice: 95,
                guesses: 5,
                learning: 20,
                error: 10,
                habit: 70,
                regret: 30,
                hesitate: 0,
            },
        }
    }
}
