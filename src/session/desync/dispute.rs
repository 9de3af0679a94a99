//! The dispute about a checksum under `OnDesync::Stop`: what was told, whose claims were void, and when the match ends.

use super::autopsy::{Judgement, Void};

/// As many void claims of one side end a match.
const MAX_VOID: u8 = 2;

/// Why a match that stops at a desync is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The states differ, and nothing shows whose fault it is.
    Desync,
    /// The checksums of this machine were void twice.
    OursVoid,
    /// The checksums of the peer were void twice.
    TheirsVoid,
    /// The peer did not send its notes for the autopsy.
    Withheld,
}

/// The consequence of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The game is told of a desync, and an autopsy begins.
    Tell,
    /// The match ends.
    End(Stop),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// No difference is open.
    Clear,
    /// A difference was told. `later` is whether the newest checksum after it matched.
    Told { later: Option<bool> },
    /// The last difference was void, and no checksum was compared since.
    Voided(Void),
}

/// Decides about differences. States that differ go on to differ, so that a comparison which fails right after a void claim
/// is the second void claim of that side and needs no autopsy of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dispute {
    standing: Standing,
    ours: u8,
    theirs: u8,
    /// The match was mended: the next difference ends it.
    mended: bool,
}

impl Dispute {
    pub(crate) fn new() -> Self {
        Self { standing: Standing::Clear, ours: 0, theirs: 0, mended: false }
    }

    /// Takes in a comparison.
    pub(crate) fn compared(&mut self, matches: bool) -> Option<Step> {
        match self.standing {
            Standing::Clear if matches => None,
            Standing::Clear => {
                self.standing = Standing::Told { later: None };
                Some(Step::Tell)
            }
            Standing::Told { .. } => {
                self.standing = Standing::Told { later: Some(matches) };
                None
            }
            Standing::Voided(_) if matches => {
                self.standing = Standing::Clear;
                None
            }
            Standing::Voided(void) => self.count(void).map(Step::End),
        }
    }

    /// Takes in the judgement of the autopsy about the difference that was told. `None`: the match goes on.
    pub(crate) fn judged(&mut self, judgement: Judgement) -> Option<Stop> {
        let void = match judgement {
            Judgement::Differ => return Some(Stop::Desync),
            Judgement::Withheld => return Some(Stop::Withheld),
            Judgement::Void(void) if self.mended => return self.count(void).or(Some(Stop::Desync)),
            Judgement::Void(void) => void,
        };
        let later = match self.standing {
            Standing::Told { later } => later,
            Standing::Clear | Standing::Voided(_) => None,
        };
        self.standing = if later == Some(true) { Standing::Clear } else { Standing::Voided(void) };
        let stop = self.count(void);
        if later == Some(false) { stop.or_else(|| self.count(void)) } else { stop }
    }

    /// Whether the difference that was told is to be mended, which it is once in a match, unless it has passed.
    pub(crate) fn mends(&self, judgement: Judgement) -> bool {
        let has_passed = matches!(self.standing, Standing::Told { later: Some(true) });
        !self.mended && !has_passed && matches!(judgement, Judgement::Void(_))
    }

    /// The match is being mended. Differences until then are no news.
    pub(crate) fn mended(&mut self) {
        (self.standing, self.mended) = (Standing::Clear, true);
    }

    /// Forgets a difference: the match goes on in states that both machines have again.
    pub(crate) fn settle(&mut self) {
        self.standing = Standing::Clear;
    }

    /// Whether the match was or is being mended.
    pub(crate) fn is_mended(&self) -> bool {
        self.mended
    }

    /// The only side whose last claim was void, if no checksum has matched since: the reason why the peer leaves.
    pub(crate) fn voided(&self) -> Option<Stop> {
        match self.standing {
            Standing::Voided(Void { ours: true, theirs: false }) => Some(Stop::OursVoid),
            Standing::Voided(Void { ours: false, theirs: true }) => Some(Stop::TheirsVoid),
            _ => None,
        }
    }

    /// Whether checksums differed, and none has matched since.
    pub(crate) fn is_open(&self) -> bool {
        self.standing != Standing::Clear
    }

    fn count(&mut self, Void { ours, theirs }: Void) -> Option<Stop> {
        self.ours = self.ours.saturating_add(u8::from(ours));
        self.theirs = self.theirs.saturating_add(u8::from(theirs));
        match (self.ours >= MAX_VOID, self.theirs >= MAX_VOID) {
            (true, true) => Some(Stop::Desync),
            (true, false) => Some(Stop::OursVoid),
            (false, true) => Some(Stop::TheirsVoid),
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEIRS: Judgement = Judgement::Void(Void { ours: false, theirs: true });
    const OURS: Judgement = Judgement::Void(Void { ours: true, theirs: false });

    fn told() -> Dispute {
        let mut dispute = Dispute::new();
        assert_eq!(dispute.compared(true), None);
        assert_eq!(dispute.compared(false), Some(Step::Tell));
        dispute
    }

    #[test]
    fn second_void_claim_of_one_side_ends_the_match() {
        for (judgement, stop) in [(THEIRS, Stop::TheirsVoid), (OURS, Stop::OursVoid)] {
            let mut dispute = told();
            assert_eq!(dispute.judged(judgement), None);
            assert_eq!((dispute.voided(), dispute.compared(true)), (Some(stop), None));
            assert_eq!((dispute.voided(), dispute.compared(false)), (None, Some(Step::Tell)));
            assert_eq!(dispute.judged(judgement), Some(stop));
        }
    }

    #[test]
    fn one_void_claim_of_each_side_ends_nothing() {
        let mut dispute = told();
        assert_eq!(dispute.judged(THEIRS), None);
        assert_eq!((dispute.compared(true), dispute.compared(false)), (None, Some(Step::Tell)));
        assert_eq!(dispute.judged(OURS), None);
    }

    #[test]
    fn difference_that_goes_on_is_the_second_void_claim() {
        let mut after = told();
        assert_eq!(after.judged(OURS), None);
        assert_eq!(after.compared(false), Some(Step::End(Stop::OursVoid)));
        let mut during = told();
        assert_eq!((during.compared(true), during.compared(false)), (None, None), "told once");
        assert_eq!(during.judged(THEIRS), Some(Stop::TheirsVoid));
        let mut passed = told();
        assert_eq!((passed.compared(false), passed.compared(true)), (None, None));
        assert_eq!(passed.judged(THEIRS), None);
        assert_eq!(passed.compared(false), Some(Step::Tell), "a new difference");
    }

    #[test]
    fn match_is_mended_once_and_the_next_difference_ends_it() {
        let mut dispute = told();
        assert!(dispute.mends(OURS) && dispute.mends(THEIRS) && !dispute.mends(Judgement::Differ));
        assert_eq!(dispute.compared(true), None);
        assert!(!dispute.mends(OURS), "it has passed");
        let mut dispute = told();
        dispute.mended();
        assert_eq!(
            (dispute.is_open(), dispute.compared(true), dispute.compared(false)),
            (false, None, Some(Step::Tell))
        );
        assert!(!dispute.mends(OURS));
        assert_eq!(dispute.judged(OURS), Some(Stop::Desync));
    }

    #[test]
    fn difference_without_a_void_claim_ends_the_match_at_once() {
        assert_eq!(told().judged(Judgement::Differ), Some(Stop::Desync));
        assert_eq!(told().judged(Judgement::Withheld), Some(Stop::Withheld));
        let mut both = told();
        assert_eq!(both.judged(Judgement::Void(Void { ours: true, theirs: true })), None);
        assert_eq!((both.voided(), both.compared(false)), (None, Some(Step::End(Stop::Desync))));
    }
}
