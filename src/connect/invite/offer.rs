//! Manual signalling: two lines of text that the players send each other, one each way, without any server.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use super::base32::{self, CHECKSUM_LEN, Reader, Writer};
use super::error::InviteError;
use super::wipe::{Wiped, wipe};

/// The most characters that are read.
const MAX_CHARACTERS: usize = 700;
/// The key of the host, the ticket and the length of a server's address, before that address and the signal.
const OFFER_HEAD: usize = 32 + 8 + 1;

/// A host's offer: its key, which is the right to join, a ticket, the STUN server that it has asked, and the signal with its
/// addresses. The text is
/// `rebout-offer:1:` and characters.
#[derive(Clone, PartialEq, Eq)]
pub struct Offer {
    pub(crate) key: [u8; 32],
    pub(crate) ticket: u64,
    pub(crate) stun: Option<SocketAddr>,
    pub(crate) signal: Vec<u8>,
}

/// A joiner's answer to an [`Offer`]: its sealed signal. The text is `rebout-answer:1:` and characters; only the host can open it.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    pub(crate) init: Vec<u8>,
}

impl Offer {
    /// The key of the host, for the joiner's seal. It grants the right to join: keep it secret.
    #[must_use]
    pub fn key(&self) -> &[u8; 32] {
        &self.key
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        wipe(&mut self.key);
    }
}

/// A kind of text: its first characters, and the number that its checksum begins with.
struct Scheme {
    name: &'static str,
    number: u8,
}

const OFFER: Scheme = Scheme { name: "rebout-offer:1:", number: 2 };
const ANSWER: Scheme = Scheme { name: "rebout-answer:1:", number: 3 };

impl Scheme {
    fn write(&self, bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer::with_room(bytes.len() * 8);
        writer.put_bytes(bytes);
        f.write_str(self.name)?;
        base32::write(&writer.finish(self.number), f)
    }

    fn read(&self, text: &str) -> Result<Wiped, InviteError> {
        let held = base32::values(base32::behind(self.name, text)?, MAX_CHARACTERS)?;
        let values = &held.0;
        let Some(len) = values.len().checked_sub(CHECKSUM_LEN) else {
            return Err(InviteError::TooShort { characters: values.len(), needed: CHECKSUM_LEN + 1 });
        };
        base32::check(self.number, values).map_err(|mistake| InviteError::Checksum { mistake })?;
        let mut reader = Reader::new(&values[..len]);
        let mut bytes = Wiped::with_room(len);
        while reader.left() >= 8 {
            bytes.0.extend(reader.take(8));
        }
        if reader.is_at_end() {
            Ok(bytes)
        } else {
            Err(InviteError::Malformed { rule: "its end is not zero" })
        }
    }
}

/// An address of 4 or 16 bytes, and a port.
fn written(addr: SocketAddr) -> Vec<u8> {
    let port = addr.port().to_be_bytes();
    match addr.ip() {
        IpAddr::V4(ip) => [&ip.octets()[..], &port].concat(),
        IpAddr::V6(ip) => [&ip.octets()[..], &port].concat(),
    }
}

fn read_addr(bytes: &[u8]) -> Option<SocketAddr> {
    let (ip, port) = bytes.split_last_chunk::<2>()?;
    let ip = match ip.len() {
        4 => IpAddr::from(*ip.first_chunk::<4>()?),
        16 => IpAddr::from(*ip.first_chunk::<16>()?),
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_be_bytes(*port)))
}

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stun = self.stun.map_or_else(Vec::new, written);
        let (ticket, len) = (self.ticket.to_be_bytes(), [stun.len() as u8]);
        let bytes = Wiped([&self.key[..], &ticket, &len, &stun, &self.signal].concat());
        OFFER.write(&bytes.0, f)
    }
}

impl FromStr for Offer {
    type Err = InviteError;

    fn from_str(text: &str) -> Result<Self, InviteError> {
        let bytes = OFFER.read(text)?;
        let malformed = |rule| InviteError::Malformed { rule };
        let head = bytes.0.split_first_chunk::<OFFER_HEAD>();
        let (head, rest) = head.ok_or(malformed("it ends inside its content"))?;
        let key = head.first_chunk().copied().unwrap_or_default();
        let ticket = head[32..].first_chunk().copied().map_or(0, u64::from_be_bytes);
        let cut = rest.split_at_checked(head[OFFER_HEAD - 1].into());
        let (stun, signal) = cut.ok_or(malformed("it ends inside its content"))?;
        let stun = match stun {
            [] => None,
            stun => Some(read_addr(stun).ok_or(malformed("its server has no address"))?),
        };
        Ok(Self { key, ticket, stun, signal: signal.to_vec() })
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ANSWER.write(&self.init, f)
    }
}

impl FromStr for Answer {
    type Err = InviteError;

    fn from_str(text: &str) -> Result<Self, InviteError> {
        ANSWER.read(text).map(|init| Self { init: init.0.clone() })
    }
}

/// Without the key.
impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Offer")
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(signal: usize) -> Offer {
        Offer {
            key: [7; 32],
            ticket: 0x0102_0304_0506_0708,
            stun: None,
            signal: (0..signal).map(|at| at as u8).collect(),
        }
    }

    #[test]
    fn offer_and_answer_are_read_back_in_any_case_and_spacing() {
        for len in [0, 1, 2, 3, 4, 5, 30, 188] {
            let text = offer(len).to_string();
            assert_eq!(text.parse(), Ok(offer(len)));
            // Line ends, and marks that a chat program puts into long words.
            for between in ['\n', '\u{200b}', '\u{ad}', '\u{feff}'] {
                let torn: String =
                    text.chars().flat_map(|character| [character.to_ascii_lowercase(), between]).collect();
                assert_eq!(torn.parse(), Ok(offer(len)));
            }
        }
        let answer = Answer { init: (0..333).map(|at| at as u8).collect() };
        assert_eq!(answer.to_string().parse(), Ok(answer.clone()));
        assert!(answer.to_string().len() < MAX_CHARACTERS);
    }

    #[test]
    fn offer_names_the_server_that_its_host_has_asked() {
        for server in ["192.0.2.1:3478", "[2001:db8::9]:3479"] {
            let mut named = offer(188);
            named.stun = Some(server.parse().unwrap());
            let text = named.to_string();
            assert_eq!(text.parse(), Ok(named));
            assert!(text.len() < MAX_CHARACTERS);
        }
        for len in [1, 5, 7, 17, 19, 255] {
            let bytes = [&[7; 40][..], &[len], &[9; 255]].concat();
            let mut writer = Writer::with_room(bytes.len() * 8);
            writer.put_bytes(&bytes);
            let values = writer.finish(OFFER.number);
            let characters: String = values.0.iter().copied().map(base32::character).collect();
            assert!(format!("{}{characters}", OFFER.name).parse::<Offer>().is_err(), "{len}");
        }
    }

    #[test]
    fn wrong_character_and_wrong_kind_of_text_are_refused() {
        let text = offer(30).to_string();
        assert_eq!(text.parse::<Answer>(), Err(InviteError::NotAnInvite));
        let changed = text.replacen("offer", "answer", 1);
        assert!(matches!(changed.parse::<Answer>(), Err(InviteError::Checksum { .. })));
        for at in OFFER.name.len()..text.len() {
            let mut characters: Vec<char> = text.chars().collect();
            characters[at] = if characters[at] == '7' { '8' } else { '7' };
            let wrong: String = characters.into_iter().collect();
            assert!(matches!(wrong.parse::<Offer>(), Err(InviteError::Checksum { .. })), "{at}");
        }
        assert!(text[..30].parse::<Offer>().is_err());
        assert!(
            format!("{OFFER_NAME}{}", "0".repeat(5_000), OFFER_NAME = OFFER.name).parse::<Offer>().is_err()
        );
    }

    #[test]
    fn text_that_is_cut_or_is_anything_else_is_refused() {
        let texts = [offer(188).to_string(), Answer { init: vec![9; 333] }.to_string()];
        for text in &texts {
            let reads = |text: &str| text.parse::<Offer>().is_ok() || text.parse::<Answer>().is_ok();
            assert!(reads(text));
            assert!((0..text.len()).all(|end| !reads(&text[..end])), "every cut");
            assert!((1..text.len()).all(|from| !reads(&text[from..])), "every missing beginning");
        }
        // Right checksums around contents of every length, down to none.
        for len in 0..60 {
            let mut writer = Writer::with_room(len * 8);
            let mut bytes = vec![7; len];
            bytes.iter_mut().skip(OFFER_HEAD - 1).for_each(|byte| *byte = 6);
            writer.put_bytes(&bytes);
            let values = writer.finish(OFFER.number);
            let characters: String = values.0.iter().copied().map(base32::character).collect();
            let read = format!("{}{characters}", OFFER.name).parse::<Offer>();
            assert_eq!(read.is_ok(), len >= OFFER_HEAD + 6, "{len}");
        }
        assert!(format!("{}{}", ANSWER.name, "\u{200b}".repeat(100_000)).parse::<Answer>().is_err());
    }

    #[test]
    fn key_is_not_printed() {
        assert_eq!(format!("{:?}", offer(9)), "Offer");
    }

    #[test]
    fn characters_are_bounded_and_the_last_bits_are_zero() {
        let read = |characters: &str| format!("{}{characters}", OFFER.name).parse::<Offer>();
        assert_eq!(read(&"0".repeat(701)), Err(InviteError::TooLong { max: 700 }));
        assert!(matches!(read(&"0".repeat(700)), Err(InviteError::Checksum { .. })));
        for end in [0, 1] {
            let mut writer = Writer::with_room(338);
            writer.put_bytes(&[&[7; 40][..], &[0, 7]].concat());
            writer.put(end, 2);
            let values = writer.finish(OFFER.number);
            let characters: String = values.0.iter().copied().map(base32::character).collect();
            assert_eq!(read(&characters).is_ok(), end == 0);
        }
    }
}
