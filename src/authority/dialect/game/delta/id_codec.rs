//! The bytes of a set of entities.
//!
//! The first byte is 01 to 20 for that many bytes of a bitmap (bit k of byte n is id 8 n + k, and the last byte is not 0), or
//! 41 to 5F for a list of 1 to 31 rising ids. Id 0 is never in a set, and no set is empty.

use crate::authority::ids::Ids;

/// The first byte of a list of ids, less their number.
const LIST: u8 = 0x40;
const MAX_LIST: usize = 31;
const MAX_BITMAP: usize = 32;

/// The number of bytes of the bitmap up to the highest id.
fn bitmap_len(ids: &Ids) -> usize {
    let words = ids.words();
    let top = words.iter().rposition(|word| *word != 0);
    top.map_or(0, |n| n * 8 + 8 - words[n].leading_zeros() as usize / 8)
}

/// Writes a set to the front of `buf`, in the shorter form, and returns the number of bytes; `None` if there is no room.
pub(super) fn write(ids: &Ids, buf: &mut [u8]) -> Option<usize> {
    let (count, bitmap) = (ids.count(), bitmap_len(ids));
    let is_list = count < bitmap;
    let len = 1 + count.min(bitmap);
    let (first, rest) = buf.get_mut(..len)?.split_first_mut()?;
    if is_list {
        *first = LIST + rest.len() as u8;
        rest.iter_mut().zip(ids.iter()).for_each(|(byte, id)| *byte = id);
    } else {
        *first = rest.len() as u8;
        let bytes = ids.words().map(u64::to_le_bytes);
        rest.copy_from_slice(&bytes.as_flattened()[..bitmap]);
    }
    Some(len)
}

/// Takes a set from the front of `left`; `None` if it breaks a rule.
pub(super) fn take(left: &mut &[u8]) -> Option<Ids> {
    let first = usize::from(*left.split_off_first()?);
    let ids = if (1..=MAX_BITMAP).contains(&first) {
        let bytes = left.split_off(..first)?;
        bytes.last().filter(|last| **last != 0)?;
        let mut bitmap = [0; MAX_BITMAP];
        bitmap[..first].copy_from_slice(bytes);
        let mut words = bitmap.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        Ids::from_words(core::array::from_fn(|_| words.next().unwrap_or(0)))
    } else {
        let count = first.checked_sub(LIST.into()).filter(|count| (1..=MAX_LIST).contains(count))?;
        let list = left.split_off(..count)?;
        list.is_sorted_by(|a, b| a < b).then(|| list.iter().copied().collect::<Ids>())?
    };
    (!ids.contains(0)).then_some(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(ids: &Ids) -> Vec<u8> {
        let mut buf = [0xA5; 40];
        let len = write(ids, &mut buf).unwrap();
        assert!((0..len).all(|room| write(ids, &mut [0; 40][..room]).is_none()), "no room");
        buf[..len].to_vec()
    }

    #[test]
    fn every_set_survives_the_wire_in_its_shorter_form() {
        for (ids, len) in
            [(vec![1], 2), (vec![255], 2), (vec![7, 64, 128, 200], 5), ((1..=255).collect(), 33)]
        {
            let set: Ids = ids.iter().copied().collect();
            let bytes = written(&set);
            assert_eq!(bytes.len(), len, "{ids:?}");
            let left = &mut &bytes[..];
            assert_eq!((take(left), left.is_empty()), (Some(set), true));
        }
        assert_eq!(written(&(1..=20).collect()), [3, 0xFE, 0xFF, 0x1F]);
        assert_eq!(written(&[9, 200].into_iter().collect()), [0x42, 9, 200]);
    }

    #[test]
    fn malformed_sets_are_refused() {
        for bytes in [
            &[][..],
            &[0],
            &[2, 0xFE],
            &[2, 0xFE, 0],
            &[1, 1],
            &[33; 34],
            &[0x40],
            &[0x42, 9],
            &[0x42, 9, 9],
            &[0x42, 9, 8],
            &[0x41, 0],
            &[0x60; 40],
            &[0xFF; 40],
        ] {
            assert_eq!(take(&mut &bytes[..]), None, "{bytes:?}");
        }
    }
}
