//! Everything that a view is told to show in one frame.

use rebout::Player;

use stage::menu::Menu;

use crate::netgraph::{Moved, NetGraph};
use crate::scene::Scene;
use crate::training::{Held, MoveReport};
use games::duel::{CALL_FRAME, Phase, REMATCH_FRAMES, RoundEnd};

/// How urgent a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Calm,
    Warning,
    Alarm,
}

/// A line to the player, in a player's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub text: String,
    pub tone: Tone,
}

/// A sheet over the stage: the first screen, the wait for the other, the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panel {
    pub title: String,
    /// A label and what belongs to it; an empty label makes a plain line.
    pub lines: Vec<(String, String)>,
    /// The keys that can be pressed.
    pub footer: String,
}

/// A place on the seek bar of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub frame: u32,
    pub tone: Tone,
}

/// The position, speed and marks of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayView {
    pub frame: u32,
    pub frames: u32,
    pub paused: bool,
    pub speed: f32,
    /// The words about a match that goes on, instead of those about the speed.
    pub state: Option<String>,
    /// Rounds, interruptions and the desync.
    pub marks: Vec<Mark>,
}

impl ReplayView {
    /// The words beside the frame.
    pub fn words(&self) -> String {
        match &self.state {
            Some(state) => state.clone(),
            None if self.paused => "paused".to_owned(),
            None => format!("{}x", self.speed),
        }
    }

    /// How far along the bar a frame is, from 0 to 1.
    pub fn share(&self, frame: u32) -> f32 {
        frame as f32 / self.frames.max(1) as f32
    }
}

/// One frame for a view.
#[derive(Clone, Debug)]
pub struct Picture {
    pub scene: Scene,
    /// The net graph, while it is open.
    pub net: Option<NetGraph>,
    /// The connection in a few characters, while the net graph is closed.
    pub corner: Option<String>,
    pub message: Option<Message>,
    pub panel: Option<Panel>,
    pub replay_view: Option<ReplayView>,
    pub menu: Option<Menu>,
    /// The match is only the backdrop of a menu: no bars, no clock.
    pub is_backdrop: bool,
    pub drill: Option<DrillView>,
}

/// The figures of a training, as far as they are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrillView {
    pub boxes: bool,
    /// The last move, as soon as there is one.
    pub report: Option<MoveReport>,
    /// The last inputs, the newest first.
    pub inputs: Vec<Held>,
}

impl Picture {
    /// A picture of the scene alone.
    pub fn of(scene: Scene) -> Self {
        Self {
            scene,
            net: None,
            corner: None,
            message: None,
            panel: None,
            replay_view: None,
            menu: None,
            is_backdrop: false,
            drill: None,
        }
    }

    /// Whether words lie over the stage, so that a banner has no place.
    pub fn is_covered(&self) -> bool {
        self.panel.is_some() || self.menu.is_some()
    }

    /// Whether the inputs of a training are listed at the left edge.
    pub fn has_inputs(&self) -> bool {
        self.drill.as_ref().is_some_and(|drill| !drill.inputs.is_empty())
    }

    /// The fighters that a rollback has moved, while the net graph marks them.
    pub fn moved(&self) -> &[Moved] {
        self.net.as_ref().map_or(&[], |net| net.moved())
    }
}

/// A sentence about a player, in the second person for the only player at a keyboard, who is called "You".
pub fn says(name: &str, of_them: &str, to_you: &str) -> String {
    if name == YOU { format!("{name} {to_you}") } else { format!("{name} {of_them}") }
}

/// The possessive form of a name.
pub fn possessive(name: &str) -> String {
    if name == YOU { "your".to_owned() } else { format!("{name}'s") }
}

/// The name of a player who has given none, at their own machine.
pub const YOU: &str = "You";

/// Big words across the stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banner {
    pub text: String,
    pub below: String,
    /// Frames since it came up, and until it goes.
    pub age: u16,
}

/// Who is ahead in matches, once two have been played: `You lead 3 to 2`.
pub fn lead(scene: &Scene) -> Option<String> {
    let [one, two] = scene.duel.fighters.map(|fighter| fighter.matches);
    let leads = |name: &str| says(name, "leads", "lead");
    match one.cmp(&two) {
        _ if one + two < 2 => None,
        core::cmp::Ordering::Equal => Some(format!("{one} to {two}")),
        core::cmp::Ordering::Greater => Some(format!("{} {one} to {two}", leads(&scene.names[0]))),
        core::cmp::Ordering::Less => Some(format!("{} {two} to {one}", leads(&scene.names[1]))),
    }
}

/// The banner that the state of the match calls for.
pub fn banner(scene: &Scene) -> Option<Banner> {
    let duel = &scene.duel;
    let name = |player: Player| scene.names[player.index()].clone();
    let wins = |winner: Option<Player>| match winner {
        Some(player) => says(&name(player), "wins", "win"),
        None => "Draw".to_owned(),
    };
    let decided = |winner: Option<Player>| match winner {
        Some(player) => says(&name(player), "is the winner", "are the winner"),
        None => "Draw".to_owned(),
    };
    let plain = |text: &str, age: u16| Some(Banner { text: text.to_owned(), below: String::new(), age });
    match duel.phase {
        Phase::Choose => None,
        Phase::Intro if duel.since < 8 => None,
        Phase::Intro if duel.since < CALL_FRAME => plain(&format!("Round {}", duel.round), duel.since - 8),
        Phase::Intro => plain("Fight!", duel.since - CALL_FRAME),
        Phase::Fight => None,
        Phase::RoundOver { end, winner } if duel.since < 80 => {
            let text = match end {
                RoundEnd::Ko if winner.is_none() => "Double KO",
                RoundEnd::Ko => "KO",
                RoundEnd::Time => "Time",
            };
            plain(text, duel.since)
        }
        Phase::RoundOver { winner, .. } => {
            let flawless = winner.is_some_and(|player| {
                let fighter = duel.fighter(player);
                fighter.health == games::duel::FULL_HEALTH
            });
            let below = if flawless { "Perfect" } else { "" };
            Some(Banner { text: wins(winner), below: below.to_owned(), age: duel.since - 80 })
        }
        Phase::MatchOver { winner } => {
            let left = REMATCH_FRAMES.saturating_sub(duel.since).div_ceil(60);
            let asks = |player: Player| says(&name(player), "wants a rematch", "want a rematch");
            let waits = match duel.ready {
                [false, false] => "Rematch?".to_owned(),
                [true, _] => asks(Player::One),
                [_, true] => asks(Player::Two),
            };
            let lead = lead(scene).map_or_else(String::new, |lead| format!("{lead}. "));
            let waits = format!("{lead}{waits}  {left}");
            let text = decided(winner);
            Some(Banner { text, below: waits, age: duel.since })
        }
        Phase::Done { winner } => Some(Banner { text: decided(winner), below: String::new(), age: 60 }),
    }
}
