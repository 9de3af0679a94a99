//! Frame numbers: 64 bits inside, of which the low 32 travel.

/// The full number whose low bits are `wire` and which is nearest to `near`: a number of 32 bits wraps after two years,
/// and nobody is ever half of that away.
pub(crate) fn nearest(near: u64, wire: u32) -> u64 {
    let ahead = wire.wrapping_sub(near as u32).cast_signed();
    near.saturating_add_signed(i64::from(ahead))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn numbers_are_found_across_the_wrap() {
        let wrap = 1_u64 << 32;
        assert_eq!(nearest(5, 7), 7);
        assert_eq!(nearest(wrap - 2, 3), wrap + 3);
        assert_eq!(nearest(wrap + 3, 0xFFFF_FFFE), wrap - 2);
        assert_eq!(nearest(3, 0xFFFF_FFFE), 0, "nothing is before the first");
    }
}
