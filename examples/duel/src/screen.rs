//! The screen of the duel on this machine: a window, a terminal, or none.

use std::sync::{Arc, Mutex, PoisonError};

use crate::keys::{Bindings, role_of};
use crate::picture::Picture;
use stage::{Key, Kind, Role, ViewError};

/// The match's end of a view.
pub type Screen = stage::Screen<Picture>;

/// The keys of the players, which a terminal that tells no releases has to know. A menu may change them at any time.
#[derive(Clone, Debug, Default)]
pub struct Roles(Arc<Mutex<Vec<Bindings>>>);

impl Roles {
    pub fn new(bindings: &[Bindings]) -> Self {
        let roles = Self::default();
        roles.set(bindings);
        roles
    }

    pub fn set(&self, bindings: &[Bindings]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = bindings.to_vec();
    }

    fn of(&self, key: Key) -> Role {
        role_of(&self.0.lock().unwrap_or_else(PoisonError::into_inner), key)
    }
}

/// Runs `job` in a thread with a screen of the wanted kind, and the view on this one.
///
/// # Errors
///
/// When no view of the wanted kind can be opened; the job has not run then.
pub fn run<T: Send + 'static>(
    wanted: Option<Kind>,
    roles: Roles,
    job: impl FnOnce(&Screen) -> T + Send + 'static,
) -> Result<T, ViewError> {
    stage::run(wanted, move |key| roles.of(key), job)
}
