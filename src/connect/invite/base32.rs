//! Base32 without look-alikes, the bits in its characters, and the checksum over them.

use super::error::{InviteError, Mistake};
use super::wipe::Wiped;
use std::fmt;

/// The bits of a character.
const CHARACTER_BITS: usize = 5;

/// The digits and letters without I, L, O and U, by value.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The characters of a checksum.
pub(super) const CHECKSUM_LEN: usize = 6;

/// The generator of the checksum: the BCH code over GF(32) of BIP 173. It detects up to three wrong characters in texts of
/// up to 1,023 characters, and up to four in texts of up to 89.
const GENERATOR: [u32; 5] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3];

/// The remainder of a text with a right checksum, from BIP 350. It is not 0 or 1, for which a character inserted in or
/// taken from a run of zeros at the end goes unnoticed.
const REMAINDER: u32 = 0x2BC8_30A3;

/// The longest text in which a single mistake is told from all cases of up to three wrong characters.
const MAX_LOCATED: usize = 89;

/// The character of a value below 32.
pub(super) fn character(value: u8) -> char {
    char::from(ALPHABET[usize::from(value) % ALPHABET.len()])
}

/// The value of a character in either case. I and L are read as 1, O as 0 and U as V, which they look like.
pub(super) fn value(character: char) -> Option<u8> {
    let meant = match character.to_ascii_uppercase() {
        'I' | 'L' => '1',
        'O' => '0',
        'U' => 'V',
        other => other,
    };
    ALPHABET.iter().position(|character| char::from(*character) == meant).map(|value| value as u8)
}

/// The number of characters that hold so many bits.
pub(super) const fn characters_for(bits: usize) -> usize {
    bits.div_ceil(CHARACTER_BITS)
}

/// White space, and the marks without width that chat programs put into long words.
fn is_skipped(character: char) -> bool {
    character.is_whitespace()
        || matches!(character, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}')
}

/// The characters of a text behind its scheme.
pub(super) fn behind(scheme: &str, text: &str) -> Result<impl Iterator<Item = char>, InviteError> {
    let mut characters = text.chars().filter(|character| !is_skipped(*character));
    let is_next = |character| characters.next().is_some_and(|found| found.eq_ignore_ascii_case(&character));
    if scheme.chars().all(is_next) { Ok(characters) } else { Err(InviteError::NotAnInvite) }
}

/// The values of at most `max` characters.
pub(super) fn values(characters: impl Iterator<Item = char>, max: usize) -> Result<Wiped, InviteError> {
    let mut held = Wiped::with_room(max);
    for character in characters {
        let at = held.0.len() + 1;
        let value = value(character).ok_or(InviteError::Character { character, at })?;
        if at > max {
            return Err(InviteError::TooLong { max });
        }
        held.0.push(value);
    }
    Ok(held)
}

/// Writes values as characters.
pub(super) fn write(values: &Wiped, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    values.0.iter().try_for_each(|value| write!(f, "{}", character(*value)))
}

/// Packs bits into the values of characters, the highest bit first.
pub(super) struct Writer {
    values: Wiped,
    bits: usize,
}

impl Writer {
    /// With room for so many bits and the checksum.
    pub(super) fn with_room(bits: usize) -> Self {
        Self { values: Wiped::with_room(characters_for(bits) + CHECKSUM_LEN), bits: 0 }
    }

    /// Appends the lowest `bits` bits of a number.
    pub(super) fn put(&mut self, number: u8, bits: usize) {
        for bit in (0..bits).rev() {
            let used = self.bits % CHARACTER_BITS;
            if used == 0 {
                self.values.0.push(0);
            }
            let last = self.values.0.last_mut().expect("a value was pushed for the first of its bits");
            *last |= (number >> bit & 1) << (CHARACTER_BITS - 1 - used);
            self.bits += 1;
        }
    }

    pub(super) fn put_bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.put(*byte, 8));
    }

    /// The values, with the checksum at their end.
    pub(super) fn finish(mut self, version: u8) -> Wiped {
        let padded = self.values.0.iter().copied().chain([0; CHECKSUM_LEN]);
        let checksum = remainder(version, padded) ^ REMAINDER;
        let shifts = (0..CHECKSUM_LEN).rev().map(|place| place * CHARACTER_BITS);
        self.values.0.extend(shifts.map(|shift| (checksum >> shift & 31) as u8));
        self.values
    }
}

/// Takes bits out of the values of characters.
pub(super) struct Reader<'a> {
    values: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(values: &'a [u8]) -> Self {
        Self { values, at: 0 }
    }

    /// The next `bits` bits, at most eight, as a number; `None` if fewer are left.
    pub(super) fn take(&mut self, bits: usize) -> Option<u8> {
        if self.left() < bits {
            return None;
        }
        let mut number = 0;
        for at in self.at..self.at + bits {
            let bit = self.values[at / CHARACTER_BITS] >> (CHARACTER_BITS - 1 - at % CHARACTER_BITS) & 1;
            number = number << 1 | bit;
        }
        self.at += bits;
        Some(number)
    }

    pub(super) fn take_bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = self.take(8)?;
        }
        Some(bytes)
    }

    /// Passes over bits, at most to the end.
    pub(super) fn skip(&mut self, bits: usize) {
        self.at += bits.min(self.left());
    }

    /// Whether no more than the zeros that fill the last character are left.
    pub(super) fn is_at_end(&mut self) -> bool {
        let left = self.left();
        left < CHARACTER_BITS && self.take(left) == Some(0)
    }

    /// The number of bits left.
    pub(super) fn left(&self) -> usize {
        self.values.len() * CHARACTER_BITS - self.at
    }
}

/// Checks the checksum at the end of `values`, and says which mistake explains a wrong one.
pub(super) fn check(version: u8, values: &[u8]) -> Result<(), Mistake> {
    let difference = remainder(version, values.iter().copied()) ^ REMAINDER;
    if difference == 0 { Ok(()) } else { Err(locate(difference, values)) }
}

/// One step of the division by the generator.
fn step(rest: u32, value: u8) -> u32 {
    let shifted = (rest & 0x01FF_FFFF) << CHARACTER_BITS ^ u32::from(value);
    let top = rest >> 25;
    let terms = GENERATOR.iter().enumerate().filter(|(bit, _)| top >> bit & 1 == 1);
    terms.fold(shifted, |rest, (_, term)| rest ^ term)
}

/// The version comes first, so that characters of one version never pass for those of another.
fn remainder(version: u8, values: impl IntoIterator<Item = u8>) -> u32 {
    values.into_iter().fold(step(1, version), step)
}

/// The single wrong character, or the single pair of swapped neighbours, that makes this difference. The code is linear: a
/// mistake adds the same difference to every text of one length.
fn locate(difference: u32, values: &[u8]) -> Mistake {
    // One more for the version.
    if values.len() >= MAX_LOCATED {
        return Mistake::Unknown;
    }
    for error in 1..32 {
        let (mut here, mut after) = (u32::from(error), 0);
        for (at, value) in values.iter().enumerate().rev() {
            if here == difference {
                return Mistake::Character(at + 1);
            }
            let swapped = values.get(at + 1).is_some_and(|next| next ^ value == error);
            if swapped && here ^ after == difference {
                return Mistake::Swapped(at + 1);
            }
            (after, here) = (here, step(here, 0));
        }
    }
    Mistake::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than every invite.
    const CHARACTERS: usize = 512;

    #[test]
    fn checksum_finds_every_wrong_or_swapped_character() {
        // The code is linear, so that a mistake is found in all texts or in none.
        for error in 1..32u8 {
            let (mut here, mut after) = (u32::from(error), 0);
            for at in 0..CHARACTERS {
                assert_ne!(here, 0, "a character wrong by {error}, {at} before the end");
                assert_ne!(here, after, "neighbours that differ by {error} swapped, {at} before the end");
                (after, here) = (here, step(here, 0));
            }
        }
    }

    #[test]
    fn checksum_is_that_of_bip_350() {
        // The valid text "a1lqfn3a": 3, 0 and 1 are its expanded prefix, and all behind the 1 is the checksum.
        let characters = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
        let value = |character| characters.iter().position(|other| *other == character).unwrap() as u8;
        assert_eq!(remainder(3, [0, 1].into_iter().chain(b"lqfn3a".map(value))), REMAINDER);
    }

    #[test]
    fn bits_come_back_as_they_went_in() {
        let mut writer = Writer::with_room(28);
        let place = writer.values.0.as_ptr();
        writer.put(0b101, 3);
        writer.put_bytes(&[0xA5, 0xFF, 0]);
        writer.put(1, 1);
        let held = writer.finish(1);
        let values = &held.0;
        assert_eq!(values.as_ptr(), place, "the room was enough: nothing is left behind");
        assert_eq!(values.len(), characters_for(28) + CHECKSUM_LEN);
        assert_eq!(check(1, values), Ok(()));
        assert!(check(2, values).is_err());
        let mut reader = Reader::new(&values[..values.len() - CHECKSUM_LEN]);
        assert_eq!((reader.take(3), reader.take_bytes()), (Some(0b101), Some([0xA5, 0xFF, 0])));
        assert_eq!((reader.is_at_end(), reader.take(8)), (false, None));
    }

    #[test]
    fn either_case_and_lookalikes_are_read() {
        for value_of in 0..32 {
            let shown = character(value_of);
            assert_eq!((value(shown), value(shown.to_ascii_lowercase())), (Some(value_of), Some(value_of)));
        }
        for (typed, meant) in
            [('i', '1'), ('I', '1'), ('l', '1'), ('L', '1'), ('o', '0'), ('O', '0'), ('u', 'V')]
        {
            assert_eq!(value(typed), value(meant));
        }
        let read =
            (0..=char::MAX as u32).filter_map(char::from_u32).filter(|character| value(*character).is_some());
        assert_eq!(read.count(), 10 + 2 * 26, "nothing but the digits and letters of ASCII");
    }

    /// The values of a text of so many characters, with its checksum.
    fn text(characters: usize) -> Vec<u8> {
        let mut writer = Writer::with_room(characters * CHARACTER_BITS);
        (0..characters - CHECKSUM_LEN).for_each(|at| writer.put(at as u8 % 32, CHARACTER_BITS));
        writer.finish(1).0.clone()
    }

    #[test]
    fn mistake_is_located_in_texts_of_up_to_88_characters() {
        for (characters, located) in [(88, Mistake::Character(5)), (89, Mistake::Unknown)] {
            let mut values = text(characters);
            values[4] ^= 9;
            assert_eq!(check(1, &values), Err(located), "{characters} characters");
        }
    }

    #[test]
    fn neighbours_wrong_alike_are_not_called_swapped() {
        let mut values = text(40);
        values.swap(4, 5);
        assert_eq!(check(1, &values), Err(Mistake::Swapped(5)));
        values.swap(4, 5);
        values[4] ^= 9;
        values[5] ^= 9;
        assert_eq!(check(1, &values), Err(Mistake::Unknown));
    }
}
