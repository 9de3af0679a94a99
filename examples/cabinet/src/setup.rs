//! Everything that is needed to load a core once more: the library, the content and the options.

use std::path::PathBuf;

use crate::content::Content;
use crate::ffi::{Core, CoreError, MAX_STATE, Options, Stage};
use crate::machine::{Machine, Rules};

/// A core and its content, to be loaded as often as there are machines.
#[derive(Clone, Debug)]
pub struct Setup {
    pub core: PathBuf,
    pub content: Content,
    pub options: Options,
    pub rules: Rules,
}

impl Setup {
    /// Loads a machine, and sees that it can save its state.
    ///
    /// # Errors
    /// Why the core cannot be used.
    pub fn machine(&self) -> Result<Machine, CoreError> {
        self.loaded(&mut |_| {})
    }

    fn loaded(&self, tell: &mut dyn FnMut(Stage)) -> Result<Machine, CoreError> {
        let core = Core::load(&self.core, &self.content, &self.options, tell)?;
        let (name, bytes) = (core.facts().name.clone(), core.state_size());
        match bytes {
            0 => Err(CoreError::NoStates { core: name }),
            1..=MAX_STATE => Ok(Machine::new(core, self.rules.clone())),
            _ => Err(CoreError::StateTooLarge { core: name, bytes }),
        }
    }

    /// Loads a core and tries everything that a match asks of it, telling each part before it begins.
    ///
    /// # Errors
    /// A sentence about the part that failed.
    pub fn try_out(&self, tell: &mut dyn FnMut(Stage)) -> Result<(), String> {
        let words = |error: &dyn std::fmt::Display| error.to_string();
        let mut machine = self.loaded(tell).map_err(|error| words(&error))?;
        tell(Stage::Run);
        for frame in 0..3 {
            machine.run([0; 4], frame % 2 == 0);
        }
        tell(Stage::Serialize);
        let state = machine.state().map_err(|error| words(&error))?;
        tell(Stage::Restore);
        machine.begin(&state).map_err(|error| words(&error))?;
        machine.run([0; 4], true);
        tell(Stage::Ready);
        Ok(())
    }
}
