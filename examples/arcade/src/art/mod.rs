//! The drawing of a picture, in a window or in a terminal.

mod actors;
mod backdrop;
mod bursts;
mod camera;
mod hud;
mod texts;

use crate::scene::Scene;
use crate::sound;
use camera::Camera;
use stage::menu::{Menu, Theme};
use stage::sound::Bank;
use stage::{Canvas, Cells, Color, Pixels, Raster, rgb};

/// The game's end of a view.
pub type Screen = stage::Screen<Picture>;

const INK: Color = rgb(0x05_06_12);
const PAPER: Color = rgb(0xEA_F2_FF);
const GOLD: Color = rgb(0xFF_D1_5C);
const RED: Color = rgb(0xFF_4A_5E);
const CYAN: Color = rgb(0x5C_E1_FF);

/// The colours of the four ships.
const LIVERIES: [Color; 4] = [rgb(0x54_C8_FF), rgb(0xFF_9A_3C), rgb(0x7C_E8_6A), rgb(0xE4_7C_FF)];

/// The same in words.
pub const LIVERY_NAMES: [&str; 4] = ["blue", "orange", "green", "violet"];

/// A line to the player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub text: String,
    pub is_warning: bool,
}

impl Note {
    pub fn calm(text: &str) -> Self {
        Self { text: text.to_owned(), is_warning: false }
    }

    pub fn warning(text: &str) -> Self {
        Self { text: text.to_owned(), is_warning: true }
    }

    fn color(&self) -> Color {
        if self.is_warning { GOLD } else { PAPER.darker(0.2) }
    }
}

/// A sheet of words over the field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panel {
    pub title: String,
    pub lines: Vec<String>,
    pub footer: String,
}

/// One frame for a view.
#[derive(Clone, Debug)]
pub struct Picture {
    pub scene: Scene,
    /// Whether the last updates are shown beside what is drawn.
    pub raw: bool,
    /// Figures of the connection.
    pub net: Option<Vec<String>>,
    pub note: Option<Note>,
    pub panel: Option<Panel>,
    /// The name beside the own lives.
    pub name: String,
    /// Whether the keys are explained.
    pub hints: bool,
    pub menu: Option<Menu>,
}

impl Picture {
    /// A menu over the empty field.
    pub fn of_menu(scene: &Scene, menu: Menu) -> Self {
        Self {
            scene: scene.clone(),
            raw: false,
            net: None,
            note: None,
            panel: None,
            name: String::new(),
            hints: false,
            menu: Some(menu),
        }
    }
}

/// The colours of the menus.
const THEME: Theme = Theme { ink: INK, paper: PAPER, accent: CYAN, alarm: RED };

impl stage::Picture for Picture {
    const TITLE: &'static str = "Rebout: arcade";

    fn paint(&self, window: &mut Pixels) {
        paint_field(window, self);
        match &self.menu {
            Some(menu) => stage::menu::paint(window, menu, &THEME),
            None => hud::paint(window, self),
        }
    }

    fn paint_shapes(&self, raster: &mut Raster) {
        raster.clear();
        paint_field(raster, self);
        match &self.menu {
            Some(menu) => stage::menu::paint_shapes(raster, menu, &THEME),
            None => texts::paint_pixels(raster, self),
        }
    }

    fn write_words(&self, cells: &mut Cells) {
        match &self.menu {
            Some(menu) => stage::menu::write(cells, menu, &THEME),
            None => texts::write(cells, self),
        }
    }

    fn takes_mouse(&self) -> bool {
        self.menu.is_some()
    }

    fn sounds() -> Bank {
        sound::bank()
    }
}

fn paint_field(canvas: &mut dyn Canvas, picture: &Picture) {
    let (scene, camera) = (&picture.scene, Camera::new(canvas.width(), canvas.height()));
    backdrop::paint(canvas, &camera, scene.age, scene.level);
    for shot in &scene.shots {
        actors::paint_shot(canvas, &camera, shot, scene.age);
    }
    for actor in &scene.actors {
        actors::paint(canvas, &camera, scene, actor);
    }
    for burst in &scene.bursts {
        bursts::paint(canvas, &camera, burst);
    }
    if picture.raw {
        actors::paint_raw(canvas, &camera, scene);
    }
    camera.frame(canvas);
}

/// The words across the field: a big line, a small one below it, and frames since they came up.
fn banner(scene: &Scene) -> Option<(String, String, u32)> {
    use crate::game::Phase;
    let age = scene.phase_age;
    let (big, small) = match scene.phase {
        Phase::Intro => (format!("LEVEL {}", scene.level), "GET READY".to_owned()),
        Phase::Boss if age < 120 => ("WARNING".to_owned(), "SOMETHING LARGE IS COMING".to_owned()),
        Phase::Cleared => ("LEVEL CLEARED".to_owned(), format!("{} POINTS", scene.score)),
        Phase::Over => ("GAME OVER".to_owned(), format!("{} POINTS, ANOTHER GAME BEGINS SOON", scene.score)),
        _ => return None,
    };
    Some((big, small, age))
}
