//! The autopsy itself: two machines that disagree find out since when, about what, and whose fault it is.

use super::archive::Archive;
use super::exchange::{self, Note};
use super::leaves::{self, BUCKETS, OwnedLeaf, Part, levels_for};
use super::report::{Autopsy, AutopsyVerdict, FieldDifference};
use crate::{Cues, Fields, Frame, Game, Inputs, Player, checksum};
use core::time::Duration;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// After this long the report is made of what is known.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most frames that are stepped again.
const MOST_FRAMES: u32 = 600;

/// The most buckets that are followed on one level, and the most leaves that are told.
const MOST_PARTS: usize = 8;
const MOST_LEAVES: usize = 256;

/// More messages than an honest peer has to say are not listened to.
const MOST_NOTES: u32 = 64;

/// Checksums of consecutive frames.
#[derive(Clone, Debug, Default)]
struct Trace {
    first: Frame,
    values: Vec<u32>,
    complete: bool,
}

impl Trace {
    fn at(&self, frame: Frame) -> Option<u32> {
        self.values.get(frame.0.checked_sub(self.first.0)? as usize).copied()
    }

    /// The first frame, of those that both know, in which they differ; and whether the one before is known to be
    /// the same, which is so for the frame after `base`.
    fn first_difference(&self, other: &Self, base: Option<Frame>, target: Frame) -> Option<(Frame, bool)> {
        let from = base.map_or(Frame::ZERO, Frame::next);
        let mut before_known = true;
        for frame in from.until(target.next()) {
            match (self.at(frame), other.at(frame)) {
                (Some(a), Some(b)) if a != b => return Some((frame, before_known)),
                (Some(_), Some(_)) => before_known = true,
                _ => before_known = false,
            }
        }
        None
    }
}

/// What one machine has told, or has to tell.
#[derive(Clone, Debug, Default)]
struct Side {
    start: Option<(Frame, Option<Frame>)>,
    /// As it was lived, and as it came out again.
    lived: Trace,
    again: Trace,
    subject: Option<(Frame, u32)>,
    tables: Vec<(Part, Box<[u32; BUCKETS]>)>,
    leaves: Vec<OwnedLeaf>,
    leaves_complete: bool,
}

/// Conducts one autopsy. It is told of a difference, or of the other side's, and then makes its way.
#[derive(Clone, Debug)]
pub(crate) struct Examiner<S> {
    local: Player,
    since: Option<Duration>,
    ours: Side,
    theirs: Side,
    /// The state that is taken apart, of the frame where it first differs.
    subject: Option<S>,
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
        if self.ours.start.is_none() {
            self.since.get_or_insert(now);
            self.ours.start = Some((frame, last_match));
            self.outgoing.push_back(exchange::start(frame, last_match));
            archive.freeze_after(self.scope().map_or(frame, |(_, target)| target));
        }
    }

    /// Takes in a message of the other side; `false` if it makes no sense. The other side can have compared no frame
    /// after `newest`.
    pub(crate) fn receive(&mut self, now: Duration, payload: &[u8], newest: Frame) -> bool {
        self.heard = self.heard.saturating_add(1);
        if self.heard > MOST_NOTES || self.done {
            return false;
        }
        let Some(note) = exchange::decode(payload) else { return false };
        let in_place = match note {
            // A frame that never was would be searched for through all numbers.
            Note::Start { frame, .. } => frame <= newest,
            // Whoever has something to tell says first what it is about.
            _ => self.theirs.start.is_some(),
        };
        if !in_place {
            return false;
        }
        self.since.get_or_insert(now);
        let side = &mut self.theirs;
        match note {
            Note::Start { frame, last_match } => {
                side.start.get_or_insert((frame, last_match.filter(|matched| *matched < frame)));
            }
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
            return Some(self.report(archive, false));
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
                return Some(self.report(archive, false));
            }
        }
        let (frame, ours) = self.ours.subject?;
        let (their_frame, theirs) = self.theirs.subject?;
        if frame != their_frame {
            return Some(self.report(archive, false));
        }
        if self.parts.is_empty() {
            self.levels = levels_for(ours.max(theirs));
            self.parts = vec![Part::ALL];
            self.show_parts();
        }
        self.narrow();
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
        let from = base.map_or(Frame::ZERO, Frame::next).max(Frame(target.0.saturating_sub(MOST_FRAMES)));
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
            resimulate(game, snapshot, &inputs, |game| values.push(checksum(&game.snapshot())));
        }
        let Trace { first, values, .. } = &self.ours.lived;
        self.outgoing.extend(exchange::trace(false, *first, values));
        let Trace { first, values, .. } = &self.ours.again;
        self.outgoing.extend(exchange::trace(true, *first, values));
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
        let again = self.ours.again.first_difference(&self.theirs.again, base, target);
        let (frame, exact, from_again) = match (lived, again) {
            (Some((frame, true)), _) => (frame, true, false),
            (_, Some((frame, exact))) => (frame, exact, true),
            (Some((frame, false)), None) => (frame, false, false),
            (None, None) => (target, false, false),
        };
        let subject = if from_again {
            base.and_then(|base| {
                let inputs = inputs_between(archive, base, frame)?;
                Some(resimulate(game, archive.state(base)?, &inputs, |_| {}))
            })
        } else {
            Self::state(archive, last, frame).map(|state| resimulate(game, state, &[], |_| {}))
        };
        let Some(subject) = subject else { return };
        let count = leaves::count(&subject);
        (self.exact, self.ours.subject, self.subject) = (exact, Some((frame, count)), Some(subject));
        self.outgoing.push_back(exchange::subject(frame, count));
    }

    /// Tells of the parts that are being looked at: tables, or on the last level the leaves themselves.
    fn show_parts(&mut self) {
        let Some(subject) = &self.subject else { return };
        let level = self.parts.first().map_or(0, |part| part.levels);
        if level < self.levels {
            for (part, sums) in self.parts.iter().zip(leaves::tables(subject, &self.parts)) {
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
    fn narrow(&mut self) {
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
            self.show_parts();
        }
    }

    fn report(&mut self, archive: &Archive<S>, complete: bool) -> Autopsy {
        self.done = true;
        let (base, target) = self.scope().unwrap_or_else(|| {
            let (frame, last_match) = self.ours.start.or(self.theirs.start).unwrap_or_default();
            (last_match, frame)
        });
        let first_divergence = self.ours.subject.map_or(target, |(frame, _)| frame);
        let mut states = [core::mem::take(&mut self.ours.leaves), core::mem::take(&mut self.theirs.leaves)];
        let mut at_fault = [&self.ours, &self.theirs].map(|side| {
            let differs = side.lived.first_difference(&side.again, base, target);
            (differs.is_some(), !side.again.values.is_empty())
        });
        if self.local == Player::Two {
            states.reverse();
            at_fault.reverse();
        }
        let [(one, one_known), (two, two_known)] = at_fault;
        let verdict = if base.is_none() && first_divergence == Frame::ZERO && self.ours.subject.is_some() {
            AutopsyVerdict::StartDiffers
        } else if one || two {
            AutopsyVerdict::NotReproducible { one, two }
        } else if one_known && two_known {
            AutopsyVerdict::StepDiffers
        } else {
            AutopsyVerdict::Unknown
        };
        let from = base.unwrap_or_default();
        let inputs = from.until(target).filter_map(|frame| Some((frame, archive.inputs(frame)?))).collect();
        Autopsy {
            local: self.local,
            last_match: base,
            first_divergence,
            exact: self.exact,
            verdict,
            fields: differing_fields(&states),
            states,
            inputs,
            complete,
        }
    }
}

/// The inputs of the frames from `base` up to and without `target`, if all of them are kept.
fn inputs_between<S: Fields>(archive: &Archive<S>, base: Frame, target: Frame) -> Option<Vec<Inputs>> {
    if target.since(base) > MOST_FRAMES {
        return None;
    }
    base.until(target).map(|frame| archive.inputs(frame)).collect()
}

/// Steps from a snapshot on, with cues off, shows every state on the way, answers the last one, and leaves the game
/// as it was.
fn resimulate<G: Game>(
    game: &mut G,
    from: &G::Snapshot,
    inputs: &[Inputs],
    mut look: impl FnMut(&G),
) -> G::Snapshot {
    let as_it_was = game.snapshot();
    game.restore(from);
    let mut cues = Cues::new();
    for inputs in inputs {
        cues.clear();
        game.step(*inputs, &mut cues);
        look(game);
    }
    let last = game.snapshot();
    game.restore(&as_it_was);
    last
}

/// By path, in the order of player one's state; what only player two has comes last.
fn differing_fields([one, two]: &[Vec<OwnedLeaf>; 2]) -> Vec<FieldDifference> {
    let index = |leaves: &[OwnedLeaf]| -> FxHashMap<String, usize> {
        leaves.iter().enumerate().map(|(at, leaf)| (leaf.path.clone(), at)).collect()
    };
    let (in_one, in_two) = (index(one), index(two));
    let mut fields = Vec::new();
    for leaf in one {
        let other = in_two.get(&leaf.path).map(|at| &two[*at]);
        if other.is_none_or(|other| other.words != leaf.words) {
            let (path, one) = (leaf.path.clone(), Some(leaf.shown.clone()));
            fields.push(FieldDifference { path, one, two: other.map(|other| other.shown.clone()) });
        }
    }
    for leaf in two {
        if !in_one.contains_key(&leaf.path) {
            let (path, two) = (leaf.path.clone(), Some(leaf.shown.clone()));
            fields.push(FieldDifference { path, one: None, two });
        }
    }
    fields
}
