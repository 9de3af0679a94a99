//! The terms of a match: the config, and everything that both machines compare.

use rebout::{Config, FrameRate, OnDesync, Saving};

use crate::content::Content;
use crate::identity::{GAME_ID, Identity};
use crate::machine::Machine;

/// The terms of a match on a machine.
#[derive(Clone, Debug)]
pub struct Terms {
    pub identity: Identity,
    pub config: Config,
}

impl Terms {
    /// The terms of a machine with so many pads at each side.
    pub fn of(machine: &Machine, content: &Content, pads: u8) -> Self {
        let identity = Identity::of(machine.core(), content, machine.rules(), pads);
        let mut config = Config::new(GAME_ID);
        config.game.content_hash = identity.content_hash();
        config.game.frame_rate = FrameRate::from_f64(machine.core().facts().fps);
        config.game.pads = pads;
        config.lobby.first_state_limit = Config::MAX_FIRST_STATE;
        config.on_desync = OnDesync::Stop;
        if machine.rules().saves_in_step {
            // Each step has saved already, and a save is a copy.
            config.rollback.saving = Saving::Every;
        }
        Self { identity, config }
    }

    /// The first state of a host, as bytes for the joiner.
    ///
    /// # Errors
    /// A sentence, if the core does not save it or it is too long.
    pub fn first_state(&self, machine: &Machine) -> Result<Vec<u8>, String> {
        let state = machine.state().map_err(|error| error.to_string())?;
        let bytes = self.identity.first_state(machine.rules().frames, &state);
        let most = Config::MAX_FIRST_STATE;
        if bytes.len() > most as usize {
            let len = state.len();
            return Err(format!(
                "a state of this core has {len} bytes, and a host hands over {most} at most"
            ));
        }
        Ok(bytes)
    }

    /// Begins a match from the host's bytes.
    ///
    /// # Errors
    /// A sentence that names what differs.
    pub fn begin(&self, machine: &mut Machine, first_state: &rebout::FirstState) -> Result<(), String> {
        let (frames, state) = self.identity.read(first_state)?;
        let mut rules = machine.rules().clone();
        rules.frames = frames;
        machine.set_rules(rules);
        machine.begin(state).map_err(|error| error.to_string())
    }
}
