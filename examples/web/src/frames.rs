//! Frames of exactly a sixtieth of a second, however often the page is called.

use std::time::Duration;

const FRAME: Duration = Duration::from_nanos(16_666_667);
/// After a longer rest the missed frames are left out: nobody wants to see a menu catch up.
const MAX_BEHIND: Duration = Duration::from_millis(250);

/// Counts the frames that are due. A display of 144 Hz gets a frame in some of its pictures, one of 30 Hz two at a time.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    next_at: Duration,
}

impl Frames {
    /// The first frame is due at once.
    pub fn start(now: Duration) -> Self {
        Self { next_at: now }
    }

    /// Whether a frame is due; each is told once.
    pub fn take_due(&mut self, now: Duration) -> bool {
        if now < self.next_at {
            return false;
        }
        if now - self.next_at > MAX_BEHIND {
            self.next_at = now;
        }
        self.next_at += FRAME;
        true
    }
}
