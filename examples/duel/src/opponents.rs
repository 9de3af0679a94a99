//! The player's own key, and the opponents of the last matches: who they are by their keys, and how to join them again.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rebout::{ConnectOptions, Invite, PlayerKey};
use stage::characters;

/// The most opponents that are remembered.
pub const MAX_OPPONENTS: usize = 16;
/// The longest file that is read.
const MAX_FILE: u64 = 1 << 16;
/// The place of an invite where there is none.
const NO_INVITE: &str = "-";

/// A player of an earlier match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opponent {
    pub key: PlayerKey,
    pub name: String,
    /// The invite by which this machine joined, if it did.
    pub invite: Option<String>,
}

impl Opponent {
    /// A line of the file; `None` if it is none.
    fn read(line: &str) -> Option<Self> {
        let (digits, rest) = line.split_once(' ')?;
        let (invite, name) = rest.split_once(' ')?;
        let name = characters::visible(name);
        let invite = Some(invite.to_owned()).filter(|invite| invite != NO_INVITE);
        let is_plain = |invite: &String| invite.chars().all(|c| c.is_ascii_graphic());
        let is_good = !name.is_empty() && invite.iter().all(is_plain);
        Some(Self { key: key_of(digits)?, name, invite }).filter(|_| is_good)
    }

    fn write(&self) -> String {
        let digits: String = self.key.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{digits} {} {}\n", self.invite.as_deref().unwrap_or(NO_INVITE), self.name)
    }
}

/// The key in 64 hexadecimal digits.
fn key_of(digits: &str) -> Option<PlayerKey> {
    let is_hex = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok();
    let mut key = [0; 32];
    for (at, slot) in key.iter_mut().enumerate() {
        *slot = if is_hex { byte(at)? } else { return None };
    }
    Some(PlayerKey(key))
}

/// The folder of the player's key and of the opponents; nothing is kept without one.
#[derive(Clone, Debug, Default)]
pub struct Opponents {
    folder: Option<PathBuf>,
}

impl Opponents {
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// The options with the key of the player, which is made if there is none yet.
    pub fn introduced(&self, options: ConnectOptions) -> ConnectOptions {
        match &self.folder {
            Some(folder) if fs::create_dir_all(folder).is_ok() => {
                options.keep_player_key_in(folder.join("player.key"))
            }
            _ => options,
        }
    }

    /// The options with these opponents as the only players.
    ///
    /// # Errors
    /// If there are none yet.
    pub fn only_known(&self, options: ConnectOptions) -> Result<ConnectOptions, String> {
        let known = self.list();
        if known.is_empty() {
            return Err("you have no opponents of earlier matches yet: host without --known".to_owned());
        }
        Ok(known.iter().fold(options, |options, opponent| options.only(opponent.key)))
    }

    fn file(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join("opponents"))
    }

    /// The opponents, the last one first. Lines that are none are left out.
    pub fn list(&self) -> Vec<Opponent> {
        let text = self.file().and_then(|file| read(&file).ok()).unwrap_or_default();
        text.lines().filter_map(Opponent::read).take(MAX_OPPONENTS).collect()
    }

    /// The opponent with this key.
    pub fn known(&self, key: PlayerKey) -> Option<Opponent> {
        self.list().into_iter().find(|opponent| opponent.key == key)
    }

    /// Remembers the player of a match, with the text that the host was joined by. Returns the trouble with that.
    pub fn met(&self, key: Option<PlayerKey>, name: &str, text: Option<String>) -> Option<String> {
        // An address may be somebody else's the next time.
        let invite = text.map(|text| characters::copied(&text)).filter(|text| text.parse::<Invite>().is_ok());
        self.remember(Opponent { key: key?, name: name.to_owned(), invite }).err()
    }

    /// Puts an opponent in front. One that was there keeps its invite if this one has none.
    ///
    /// # Errors
    /// What the system says, with the path.
    pub fn remember(&self, mut opponent: Opponent) -> Result<(), String> {
        let Some(file) = self.file() else { return Ok(()) };
        let mut list = self.list();
        if let Some(at) = list.iter().position(|known| known.key == opponent.key) {
            let before = list.remove(at);
            opponent.invite = opponent.invite.or(before.invite);
        }
        list.insert(0, opponent);
        list.truncate(MAX_OPPONENTS);
        let text: String = list.iter().map(Opponent::write).collect();
        let said = |error: io::Error| format!("the opponent is not kept: {}: {error}", file.display());
        let fresh = file.with_extension(format!("new-{}", std::process::id()));
        let written = write(&fresh, &text).and_then(|()| fs::rename(&fresh, &file));
        if written.is_err() {
            let _ = fs::remove_file(&fresh);
        }
        written.map_err(said)
    }
}

fn read(path: &Path) -> io::Result<String> {
    // A pipe would block, and a device may never end.
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let mut text = String::new();
    fs::File::open(path)?.take(MAX_FILE).read_to_string(&mut text)?;
    Ok(text)
}

/// Writes a new file that its owner alone can read: an invite is the right to join.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // A file of an earlier program with the same number that was killed here.
    let _ = fs::remove_file(path);
    let mut file = options.write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
