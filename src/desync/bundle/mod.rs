//! A desync as a folder of five files: to be sent to somebody, read again, and re-run.
//!
//! | file | holds |
//! |---|---|
//! | `report.txt` | the autopsy, for people |
//! | `report.json` | the same, for programs |
//! | `state_one.txt`, `state_two.txt` | what is known of the first diverging state on each player's machine, field by field |
//! | `inputs.rplk` | the whole match as a replay |

mod dump;
mod json;
mod rerun;

pub use json::JsonError;
pub use rerun::Rerun;

use crate::desync::autopsy::{Autopsy, AutopsyVerdict, FieldDifference};
use crate::replay::{ReadError, Replay, WriteError};
use crate::{Frame, Inputs, Player};
use core::fmt::{self, Write};
use json::{Json, quoted};

/// The format of `report.json`.
const FORMAT: u64 = 1;

/// The most bytes in the name of a game.
const MOST_NAME: usize = 64;

/// The most bytes in a text file; a report of as many leaves as are ever exchanged has a quarter of that.
const MOST_TEXT: u64 = 1 << 20;

/// The most bytes in a replay.
const MOST_REPLAY: u64 = crate::replay::HEADER_LEN as u64 + 4 * crate::replay::MAX_FRAMES as u64;

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
        ("report.txt", MOST_TEXT),
        ("report.json", MOST_TEXT),
        (STATES[0], MOST_TEXT),
        (STATES[1], MOST_TEXT),
        ("inputs.rplk", MOST_REPLAY),
    ];

    /// Puts together what an autopsy found in the match that `replay` holds. `game` is the name by which a re-run
    /// knows which game to play, at most 64 bytes.
    ///
    /// # Errors
    /// A replay that does not reach the first diverging frame, or that is of another match than the autopsy.
    pub fn new(game: &str, autopsy: Autopsy, replay: Replay) -> Result<Self, BundleError> {
        if game.len() > MOST_NAME || game.contains(char::is_control) {
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
        Ok(Self { game: game.to_owned(), autopsy, replay })
    }

    /// The name of the game.
    #[must_use]
    pub fn game(&self) -> &str {
        &self.game
    }

    /// What the autopsy found.
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
        let [text, json, one, two, inputs] = Self::FILES.map(|(name, _)| name);
        let mut replay = Vec::new();
        self.replay.write(&mut replay).map_err(BundleError::Unwritable)?;
        Ok(vec![
            (text, self.text().into_bytes()),
            (json, self.json().into_bytes()),
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
             The whole match, {} frames from seed {}, is in inputs.rplk.\n",
            autopsy.local,
            STATES[0],
            STATES[1],
            replay.inputs.len(),
            replay.seed,
        )
    }

    fn state(&self, player: Player) -> String {
        let frame = self.autopsy.first_divergence;
        dump::render(&format!("{player}, frame {frame}"), &self.autopsy.states[player.index()])
    }

    fn json(&self) -> String {
        let Self { game, autopsy, replay } = self;
        let shown = |side: &Option<String>| side.as_deref().map_or("null".to_owned(), quoted);
        let inputs_from = autopsy.inputs.first().map_or(0, |(frame, _)| frame.0);
        let mut out = String::from("{\n");
        // Writing to a text cannot fail.
        let mut line = |name: &str, value: &dyn fmt::Display| {
            let _ = writeln!(out, "  \"{name}\": {value},");
        };
        line("format", &FORMAT);
        line("game", &quoted(game));
        line("seed", &replay.seed);
        line("frames", &replay.inputs.len());
        line("local", &(autopsy.local.index() + 1));
        match autopsy.last_match {
            Some(frame) => line("last_match", &frame),
            None => line("last_match", &"null"),
        }
        line("first_divergence", &autopsy.first_divergence);
        line("exact", &autopsy.exact);
        line("complete", &autopsy.complete);
        line("verdict", &quoted(autopsy.verdict.name()));
        line("verdict_text", &quoted(&autopsy.verdict.to_string()));
        line("inputs_from", &inputs_from);
        line("inputs", &autopsy.inputs.len());
        out.push_str("  \"fields\": [");
        for (at, field) in autopsy.fields.iter().enumerate() {
            let (comma, path) = (if at == 0 { "" } else { "," }, quoted(&field.path));
            let (one, two) = (shown(&field.one), shown(&field.two));
            let _ = write!(out, "{comma}\n    {{\"path\": {path}, \"one\": {one}, \"two\": {two}}}");
        }
        out.push_str(if autopsy.fields.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        out
    }

    /// Reads a bundle from its files, whatever their order; others are ignored.
    ///
    /// # Errors
    /// The first file that is missing, too long, malformed, or says something else than another one.
    pub fn read<N: AsRef<str>, B: AsRef<[u8]>>(files: &[(N, B)]) -> Result<Self, BundleError> {
        let mut found = [&[][..]; Self::FILES.len()];
        for (slot, (file, most)) in found.iter_mut().zip(Self::FILES) {
            let bytes = files.iter().find(|(name, _)| name.as_ref() == file).map(|(_, bytes)| bytes.as_ref());
            *slot = bytes.ok_or(BundleError::Missing { file })?;
            if slot.len() as u64 > most {
                return Err(BundleError::TooLong { file, len: slot.len() as u64, most });
            }
        }
        let [text, json, one, two, inputs] = found;
        let utf8 = |file: &'static str, bytes| {
            core::str::from_utf8(bytes)
                .map_err(|error| BundleError::NotText { file, at: error.valid_up_to() })
        };
        utf8("report.txt", text)?;
        let facts = Json::parse(utf8("report.json", json)?).map_err(BundleError::Json)?;
        let mut states = [Vec::new(), Vec::new()];
        for ((slot, file), bytes) in states.iter_mut().zip(STATES).zip([one, two]) {
            *slot = dump::parse(utf8(file, bytes)?).map_err(|bad| BundleError::State {
                file,
                line: bad.line,
                expected: bad.expected,
            })?;
        }
        let replay = Replay::decode(inputs).map_err(BundleError::Replay)?;
        let facts = Facts(&facts);
        let game = facts.text("game")?.to_owned();
        let autopsy = facts.autopsy(states, &replay)?;
        Self::new(&game, autopsy, replay)
    }
}

/// What `report.json` says.
struct Facts<'a>(&'a Json);

impl<'a> Facts<'a> {
    fn autopsy(&self, states: [Vec<crate::OwnedLeaf>; 2], replay: &Replay) -> Result<Autopsy, BundleError> {
        let format = self.number("format")?;
        if format != FORMAT {
            return Err(BundleError::Format { format });
        }
        for (name, replay) in [("seed", u64::from(replay.seed)), ("frames", replay.inputs.len() as u64)] {
            let report = self.number(name)?;
            if report != replay {
                return Err(BundleError::Contradiction { name, report, replay });
            }
        }
        let local = match self.number("local")? {
            1 => Player::One,
            2 => Player::Two,
            _ => return Err(BundleError::Fact { name: "local", expected: "1 or 2" }),
        };
        let last_match = match self.get("last_match")? {
            Json::Null => None,
            _ => Some(self.frame("last_match")?),
        };
        let (from, count) = (self.frame("inputs_from")?.0 as usize, self.frame("inputs")?.0 as usize);
        let inputs = replay
            .inputs
            .get(from..from.saturating_add(count))
            .ok_or(BundleError::Fact { name: "inputs", expected: "a range within the replay" })?;
        Ok(Autopsy {
            local,
            last_match,
            first_divergence: self.frame("first_divergence")?,
            exact: self.flag("exact")?,
            verdict: self.verdict()?,
            fields: self.fields()?,
            states,
            inputs: inputs.iter().enumerate().map(|(at, i)| (Frame((from + at) as u32), *i)).collect(),
            complete: self.flag("complete")?,
        })
    }

    fn get(&self, name: &'static str) -> Result<&'a Json, BundleError> {
        self.0.get(name).ok_or(BundleError::Fact { name, expected: "to be there" })
    }

    fn number(&self, name: &'static str) -> Result<u64, BundleError> {
        match self.get(name)? {
            Json::Number(number) => Ok(*number),
            _ => Err(BundleError::Fact { name, expected: "a whole number" }),
        }
    }

    fn frame(&self, name: &'static str) -> Result<Frame, BundleError> {
        let number = self.number(name)?;
        let frame = u32::try_from(number).ok().map(Frame);
        frame.ok_or(BundleError::Fact { name, expected: "a number below 2^32" })
    }

    fn flag(&self, name: &'static str) -> Result<bool, BundleError> {
        match self.get(name)? {
            Json::Bool(flag) => Ok(*flag),
            _ => Err(BundleError::Fact { name, expected: "true or false" }),
        }
    }

    fn text(&self, name: &'static str) -> Result<&'a str, BundleError> {
        match self.get(name)? {
            Json::Text(text) => Ok(text),
            _ => Err(BundleError::Fact { name, expected: "a text" }),
        }
    }

    fn verdict(&self) -> Result<AutopsyVerdict, BundleError> {
        let name = self.text("verdict")?;
        AutopsyVerdict::ALL.into_iter().find(|verdict| verdict.name() == name).ok_or(BundleError::Fact {
            name: "verdict",
            expected: "player-one, player-two, both, step, start or unknown",
        })
    }

    fn fields(&self) -> Result<Vec<FieldDifference>, BundleError> {
        let Json::List(entries) = self.get("fields")? else {
            return Err(BundleError::Fact { name: "fields", expected: "a list" });
        };
        let field = |entry: &Json| {
            let side = |name: &'static str| match entry.get(name) {
                Some(Json::Text(text)) => Ok(Some(text.clone())),
                Some(Json::Null) => Ok(None),
                _ => Err(BundleError::Fact { name, expected: "a text or null in each of the fields" }),
            };
            let path = side("path")?;
            let path =
                path.ok_or(BundleError::Fact { name: "path", expected: "a text in each of the fields" })?;
            Ok(FieldDifference { path, one: side("one")?, two: side("two")? })
        };
        entries.iter().map(field).collect()
    }
}

/// Why there is no bundle.
#[derive(Debug)]
pub enum BundleError {
    /// The name of the game is longer than 64 bytes, or has control characters.
    Name {
        /// The name.
        name: String,
    },
    /// The replay ends before the first diverging frame.
    ShortReplay {
        /// How many frames it has.
        frames: usize,
        /// Where it should reach.
        first_divergence: Frame,
    },
    /// The replay is not of the match that the autopsy is about.
    OtherMatch {
        /// The frame whose inputs differ.
        frame: Frame,
        /// The inputs that the autopsy has.
        autopsy: Inputs,
        /// The inputs that the replay has.
        replay: Option<Inputs>,
    },
    /// The replay cannot be written.
    Unwritable(WriteError),
    /// A file is not there.
    Missing {
        /// Its name.
        file: &'static str,
    },
    /// A file is longer than any that is written.
    TooLong {
        /// Its name.
        file: &'static str,
        /// Its length.
        len: u64,
        /// The most that is read.
        most: u64,
    },
    /// A file is not UTF-8.
    NotText {
        /// Its name.
        file: &'static str,
        /// Offset of the first byte that is none.
        at: usize,
    },
    /// `report.json` is not JSON.
    Json(JsonError),
    /// `report.json` is of another format.
    Format {
        /// The format found.
        format: u64,
    },
    /// `report.json` does not say something that it should.
    Fact {
        /// Under which name.
        name: &'static str,
        /// What was expected there.
        expected: &'static str,
    },
    /// `report.json` and the replay say different things.
    Contradiction {
        /// About what.
        name: &'static str,
        /// What the report says.
        report: u64,
        /// What the replay says.
        replay: u64,
    },
    /// A line of a state is not one.
    State {
        /// Which file.
        file: &'static str,
        /// Which line, from 1.
        line: usize,
        /// What was expected there.
        expected: &'static str,
    },
    /// `inputs.rplk` is not a replay.
    Replay(ReadError),
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { name } => {
                write!(
                    f,
                    "the name of a game is at most {MOST_NAME} bytes without control characters: {name:?}"
                )
            }
            Self::ShortReplay { frames, first_divergence } => {
                write!(
                    f,
                    "the replay ends after {frames} frames, before frame {first_divergence} that diverges"
                )
            }
            Self::OtherMatch { frame, autopsy, replay } => write!(
                f,
                "frame {frame}: the autopsy has the inputs {autopsy:?}, the replay {replay:?}: not the same match"
            ),
            Self::Unwritable(error) => write!(f, "inputs.rplk: {error}"),
            Self::Missing { file } => write!(f, "{file} is missing"),
            Self::TooLong { file, len, most } => write!(f, "{file}: {len} bytes are more than {most}"),
            Self::NotText { file, at } => write!(f, "{file}: byte {at} is not UTF-8"),
            Self::Json(error) => write!(f, "report.json: {error}"),
            Self::Format { format } => write!(f, "report.json: format {format} is not {FORMAT}"),
            Self::Fact { name, expected } => write!(f, "report.json: expected \"{name}\": {expected}"),
            Self::Contradiction { name, report, replay } => {
                write!(f, "report.json: \"{name}\" is {report}, but inputs.rplk has {replay}")
            }
            Self::State { file, line, expected } => write!(f, "{file}: line {line}: expected {expected}"),
            Self::Replay(error) => write!(f, "inputs.rplk: {error}"),
        }
    }
}

impl core::error::Error for BundleError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Unwritable(error) => Some(error),
            Self::Json(error) => Some(error),
            Self::Replay(error) => Some(error),
            _ => None,
        }
    }
}
