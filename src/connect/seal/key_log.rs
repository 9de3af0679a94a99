//! The keys of connections for a log, with which recorded packets can be opened. Nothing is logged unless it is asked for.

use super::cipher::Cipher;
use super::noise::Split;
use super::random::Secret;
use crate::wire::seal::{self, Packet, TAG_LEN};
use core::fmt;
use core::str::FromStr;
use std::collections::VecDeque;

/// The connections that may wait to be written to a log. The oldest makes room.
const MAX_WAITING: usize = 16;
/// The first word of a line, and its version.
const HEAD: &str = "rebout-seal 1";
/// How many times the 16 bits of a counter on the wire are tried again: a match of days.
const MAX_TURNS: u64 = 1 << 10;

/// The keys of one connection: a line of a key log.
///
/// Its holder can read and forge every packet of that connection, and of no other. As text it is `rebout-seal 1`, the numbers
/// of the connection at the host and at the joiner, and the keys from joiner to host and from host to joiner, in hexadecimal
/// digits. `Debug` does not show the keys.
pub struct ConnectionKeys {
    /// The number at the host, and at the joiner. A packet has its receiver's.
    indices: [u16; 2],
    /// The key to the host, and the key to the joiner.
    keys: [Secret; 2],
}

/// A packet that was opened with logged keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedPacket {
    /// Whether the host was to receive it.
    pub to_host: bool,
    /// Its whole counter.
    pub counter: u64,
    /// The datagram in DATA, or the text of a control packet.
    pub text: Vec<u8>,
}

impl ConnectionKeys {
    /// Opens DATA or a control packet of this connection. `None` if it is of another one, or damaged.
    #[must_use]
    pub fn open(&self, datagram: &[u8]) -> Option<OpenedPacket> {
        let (index, counter, turn, head, sealed, dropped) = match seal::decode(datagram).ok()? {
            Packet::Data(data) => {
                let counter = u64::from(data.counter);
                (data.index, counter, 1 << 16, data.head.to_vec(), data.sealed, data.form.dropped())
            }
            Packet::Control(control) => {
                let (counter, dropped) = (u64::from(control.counter), &b""[..]);
                (control.index, counter, 1 << 32, control.head.to_vec(), control.sealed, dropped)
            }
            _ => return None,
        };
        for (receiver, key) in self.keys.iter().enumerate().filter(|(at, _)| self.indices[*at] == index) {
            let cipher = Cipher::new(&key.0)?;
            for counter in (0..MAX_TURNS).map(|turns| counter + turns * turn) {
                let mut text = sealed.to_vec();
                if cipher.open(counter, &head, &mut text) {
                    text.truncate(text.len() - TAG_LEN);
                    let text = [dropped, &text].concat();
                    return Some(OpenedPacket { to_host: receiver == 0, counter, text });
                }
            }
        }
        None
    }
}

impl fmt::Display for ConnectionKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [host, joiner] = self.indices;
        write!(f, "{HEAD} {host:04x} {joiner:04x}")?;
        self.keys.iter().try_for_each(|key| {
            f.write_str(" ")?;
            key.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        })
    }
}

impl fmt::Debug for ConnectionKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionKeys").field("indices", &self.indices).finish_non_exhaustive()
    }
}

/// A line that is not of a key log. The line is not repeated, because it may have keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLoggedKeys;

impl fmt::Display for NotLoggedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a line of a key log: {HEAD}, two numbers and two keys")
    }
}

impl core::error::Error for NotLoggedKeys {}

impl FromStr for ConnectionKeys {
    type Err = NotLoggedKeys;

    fn from_str(line: &str) -> Result<Self, NotLoggedKeys> {
        let rest = line.trim_end().strip_prefix(HEAD).and_then(|rest| rest.strip_prefix(' '));
        let mut words = rest.ok_or(NotLoggedKeys)?.split(' ');
        let mut word = || words.next().ok_or(NotLoggedKeys);
        let indices = [number(word()?)?, number(word()?)?];
        let keys = [secret(word()?)?, secret(word()?)?];
        if words.next().is_some() { Err(NotLoggedKeys) } else { Ok(Self { indices, keys }) }
    }
}

fn number(digits: &str) -> Result<u16, NotLoggedKeys> {
    let digits = Some(digits).filter(|digits| digits.len() == 4 && !digits.starts_with('+'));
    digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()).ok_or(NotLoggedKeys)
}

fn secret(digits: &str) -> Result<Secret, NotLoggedKeys> {
    let (pairs, odd) = digits.as_bytes().as_chunks::<2>();
    if pairs.len() != 32 || !odd.is_empty() {
        return Err(NotLoggedKeys);
    }
    let digit = |character: u8| char::from(character).to_digit(16).ok_or(NotLoggedKeys);
    let mut secret = Secret([0; 32]);
    for (byte, [high, low]) in secret.0.iter_mut().zip(pairs) {
        *byte = (digit(*high)? << 4 | digit(*low)?) as u8;
    }
    Ok(secret)
}

/// The connections of a seal whose keys are to be logged, if they are.
#[derive(Debug, Default)]
pub(super) struct KeyLog {
    waiting: Option<VecDeque<ConnectionKeys>>,
}

impl KeyLog {
    pub(super) fn start(&mut self) {
        self.waiting.get_or_insert_default();
    }

    /// Notes the keys of a new connection. `indices` are its numbers at the host and at the joiner.
    pub(super) fn note(&mut self, split: &Split, indices: [u16; 2]) {
        let Some(waiting) = &mut self.waiting else { return };
        if waiting.len() == MAX_WAITING {
            waiting.pop_front();
        }
        waiting.push_back(ConnectionKeys { indices, keys: split.keys.clone() });
    }

    pub(super) fn take(&mut self) -> Option<ConnectionKeys> {
        self.waiting.as_mut()?.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::super::channel::Channel;
    use super::*;
    use crate::wire::seal::Kind;

    fn split() -> Split {
        Split {
            keys: [Secret([0x1A; 32]), Secret([0x2B; 32])],
            hash: [0; 32],
            ephemerals: (Secret([3; 32]), [0; 32]),
        }
    }

    fn logged() -> ConnectionKeys {
        let mut log = KeyLog::default();
        log.start();
        log.note(&split(), [7, 9]);
        log.take().expect("noted")
    }

    #[test]
    fn nothing_is_logged_unless_it_is_asked_for() {
        let mut log = KeyLog::default();
        log.note(&split(), [7, 9]);
        assert!(log.take().is_none());
        log.start();
        for index in 0..20 {
            log.note(&split(), [index, 9]);
        }
        let found: Vec<u16> = std::iter::from_fn(|| log.take()).map(|keys| keys.indices[0]).collect();
        assert_eq!(found, (4..20).collect::<Vec<_>>());
    }

    #[test]
    fn line_is_read_back_and_any_other_is_refused() {
        let line = logged().to_string();
        assert_eq!(line, format!("rebout-seal 1 0007 0009 {} {}", "1a".repeat(32), "2b".repeat(32)));
        let read: ConnectionKeys = format!("{line}\n").parse().expect("a line");
        assert_eq!((read.to_string(), read.indices), (line.clone(), [7, 9]));
        for wrong in [
            "",
            "rebout-seal 1",
            &line.replace("seal 1", "seal 2"),
            &line.replace("seal 1", "seal 1x"),
            &line.replace("seal 1", "seal 10"),
            &line[1..],
            &line[..line.len() - 1],
            &format!("{line} 00"),
            &format!("{line}0"),
            &line.replace("0007", "+007"),
            &line.replace("0007", "007"),
            &line.replace("1a1a", "1a1g"),
        ] {
            assert!(wrong.parse::<ConnectionKeys>().is_err(), "{wrong}");
        }
        assert!(!format!("{read:?}").contains("1a") && !format!("{read:?}").contains("26"));
    }

    #[test]
    fn packets_of_both_directions_and_late_counters_are_opened() {
        let (keys, mut buf) = (logged(), [0; 1_200]);
        // The host knows the joiner's number, and the joiner the host's.
        for (is_host, theirs) in [(true, 9), (false, 7)] {
            let mut channel = Channel::new(&split(), is_host, theirs).unwrap();
            for counter in 0..70_000_u64 {
                buf[..9].copy_from_slice(b"GAME12345");
                let len = channel.seal_data(&mut buf, 9).unwrap();
                if counter % 23_000 == 0 {
                    let opened = keys.open(&buf[..len]);
                    let text = b"GAME12345".to_vec();
                    assert_eq!(opened, Some(OpenedPacket { to_host: !is_host, counter, text }));
                    buf[len - 1] ^= 1;
                    assert_eq!(keys.open(&buf[..len]), None);
                }
            }
            let len = channel.seal_control(Kind::Challenge, b"12345678", &mut buf).unwrap();
            let text = b"12345678".to_vec();
            let expected = OpenedPacket { to_host: !is_host, counter: 70_000, text };
            assert_eq!(keys.open(&buf[..len]), Some(expected));
        }
        assert_eq!(keys.open(b"\xE4"), None);
        let len = Channel::new(&split(), true, 8).unwrap().seal_data(&mut buf, 9).unwrap();
        assert_eq!(keys.open(&buf[..len]), None, "a packet of another connection");
    }
}
