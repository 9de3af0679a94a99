//! How the duel is shown: its pictures in a window, in a terminal, or nowhere.

use crate::art::camera::Covered;
use crate::art::{graph, hud, stage as scenery, texts};
use crate::keys::{Bindings, role_of};
use crate::picture::Picture;
use crate::sound;
use stage::sound::Bank;
use stage::{Cells, Pixels, Raster};

pub use stage::{Hands, Kind, ViewError};

/// The match's end of a view.
pub type Screen = stage::Screen<Picture>;

impl stage::Picture for Picture {
    const TITLE: &'static str = "Rebout: duel";

    fn paint(&self, window: &mut Pixels) {
        let below = if self.net.is_some() { graph::NET_HEIGHT } else { 0.0 };
        scenery::paint(window, &self.scene, self.moved(), Covered { above: hud::BARS, below });
        hud::paint(window, self);
    }

    fn paint_shapes(&self, raster: &mut Raster) {
        let below = if self.net.is_some() { graph::NET_ROWS as f32 * 2.0 } else { 0.0 };
        scenery::paint(raster, &self.scene, self.moved(), Covered { above: texts::BARS, below });
        texts::paint_pixels(raster, self);
    }

    fn write_words(&self, cells: &mut Cells) {
        texts::paint(cells, self);
    }

    fn sounds() -> Bank {
        sound::bank()
    }
}

/// Runs `job` in a thread with a screen of the wanted kind, and the view on this one.
///
/// # Errors
///
/// When no view of the wanted kind can be opened; the job has not run then.
pub fn run<T: Send + 'static>(
    wanted: Option<Kind>,
    bindings: &[Bindings],
    job: impl FnOnce(&Screen) -> T + Send + 'static,
) -> Result<T, ViewError> {
    let bindings = bindings.to_vec();
    stage::run(wanted, move |key| role_of(&bindings, key), job)
}
