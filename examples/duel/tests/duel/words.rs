//! What players are told, word for word.

use duel::play::words::{Cast, Over};
use games::duel::{Duel, Phase};
use rebout::{Frame, Player, Reason, Verdict};

/// Ben's machine, against Ann.
fn bens() -> Cast {
    Cast { names: ["Ann".to_owned(), "Ben".to_owned()], local: Player::Two }
}

/// The two lines that Ben reads when a match that nobody has won yet is over.
fn told(over: Over) -> [String; 2] {
    [bens().result(&Duel::new(1), over), bens().connection(over)]
}

#[test]
fn only_who_leaves_forfeits() {
    let undecided = "The match was not decided.";
    let lines = [
        (Reason::Left, "Ann left and forfeits the match: Ben wins.", "Ann left."),
        (Reason::LeftHere, "You left and forfeit the match: Ann wins.", "Ann has been told that you left."),
        (Reason::Restarted, "Ann left and forfeits the match: Ben wins.", "Ann has started the game anew."),
        (
            Reason::GaveUp,
            undecided,
            "Ann's machine heard nothing from yours for too long and gave up. Nobody left.",
        ),
        (Reason::TooSlow, undecided, "Ann's game ran far too slowly to go on."),
        (Reason::TimedOut, undecided, "The connection to Ann was lost."),
        (Reason::NoProgress, undecided, "Ann's game stood still for too long."),
    ];
    for (reason, result, connection) in lines {
        assert_eq!(told(Over::Early(reason)), [result, connection], "{reason:?}");
    }
}

#[test]
fn who_was_away_is_not_told_that_it_won() {
    let [result, connection] = told(Over::Early(Reason::GaveUp));
    for word in ["win", "forfeit", "Ben"] {
        assert!(!result.contains(word) && !connection.contains(word), "{result} {connection}");
    }
    assert_eq!(Over::Early(Reason::GaveUp).exit_code(), Over::Early(Reason::TimedOut).exit_code());
}

#[test]
fn a_match_that_was_won_stays_won() {
    let mut duel = Duel::new(1);
    duel.phase = Phase::Done { winner: Some(Player::One) };
    for reason in [Reason::GaveUp, Reason::TooSlow, Reason::Left, Reason::TimedOut] {
        assert_eq!(bens().result(&duel, Over::Early(reason)), "Ann wins.", "{reason:?}");
    }
    let unconfirmed = Verdict::Unconfirmed { frame: Frame(9), checksum: 1 };
    assert_eq!(bens().result(&duel, Over::Played(unconfirmed)), "Ann wins.");
}

#[test]
fn a_slow_machine_is_named_and_so_is_its_recovery() {
    assert_eq!(bens().slow(916), "Ann's machine is slow: the match runs at 91 % of its speed");
    assert_eq!(bens().recovered(), "the match runs at full speed again");
}
