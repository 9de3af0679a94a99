//! A desync as a folder of five files: to be sent, read and re-run.
//!
//! | file | holds |
//! |---|---|
//! | `report.txt` | the autopsy, for people |
//! | `bundle.txt` | the facts that reading back needs |
//! | `state_one.txt`, `state_two.txt` | what is known of the first diverging state on each player's machine, field by field |
//! | `inputs.rplk` | the whole match as a replay |

mod dump;
mod error;
mod escape;
mod facts;
mod rerun;

pub use error::BundleError;
#[cfg(feature = "lab")]
pub(crate) use facts::FORMAT;
pub use rerun::Rerun;

use crate::replay::Replay;
use crate::session::desync::differing_fields;
use crate::{Autopsy, Frame, OwnedLeaf, Player};
use facts::Facts;

/// The most bytes in the name of a game.
const MAX_NAME: usize = 64;

/// The most bytes in a text file. A report of as many leaves as are ever exchanged has a quarter of that.
const MAX_TEXT_FILE: u64 = 1 << 20;

/// The most bytes in a replay: of version 1, or a first state and inputs of version 2.
const MAX_REPLAY_FILE: u64 = crate::replay::HEADER_LEN as u64
    + crate::Config::MAX_FIRST_STATE as u64
    + 4 * crate::replay::MAX_FRAMES as u64;

/// The most inputs in an autopsy. A session keeps far fewer, and a replay of few bytes may have millions.
const MAX_INPUTS: u32 = 1 << 16;

const TEXT: &str = "report.txt";
const STATES: [&str; 2] = ["state_one.txt", "state_two.txt"];

/// A desync with everything that is needed to look at it again: what the autopsy found, and the whole match.
///
/// Writing it to a folder and reading it back is up to [`net::folder`](crate::net::folder):
///
/// ```no_run
/// use rebout::net::folder;
/// use rebout::{Autopsy, Bundle, replay::Replay};
/// # fn example(autopsy: Autopsy, replay: Replay) -> Result<(), Box<dyn std::error::Error>> {
/// let bundle = Bundle::new("my game", autopsy, replay)?;
/// folder::write("desync-1".as_ref(), &bundle.files()?)?;
///
/// let again = Bundle::read(&folder::read("desync-1".as_ref(), &Bundle::FILES)?)?;
/// assert_eq!(again, bundle);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    game: String,
    autopsy: Autopsy,
    replay: Replay,
}

impl Bundle {
    /// The names of the files, and how long each may be.
    pub const FILES: [(&'static str, u64); 5] = [
        (TEXT, MAX_TEXT_FILE),
        (facts::FILE, MAX_TEXT_FILE),
        (STATES[0], MAX_TEXT_FILE),
        (STATES[1], MAX_TEXT_FILE),
        ("inputs.rplk", MAX_REPLAY_FILE),
    ];

    /// Puts the report of an autopsy and the replay of its match together. `game` is the name by which a re-run knows
    /// which game to play, at most 64 bytes.
    ///
    /// # Errors
    /// A replay that does not reach the first diverging frame, or that is of another match than the autopsy; an autopsy
    /// whose differing fields are not those of its states.
    pub fn new(game: &str, autopsy: Autopsy, replay: Replay) -> Result<Self, BundleError> {
        if game.len() > MAX_NAME || game.contains(char::is_control) {
            return Err(BundleError::Name { name: game.to_owned() });
        }
        let frames = replay.inputs.len();
        if frames < autopsy.first_divergence.0 as usize {
            return Err(BundleError::ShortReplay { frames, first_divergence: autopsy.first_divergence });
        }
        let first = autopsy.inputs.first().map_or(Frame::ZERO, |(frame, _)| *frame);
        for (at, (frame, expected)) in autopsy.inputs.iter().enumerate() {
            let found = replay.inputs.get(frame.0 as usize).copied();
            if found != Some(*expected) || frame.0 as usize != first.0 as usize + at {
                return Err(BundleError::OtherMatch { frame: *frame, autopsy: *expected, replay: found });
            }
        }
        if autopsy.fields != differing_fields(&autopsy.states, autopsy.complete) {
            return Err(BundleError::OtherFields);
        }
        Ok(Self { game: game.to_owned(), autopsy, replay })
    }

    /// The name of the game.
    #[must_use]
    pub fn game(&self) -> &str {
        &self.game
    }

    /// The report of the autopsy.
    #[must_use]
    pub fn autopsy(&self) -> &Autopsy {
        &self.autopsy
    }

    /// The whole match.
    #[must_use]
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// The files, by name.
    ///
    /// # Errors
    /// A replay that cannot be written.
    pub fn files(&self) -> Result<Vec<(&'static str, Vec<u8>)>, BundleError> {
        let [text, facts, one, two, inputs] = Self::FILES.map(|(name, _)| name);
        let replay = self.replay.to_file().map_err(BundleError::Unwritable)?;
        Ok(vec![
            (text, self.text().into_bytes()),
            (facts, self.facts().render().into_bytes()),
            (one, self.state(Player::One).into_bytes()),
            (two, self.state(Player::Two).into_bytes()),
            (inputs, replay),
        ])
    }

    fn text(&self) -> String {
        let Self { game, autopsy, replay } = self;
        format!(
            "Desync in {game:?}, as {} saw it\n\n{autopsy}\n\
             The first diverging state on each machine is in {} and {}.\n\
             The whole match, {} frames from seed {} and a first state of {} bytes, is in inputs.rplk.\n",
            autopsy.local,
            STATES[0],
            STATES[1],
            replay.inputs.len(),
            replay.seed,
            replay.first_state.len(),
        )
    }

    fn state(&self, player: Player) -> String {
        let frame = self.autopsy.first_divergence;
        dump::render(&format!("{player}, frame {frame}"), &self.autopsy.states[player.index()])
    }

    fn facts(&self) -> Facts {
        let Self { game, autopsy, replay } = self;
        Facts {
            game: game.clone(),
            seed: replay.seed,
            frames: replay.inputs.len() as u32,
            local: autopsy.local,
            last_match: autopsy.last_match,
            first_divergence: autopsy.first_divergence,
            exact: autopsy.exact,
            complete: autopsy.complete,
            verdict: autopsy.verdict,
            phase: autopsy.phase.clone(),
            inputs_from: autopsy.inputs.first().map_or(Frame::ZERO, |(frame, _)| *frame),
            inputs: autopsy.inputs.len() as u32,
            not_compared: autopsy.not_compared.clone(),
        }
    }

    /// Reads a bundle from its files, in any order; others are ignored.
    ///
    /// Its facts, states and replay are read back. The report is for people: it has to be there and to be text, but its
    /// contents are not read.
    ///
    /// # Errors
    /// The first file that is missing, too long, malformed, or contradicts another one.
    pub fn read<N: AsRef<str>, B: AsRef<[u8]>>(files: &[(N, B)]) -> Result<Self, BundleError> {
        let mut found = [&[][..]; Self::FILES.len()];
        for (slot, (file, max)) in found.iter_mut().zip(Self::FILES) {
            let bytes = files.iter().find(|(name, _)| name.as_ref() == file).map(|(_, bytes)| bytes.as_ref());
            *slot = bytes.ok_or(BundleError::Missing { file })?;
            if slot.len() as u64 > max {
                return Err(BundleError::TooLong { file, len: slot.len() as u64, max });
            }
        }
        let [text, facts, one, two, inputs] = found;
        utf8(TEXT, text)?;
        let facts = Facts::parse(utf8(facts::FILE, facts)?)?;
        let states = [read_state(STATES[0], one)?, read_state(STATES[1], two)?];
        let replay = Replay::of_file(inputs).map_err(BundleError::Replay)?;
        let autopsy = read_autopsy(&facts, states, &replay)?;
        Self::new(&facts.game, autopsy, replay)
    }
}

fn utf8<'a>(file: &'static str, bytes: &'a [u8]) -> Result<&'a str, BundleError> {
    core::str::from_utf8(bytes).map_err(|error| BundleError::NotText { file, at: error.valid_up_to() })
}

fn read_state(file: &'static str, bytes: &[u8]) -> Result<Vec<OwnedLeaf>, BundleError> {
    dump::parse(utf8(file, bytes)?).map_err(|bad| BundleError::Line {
        file,
        line: bad.line,
        expected: bad.expected,
    })
}

/// Puts the autopsy together again. Its inputs come from the replay, and its differing fields from the states.
fn read_autopsy(facts: &Facts, states: [Vec<OwnedLeaf>; 2], replay: &Replay) -> Result<Autopsy, BundleError> {
    let frames = replay.inputs.len();
    for (name, facts, replay) in
        [("seed", facts.seed, replay.seed as usize), ("frames", facts.frames, frames)]
    {
        if facts as usize != replay {
            return Err(BundleError::Contradiction { name, facts, replay });
        }
    }
    let (from, count) = (facts.inputs_from, facts.inputs);
    if count > MAX_INPUTS {
        return Err(BundleError::TooManyInputs { count });
    }
    let end = from.0.checked_add(count).filter(|end| *end as usize <= frames).map(Frame);
    let end = end.ok_or(BundleError::NoSuchInputs { from, count, frames })?;
    Ok(Autopsy {
        local: facts.local,
        last_match: facts.last_match,
        first_divergence: facts.first_divergence,
        exact: facts.exact,
        verdict: facts.verdict,
        phase: facts.phase.clone(),
        fields: differing_fields(&states, facts.complete),
        not_compared: facts.not_compared.clone(),
        states,
        inputs: from.until(end).map(|frame| (frame, replay.inputs[frame.0 as usize])).collect(),
        complete: facts.complete,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AutopsyVerdict, Buttons, Cues, Game, Inputs, fields};

    fn leaf(path: &str, value: u32) -> OwnedLeaf {
        OwnedLeaf { path: path.to_owned(), words: vec![value], shown: format!("<{value}>") }
    }

    fn inputs_of(frame: u32) -> Inputs {
        [Buttons(frame as u16), Buttons(1 << (frame % 16))].into()
    }

    fn replay(frames: u32) -> Replay {
        Replay { seed: 5, inputs: (0..frames).map(inputs_of).collect(), ..Replay::default() }
    }

    /// Two states of one field that differ in frame 100, with the inputs of these frames.
    fn autopsy(inputs: core::ops::Range<u32>) -> Autopsy {
        with_states([vec![leaf("hp", 1)], vec![leaf("hp", 2)]], inputs)
    }

    fn with_states(states: [Vec<OwnedLeaf>; 2], inputs: core::ops::Range<u32>) -> Autopsy {
        Autopsy {
            local: Player::One,
            last_match: Some(Frame(90)),
            first_divergence: Frame(100),
            exact: true,
            verdict: AutopsyVerdict::StepDiffers,
            phase: None,
            fields: differing_fields(&states, false),
            not_compared: Vec::new(),
            states,
            inputs: inputs.map(|frame| (Frame(frame), inputs_of(frame))).collect(),
            complete: false,
        }
    }

    #[test]
    fn bundle_at_every_limit_is_written_and_read() {
        let name = "x".repeat(MAX_NAME);
        let bundle = Bundle::new(&name, autopsy(70..100), replay(100)).unwrap();
        assert_eq!(Bundle::read(&bundle.files().unwrap()).unwrap(), bundle);
        let long = Bundle::new(&"x".repeat(MAX_NAME + 1), autopsy(70..100), replay(100));
        assert!(matches!(long, Err(BundleError::Name { .. })));
    }

    #[test]
    fn inputs_of_an_autopsy_have_no_gap() {
        let mut autopsy = autopsy(70..100);
        autopsy.inputs.remove(10);
        let refused = Bundle::new("game", autopsy, replay(100));
        assert!(matches!(refused, Err(BundleError::OtherMatch { frame: Frame(81), .. })));
    }

    #[derive(Clone, Copy)]
    struct Fighter {
        hp: u32,
    }
    fields!(Fighter { hp });

    impl Game for Fighter {
        fn step(&mut self, _: Inputs, _: &mut Cues) {}
    }

    #[test]
    fn field_that_the_rerun_lacks_differs() {
        let states = [vec![leaf("hp", 1), leaf("mana", 7)], Vec::new()];
        let bundle = Bundle::new("game", with_states(states, 70..100), replay(100)).unwrap();
        let rerun = bundle.rerun(&mut Fighter { hp: 1 }).unwrap();
        assert_eq!((rerun.matches(Player::One), rerun.matches(Player::Two)), (Some(false), None));
        let [one, two] = &rerun.differs;
        assert_eq!((one.len(), &*one[0].path, &one[0].right, two.len()), (1, "mana", &None, 0));
    }
}
