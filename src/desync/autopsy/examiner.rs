//! The autopsy itself: two machines that disagree find out since when, about what, and whose fault it is.

use super::evidence::{MOST_FRAMES, Side, Trace, differing_fields, first_of};
use super::exchange::{self, Note};
use super::leaves::{self, Part, levels_for};
use super::report::{Autopsy, AutopsyVerdict};
use super::resimulate::{inputs_between, resimulate};
use crate::desync::watch::Archive;
use crate::{Fields, Frame, Game, Player, checksum};
use core::time::Duration;
use std::collections::VecDeque;

/// After this long the report is made of what is known.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most buckets that are followed on one level, and the most leaves that are told.
const MOST_PARTS: usize = 8;
const MOST_LEAVES: usize = 256;

/// More messages than an honest peer has to say are not listened to. Its leaves take the most: with the longest texts
/// two fit a message.
const MOST_NOTES: u32 = 32 + MOST_LEAVES as u32 / 2;

/// A state to be taken apart.
#[derive(Clone, Debug)]
enum Subject<S> {
    /// As it was lived. It is looked at where it lies: the game's own restore, which may be what is wrong, has no
    /// part in it.
    Lived(Frame),
    /// As it came out again.
    Again(S),
}

/// Conducts one autopsy. It is told of a difference, or of the other side's, and then makes its way.
#[derive(Clone, Debug)]
pub(crate) struct Examiner<S> {
    local: Player,
    since: Option<Duration>,
    ours: Side,
    theirs: Side,
    /// The state that is taken apart, of the frame where it first differs.
    subject: Option<Subject<S>>,
    exact: bool,
    /// The parts that are being looked at, and how many levels there are.
    parts: Vec<Part>,
    levels: u8,
    outgoing: VecDeque<Vec<u8>>,
    heard: u32,
    done: bool,
}

impl<S: Fields> Examiner<S> {
    pub(crate) fn new(local: Player) -> Self {
        Self {
            local,
            since: None,
            ours: Side::default(),
            theirs: Side::default(),
            subject: None,
            exact: false,
            parts: Vec::new(),
            levels: 0,
            outgoing: VecDeque::new(),
            heard: 0,
            done: false,
        }
    }

    /// Whether there is something to find out, and it is not found out yet.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.since.is_some() && !self.done
    }

    /// The two machines differ in `frame`. Only the first time counts.
    pub(crate) fn begin(
        &mut self,
        now: Duration,
        frame: Frame,
        last_match: Option<Frame>,
        archive: &mut Archive<S>,
    ) {
        if self.ours.start.is_none() && !self.done {
            // As the other side takes it, so that both look at the same frames.
            let last_match = last_match.filter(|matched| *matched < frame);
            self.since.get_or_insert(now);
            self.ours.start = Some((frame, last_match));
            self.outgoing.push_back(exchange::start(frame, last_match));
            archive.freeze_after(self.scope().map_or(frame, |(_, target)| target));
        }
    }

    /// Takes in a message of the other side; `false` if it makes no sense.
    ///
    /// It differs only about what we have told, so not beyond what is `settled` here, and it says so first.
    pub(crate) fn receive(&mut self, now: Duration, settled: Frame, payload: &[u8]) -> bool {
        self.heard = self.heard.saturating_add(1);
        if self.heard > MOST_NOTES || self.done {
            return false;
        }
        let Some(note) = exchange::decode(payload) else { return false };
        let side = &mut self.theirs;
        match note {
            Note::Start { frame, last_match } => {
                if side.start.is_some() || frame > settled {
                    return false;
                }
                side.start = Some((frame, last_match.filter(|matched| *matched < frame)));
                self.since.get_or_insert(now);
            }
            _ if side.start.is_none() => return false,
            Note::Trace { again, more, first, values } => {
                let trace = if again { &mut side.again } else { &mut side.lived };
                if trace.complete || trace.values.len() + values.len() > MOST_FRAMES as usize + 1 {
                    return false;
                }
                if trace.values.is_empty() {
                    trace.first = first;
                }
                trace.values.extend(values);
                trace.complete = !more;
            }
            Note::Subject { frame, leaves } => {
                side.subject.get_or_insert((frame, leaves));
            }
            Note::Table { part, sums } => {
                if side.tables.len() < 3 * MOST_PARTS && !side.tables.iter().any(|(known, _)| *known == part)
                {
                    side.tables.push((part, sums));
                }
            }
            Note::Leaves { more, leaves } => {
                if side.leaves_complete || side.leaves.len() + leaves.len() > MOST_LEAVES {
                    return false;
                }
                side.leaves.extend(leaves);
                side.leaves_complete = !more;
            }
        }
        true
    }

    /// The next message to send.
    pub(crate) fn next_message(&mut self) -> Option<Vec<u8>> {
        self.outgoing.pop_front()
    }

    /// Whether there are messages to send.
    #[inline]
    pub(crate) fn has_messages(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Goes as far as it can with what is here, and answers the report when it is done. The game is left as it was.
    ///
    /// `last` is the last state of all, if the match has come to it.
    pub(crate) fn work<G: Game<Snapshot = S>>(
        &mut self,
        now: Duration,
        settled: Frame,
        game: &mut G,
        archive: &mut Archive<S>,
        last: Option<(Frame, &S)>,
    ) -> Option<Autopsy> {
        let since = self.since.filter(|_| !self.done)?;
        if now.saturating_sub(since) >= PATIENCE {
            if !self.ours.lived.complete {
                let (base, target) = self.scope_or_claim();
                self.trace(base, target, game, archive, last);
            }
            return Some(self.conclude(archive));
        }
        if self.ours.start.is_none()
            && let Some((frame, last_match)) = self.theirs.start
        {
            self.begin(now, frame, last_match, archive);
        }
        let (base, target) = self.scope()?;
        if !self.ours.lived.complete {
            let here = target < settled || last.is_some_and(|(frame, _)| frame == target);
            if !here {
                return None;
            }
            archive.freeze_after(target);
            self.trace(base, target, game, archive, last);
        }
        if !(self.theirs.lived.complete && self.theirs.again.complete) {
            return None;
        }
        if self.subject.is_none() {
            self.choose(base, target, game, archive, last);
            if self.subject.is_none() {
                return Some(self.conclude(archive));
            }
        }
        let (frame, ours) = self.ours.subject?;
        let (their_frame, theirs) = self.theirs.subject?;
        if frame != their_frame {
            return Some(self.conclude(archive));
        }
        if self.parts.is_empty() {
            self.levels = levels_for(ours.max(theirs));
            self.parts = vec![Part::ALL];
            self.show_parts(archive, last);
        }
        self.narrow(archive, last);
        if self.theirs.leaves_complete && self.ours.leaves_complete {
            return Some(self.report(archive, true));
        }
        None
    }

    /// From the last frame on which both agreed to the first on which they are known to differ, both sides taken
    /// together.
    fn scope(&self) -> Option<(Option<Frame>, Frame)> {
        let (ours, our_match) = self.ours.start?;
        let (theirs, their_match) = self.theirs.start?;
        let target = ours.min(theirs);
        let base = our_match.zip(their_match).map(|(a, b)| a.min(b)).filter(|base| *base < target);
        Some((base, target))
    }

    /// The same, or if the other side has not said anything, as this one sees it.
    fn scope_or_claim(&self) -> (Option<Frame>, Frame) {
        self.scope().unwrap_or_else(|| {
            let (frame, last_match) = self.ours.start.or(self.theirs.start).unwrap_or_default();
            (last_match, frame)
        })
    }

    fn state<'a>(archive: &'a Archive<S>, last: Option<(Frame, &'a S)>, frame: Frame) -> Option<&'a S> {
        archive.state(frame).or_else(|| last.filter(|(at, _)| *at == frame).map(|(_, state)| state))
    }

    /// Takes the checksums of what was lived, and steps it again from the last match to compare.
    fn trace<G: Game<Snapshot = S>>(
        &mut self,
        base: Option<Frame>,
        target: Frame,
        game: &mut G,
        archive: &Archive<S>,
        last: Option<(Frame, &S)>,
    ) {
        let from = first_of(base, target);
        // As far back as every frame is kept.
        let mut first = target.next();
        while first > from && Self::state(archive, last, Frame(first.0 - 1)).is_some() {
            first = Frame(first.0 - 1);
        }
        let lived = first.until(target.next()).filter_map(|frame| Self::state(archive, last, frame));
        self.ours.lived =
            Trace { first, values: lived.map(|state| checksum(state)).collect(), complete: true };
        self.ours.again = Trace { first: from, values: Vec::new(), complete: true };
        if let Some(base) = base
            && let Some(inputs) = inputs_between(archive, base, target)
            && let Some(snapshot) = archive.state(base)
        {
            let values = &mut self.ours.again.values;
            resimulate(game, snapshot, &inputs, |state| values.push(checksum(state)));
            self.step_one_by_one(base, target, game, archive);
        }
        let Trace { first, values, .. } = &self.ours.lived;
        self.outgoing.extend(exchange::trace(false, *first, values));
        let Trace { first, values, .. } = &self.ours.again;
        self.outgoing.extend(exchange::trace(true, *first, values));
    }

    /// What came out again in one go may be what was lived by chance: if a rollback began exactly at the last match,
    /// or a cache is filled anew there. So each frame that is kept is also stepped on its own, from its own state.
    fn step_one_by_one<G: Game<Snapshot = S>>(
        &mut self,
        base: Frame,
        target: Frame,
        game: &mut G,
        archive: &Archive<S>,
    ) {
        let Side { lived, again, .. } = &mut self.ours;
        if lived.first_difference(again, Some(base), target).is_some() {
            return;
        }
        for frame in lived.first.until(target) {
            let (Some(state), Some(inputs)) = (archive.state(frame), archive.inputs(frame)) else { return };
            let value = checksum(&resimulate(game, state, &[inputs], |_| {}));
            let index = frame.next().since(again.first) as usize;
            if lived.at(frame.next()) != Some(value)
                && let Some(known) = again.values.get_mut(index)
            {
                *known = value;
                return;
            }
        }
    }

    /// Chooses the state to take apart. Both sides know the same by now, so they choose the same.
    fn choose<G: Game<Snapshot = S>>(
        &mut self,
        base: Option<Frame>,
        target: Frame,
        game: &mut G,
        archive: &Archive<S>,
        last: Option<(Frame, &S)>,
    ) {
        let lived = self.ours.lived.first_difference(&self.theirs.lived, base, target);
        // What a machine cannot reproduce shows in what it lived only, and comes out differently each time.
        let reproducible = [&self.ours, &self.theirs].iter().all(|side| !side.is_at_fault(base, target));
        let again = self.ours.again.first_difference(&self.theirs.again, base, target);
        let again = again.filter(|_| reproducible || lived.is_none());
        let (frame, exact, from_again) = match (lived, again) {
            (Some((frame, true)), _) => (frame, true, false),
            (_, Some((frame, exact))) => (frame, exact, true),
            (Some((frame, false)), None) => (frame, false, false),
            (None, None) => (target, false, false),
        };
        let found = if from_again {
            base.and_then(|base| {
                let inputs = inputs_between(archive, base, frame)?;
                let state = resimulate(game, archive.state(base)?, &inputs, |_| {});
                Some((leaves::count(&state), Subject::Again(state)))
            })
        } else {
            let state = Self::state(archive, last, frame);
            state.map(|state| (leaves::count(state), Subject::Lived(frame)))
        };
        let Some((count, subject)) = found else { return };
        (self.exact, self.ours.subject, self.subject) = (exact, Some((frame, count)), Some(subject));
        self.outgoing.push_back(exchange::subject(frame, count));
    }

    /// Tells of the parts that are being looked at: tables, or on the last level the leaves themselves.
    fn show_parts(&mut self, archive: &Archive<S>, last: Option<(Frame, &S)>) {
        let Some(subject) = self.subject_state(archive, last) else { return };
        let level = self.parts.first().map_or(0, |part| part.levels);
        if level < self.levels {
            let tables = leaves::tables(subject, &self.parts);
            for (part, sums) in self.parts.iter().zip(tables) {
                self.outgoing.push_back(exchange::table(*part, &sums));
                self.ours.tables.push((*part, Box::new(sums)));
            }
        } else {
            self.ours.leaves = leaves::gather(subject, &self.parts, MOST_LEAVES);
            self.ours.leaves_complete = true;
            self.outgoing.extend(exchange::leaves(&self.ours.leaves));
        }
    }

    /// Goes on to the buckets that differ, once the other side's tables of this level are here.
    fn narrow(&mut self, archive: &Archive<S>, last: Option<(Frame, &S)>) {
        while !self.ours.leaves_complete {
            let mut differing = Vec::new();
            for part in &self.parts {
                let table = |side: &Side| side.tables.iter().position(|(known, _)| known == part);
                let (Some(ours), Some(theirs)) = (table(&self.ours), table(&self.theirs)) else { return };
                let pairs = self.ours.tables[ours].1.iter().zip(self.theirs.tables[theirs].1.iter());
                let buckets = pairs.enumerate().filter(|(_, (a, b))| a != b);
                differing.extend(buckets.map(|(index, _)| part.bucket(index)));
            }
            differing.truncate(MOST_PARTS);
            self.parts = differing;
            if self.parts.is_empty() {
                // Nothing differs after all, or it hides in a sum: there are no leaves to tell.
                self.ours.leaves_complete = true;
                self.outgoing.extend(exchange::leaves(&[]));
                return;
            }
            self.show_parts(archive, last);
        }
    }

    fn subject_state<'a>(&'a self, archive: &'a Archive<S>, last: Option<(Frame, &'a S)>) -> Option<&'a S> {
        match self.subject.as_ref()? {
            Subject::Lived(frame) => Self::state(archive, last, *frame),
            Subject::Again(state) => Some(state),
        }
    }

    /// The report of what is known, which is not everything.
    ///
    /// Our own state is told in any case, if it is kept: half of the truth is better than none.
    pub(crate) fn conclude(&mut self, archive: &Archive<S>) -> Autopsy {
        if self.ours.leaves.is_empty() {
            let (_, target) = self.scope_or_claim();
            let frame = self.ours.subject.map_or(target, |(frame, _)| frame);
            let state = self.subject_state(archive, None).or_else(|| archive.state(frame));
            self.ours.leaves = state.map_or_else(Vec::new, |s| leaves::gather(s, &[Part::ALL], MOST_LEAVES));
        }
        self.report(archive, false)
    }

    fn report(&mut self, archive: &Archive<S>, complete: bool) -> Autopsy {
        self.done = true;
        let (base, target) = self.scope_or_claim();
        let first_divergence = self.ours.subject.map_or(target, |(frame, _)| frame);
        // What was needed to get here is not needed any more; messages may still have to go out.
        let (mut ours, mut theirs) = (core::mem::take(&mut self.ours), core::mem::take(&mut self.theirs));
        (self.subject, self.parts) = (None, Vec::new());
        let mut states = [core::mem::take(&mut ours.leaves), core::mem::take(&mut theirs.leaves)];
        let mut at_fault = [&ours, &theirs].map(|side| side.is_at_fault(base, target));
        if self.local == Player::Two {
            states.reverse();
            at_fault.reverse();
        }
        let fields = differing_fields(&states, complete);
        let [one, two] = at_fault;
        let again = ours.again.first_difference(&theirs.again, base, target);
        let verdict = if base.is_none() && first_divergence == Frame::ZERO && !fields.is_empty() {
            AutopsyVerdict::StartDiffers
        } else if one || two {
            AutopsyVerdict::NotReproducible { one, two }
        } else if again.is_some() {
            AutopsyVerdict::StepDiffers
        } else {
            AutopsyVerdict::Unknown
        };
        let from = Frame(first_of(base, target).0.saturating_sub(1));
        let inputs = from.until(target).filter_map(|frame| Some((frame, archive.inputs(frame)?))).collect();
        Autopsy {
            local: self.local,
            last_match: base,
            first_divergence,
            exact: self.exact,
            verdict,
            fields,
            states,
            inputs,
            complete,
        }
    }
}
