//! The sync test of `docs/EMBEDDING.md`.

use crate::volley::Volley;
use rebout::{Buttons, SyncTest, SyncTestError};

/// Finds state that a rollback would break, on one machine and without a peer.
pub(crate) fn sync_test(frames: u32) -> Result<(), SyncTestError> {
    let mut game = Volley::new(1);
    let mut test = SyncTest::new(&game, 8, 1); // depth, seed of the buttons that it tries
    for frame in 0..frames {
        let [one, two] = [frame / 7 % 3, frame / 11 % 3].map(|held| Buttons(held as u16));
        test.advance(&mut game, [one, two])?;
    }
    test.finish().map(|_| ())
}
