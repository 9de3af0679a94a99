//! Opening messages and signals as they travel: all of one length, so that their packets tell nothing of them.

use crate::wire::seal::{MAX_MESSAGE_LEN, PADDED_LEN};
use core::ops::Range;

/// The length of a text, the text, and zeros. `None` if the text is too long.
pub(super) fn padded(text: &[u8]) -> Option<[u8; PADDED_LEN]> {
    let mut whole = [0; PADDED_LEN];
    whole.get_mut(2..2 + text.len())?.copy_from_slice(text);
    whole[..2].copy_from_slice(&(text.len() as u16).to_be_bytes());
    Some(whole)
}

/// The place of the text; `None` if its length or its padding is wrong.
pub(super) fn unpadded(whole: &[u8]) -> Option<Range<usize>> {
    let (len, rest) = whole.split_first_chunk::<2>()?;
    let (text, padding) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
    (rest.len() == MAX_MESSAGE_LEN && padding.iter().all(|byte| *byte == 0)).then_some(2..2 + text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_come_back() {
        for len in [0, 1, 123, MAX_MESSAGE_LEN] {
            let whole = padded(&vec![7; len]).unwrap();
            assert_eq!(unpadded(&whole).map(|text| &whole[text]), Some(&vec![7; len][..]));
        }
        assert_eq!(padded(&[7; MAX_MESSAGE_LEN + 1]), None);
    }

    #[test]
    fn length_and_zeros_are_checked() {
        let mut whole = padded(b"text").unwrap();
        assert_eq!(unpadded(&whole[..PADDED_LEN - 1]), None, "there is one length");
        whole[PADDED_LEN - 1] = 1;
        assert_eq!(unpadded(&whole), None, "the padding is zero");
        (whole[0], whole[PADDED_LEN - 1]) = (1, 0);
        assert_eq!(unpadded(&whole), None, "longer than there is room for");
    }
}
