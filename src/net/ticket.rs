//! The file by which a program that was killed comes back into its match: an invite of the other machine and the terms. Its owner alone can read it.

use super::private::{digits, key_of};
use super::{dated, private};
use core::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The first line of a file.
const FORMAT: &str = "rebout rejoin 3";
const EXTENSION: &str = "rejoin";
/// In the place of a room's secret.
const NO_ROOM: &str = "-";
/// The longest file: a path has at most 4,096 bytes on the usual systems.
const MAX_BYTES: u64 = 8 * 1_024;
/// The longest recording that is compared with the log of the other machine.
const MAX_RECORDING_BYTES: u64 = 64 << 20;

/// All that a program needs to come back. `Debug` leaves the invite out.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Ticket {
    /// The invite by which the other machine admits this one: a key of the match, and the ways to it.
    pub(crate) invite: String,
    /// The match.
    pub(crate) token: u64,
    pub(crate) seed: u32,
    /// The UDP port of this machine, 0 if that is not known.
    pub(crate) port: u16,
    /// When the match began, in seconds since 1970.
    pub(crate) began_secs: u64,
    /// The policy of this machine about relays, as a word.
    pub(crate) relay: String,
    /// The keys of its spectators, if it has any.
    pub(crate) spectators: Option<SpectatorKeys>,
    /// The recording of this machine, if there is one.
    pub(crate) recording: Option<PathBuf>,
}

/// The keys and limits with which the next program serves the spectators of this one.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SpectatorKeys {
    /// The invite to watch, and its private key.
    pub(crate) invite: String,
    pub(crate) access: [u8; 32],
    /// The secret of the broadcast, and its matches so far.
    pub(crate) broadcast: [u8; 32],
    pub(crate) matches: u32,
    /// The secret of the room at the rendezvous, if the invite names one.
    pub(crate) room: Option<[u8; 32]>,
    /// The delay of the broadcast, which no later program shortens.
    pub(crate) delay_millis: u32,
    /// The limits of the broadcast, which the next program keeps.
    pub(crate) max_spectators: u16,
    pub(crate) bits_per_second: u32,
    pub(crate) chat: bool,
    pub(crate) max_log_bytes: u32,
}

impl fmt::Debug for SpectatorKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpectatorKeys").field("matches", &self.matches).finish_non_exhaustive()
    }
}

impl fmt::Display for SpectatorKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { invite, access, broadcast, matches, room, .. } = self;
        let Self { delay_millis, max_spectators, bits_per_second, chat, max_log_bytes, .. } = self;
        let room = room.as_ref().map_or_else(|| NO_ROOM.to_owned(), digits);
        write!(f, "{invite} {} {} {matches} {room} ", digits(access), digits(broadcast))?;
        write!(f, "{delay_millis} {max_spectators} {bits_per_second} {chat} {max_log_bytes}")
    }
}

impl SpectatorKeys {
    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let [invite, access, broadcast, matches, room, delay_millis, max_spectators, bits, chat, max_log] =
            words[..]
        else {
            return None;
        };
        Some(Self {
            invite: invite.to_owned(),
            access: key_of(access)?,
            broadcast: key_of(broadcast)?,
            matches: matches.parse().ok()?,
            room: if room == NO_ROOM { None } else { Some(key_of(room)?) },
            delay_millis: delay_millis.parse().ok()?,
            max_spectators: max_spectators.parse().ok()?,
            bits_per_second: bits.parse().ok()?,
            chat: chat.parse().ok()?,
            max_log_bytes: max_log.parse().ok()?,
        })
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").field("port", &self.port).finish_non_exhaustive()
    }
}

impl Ticket {
    /// The path of a recording, from wherever the next program is started.
    pub(crate) fn recording_at(path: &Path) -> Option<PathBuf> {
        std::path::absolute(path).ok()
    }

    /// Writes the ticket into a new file of this folder, which is made if it does not exist.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn write_in(&self, folder: &Path) -> io::Result<PathBuf> {
        dated::new_private(folder, EXTENSION, &self.to_string())
    }

    /// Reads the ticket in a file.
    ///
    /// # Errors
    /// A file that others can read, that is no ticket or no regular file, and errors of the file system.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let text = private::read_text(path, MAX_BYTES)?.ok_or(io::ErrorKind::NotFound)?;
        Self::parse(&text).ok_or_else(|| io::Error::other("not the file of a match to come back to"))
    }

    /// The recording of this machine, if it can be read and has no more than the longest.
    pub(crate) fn read_recording(&self) -> Option<Vec<u8>> {
        let path = self.recording.as_ref()?;
        let is_fit = path.metadata().is_ok_and(|found| found.is_file() && found.len() <= MAX_RECORDING_BYTES);
        if is_fit { std::fs::read(path).ok() } else { None }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().peekable();
        if lines.next()? != FORMAT {
            return None;
        }
        let mut field = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        let mut ticket = Self {
            invite: field("invite")?.to_owned(),
            token: u64::from_str_radix(field("token")?, 16).ok()?,
            seed: field("seed")?.parse().ok()?,
            port: field("port")?.parse().ok()?,
            began_secs: field("began")?.parse().ok()?,
            relay: field("relay")?.to_owned(),
            spectators: None,
            recording: None,
        };
        if let Some(line) = lines.next_if(|line| line.starts_with("watch ")) {
            ticket.spectators = Some(SpectatorKeys::parse(line.strip_prefix("watch ")?)?);
        }
        ticket.recording = lines.next().and_then(|line| line.strip_prefix("recording ")).map(PathBuf::from);
        Some(ticket)
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { invite, token, seed, port, began_secs, relay, spectators, recording } = self;
        writeln!(f, "{FORMAT}\ninvite {invite}\ntoken {token:016x}\nseed {seed}")?;
        writeln!(f, "port {port}\nbegan {began_secs}\nrelay {relay}")?;
        if let Some(spectators) = spectators {
            writeln!(f, "watch {spectators}")?;
        }
        // A path that is no text, or of two lines, is left out: the match can be resumed without it.
        match recording.as_ref().and_then(|path| path.to_str()).filter(|path| !path.contains('\n')) {
            Some(path) => writeln!(f, "recording {path}"),
            None => Ok(()),
        }
    }
}

/// The newest ticket in a folder that is at most `age` old.
pub(crate) fn newest(folder: &Path, age: Duration) -> Option<PathBuf> {
    let files = folder.read_dir().ok()?.flatten().map(|entry| entry.path());
    let tickets = files.filter(|path| path.extension().is_some_and(|name| name == EXTENSION));
    let dated = tickets.filter_map(|path| {
        let written = path.symlink_metadata().ok()?.modified().ok()?;
        let is_young = SystemTime::now().duration_since(written).is_ok_and(|passed| passed <= age);
        is_young.then_some((written, path))
    });
    dated.filter(|(_, path)| Ticket::read(path).is_ok()).max().map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spectators() -> SpectatorKeys {
        SpectatorKeys {
            invite: "rebout:2:0002".to_owned(),
            access: [0xA1; 32],
            broadcast: [2; 32],
            matches: 3,
            room: Some([4; 32]),
            delay_millis: 5_000,
            max_spectators: 12,
            bits_per_second: 900_000,
            chat: true,
            max_log_bytes: 77_000,
        }
    }

    fn ticket(recording: Option<&str>) -> Ticket {
        Ticket {
            invite: "rebout:2:0001".to_owned(),
            token: 0x1234,
            seed: 7,
            port: 7_001,
            began_secs: 1_700_000_000,
            relay: "only".to_owned(),
            spectators: recording.map(|_| spectators()),
            recording: recording.map(PathBuf::from),
        }
    }

    #[test]
    fn ticket_is_private_and_read_back() {
        let folder = std::env::temp_dir().join(format!("rebout-ticket-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        assert_eq!(newest(&folder, Duration::MAX), None);
        for recording in [None, Some("a b/c.rplk")] {
            let path = ticket(recording).write_in(&folder).unwrap();
            assert_eq!(Ticket::read(&path).unwrap(), ticket(recording));
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            }
            assert!(newest(&folder, Duration::from_secs(60)).is_some());
            assert!(!format!("{:?}", ticket(recording)).contains("0001"), "the key is not shown");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn text_that_is_no_ticket_is_refused() {
        let text = ticket(Some("x")).to_string();
        assert_eq!(Ticket::parse(&text), Some(ticket(Some("x"))));
        for line in 0..7 {
            let lines: Vec<&str> = text.lines().collect();
            let without = [&lines[..line], &lines[line + 1..]].concat().join("\n");
            assert_eq!(Ticket::parse(&without), None, "without line {line}");
        }
        let replaced = [
            ("rejoin 3", "rejoin 2"),
            ("token 0", "token g"),
            ("port 7001", "port 70010"),
            (" a1", " a"),
            (" 3 ", " -3 "),
            (" 04", " g4"),
            (" 3 ", " "),
            (" 5000", " 5s"),
            (" 12 ", " 65536 "),
            (" 900000", " 4294967296"),
            (" true ", " yes "),
            (" 77000", " 77000 1"),
        ];
        for (good, bad) in replaced {
            assert!(text.contains(good), "{good}");
            assert_eq!(Ticket::parse(&text.replace(good, bad)), None, "{bad}");
        }
        let mut without_room = ticket(None);
        without_room.spectators = Some(SpectatorKeys { room: None, ..spectators() });
        assert_eq!(Ticket::parse(&without_room.to_string()), Some(without_room));
        let shown = format!("{:?}", spectators());
        assert!(!shown.contains("161") && !shown.contains("0002"), "no key is shown: {shown}");
    }
}
