//! The report of an autopsy.

use crate::{Frame, Inputs, OwnedLeaf, Player, shown};
use core::fmt;

/// The result of an autopsy: which frame, which field, which machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Autopsy {
    /// The seat of the player at this machine.
    pub local: Player,
    /// The newest frame whose states were the same on both machines; `None` if none is known.
    pub last_match: Option<Frame>,
    /// The first frame whose states differ.
    pub first_divergence: Frame,
    /// Whether the frame before it is known to have been the same. Otherwise the divergence began somewhere after
    /// [`last_match`](Self::last_match).
    pub exact: bool,
    /// The cause, as far as it can be told.
    pub verdict: AutopsyVerdict,
    /// The phase of the step into that frame after which the states differ, if the game marks phases
    /// ([`Cues::phase`](crate::Cues::phase)). `None` also if the step gives the same on both machines when it is made again.
    pub phase: Option<PhaseDifference>,
    /// Every field that differs in that frame, as far as it was exchanged.
    pub fields: Vec<FieldDifference>,
    /// The fields that are declared with `_`: restored with the state, never compared. A cause in one of them shows only
    /// where it reaches another field.
    pub not_compared: Vec<String>,
    /// The state of that frame on each machine, in declared order: all leaves of a small state, those of the parts that
    /// differ of a large one.
    pub states: [Vec<OwnedLeaf>; 2],
    /// The inputs from the last match up to the divergence.
    pub inputs: Vec<(Frame, Inputs)>,
    /// Whether the peer told everything that was needed.
    pub complete: bool,
}

/// A field that differs between the two machines. Prints as `fighters[1].hp: 75 (player one) / 100 (player two)`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldDifference {
    /// Where: `fighters[1].velocity.x`.
    pub path: String,
    /// The value on player one's machine; `None` if its state has no such field.
    pub one: Option<String>,
    /// The value on player two's machine.
    pub two: Option<String>,
}

/// The phase of a step in which two machines part: both made the same step again from the same state, and compared their
/// marks. Prints as `first different after collisions, in ships[0].at.x`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PhaseDifference {
    /// The place of the first mark that differs, counted from 0. A loop may mark the same phase several times.
    pub index: u32,
    /// The phase before it, which is the last that was the same; `None` if there is none.
    pub after: Option<String>,
    /// The phase that player one's machine marked there; `None` if its step ended before.
    pub one: Option<String>,
    /// The phase that player two's machine marked there.
    pub two: Option<String>,
    /// The fields of the marked value that differ, if both machines marked the same phase.
    pub fields: Vec<FieldDifference>,
}

/// The cause of a desync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AutopsyVerdict {
    /// The states of these machines are not what their own clean resimulation gives: something outside the
    /// snapshot, memory, or a rollback gone wrong.
    NotReproducible {
        /// On player one's machine.
        one: bool,
        /// On player two's machine.
        two: bool,
    },
    /// Each machine reproduces its own states: the step itself differs between them. Floats, another build, another
    /// order of update.
    StepDiffers,
    /// The first states were not the same.
    StartDiffers,
    /// Not enough was kept, or the peer did not tell enough.
    Unknown,
}

impl AutopsyVerdict {
    /// All that have a [name](Self::name) of their own.
    pub const ALL: [Self; 6] = [
        Self::NotReproducible { one: true, two: false },
        Self::NotReproducible { one: false, two: true },
        Self::NotReproducible { one: true, two: true },
        Self::StepDiffers,
        Self::StartDiffers,
        Self::Unknown,
    ];

    /// A short name for programs: `player-one`, `player-two`, `both`, `step`, `start`, `unknown`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotReproducible { one: true, two: true } => "both",
            Self::NotReproducible { one: true, .. } => "player-one",
            Self::NotReproducible { two: true, .. } => "player-two",
            Self::NotReproducible { .. } | Self::Unknown => "unknown",
            Self::StepDiffers => "step",
            Self::StartDiffers => "start",
        }
    }
}

impl fmt::Display for AutopsyVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outside = "is not what its own clean resimulation gives: state outside the snapshot, memory, or a \
                       rollback gone wrong";
        match self {
            Self::NotReproducible { one: true, two: true } => {
                write!(f, "the state on both machines {outside}")
            }
            Self::NotReproducible { one: true, .. } => write!(f, "the state on player one's machine {outside}"),
            Self::NotReproducible { two: true, .. } => write!(f, "the state on player two's machine {outside}"),
            Self::StepDiffers => f.write_str(
                "each machine reproduces its own states, so the step itself differs between them: floats, another \
                 build, the order of a hash map, or another order of update",
            ),
            Self::StartDiffers => f.write_str("the first states were not the same"),
            Self::NotReproducible { .. } | Self::Unknown => {
                f.write_str("not enough data to tell which machine is at fault")
            }
        }
    }
}

impl fmt::Display for FieldDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |side: &Option<String>| match side {
            Some(text) => shown(text).into_owned(),
            None => "(absent)".to_owned(),
        };
        let (one, two) = (value(&self.one), value(&self.two));
        write!(f, "{}: {one} (player one) / {two} (player two)", shown(&self.path))
    }
}

impl fmt::Display for PhaseDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match [&self.one, &self.two] {
            [Some(one), Some(two)] if one == two => {
                write!(f, "first different after {}", shown(one))?;
                match &self.fields[..] {
                    [] => Ok(()),
                    [field] => write!(f, ", in {}", shown(field.place())),
                    [field, rest @ ..] => write!(f, ", in {} and {} more", shown(field.place()), rest.len()),
                }
            }
            [None, None] => {
                write!(
                    f,
                    "first different after the last phase, {}",
                    shown(self.after.as_deref().unwrap_or(""))
                )
            }
            sides => {
                let [one, two] = sides.map(|name| shown(name.as_deref().unwrap_or("the end of the step")));
                match &self.after {
                    Some(after) => write!(f, "after {}", shown(after))?,
                    None => f.write_str("at its beginning")?,
                }
                write!(f, ", player one's machine went on to {one} and player two's to {two}")
            }
        }
    }
}

impl FieldDifference {
    /// The path, or a word for that of a value without parts.
    fn place(&self) -> &str {
        if self.path.is_empty() { "its value" } else { &self.path }
    }
}

impl fmt::Display for Autopsy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last_match {
            Some(frame) => writeln!(f, "last matching frame: {frame}")?,
            None => writeln!(f, "last matching frame: none")?,
        }
        let about = if self.exact { "" } else { " (or a frame before it, after the last match)" };
        write!(f, "first diverging frame: {}{about}", self.first_divergence)?;
        match &self.phase {
            Some(phase) => writeln!(f, ", {phase}")?,
            None => writeln!(f)?,
        }
        writeln!(f, "verdict: {}", self.verdict)?;
        if !self.complete {
            writeln!(f, "incomplete: the other machine did not tell everything")?;
        }
        writeln!(f, "differing fields: {}", self.fields.len())?;
        self.fields.iter().try_for_each(|field| writeln!(f, "  {field}"))?;
        if let Some(PhaseDifference { index, one: Some(name), fields, .. }) = &self.phase
            && !fields.is_empty()
        {
            writeln!(f, "after {}, mark {index} of the step: {}", shown(name), fields.len())?;
            fields.iter().try_for_each(|field| writeln!(f, "  {field}"))?;
        }
        if !self.not_compared.is_empty() {
            let names: Vec<_> = self.not_compared.iter().map(|name| shown(name)).collect();
            writeln!(f, "not compared: {}", names.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_with_control_characters_is_shown_escaped() {
        let field = FieldDifference {
            path: "hp\u{1b}[2J".into(),
            one: Some("1\n2".into()),
            two: Some("\u{202e}3".into()),
        };
        assert_eq!(field.to_string(), r"hp\u{1b}[2J: 1\u{a}2 (player one) / \u{202e}3 (player two)");
    }
}
