//! How the duel is shown: its pictures in a window, in a terminal, or nowhere.

use std::sync::{Arc, Mutex, PoisonError};

use crate::art::camera::Covered;
use crate::art::{boxes, drill, graph, hud, menus, stage as scenery, texts};
use crate::keys::{Bindings, role_of};
use crate::picture::Picture;
use crate::sound;
use stage::sound::Bank;
use stage::{Cells, Key, Pixels, Raster, Role};

pub use stage::{InputState, Kind, ViewError};

/// The match's end of a view.
pub type Screen = stage::Screen<Picture>;

impl stage::Picture for Picture {
    const TITLE: &'static str = "Rebout: duel";

    fn paint(&self, window: &mut Pixels) {
        let below = if self.net.is_some() { graph::NET_HEIGHT } else { 0.0 };
        let covered = Covered { above: hud::BARS, below };
        scenery::paint(window, &self.scene, self.moved(), covered);
        if let Some(view) = &self.drill {
            boxes::paint(window, &self.scene, view, covered);
            drill::paint(window, view);
        }
        if !self.is_backdrop {
            hud::paint(window, self);
        }
        if let Some(menu) = &self.menu {
            stage::menu::paint(window, menu, &menus::THEME);
        }
    }

    fn paint_shapes(&self, raster: &mut Raster) {
        let below = if self.net.is_some() { graph::NET_ROWS as f32 * 2.0 } else { 0.0 };
        let covered = Covered { above: texts::BARS, below };
        scenery::paint(raster, &self.scene, self.moved(), covered);
        if let Some(view) = &self.drill {
            boxes::paint(raster, &self.scene, view, covered);
        }
        if !self.is_backdrop {
            texts::paint_pixels(raster, self);
        }
        if let Some(menu) = &self.menu {
            stage::menu::paint_shapes(raster, menu, &menus::THEME);
        }
    }

    fn write_words(&self, cells: &mut Cells) {
        if !self.is_backdrop && self.menu.is_none() {
            texts::paint(cells, self);
        }
        if let Some(view) = self.drill.as_ref().filter(|_| self.menu.is_none()) {
            drill::write_words(cells, view);
        }
        if let Some(menu) = &self.menu {
            stage::menu::write(cells, menu, &menus::THEME);
        }
    }

    fn takes_mouse(&self) -> bool {
        self.menu.is_some()
    }

    fn sounds() -> Bank {
        sound::bank()
    }
}

/// The keys of the players, which a terminal that tells no releases has to know. A menu may change them at any time.
#[derive(Clone, Debug, Default)]
pub struct Roles(Arc<Mutex<Vec<Bindings>>>);

impl Roles {
    pub fn new(bindings: &[Bindings]) -> Self {
        let roles = Self::default();
        roles.set(bindings);
        roles
    }

    pub fn set(&self, bindings: &[Bindings]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = bindings.to_vec();
    }

    fn of(&self, key: Key) -> Role {
        role_of(&self.0.lock().unwrap_or_else(PoisonError::into_inner), key)
    }
}

/// Runs `job` in a thread with a screen of the wanted kind, and the view on this one.
///
/// # Errors
///
/// When no view of the wanted kind can be opened; the job has not run then.
pub fn run<T: Send + 'static>(
    wanted: Option<Kind>,
    roles: Roles,
    job: impl FnOnce(&Screen) -> T + Send + 'static,
) -> Result<T, ViewError> {
    stage::run(wanted, move |key| roles.of(key), job)
}
