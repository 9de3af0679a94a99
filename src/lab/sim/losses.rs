//! Datagrams chosen by their bytes to be lost.

use std::fmt;
use std::sync::Arc;

/// Chooses datagrams by their bytes.
type Choice = Arc<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// The loss of the next `left` datagrams of one endpoint that a choice fits.
#[derive(Clone)]
struct Loss {
    from: usize,
    left: u32,
    which: Choice,
}

/// All requested losses, in order. A datagram uses up the first one that fits.
#[derive(Clone, Default)]
pub(super) struct Losses(Vec<Loss>);

impl Losses {
    pub(super) fn add(
        &mut self,
        from: usize,
        times: u32,
        which: impl Fn(&[u8]) -> bool + Send + Sync + 'static,
    ) {
        self.0.push(Loss { from, left: times, which: Arc::new(which) });
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether a datagram is to be lost. Uses up one loss.
    pub(super) fn take(&mut self, from: usize, datagram: &[u8]) -> bool {
        let fits = |loss: &&mut Loss| loss.from == from && loss.left > 0 && (loss.which)(datagram);
        let Some(loss) = self.0.iter_mut().find(fits) else { return false };
        loss.left -= 1;
        true
    }
}

impl fmt::Debug for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|loss| (loss.from, loss.left))).finish()
    }
}
