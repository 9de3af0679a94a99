//! A server that is not heard of any more, in words for the player.

use std::time::Duration;

/// A shorter silence is not told.
const TOLD_AFTER: Duration = Duration::from_secs(1);

/// How long nothing has come from the server.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence {
    datagrams: u64,
    since: Duration,
    lasts: Duration,
}

impl Silence {
    /// Takes in how many datagrams have come by now.
    pub fn note(&mut self, now: Duration, datagrams: u64) {
        if datagrams != self.datagrams || self.since == Duration::ZERO {
            (self.datagrams, self.since) = (datagrams, now);
        }
        self.lasts = now.saturating_sub(self.since);
    }

    /// Words for the player, who is told how long the server is still waited for.
    #[must_use]
    pub fn words(&self, timeout: u64) -> Option<String> {
        let seconds = self.lasts.as_secs();
        (self.lasts >= TOLD_AFTER).then(|| {
            format!(
                "no word from the server for {seconds} s: it is lost in {} s",
                timeout.saturating_sub(seconds)
            )
        })
    }
}
