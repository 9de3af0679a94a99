//! The guests of a host.

/// Whom a host lets in, as the menu asks it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guests {
    #[default]
    Invited,
    /// Whoever has the offer and sends an answer, without any server.
    ByHand,
    /// Whoever knows the address; the host is asked.
    Asked,
    /// Opponents of earlier matches who have the invite.
    Known,
}
