//! The training: the player, a dummy, and no end.

use rebout::rollback::{EngineConfig, Rollback};
use rebout::{Buttons, Player};
use stage::Key;
use stage::menu::{Item, Menu, MenuEvent, Note, drive};

use super::show::{Show, pauses};
use super::{FRAME, FrameClock};
use crate::devices::Devices;
use crate::menu::{FOOTER, TRAINING_KEYS, drill_values};
use crate::pause_pages::{LABELS, PausePage};
use crate::picture::{DrillView, Tone};
use crate::training::{
    Drill, Dummy, FIGHTERS, Guard, Inputs, Meter, Place, Stance, Tape, Throws, TrainingGame, WakeUp,
};
use crate::view::{InputState, Screen};
use games::duel::buttons::{LEFT, RIGHT};

/// The player's seat.
const ME: Player = Player::One;

/// The keys that are there besides those of a fight.
const RECORD: Key = Key::F(2);
const PLAY: Key = Key::F(3);
const RESET: Key = Key::F(4);

struct Session<'a> {
    game: TrainingGame,
    engine: Rollback<TrainingGame>,
    dummy: Dummy,
    tape: Tape,
    meter: Meter,
    inputs: Inputs,
    drill: Drill,
    show: Show<'a>,
    menu: Option<Menu>,
    /// A page over the menu.
    page: Option<PausePage>,
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
    let game = TrainingGame::new(seed, drill.fighters);
    let names = [name.to_owned(), "Dummy".to_owned()];
    let mut session = Session {
        engine: Rollback::new(EngineConfig::default(), &game),
        show: Show::new(screen, &game.duel, names, false),
        game,
        dummy: Dummy::default(),
        tape: Tape::default(),
        meter: Meter::default(),
        inputs: Inputs::default(),
        drill,
        menu: None,
        page: None,
    };
    session.show.set_outfits(outfits);
    session.show.say(TRAINING_KEYS, Tone::Calm);
    let mut clock = FrameClock::start();
    loop {
        let input = session.show.take_input();
        if input.closed || session.handle_keys(&input) {
            return session.drill;
        }
        if session.menu.is_some() {
            session.show.refresh();
        } else {
            session.act(&input, devices);
            session.frame(&input, devices);
        }
        clock.wait(FRAME);
    }
}

impl Session<'_> {
    /// Records and plays back the dummy, and resets the fighters.
    fn act(&mut self, input: &InputState, devices: &Devices) {
        for key in &input.presses {
            match *key {
                RECORD => {
                    self.tape.toggle_recording();
                    let text = if self.tape.is_recording() {
                        "recording: you move the dummy; F2 ends it"
                    } else {
                        "recorded: F3 plays it back"
                    };
                    self.show.say(text, Tone::Calm);
                }
                PLAY => {
                    self.tape.toggle_playing();
                    let text = match (self.tape.is_playing(), self.tape.is_empty()) {
                        (true, _) => "the dummy repeats the recording; F3 ends it",
                        (false, true) => "nothing is recorded yet: F2 records the dummy",
                        (false, false) => "the dummy follows its settings again",
                    };
                    self.show.say(text, Tone::Calm);
                }
                RESET => {
                    let held = devices.buttons(input);
                    self.reset(match (held.holds(LEFT), held.holds(RIGHT)) {
                        (true, false) => Place::LeftCorner,
                        (false, true) => Place::RightCorner,
                        _ => Place::Middle,
                    });
                }
                _ => {}
            }
        }
    }

    fn frame(&mut self, input: &InputState, devices: &Devices) {
        let pressed = devices.buttons(input);
        let toward = self.game.duel.toward(ME.other());
        let (own, theirs) = if self.tape.is_recording() {
            self.tape.record(pressed, toward);
            (Buttons::NONE, pressed)
        } else {
            let played = self.tape.next(toward);
            let dummy = self.dummy.buttons(&self.game.duel, ME.other(), &self.drill);
            (pressed, played.unwrap_or(dummy))
        };
        for (player, buttons) in [(ME, own), (ME.other(), theirs)] {
            self.engine.press(player, 0, buttons);
        }
        self.engine.advance(&mut self.game);
        self.meter.watch(&self.game.duel, ME);
        self.inputs.push(pressed);
        self.show.drill(DrillView {
            boxes: self.drill.boxes,
            report: self.meter.last().copied().filter(|_| self.drill.frames),
            inputs: self.inputs.iter().copied().filter(|_| self.drill.inputs).collect(),
        });
        self.show.frame(&self.game.duel, self.engine.cues());
    }

    /// Puts both fighters to a place; a recording begins again.
    fn reset(&mut self, place: Place) {
        self.game.put(place);
        self.engine = Rollback::new(EngineConfig::default(), &self.game);
        (self.dummy, self.meter) = (Dummy::default(), Meter::default());
        self.tape.rewind();
        self.show.jump(&self.game.duel);
    }

    /// Puts other fighters on the stage, if the player has chosen some. A recording of the dummy stays.
    fn change_fighters(&mut self) {
        let fighters = &mut self.game.duel.fighters;
        if [fighters[0].character, fighters[1].character] != self.drill.fighters {
            fighters[0].character = self.drill.fighters[0];
            fighters[1].character = self.drill.fighters[1];
            self.reset(Place::Middle);
        }
    }

    /// Acts on the menu of the pause, which has the settings of the training; `true` if the player leaves.
    fn handle_keys(&mut self, input: &InputState) -> bool {
        if let Some(page) = &mut self.page {
            if page.act(input, self.show.sound()) {
                self.page = None;
            }
            self.show_menu();
            return false;
        }
        let Some(menu) = &mut self.menu else {
            if pauses(input) {
                self.menu = Some(pause(&self.drill));
                self.show_menu();
            }
            return false;
        };
        let (restart, leave) = (menu.items.len() - 2, menu.items.len() - 1);
        let told = drive(input, menu, |menu| Some(menu), Menu::act);
        match told {
            None => {}
            Some(MenuEvent::Changed(_)) => {
                self.drill = drill_of(menu);
                self.change_fighters();
            }
            Some(MenuEvent::Picked(item)) if item == leave => return true,
            Some(MenuEvent::Picked(item)) if item == restart => {
                self.menu = None;
                self.reset(Place::Middle);
            }
            Some(MenuEvent::Picked(item)) => {
                self.page = PausePage::of(
                    &menu.items[item].label,
                    self.show.sound(),
                    self.game.duel.fighters[0].character,
                );
                if self.page.is_none() {
                    self.menu = None;
                }
            }
            Some(MenuEvent::Back) => self.menu = None,
        }
        self.show_menu();
        false
    }

    fn show_menu(&mut self) {
        let page = self.page.as_ref().map(PausePage::menu);
        self.show.menu(page.or(self.menu.as_ref()).cloned());
    }
}

fn pause(drill: &Drill) -> Menu {
    let mut items = vec![Item::pick("Go on")];
    items.extend(
        drill_values(drill).into_iter().map(|(label, value, hint)| Item::new(label, value).with_hint(hint)),
    );
    items.extend(LABELS.map(Item::pick));
    items.extend(["Start over", "Leave"].map(Item::pick));
    Menu::new("Training", items).with_notes(vec![Note::calm(TRAINING_KEYS)]).with_footer(FOOTER)
}

/// The settings as the menu has them, below "Go on".
fn drill_of(menu: &Menu) -> Drill {
    let number = |item: usize| menu.items[item].value.number();
    Drill {
        fighters: [FIGHTERS[number(1)].0, FIGHTERS[number(2)].0],
        stance: Stance::ALL[number(3)].0,
        guard: Guard::ALL[number(4)].0,
        throws: Throws::ALL[number(5)].0,
        wake_up: WakeUp::ALL[number(6)].0,
        boxes: number(7) == 1,
        frames: number(8) == 1,
        inputs: number(9) == 1,
    }
}
