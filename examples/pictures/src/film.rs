//! A match between two bots as one of the players sees it: the whole engine and protocol over the lab's network, in
//! virtual time, so that every run makes the same pictures.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use duel::netgraph::{NetGraph, Played};
use duel::picture::Picture;
use duel::scene::Scene;
use games::duel::Duel;
use games::duel::bot::{Bot, Level};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::{Advanced, Frame, Session};

/// The seed of everything: the link, the match and both bots.
const SEED: u32 = 20;
/// Frames of the film, more than twenty seconds.
const FRAMES: usize = 1_320;

/// The match, frame by frame, with the net graph open.
pub(crate) fn shoot() -> Vec<Picture> {
    // The link of `duel` without arguments.
    let mut link = LinkConfig::new(Duration::from_millis(40));
    link.loss = Chance::percent(3);
    let setup = Setup::new(SEED.into(), link).configure(|config| config.rollback.delay_frames = None);
    let mut sim = SimMatch::new(setup, Play { build: Duel::new, script: every_fourth });
    for id in 0..2_u32 {
        let mut bot = Bot::new(SEED + id, Level::Hard);
        sim.machine_mut(id as usize).input_source =
            Some(Box::new(move |_, session, duel| bot.buttons(duel, session.local()).into()));
    }
    let pictures = Rc::new(RefCell::new(Vec::new()));
    let mut camera = Camera::new(Rc::clone(&pictures));
    sim.machine_mut(0).watch =
        Some(Box::new(move |_, advanced, session, duel| camera.watch(advanced, session, duel)));
    let shot = Rc::clone(&pictures);
    sim.run_until(Duration::from_secs(60), move |_| shot.borrow().len() >= FRAMES);
    // The match holds the camera, and with it the other half of the pictures.
    drop(sim);
    Rc::try_unwrap(pictures).map_or_else(|shared| shared.borrow().clone(), RefCell::into_inner)
}

/// Takes a picture of every frame that is due.
struct Camera {
    pictures: Rc<RefCell<Vec<Picture>>>,
    scene: Option<Scene>,
    net: NetGraph,
    shown: Option<(Duel, Frame)>,
    resimulated_frames: u64,
}

impl Camera {
    fn new(pictures: Rc<RefCell<Vec<Picture>>>) -> Self {
        Self { pictures, scene: None, net: NetGraph::default(), shown: None, resimulated_frames: 0 }
    }

    fn watch(&mut self, advanced: Advanced, session: &Session<Duel>, duel: &Duel) {
        if advanced == Advanced::NotDue {
            return;
        }
        let scene = self.scene.get_or_insert_with(|| Scene::new(duel, names()));
        let (shown, frame) = self.shown.unwrap_or((*duel, session.current()));
        let total = session.stats().rollback.resimulated_frames;
        let resimulated_frames = (total - self.resimulated_frames) as u32;
        self.net.note(session, &Played { advanced, shown, frame, resimulated_frames });
        scene.advance(duel, session.cues());
        self.shown = Some((*duel, session.current()));
        self.resimulated_frames = total;
        self.pictures
            .borrow_mut()
            .push(Picture { net: Some(self.net.clone()), ..Picture::of(scene.clone()) });
    }
}

/// The names of the fighters, by seat.
pub(crate) fn names() -> [String; 2] {
    ["Kaito", "Rai"].map(str::to_owned)
}
