//! The first screen: the keys, over two bots who show what can be done with them.

use rebout::rollback::{Rollback, RollbackConfig};
use rebout::{Game, Player};

use super::show::{Show, leaves};
use super::{Beat, FRAME, Hand, wants_to_start};
use crate::bot::{Bot, Level};
use crate::picture::Panel;
use crate::sim::Duel;
use crate::view::Screen;

/// Shows the first screen until someone wants to begin; `false` if they leave instead.
pub(super) fn wait(screen: &Screen, panel: &Panel, seats: &[Hand], seed: u32, names: &[String; 2]) -> bool {
    let mut duel = Duel::new(seed);
    let mut bots = [Bot::new(seed, Level::Normal), Bot::new(seed.wrapping_add(1), Level::Hard)];
    let mut engine = Rollback::new(RollbackConfig::default(), &duel);
    let mut show = Show::new(screen, &duel, names.clone(), false);
    show.panel(Some(panel.clone()));
    let mut beat = Beat::start();
    loop {
        let hands = show.hands();
        if leaves(&hands) {
            return false;
        }
        if wants_to_start(&hands, seats) {
            return true;
        }
        for player in Player::BOTH {
            let buttons = bots[player.index()].buttons(&duel, player);
            engine.press(player, 0, buttons);
        }
        engine.advance(&mut duel);
        show.frame(&duel, engine.cues());
        if duel.finished() {
            duel = Duel::new(seed.wrapping_add(duel.age));
            engine.reset();
        }
        beat.wait(FRAME);
    }
}
