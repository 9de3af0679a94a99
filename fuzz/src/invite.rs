//! Invites, offers and answers: lines of text that a player pastes.

use crate::memory::within;
use rebout::{Answer, Invite, Offer, Rendezvous, ServerName};
use std::fmt::{Debug, Display};
use std::str::FromStr;

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The first characters of each text, and the number that its checksum begins with.
const SCHEMES: [(&str, u8); 3] = [("rebout:1:", 1), ("rebout-offer:1:", 2), ("rebout-answer:1:", 3)];

/// The first byte chooses whether the rest is a text as it is, or the content of one, to which the checksum is added that a fuzzer
/// does not find.
pub fn run(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    match choice % 4 {
        0 => {
            let text = String::from_utf8_lossy(rest);
            check::<Invite>(&text);
            check::<Offer>(&text);
            check::<Answer>(&text);
        }
        1 => check::<Invite>(&with_checksum(SCHEMES[0], rest)),
        2 => check::<Offer>(&with_checksum(SCHEMES[1], rest)),
        _ => check::<Answer>(&with_checksum(SCHEMES[2], rest)),
    }
}

fn check<T>(text: &str)
where
    T: FromStr<Err: Display + Debug> + Display + PartialEq + Debug,
{
    // The longest text is some hundred characters; the rest of a longer one is not looked at.
    let read = match within(8 * 1_024, || text.parse::<T>()) {
        Err(error) => return assert!(!error.to_string().is_empty()),
        Ok(read) => read,
    };
    let shown = read.to_string();
    let again: T = shown.parse().unwrap_or_else(|error| panic!("{error}: {shown} of {text}"));
    assert!(again == read && again.to_string() == shown, "{shown} of {text}");
}

/// The characters of these bits and their checksum, as in `docs/ENCRYPTION.md`.
fn with_checksum((scheme, number): (&str, u8), bytes: &[u8]) -> String {
    let mut values: Vec<u8> = Vec::new();
    for bit in bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).enumerate() {
        if bit.0 % 5 == 0 {
            values.push(0);
        }
        let last = values.len() - 1;
        values[last] |= bit.1 << (4 - bit.0 % 5);
    }
    let step = |rest: u32, value: &u8| {
        let generator = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3];
        let top = rest >> 25;
        let shifted = (rest & 0x01FF_FFFF) << 5 ^ u32::from(*value);
        (0..5).filter(|bit| top >> bit & 1 == 1).fold(shifted, |rest, bit| rest ^ generator[bit])
    };
    let padded = std::iter::once(&number).chain(&values).chain(&[0; 6]);
    let checksum = padded.fold(1, step) ^ 0x2BC8_30A3;
    values.extend((0..6).rev().map(|place| (checksum >> (5 * place) & 31) as u8));
    let characters = values.iter().map(|value| char::from(ALPHABET[usize::from(*value)]));
    scheme.chars().chain(characters).collect()
}

pub fn seeds() -> Vec<Vec<u8>> {
    let v4 = ([192, 0, 2, 7], 7_000).into();
    let v6 = ([0x2001, 0xDB8, 0, 0, 0, 0, 0, 1], 7_000).into();
    let name = ServerName::new("rendezvous.example.org", 3_479).expect("a name");
    let invites = [
        Invite::new([7; 32], [v4]),
        Invite::new([7; 32], [v4, v6]),
        Invite::with_rendezvous([7; 32], [], Rendezvous { server: v4, room: [9; 16] }),
        Invite::with_rendezvous([7; 32], [v4], Rendezvous { server: v6, room: [9; 16] }),
        Invite::with_named_rendezvous([7; 32], [], name, [9; 16]),
    ]
    .map(|invite| invite.expect("an invite").to_string());
    let offer = [&[7; 40][..], &[6, 192, 0, 2, 1, 13, 150], &[1; 188]].concat();
    let texts =
        invites.into_iter().chain([with_checksum(SCHEMES[1], &offer), with_checksum(SCHEMES[2], &[2; 333])]);
    let mut seeds = vec![[&[2][..], &offer].concat(), [&[3][..], &[2; 333]].concat()];
    for text in texts {
        seeds.push([&[0][..], text.as_bytes()].concat());
        // The same as content: what stands behind the second colon, less its checksum.
        let content = text.splitn(3, ':').nth(2).expect("a scheme and a version");
        let values = content[..content.len() - 6].bytes();
        let values =
            values.map(|one| ALPHABET.iter().position(|other| *other == one).expect("base 32") as u8);
        let bits: Vec<u8> = values.flat_map(|value| (0..5).rev().map(move |bit| value >> bit & 1)).collect();
        let bytes =
            bits.chunks(8).map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | bit) << (8 - bits.len()));
        seeds.push([1].into_iter().chain(bytes).collect());
    }
    seeds
}
