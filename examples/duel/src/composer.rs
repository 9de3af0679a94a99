//! The picture of a match as it is built up from frame to frame, apart from the screen that shows it.

use rebout::CueEvent;
use stage::menu::Menu;

use crate::netgraph::NetGraph;
use crate::picture::{DrillView, Message, Panel, Picture, ReplayView, Tone};
use crate::scene::Scene;
use games::duel::Duel;

const MESSAGE_FRAMES: u32 = 240;

/// The picture as it is built up.
#[derive(Clone, Debug)]
pub struct Composer {
    picture: Picture,
    /// Filled in all the time; shown while it is open.
    pub net: NetGraph,
    pub net_open: bool,
    message_frames: u32,
}

impl Composer {
    pub fn new(duel: &Duel, names: [String; 2], net_open: bool) -> Self {
        let picture = Picture::of(Scene::new(duel, names));
        Self { picture, net: NetGraph::default(), net_open, message_frames: 0 }
    }

    /// Takes in the state of one frame.
    pub fn see(&mut self, duel: &Duel, cues: &[CueEvent]) {
        self.picture.scene.advance(duel, cues);
        self.renew();
    }

    /// Renews the words of the picture: nothing moves, but they may have changed.
    pub fn renew(&mut self) {
        self.message_frames = self.message_frames.saturating_sub(1);
        if self.message_frames == 0 {
            self.picture.message = None;
        }
        self.picture.net = self.net_open.then(|| self.net.clone());
        self.picture.corner = if self.net_open { None } else { self.net.corner() };
    }

    /// Takes in another state, as after a jump in a replay: no spark of the old one stays.
    pub fn jump_to(&mut self, duel: &Duel) {
        let scene = &mut self.picture.scene;
        let (camera_target, outfits) = (scene.camera_target, scene.outfits);
        *scene = Scene::new(duel, scene.names.clone());
        (scene.camera_target, scene.outfits) = (camera_target, outfits);
        scene
            .sides
            .iter_mut()
            .zip(&duel.fighters)
            .for_each(|(side, fighter)| side.trail = f32::from(fighter.health));
    }

    pub fn say(&mut self, text: impl Into<String>, tone: Tone) {
        self.picture.message = Some(Message { text: text.into(), tone });
        self.message_frames = MESSAGE_FRAMES;
    }

    /// Takes a message away that is not true any more.
    pub fn clear_message(&mut self) {
        self.picture.message = None;
    }

    /// The picture as it is now.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// The scene as it was last shown.
    pub fn scene(&self) -> &Scene {
        &self.picture.scene
    }

    pub fn panel(&mut self, panel: Option<Panel>) {
        self.picture.panel = panel;
    }

    /// Lays a menu over the stage, or takes it away.
    pub fn menu(&mut self, menu: Option<Menu>) {
        self.picture.menu = menu;
    }

    /// Shows the stage alone, as the backdrop of a menu.
    pub fn be_backdrop(&mut self) {
        self.picture.is_backdrop = true;
    }

    /// Dresses the fighters.
    pub fn set_outfits(&mut self, outfits: [usize; 2]) {
        self.picture.scene.outfits = outfits;
    }

    pub fn drill(&mut self, view: DrillView) {
        self.picture.drill = Some(view);
    }

    pub fn replay_view(&mut self, replay_view: Option<ReplayView>) {
        self.picture.replay_view = replay_view;
    }
}
