//! The first state of a match as bytes, which the host hands to the joiner.

use crate::channel::keyed_hash::keyed_hash;
use core::fmt;
use core::ops::Deref;
use std::sync::Arc;

/// The bytes from which both machines build the first state of a match: a save state of an emulator, a battery memory.
/// Without any it is empty.
///
/// A host sets [`LobbyConfig::first_state`](crate::LobbyConfig::first_state), and both games find the same bytes in
/// [`Agreed::first_state`](crate::Agreed::first_state). A copy shares the bytes.
///
/// ```
/// use rebout::FirstState;
///
/// let state = FirstState::from(vec![1, 2, 3]);
/// assert_eq!((state.len(), state[0]), (3, 1));
/// assert!(FirstState::default().is_empty());
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FirstState {
    /// `None` if there are none: a match without a first state allocates nothing for it.
    bytes: Option<Arc<Vec<u8>>>,
    hash: u64,
}

impl FirstState {
    /// The SipHash-2-4 of the bytes under the key 0; 0 if there are none.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

impl From<Vec<u8>> for FirstState {
    fn from(bytes: Vec<u8>) -> Self {
        if bytes.is_empty() {
            return Self::default();
        }
        Self { hash: keyed_hash((0, 0), &bytes), bytes: Some(Arc::new(bytes)) }
    }
}

impl Deref for FirstState {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl fmt::Debug for FirstState {
    /// The length and the hash: a log should not hold megabytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FirstState({} bytes, {:#018x})", self.len(), self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_text_has_no_bytes() {
        let text = format!("{:?}", FirstState::from(vec![7; 5_000]));
        assert!(text.starts_with("FirstState(5000 bytes, 0x") && text.len() < 50, "{text}");
    }

    #[test]
    fn hash_is_that_of_the_bytes_and_zero_without_any() {
        assert_eq!(FirstState::default().hash(), 0);
        assert_eq!(FirstState::from(vec![0]).hash(), 0x8B5A_0BAA_49FB_C58D);
        assert_ne!(FirstState::from(vec![0]).hash(), FirstState::from(vec![0, 0]).hash());
    }
}
