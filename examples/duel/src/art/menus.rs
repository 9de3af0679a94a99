//! The colours of the duel's menus.

use stage::menu::Theme;

use super::hud::{GOLD, INK, PAPER, RED};

pub const THEME: Theme = Theme { ink: INK, paper: PAPER, accent: GOLD, alarm: RED };
