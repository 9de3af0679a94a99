//! The invite that a waiting host shows: it may get another address, expire, or be replaced.

use std::time::{SystemTime, UNIX_EPOCH};

use games::duel::Duel;
use rebout::{ConnectError, Invite, Online};

/// The text for the other player, as the screen shows it.
pub(super) struct InviteShown {
    text: String,
    /// Whether the player has made it anew: the connection then knows another one, or none.
    is_renewed: bool,
}

impl InviteShown {
    pub(super) fn new(online: &Online<Duel>) -> Self {
        Self { text: online.share().to_owned(), is_renewed: false }
    }

    /// The text; empty once nobody can join by it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Looks whether it has changed, and returns the news for the player.
    pub(super) fn look(&mut self, online: &Online<Duel>) -> Option<&'static str> {
        let now = if self.is_renewed { current(&self.text) } else { online.share() };
        if now == self.text {
            return None;
        }
        self.text = now.to_owned();
        Some(if self.text.is_empty() {
            "the invite has expired: n makes a new one"
        } else {
            "your router forwards the port: the invite also works from outside"
        })
    }

    /// Makes a new invite, for a single guest, and revokes the one before it.
    ///
    /// # Errors
    /// The words of the library.
    pub(super) fn renew(&mut self, online: &mut Online<Duel>) -> Result<(), ConnectError> {
        let connection = online.connection_mut();
        let text = connection.invite_one()?;
        connection.revoke(&self.text);
        (self.text, self.is_renewed) = (text, true);
        Ok(())
    }
}

/// The text of an invite, or nothing once its time is over.
fn current(text: &str) -> &str {
    let expires_at = text.parse::<Invite>().ok().and_then(|invite| invite.expires_at());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    if expires_at.is_some_and(|at| now >= u64::from(at)) { "" } else { text }
}
