//! The stages of an autopsy on one machine.

use crate::Frame;
use crate::game::fields::leaves::{Look, Part, Sums};
use crate::protocol::time::{Span, Time};
use crate::session::desync::autopsy::evidence::{Claim, Scope, Traces};
use crate::session::desync::autopsy::examined_state::{Chosen, ExaminedState};
use crate::session::desync::autopsy::findings::Findings;
use crate::session::desync::autopsy::recorder::Recorder;
use crate::session::desync::autopsy::resimulate::{Resimulation, Retrace};

/// How far the autopsy is on this machine. The peer may be a stage ahead or behind.
///
/// The tag is a byte of its own, because every frame asks whether an autopsy is under way.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(super) enum Stage<S> {
    /// No autopsy is under way. Messages may still have to go out.
    Idle,
    /// The peer's START is here, and nothing differs here yet.
    Asked { since: Time },
    /// Our START is sent. Ends when the peer's is here and the frames are settled.
    Opening { since: Time, ours: Claim },
    /// Both STARTs are here. Ends with our own checksums of the recorded states.
    Recording(Case, Recorder),
    /// Our TRACEs as recorded are sent, and the two STARTs have no match in common. Ends with the peer's TRACEs as
    /// recorded, in which one may be found.
    Basing(Case),
    /// Our TRACEs as recorded are sent. Ends with our own resimulation.
    Retracing(Case, Box<Retrace<S>>),
    /// Our TRACEs are sent. Ends with the last of the peer's.
    Tracing(Case, Option<Box<Resimulation<S>>>),
    /// Both have told their TRACEs. Ends with our own step into the state in question.
    Reaching(Case, Chosen, Option<Box<Resimulation<S>>>),
    /// Our STATE and PHASES are sent. Ends with the peer's.
    Choosing(Case, ExaminedState<S>),
    /// Ends with our own look at a level of the state, or of the value of a mark.
    Looking(Case, ExaminedState<S>, Looking),
    /// Our TABLEs of one level are sent. Ends with the peer's tables of the same parts.
    Narrowing(Case, ExaminedState<S>, Level),
    /// Our LEAVES are sent. Ends with the last of the peer's.
    Telling(Case, ExaminedState<S>),
}

/// The evidence that every stage from the traces on has.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) since: Time,
    /// Our START.
    pub(super) claim: Claim,
    pub(super) scope: Scope,
    pub(super) ours: Traces,
}

/// A look at one level.
#[derive(Clone, Debug)]
pub(super) struct Looking {
    /// How many levels there are before the leaves.
    pub(super) levels: u8,
    pub(super) look: Look,
}

impl Looking {
    pub(super) fn at(parts: &[Part], levels: u8) -> Self {
        Self { levels, look: Look::new(parts, levels) }
    }
}

/// The tables of one level.
#[derive(Clone, Debug)]
pub(super) struct Level {
    /// How many levels there are before the leaves.
    pub(super) levels: u8,
    pub(super) ours: Vec<(Part, Sums)>,
}

/// The outcome of one look at a stage.
pub(super) enum Turn<S> {
    /// The stage goes on: the peer, the match or our own resimulation has to come further first.
    Wait(Stage<S>),
    /// The next stage has begun.
    Next(Stage<S>),
    /// There is no way on: the report is made of what is known.
    Conclude(Stage<S>),
    /// Everything has been told.
    Done(Findings),
}

impl<S> Stage<S> {
    /// When the autopsy began.
    pub(super) fn since(&self) -> Option<Time> {
        match self {
            Self::Opening { since, .. } => Some(*since),
            _ => self.case().map(|case| case.since),
        }
    }

    /// The last frame in question, once there is a case.
    pub(super) fn target(&self) -> Option<Frame> {
        self.case().map(|case| case.scope.target)
    }

    /// Whether it ends by our own work, which is bounded, and not by a message of the peer.
    pub(super) fn is_own_work(&self) -> bool {
        matches!(self, Self::Recording(..) | Self::Retracing(..) | Self::Reaching(..) | Self::Looking(..))
    }

    /// Gives the peer more time: our own work has taken as much.
    pub(super) fn postpone(&mut self, by: Span) {
        if let Some(case) = self.case_mut() {
            case.since = case.since + by;
        }
    }

    fn case(&self) -> Option<&Case> {
        match self {
            Self::Idle | Self::Asked { .. } | Self::Opening { .. } => None,
            Self::Recording(case, _)
            | Self::Basing(case)
            | Self::Retracing(case, _)
            | Self::Tracing(case, _)
            | Self::Reaching(case, ..)
            | Self::Choosing(case, _)
            | Self::Looking(case, ..)
            | Self::Narrowing(case, ..)
            | Self::Telling(case, _) => Some(case),
        }
    }

    fn case_mut(&mut self) -> Option<&mut Case> {
        match self {
            Self::Idle | Self::Asked { .. } | Self::Opening { .. } => None,
            Self::Recording(case, _)
            | Self::Basing(case)
            | Self::Retracing(case, _)
            | Self::Tracing(case, _)
            | Self::Reaching(case, ..)
            | Self::Choosing(case, _)
            | Self::Looking(case, ..)
            | Self::Narrowing(case, ..)
            | Self::Telling(case, _) => Some(case),
        }
    }
}
