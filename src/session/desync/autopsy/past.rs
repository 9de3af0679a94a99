//! The certain past as an autopsy reads it.

use super::evidence::MAX_FRAMES;
use crate::rollback::Rollback;
use crate::session::desync::watch::Archive;
use crate::{Fields, Frame, Inputs};

/// The archive together with the last state of a match, which never leaves the engine.
pub(crate) struct Past<'a, S> {
    archive: &'a Archive<S>,
    settled: Frame,
    last: Option<(Frame, &'a S)>,
}

// Derived, these would ask for `S: Copy`.
impl<S> Clone for Past<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Past<'_, S> {}

impl<'a, S: Fields> Past<'a, S> {
    pub(crate) fn new(archive: &'a Archive<S>, rollback: &'a Rollback<S>) -> Self {
        let last = rollback.ended().and_then(|end| Some((end, rollback.snapshot(end)?)));
        Self { archive, settled: rollback.settled(), last }
    }

    /// Whether the state of `frame` is certain and has left the engine, or is the last one.
    pub(crate) fn reaches(&self, frame: Frame) -> bool {
        frame < self.settled || self.last.is_some_and(|(last, _)| last == frame)
    }

    /// Whether the match has come to its last state.
    pub(crate) fn has_ended(&self) -> bool {
        self.last.is_some()
    }

    /// The state of a frame, if it is kept.
    pub(crate) fn state(&self, frame: Frame) -> Option<&'a S> {
        self.archive.state(frame).or_else(|| self.last.filter(|(at, _)| *at == frame).map(|(_, state)| state))
    }

    /// The confirmed inputs of a frame, if they are kept.
    pub(crate) fn inputs(&self, frame: Frame) -> Option<Inputs> {
        self.archive.inputs(frame)
    }

    /// The inputs that lead from state `base` to state `target`, if all of them are kept and there are not too many.
    pub(crate) fn inputs_between(&self, base: Frame, target: Frame) -> Option<Vec<Inputs>> {
        if target.since(base) > MAX_FRAMES {
            return None;
        }
        base.until(target).map(|frame| self.inputs(frame)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollback::EngineConfig;
    use crate::{Cues, Game};

    #[derive(Clone, Copy)]
    struct Still {
        hp: u32,
    }
    crate::fields!(Still { hp });

    impl Game for Still {
        fn step(&mut self, _: Inputs, _: &mut Cues) {}
    }

    #[test]
    fn at_most_600_inputs_lead_from_a_base_to_a_target() {
        let game = Still { hp: 1 };
        let engine = Rollback::new(EngineConfig::default(), &game);
        let mut archive = Archive::new(200, true, || game);
        (0..700).for_each(|frame| archive.settled(Frame(frame), Inputs::default()));
        let past = Past::new(&archive, &engine);
        let between =
            |base, target| past.inputs_between(Frame(base), Frame(target)).map(|inputs| inputs.len());
        assert_eq!((between(10, 610), between(10, 611)), (Some(600), None));
        assert_eq!((between(600, 700), between(600, 701)), (Some(100), None), "frame 700 is not kept");
    }
}
