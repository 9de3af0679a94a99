//! The layout of a state: its size, and the regions by which reports name its bytes.

use super::fault::Fault;
use std::fmt;

/// The longest state, 64 MiB. A match keeps some dozens of copies.
pub const MAX_STATE_BYTES: usize = 64 << 20;
/// The most regions of a state.
pub const MAX_REGIONS: usize = 65_536;
/// The name of the bytes that no region names.
const UNNAMED: &str = "unnamed";
/// The name of a state without regions.
const WHOLE: &str = "state";

/// How the numbers of a region are read and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bytes of a number: 1, 2, 4 or 8.
    pub width: usize,
    /// Whether the numbers have a sign.
    pub is_signed: bool,
    /// The address of the first number, for a region whose numbers are named by addresses.
    pub base: Option<u32>,
}

/// A named part of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its name in reports.
    pub name: String,
    /// Its first byte.
    pub offset: usize,
    /// The number of its numbers. One is a value, and more are an array.
    pub count: usize,
    /// How its numbers are read.
    pub format: Format,
    /// Whether the two machines compare it. Otherwise it is saved and restored only.
    pub is_compared: bool,
}

impl Region {
    /// The end of the region, if there is one.
    fn end(&self) -> Option<usize> {
        self.format.width.checked_mul(self.count)?.checked_add(self.offset)
    }

    /// Its bytes in a state.
    #[inline]
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.format.width * self.count
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, offset, count, format, .. } = self;
        write!(f, "region {name:?} ({count} of {} bytes at {offset})", format.width)
    }
}

/// The layout of a state, checked.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    bytes: usize,
    /// Every byte in exactly one region, in the order of the caller and then the unnamed ones.
    regions: Vec<Region>,
}

impl Layout {
    /// A state of this many bytes with these regions. The bytes that none of them names are compared too, as `unnamed[0x0040]`: a
    /// field that was forgotten shows in a report. Without any region the bytes are `state[0x0040]`.
    ///
    /// # Errors
    /// If a region is not valid, or overlaps another.
    pub fn new(bytes: usize, named: Vec<Region>) -> Result<Self, Fault> {
        if !(1..=MAX_STATE_BYTES).contains(&bytes) {
            return Err(Fault::invalid(format_args!(
                "state_bytes is {bytes}: a state has 1 to {MAX_STATE_BYTES} bytes"
            )));
        }
        if named.len() > MAX_REGIONS {
            return Err(Fault::invalid(format_args!("{} regions are more than {MAX_REGIONS}", named.len())));
        }
        let mut spans = Vec::with_capacity(named.len());
        for region in &named {
            if region.name.is_empty() || region.name.len() > 256 {
                return Err(Fault::invalid(format_args!("{region}: a name has 1 to 256 bytes")));
            }
            if ![1, 2, 4, 8].contains(&region.format.width) || region.count == 0 {
                return Err(Fault::invalid(format_args!(
                    "{region}: the width is 1, 2, 4 or 8, and the count at least 1"
                )));
            }
            let Some(end) = region.end().filter(|end| *end <= bytes) else {
                return Err(Fault::invalid(format_args!(
                    "{region} ends beyond the {bytes} bytes of the state"
                )));
            };
            spans.push((region.offset, end, &region.name));
        }
        spans.sort_unstable();
        let mut unnamed = Vec::new();
        let mut at = 0;
        for (start, end, name) in &spans {
            if *start < at {
                return Err(Fault::invalid(format_args!("region {name:?} overlaps another at byte {start}")));
            }
            unnamed.push((at, *start));
            at = *end;
        }
        unnamed.push((at, bytes));
        let rest_name = if named.is_empty() { WHOLE } else { UNNAMED };
        let rest = unnamed.into_iter().filter(|(from, to)| from < to).map(|(from, to)| Region {
            name: rest_name.to_owned(),
            offset: from,
            count: to - from,
            format: Format { width: 1, is_signed: false, base: Some(from as u32) },
            is_compared: true,
        });
        let rest: Vec<_> = rest.collect();
        Ok(Self { bytes, regions: named.into_iter().chain(rest).collect() })
    }

    /// The size of a state.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    #[inline]
    pub(super) fn regions(&self) -> &[Region] {
        &self.regions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(offset: usize, width: usize, count: usize) -> Region {
        let format = Format { width, is_signed: false, base: None };
        Region { name: format!("r{offset}"), offset, count, format, is_compared: true }
    }

    #[test]
    fn bytes_that_no_region_names_are_compared_too() {
        let layout = Layout::new(16, vec![region(8, 4, 1), region(0, 2, 3)]).unwrap();
        let spans: Vec<_> = layout.regions().iter().map(|r| (r.name.as_str(), r.range())).collect();
        assert_eq!(spans, [("r8", 8..12), ("r0", 0..6), ("unnamed", 6..8), ("unnamed", 12..16)]);
        let whole = Layout::new(5, Vec::new()).unwrap();
        assert_eq!((whole.regions()[0].name.as_str(), whole.regions()[0].range()), ("state", 0..5));
    }

    #[test]
    fn regions_that_cannot_be_are_refused_by_name() {
        let text = |bytes, regions: &[Region]| Layout::new(bytes, regions.to_vec()).unwrap_err().text;
        assert!(text(0, &[]).contains("state_bytes is 0"));
        assert!(text(usize::MAX, &[]).contains("1 to 67108864"));
        assert!(text(8, &[region(8, 1, 1)]).contains("ends beyond the 8 bytes"));
        assert!(text(8, &[region(0, 8, usize::MAX)]).contains("ends beyond"));
        assert!(text(8, &[region(0, 3, 1)]).contains("width is 1, 2, 4 or 8"));
        assert!(text(8, &[region(0, 4, 0)]).contains("at least 1"));
        assert!(text(8, &[region(2, 4, 1), region(0, 4, 1)]).contains("\"r2\" overlaps another at byte 2"));
        let nameless = Region { name: String::new(), ..region(0, 1, 1) };
        assert!(text(8, &[nameless]).contains("1 to 256 bytes"));
    }
}
