//! Resimulation: stepping the confirmed inputs again from a kept state, to compare with what was played.

use super::evidence::{Scope, Trace, Traces};
use super::past::Past;
use crate::{Cues, Fields, Frame, Game, Inputs, checksum};

/// Steps `inputs` from a snapshot on with cues off, shows every state to `look` and returns the last one.
///
/// The game is left as it was.
pub(crate) fn resimulate<G: Game>(
    game: &mut G,
    from: &G::Snapshot,
    inputs: &[Inputs],
    mut look: impl FnMut(&G::Snapshot),
) -> G::Snapshot {
    let as_it_was = game.snapshot();
    game.restore(from);
    let mut slot = game.snapshot();
    let mut cues = Cues::new();
    for inputs in inputs {
        cues.clear();
        game.step(*inputs, &mut cues);
        game.save(&mut slot);
        look(&slot);
    }
    game.restore(&as_it_was);
    slot
}

/// The checksums of the states that were played, as far back from the target as every frame is kept.
pub(crate) fn recorded<S: Fields>(past: Past<'_, S>, scope: Scope) -> Trace {
    let mut first = scope.target.next();
    while first > scope.first() && past.state(Frame(first.0 - 1)).is_some() {
        first = Frame(first.0 - 1);
    }
    let states = first.until(scope.target.next()).filter_map(|frame| past.state(frame));
    Trace { first, values: states.map(checksum).collect(), complete: true }
}

/// Puts the checksums of the states that come out of a resimulation from the base into the traces; none if there is no
/// base. A base that is not kept here is replaced by our own last match, so that a peer that claims an old one does not keep
/// us from resimulating.
pub(crate) fn resimulate_from_base<G: Game>(
    game: &mut G,
    past: Past<'_, G::Snapshot>,
    scope: Scope,
    last_match: Option<Frame>,
    traces: &mut Traces,
) {
    traces.resimulated = Trace { first: scope.first(), values: Vec::new(), complete: true };
    let own = last_match.filter(|matched| scope.base.is_some() && *matched < scope.target);
    let kept = [scope.base, own].into_iter().flatten().find(|base| past.state(*base).is_some());
    if let Some(base) = kept
        && let Some(inputs) = past.inputs_between(base, scope.target)
        && let Some(snapshot) = past.state(base)
    {
        traces.resimulated.first = base.next();
        let values = &mut traces.resimulated.values;
        resimulate(game, snapshot, &inputs, |state| values.push(checksum(state)));
        if !traces.is_at_fault(scope) {
            step_one_by_one(game, past, scope, traces);
        }
    }
}

/// Steps each kept frame on its own, from its own state, and puts the first checksum that differs into the trace.
///
/// A resimulation in one go can give what was played by chance: if a rollback began exactly at the last match, or if a
/// cache is filled anew there.
fn step_one_by_one<G: Game>(game: &mut G, past: Past<'_, G::Snapshot>, scope: Scope, traces: &mut Traces) {
    let Traces { recorded, resimulated } = traces;
    for frame in recorded.first.max(scope.base.unwrap_or_default()).until(scope.target) {
        let (Some(state), Some(inputs)) = (past.state(frame), past.inputs(frame)) else { return };
        let value = checksum(&resimulate(game, state, &[inputs], |_| {}));
        let index = frame.next().since(resimulated.first) as usize;
        if recorded.at(frame.next()) != Some(value)
            && let Some(known) = resimulated.values.get_mut(index)
        {
            *known = value;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::evidence::Claim;
    use super::*;
    use crate::Save;
    use crate::rollback::{EngineConfig, Rollback};
    use crate::session::desync::watch::Archive;

    /// A game with a cache outside its snapshot: the third step after a restore comes out differently.
    #[derive(Default)]
    struct Cached {
        state: u32,
        steps: u32,
    }

    impl Save for Cached {
        type Snapshot = u32;
        fn snapshot(&self) -> u32 {
            self.state
        }
        fn save(&self, slot: &mut u32) {
            *slot = self.state;
        }
        fn restore(&mut self, snapshot: &u32) {
            (self.state, self.steps) = (*snapshot, 0);
        }
    }

    impl Game for Cached {
        fn step(&mut self, _: Inputs, _: &mut Cues) {
            self.steps += 1;
            self.state = self.state * 2 + u32::from(self.steps == 3);
        }
    }

    /// A rollback to the base has played the same frames in one go.
    #[test]
    fn steps_one_by_one_find_a_cache_outside_the_snapshot() {
        let mut game = Cached { state: 1, steps: 0 };
        let engine = Rollback::new(EngineConfig::default(), &game);
        let mut archive = Archive::new(30, true, || 0);
        for frame in (0..=8).map(Frame) {
            archive.settled(frame, Inputs::default());
            archive.swap(frame, &mut game.snapshot());
            game.step(Inputs::default(), &mut Cues::new());
        }
        let (past, scope) =
            (Past::new(&archive, &engine), Scope::of_one(Claim::new(Frame(8), Some(Frame(0)))));
        let mut traces = Traces { recorded: recorded(past, scope), ..Traces::default() };
        resimulate_from_base(&mut game, past, scope, None, &mut traces);
        let found = traces.recorded.first_difference(&traces.resimulated, scope);
        assert_eq!(found, Some((Frame(3), true)));
        assert_eq!(traces.resimulated.values.len(), 8);
    }
}
