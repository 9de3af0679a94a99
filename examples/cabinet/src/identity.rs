//! Everything that must be alike on both machines, by name: core, version, ROM and options.

use std::fmt::Write;

use rebout::FirstState;

use crate::content::Content;
use crate::ffi::Core;
use crate::machine::Rules;

/// The number of the cabinet among the games.
pub const GAME_ID: u64 = 0x0063_6162_696E_6574;

/// The parts that are compared, each as a text and a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    parts: [(String, u64); 4],
}

const CORE: usize = 0;
const VERSION: usize = 1;
const ROM: usize = 2;
const PARTS: [&str; 4] = ["core", "version of the core", "ROM", "options"];

impl Identity {
    /// The identity of a core with its content. `pads` is the number of pads at each machine.
    pub fn of(core: &Core, content: &Content, rules: &Rules, pads: u8) -> Self {
        let facts = core.facts();
        let mut options = format!("pads={pads}");
        // Writing to memory does not fail.
        let _ = write!(options, " buttons={:#06x} saves_in_step={}", rules.buttons, rules.saves_in_step);
        for range in &rules.ignored {
            let _ = write!(options, " ignore={:#x}-{:#x}", range.start, range.end - 1);
        }
        for variable in core.frontend().variables() {
            let (key, value) = (variable.key.to_string_lossy(), variable.value.to_string_lossy());
            let _ = write!(options, " {key}={value}");
        }
        let hashed = |text: String| {
            let hash = hash(text.as_bytes());
            (text, hash)
        };
        Self {
            parts: [
                hashed(facts.name.clone()),
                hashed(facts.version.clone()),
                (content.name(), hash(&content.bytes)),
                hashed(options),
            ],
        }
    }

    /// The number that two machines compare before a match: sixteen bits of each part, so that a refusal says which one differs.
    pub fn content_hash(&self) -> u64 {
        self.parts.iter().fold(0, |number, (_, hash)| number << 16 | hash >> 48)
    }

    /// Says how the host's content hash differs from this one.
    pub fn against(&self, theirs: u64) -> String {
        let ours = self.content_hash();
        let differs = |part: usize| (ours ^ theirs) >> (16 * (3 - part)) & 0xFFFF != 0;
        let named = (0..PARTS.len()).filter(|part| differs(*part)).map(|part| self.other(part, None));
        named.collect::<Vec<_>>().join(" ")
    }

    /// The sentence about a part that differs.
    fn other(&self, part: usize, theirs: Option<&str>) -> String {
        let ours = &self.parts[part].0;
        let theirs = theirs.map(|text| format!(", and the host has {text}")).unwrap_or_default();
        match part {
            CORE => format!("You have another core: {ours}{theirs}."),
            VERSION => format!("You have another version of the core: {ours}{theirs}."),
            ROM => format!("You have another ROM: {ours} ({:016x}){theirs}.", self.parts[ROM].1),
            _ => format!("You have other options: {ours}{theirs}."),
        }
    }

    /// The title of a match: the ROM and the core.
    pub fn title(&self) -> String {
        format!("{} on {} {}", self.parts[ROM].0, self.parts[CORE].0, self.parts[VERSION].0)
    }

    /// The bytes that the host hands to the joiner, and that a recording begins with.
    pub fn first_state(&self, frames: Option<u32>, state: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(frames.unwrap_or(0).to_le_bytes());
        for (text, hash) in &self.parts {
            let text = &text.as_bytes()[..text.len().min(MAX_TEXT)];
            bytes.extend(hash.to_le_bytes());
            bytes.extend((text.len() as u16).to_le_bytes());
            bytes.extend(text);
        }
        bytes.extend(state);
        bytes
    }

    /// Reads a first state that came from outside: the length of the match, and the save state.
    ///
    /// # Errors
    /// A sentence that names the part that differs, or says that the bytes are none of a cabinet's.
    pub fn read<'a>(&self, bytes: &'a FirstState) -> Result<(Option<u32>, &'a [u8]), String> {
        let none = || "This match has no first state of a cabinet.".to_owned();
        let (magic, rest) = bytes.split_at_checked(MAGIC.len()).ok_or_else(none)?;
        if magic != MAGIC {
            return Err(none());
        }
        let (frames, mut rest) = rest.split_first_chunk().ok_or_else(none)?;
        let frames = Some(u32::from_le_bytes(*frames)).filter(|frames| *frames > 0);
        for (part, (_, ours)) in self.parts.iter().enumerate() {
            let (hash, after) = rest.split_first_chunk().ok_or_else(none)?;
            let (len, after) = after.split_first_chunk().ok_or_else(none)?;
            let (text, after) = after.split_at_checked(u16::from_le_bytes(*len).into()).ok_or_else(none)?;
            if u64::from_le_bytes(*hash) != *ours {
                let theirs = String::from_utf8_lossy(text);
                return Err(self.other(part, Some(&rebout::shown(&theirs))));
            }
            rest = after;
        }
        Ok((frames, rest))
    }
}

const MAGIC: [u8; 4] = *b"CAB1";
/// The longest text of a part.
const MAX_TEXT: usize = 4_096;

/// The hash of the library for bytes that two machines compare.
fn hash(bytes: &[u8]) -> u64 {
    FirstState::from(bytes.to_vec()).hash()
}
