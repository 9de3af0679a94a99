//! Machines that are used again. A stress test makes three for each match, and loading a core takes longer than playing on it.

use std::cell::RefCell;
use std::rc::Rc;

use rebout::{Cues, Game, Inputs, Save, StateError};

use crate::machine::{Machine, Snapshot};
use crate::setup::Setup;

/// Machines that nobody uses, and how to load another.
pub(super) struct Pool {
    setup: Setup,
    first: Vec<u8>,
    idle: RefCell<Vec<Machine>>,
}

impl Pool {
    /// A pool whose machines all begin with the state of a first one.
    pub(super) fn new(setup: &Setup) -> Result<Rc<Self>, String> {
        let machine = setup.machine().map_err(|error| error.to_string())?;
        let first = machine.state().map_err(|error| error.to_string())?;
        Ok(Rc::new(Self { setup: setup.clone(), first, idle: RefCell::new(vec![machine]) }))
    }

    /// A machine in the first state.
    pub(super) fn take(self: &Rc<Self>) -> Lent {
        let idle = self.idle.borrow_mut().pop();
        let mut machine =
            idle.unwrap_or_else(|| self.setup.machine().expect("the same core was loaded before"));
        // A failure shows in the first comparison with the other machine.
        let _ = machine.begin(&self.first);
        Lent { machine: Some(machine), pool: Rc::clone(self) }
    }
}

/// A machine of a pool, which goes back there.
pub(super) struct Lent {
    machine: Option<Machine>,
    pool: Rc<Pool>,
}

impl Lent {
    fn machine(&self) -> &Machine {
        self.machine.as_ref().expect("it is there until the drop")
    }

    fn machine_mut(&mut self) -> &mut Machine {
        self.machine.as_mut().expect("it is there until the drop")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.pool.idle.borrow_mut().extend(self.machine.take());
    }
}

impl Save for Lent {
    type Snapshot = Snapshot;

    fn snapshot(&self) -> Snapshot {
        self.machine().snapshot()
    }

    fn save(&self, slot: &mut Snapshot) -> Result<(), StateError> {
        self.machine().save(slot)
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), StateError> {
        self.machine_mut().restore(snapshot)
    }
}

impl Game for Lent {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.machine_mut().step(inputs, cues);
    }
}
