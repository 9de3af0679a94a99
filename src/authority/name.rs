//! The name of a player, as R-Type sends it.

use crate::wire::rtype::RtypePacket;
use core::fmt;

/// The name of a player: 1 to 32 bytes of UTF-8.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PlayerName {
    len: u8,
    bytes: [u8; RtypePacket::MAX_NAME],
}

impl PlayerName {
    /// The name of a player who gives none.
    pub const DEFAULT: Self = {
        let (name, mut bytes) = (b"player", [0; RtypePacket::MAX_NAME]);
        let mut at = 0;
        while at < name.len() {
            bytes[at] = name[at];
            at += 1;
        }
        Self { len: name.len() as u8, bytes }
    };

    /// A name; `None` if it is empty or longer than 32 bytes.
    ///
    /// ```
    /// use rebout::authority::PlayerName;
    ///
    /// assert_eq!(PlayerName::new("Ada").unwrap().as_str(), "Ada");
    /// assert!(PlayerName::new("").is_none() && PlayerName::new(&"x".repeat(33)).is_none());
    /// ```
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let mut this = Self { len: u8::try_from(name.len()).ok()?, bytes: [0; RtypePacket::MAX_NAME] };
        this.bytes.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        (!name.is_empty()).then_some(this)
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only whole strings are ever copied in.
        core::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or("player")
    }
}

impl fmt::Debug for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}
