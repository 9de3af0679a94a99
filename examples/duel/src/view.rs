//! How the duel is shown: its pictures in a window, in a terminal, or nowhere.

use crate::art::camera::Covered;
use crate::art::{boxes, drill, graph, hud, menus, stage as scenery, texts};
use crate::picture::Picture;
use crate::sound;
use stage::sound::Bank;
use stage::{Cells, Pixels, Raster};

pub use stage::InputState;
#[cfg(not(target_family = "wasm"))]
pub use stage::{Kind, ViewError};

#[cfg(not(target_family = "wasm"))]
pub use crate::screen::{Roles, Screen, run};

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
        self.menu.is_some() || self.replay_view.is_some() && self.panel.is_none()
    }

    fn sounds() -> Bank {
        sound::bank()
    }
}
