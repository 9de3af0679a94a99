//! The training: the player, a dummy, and no end.

use rebout::Player;
use rebout::rollback::{EngineConfig, Rollback};
use stage::menu::{Item, Menu, MenuEvent, drive};

use super::show::{Show, pauses};
use super::{FRAME, FrameClock};
use crate::devices::Devices;
use crate::menu::{FOOTER, drill_values};
use crate::picture::DrillView;
use crate::training::{Drill, Dummy, Guard, Inputs, Meter, Stance, TrainingGame};
use crate::view::{InputState, Screen};

/// The player's seat.
const ME: Player = Player::One;

struct Session<'a> {
    game: TrainingGame,
    engine: Rollback<TrainingGame>,
    dummy: Dummy,
    meter: Meter,
    inputs: Inputs,
    drill: Drill,
    show: Show<'a>,
    menu: Option<Menu>,
}

/// Lets the player train until they leave, and answers how they wanted it last.
pub(super) fn train(
    screen: &Screen,
    seed: u32,
    devices: &Devices,
    name: &str,
    outfits: [usize; 2],
    drill: Drill,
) -> Drill {
    let game = TrainingGame::new(seed);
    let names = [name.to_owned(), "Dummy".to_owned()];
    let mut session = Session {
        engine: Rollback::new(EngineConfig::default(), &game),
        show: Show::new(screen, &game.duel, names, false),
        game,
        dummy: Dummy::default(),
        meter: Meter::default(),
        inputs: Inputs::default(),
        drill,
        menu: None,
    };
    session.show.set_outfits(outfits);
    let mut clock = FrameClock::start();
    loop {
        let input = session.show.take_input();
        if input.closed || session.handle_keys(&input) {
            return session.drill;
        }
        if session.menu.is_some() {
            session.show.refresh();
        } else {
            session.frame(&input, devices);
        }
        clock.wait(FRAME);
    }
}

impl Session<'_> {
    fn frame(&mut self, input: &InputState, devices: &Devices) {
        let own = devices.buttons(input);
        let theirs = self.dummy.buttons(&self.game.duel, ME.other(), &self.drill);
        for (player, buttons) in [(ME, own), (ME.other(), theirs)] {
            self.engine.press(player, 0, buttons);
        }
        self.engine.advance(&mut self.game);
        self.meter.watch(&self.game.duel, ME);
        self.inputs.push(own);
        self.show.drill(DrillView {
            boxes: self.drill.boxes,
            report: self.meter.last().copied().filter(|_| self.drill.frames),
            inputs: self.inputs.iter().copied().filter(|_| self.drill.inputs).collect(),
        });
        self.show.frame(&self.game.duel, self.engine.cues());
    }

    /// Acts on the menu of the pause, which has the settings of the training; `true` if the player leaves.
    fn handle_keys(&mut self, input: &InputState) -> bool {
        let Some(menu) = &mut self.menu else {
            if pauses(input) {
                self.menu = Some(pause(&self.drill));
                self.show.menu(self.menu.clone());
            }
            return false;
        };
        let (restart, leave) = (menu.items.len() - 2, menu.items.len() - 1);
        let told = drive(input, menu, |menu| Some(menu), Menu::act);
        match told {
            None => {}
            Some(MenuEvent::Changed(_)) => self.drill = drill_of(menu),
            Some(MenuEvent::Picked(item)) if item == leave => return true,
            Some(MenuEvent::Picked(item)) if item == restart => {
                self.game = TrainingGame::new(self.game.duel.age | 1);
                self.engine = Rollback::new(EngineConfig::default(), &self.game);
                (self.dummy, self.meter) = (Dummy::default(), Meter::default());
                self.show.jump(&self.game.duel);
                self.menu = None;
            }
            Some(MenuEvent::Picked(_) | MenuEvent::Back) => self.menu = None,
        }
        self.show.menu(self.menu.clone());
        false
    }
}

fn pause(drill: &Drill) -> Menu {
    let mut items = vec![Item::pick("Go on")];
    items.extend(
        drill_values(drill).into_iter().map(|(label, value, hint)| Item::new(label, value).with_hint(hint)),
    );
    items.extend(["Start over", "Leave"].map(Item::pick));
    Menu::new("Training", items).with_footer(FOOTER)
}

/// The settings as the menu has them, below "Go on".
fn drill_of(menu: &Menu) -> Drill {
    let number = |item: usize| menu.items[item].value.number();
    Drill {
        stance: Stance::ALL[number(1)].0,
        guard: Guard::ALL[number(2)].0,
        boxes: number(3) == 1,
        frames: number(4) == 1,
        inputs: number(5) == 1,
    }
}
