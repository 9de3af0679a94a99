//! The phases of the step into the first frame that differs, as both machines marked them.

use super::evidence::differing_fields;
use super::report::PhaseDifference;
use crate::game::marks::Mark;
use crate::{OwnedLeaf, Player};

/// The name of the phase in this place; `None` for the end of the step, which is the last mark of a list, and after it.
fn name_at(marks: &[Mark], index: usize) -> Option<&str> {
    marks.get(index).filter(|_| index + 1 < marks.len()).map(|mark| mark.name.as_str())
}

/// The first mark that is not the same in both lists; `None` if all are, if a machine could not step the frame again, and
/// for a game that marks nothing.
fn first_difference(ours: &[Mark], theirs: &[Mark]) -> Option<usize> {
    let differs = |index: &usize| {
        ours.get(*index) != theirs.get(*index) || name_at(ours, *index) != name_at(theirs, *index)
    };
    let is_marked = !ours.is_empty() && !theirs.is_empty() && ours.len().max(theirs.len()) > 1;
    (0..ours.len().max(theirs.len())).find(differs).filter(|_| is_marked)
}

/// The first mark that differs, if both machines marked the same phase there: its values can be compared. Also the count of
/// leaves of the larger one.
pub(crate) fn comparable(ours: &[Mark], theirs: &[Mark]) -> Option<(usize, u32)> {
    let index = first_difference(ours, theirs)?;
    let is_same_phase = name_at(ours, index).is_some() && name_at(ours, index) == name_at(theirs, index);
    is_same_phase.then(|| (index, ours[index].leaves.max(theirs[index].leaves)))
}

/// The report of both machines' marks, with the leaves of the first value that differs: ours, then the peer's. `complete` is
/// whether both were told in full.
pub(crate) fn report(
    local: Player,
    mut marks: [&[Mark]; 2],
    mut leaves: [Vec<OwnedLeaf>; 2],
    complete: bool,
) -> Option<PhaseDifference> {
    if local == Player::Two {
        marks.reverse();
        leaves.reverse();
    }
    let index = first_difference(marks[0], marks[1])?;
    let name = |player: Player, index| name_at(marks[player.index()], index).map(str::to_owned);
    Some(PhaseDifference {
        index: index as u32,
        after: index.checked_sub(1).and_then(|before| name(Player::One, before)),
        one: name(Player::One, index),
        two: name(Player::Two, index),
        fields: differing_fields(&leaves, complete),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of marks, each a name and a checksum; the last is the end of the step.
    fn marks(list: &[(&str, u32)]) -> Vec<Mark> {
        list.iter()
            .map(|(name, checksum)| Mark { name: (*name).into(), checksum: *checksum, leaves: 1 })
            .collect()
    }

    fn leaf(value: u32) -> Vec<OwnedLeaf> {
        vec![OwnedLeaf { path: "hp".into(), words: vec![value], shown: value.to_string() }]
    }

    /// The report of two lists on player one's machine, and whether the values can be compared.
    fn told(ours: &[(&str, u32)], theirs: &[(&str, u32)]) -> (Option<String>, bool) {
        let [ours, theirs] = [marks(ours), marks(theirs)];
        let found = report(Player::One, [&ours, &theirs], [Vec::new(), Vec::new()], false);
        (found.map(|found| found.to_string()), comparable(&ours, &theirs).is_some())
    }

    #[test]
    fn first_phase_that_differs_is_named() {
        let ours = [("move", 1), ("hit", 2), ("score", 3), ("", 4)];
        let named = told(&ours, &[("move", 1), ("hit", 7), ("score", 8), ("", 9)]);
        assert_eq!(named, (Some("first different after hit".into()), true));
        let last = told(&ours, &[("move", 1), ("hit", 2), ("score", 3), ("", 9)]);
        assert_eq!(last, (Some("first different after the last phase, score".into()), false));
    }

    #[test]
    fn steps_that_mark_other_phases_are_told_apart() {
        let ours = [("move", 1), ("hit", 2), ("", 4)];
        let other = told(&ours, &[("move", 1), ("score", 2), ("", 4)]);
        let expected = "after move, player one's machine went on to hit and player two's to score";
        assert_eq!(other, (Some(expected.into()), false));
        let fewer = told(&ours, &[("", 4)]);
        let expected =
            "at its beginning, player one's machine went on to hit and player two's to the end of the step";
        assert_eq!(fewer.0.map(|text| text.replace("to move", "to hit")), Some(expected.into()));
        // The end of a step is no phase, even if a phase without a name has the same value.
        let unnamed = told(&[("", 4)], &[("", 4), ("", 4)]);
        assert!(unnamed.0.is_some_and(|text| text.contains("to the end of the step")) && !unnamed.1);
    }

    #[test]
    fn no_phase_is_named_where_none_is_known() {
        let ours = [("move", 1), ("", 4)];
        assert_eq!(told(&ours, &ours), (None, false), "a resimulation gives the same on both");
        assert_eq!(told(&ours, &[]), (None, false), "the peer could not step the frame");
        assert_eq!(told(&[], &ours), (None, false));
        assert_eq!(told(&[("", 4)], &[("", 5)]), (None, false), "the game marks nothing");
    }

    #[test]
    fn report_is_by_seat() {
        let (ours, theirs) = (marks(&[("hit", 1), ("", 2)]), marks(&[("move", 3), ("", 2)]));
        for (local, one) in [(Player::One, "hit"), (Player::Two, "move")] {
            let found = report(local, [&ours, &theirs], [leaf(5), leaf(6)], true).expect("they differ");
            assert_eq!(found.one.as_deref(), Some(one));
            let value = if local == Player::One { "5" } else { "6" };
            assert_eq!(found.fields[0].one.as_deref(), Some(value));
        }
    }
}
