//! Draws the pictures of the pages without a display: a match from a seed, played in the lab.
//!
//! `cargo run --release -p pictures` retakes those of the README; `-- --sheets DIR` draws the screens of a fight in many
//! sizes, for somebody who changes them and wants to look at all.

mod animation;
mod film;
mod image;
mod palette;
mod sheets;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use duel::menu::{App, Page};
use duel::picture::Picture;
use duel::settings::Settings;

use image::Image;

/// The pictures of the pages, drawn without a display
#[derive(Debug, Parser)]
struct Cli {
    /// The folder of the pages
    #[arg(default_value = "docs")]
    pages: PathBuf,
    /// Draw the screens of a fight in many sizes into this folder instead
    #[arg(long, value_name = "DIR")]
    sheets: Option<PathBuf>,
}

fn main() -> ExitCode {
    let cli = signals::arguments::<Cli>();
    let done = match &cli.sheets {
        Some(folder) => sheets::draw(folder),
        None => retake(&cli.pages),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pictures: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The frame of the film that the pages show: a blow that lands.
const SHOWN: usize = 500;

fn retake(pages: &Path) -> Result<(), String> {
    let film = film::shoot();
    let shown = film.get(SHOWN).ok_or("the match is shorter than the picture that is wanted")?;
    Image::of_window(shown, 960, 540).save(&pages.join("duel-window.png"))?;
    Image::of_terminal(shown, (120, 36)).save(&pages.join("duel-terminal.png"))?;
    Image::of_window(&title(shown), 960, 540).save(&pages.join("duel-menu.png"))?;
    animation::save(&film, &pages.join("duel-animation.png"))
}

/// The title, with the fight behind it.
fn title(fight: &Picture) -> Picture {
    let menu = App::new(Settings::default(), Page::Title).menu().cloned();
    Picture { menu, is_backdrop: true, ..Picture::of(fight.scene.clone()) }
}
