//! What players are told, word for word.

use core::time::Duration;
use duel::play::words::{Players, code_lines, exit_code};
use duel::play::{LinkSetting, link_keys};
use games::duel::{Duel, Phase};
use rebout::Code;
use rebout::lab::link::Chance;
use rebout::{Finish, Frame, Player, Reason, Verdict};
use stage::Key;

/// Ben's machine, against Ann.
fn bens() -> Players {
    Players { names: ["Ann".to_owned(), "Ben".to_owned()], local: Player::Two }
}

/// The two lines that Ben reads when a match that nobody has won yet is over.
fn told(finish: &Finish) -> [String; 2] {
    [bens().result(&Duel::between(1, games::duel::Character::ALL), finish), bens().connection(finish)]
}

#[test]
fn only_leaving_forfeits_the_match() {
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
        (
            Reason::TooSlow,
            undecided,
            "Ann's frames came too slowly to go on: a slow machine, or a slow connection.",
        ),
        (
            Reason::TimedOut,
            undecided,
            "The connection to Ann was lost, and Ann did not come back in time. Nobody left.",
        ),
        (Reason::NoProgress, undecided, "Ann's game stood still for too long."),
    ];
    for (reason, result, connection) in lines {
        assert_eq!(told(&Finish::Ended(reason)), [result, connection], "{reason:?}");
    }
}

#[test]
fn returning_player_is_not_told_that_it_won() {
    let [result, connection] = told(&Finish::Ended(Reason::GaveUp));
    for word in ["win", "forfeit", "Ben"] {
        assert!(!result.contains(word) && !connection.contains(word), "{result} {connection}");
    }
    assert_eq!(exit_code(&Finish::Ended(Reason::GaveUp)), exit_code(&Finish::Ended(Reason::TimedOut)));
}

#[test]
fn match_that_waits_names_the_player_and_the_way_out() {
    let left = Duration::from_millis(23_010);
    assert_eq!(bens().interrupted(left), "waiting for Ann, 24 s: Esc to leave");
}

#[test]
fn won_match_stays_won() {
    let mut duel = Duel::between(1, games::duel::Character::ALL);
    duel.phase = Phase::Done { winner: Some(Player::One) };
    for reason in [Reason::GaveUp, Reason::TooSlow, Reason::Left, Reason::TimedOut] {
        assert_eq!(bens().result(&duel, &Finish::Ended(reason)), "Ann wins.", "{reason:?}");
    }
    let unconfirmed = Verdict::Unconfirmed { frame: Frame(9), checksum: 1 };
    assert_eq!(bens().result(&duel, &Finish::Played(unconfirmed)), "Ann wins.");
}

#[test]
fn slow_frames_are_told_without_blame() {
    assert_eq!(bens().slow(916), "Ann's frames come slowly: the match runs at 91 % of its speed");
    assert_eq!(bens().recovered(), "the match runs at full speed again");
}

#[test]
fn code_is_to_be_compared_and_tries_of_others_are_told() {
    let lines = |code| {
        code_lines(code).into_iter().map(|(label, text)| format!("{label}: {text}")).collect::<Vec<_>>()
    };
    assert_eq!(lines(None), ["code: on its way"]);
    let code = Code { digits: 42_007, guests_before: 0 };
    let compare = " : ask the other player whether theirs is the same";
    assert_eq!(lines(Some(code)), ["code: 042 007", compare]);
    let tried = "careful: 2 came before: expect nobody but your friend";
    assert_eq!(lines(Some(Code { guests_before: 2, ..code })), ["code: 042 007", compare, tried]);
    assert_eq!(bens().not_verified(code), "not verified: press v if Ann has the code 042 007 too");
    assert_eq!(bens().verified(), "verified: it is Ann");
}

#[test]
fn keys_of_the_link_are_no_keys_of_the_fight() {
    let start =
        LinkSetting { round_trip_millis: 80, loss: Chance::percent(3), loss_percent: 3.0, jitter_millis: 0 };
    for character in (' '..='~').filter(|character| !character.is_ascii_uppercase()) {
        assert_eq!(start.changed_by(Key::Char(character)), None, "{character} is a key of the fight");
    }
    for (key, word) in [(Key::F(6), "round trip"), (Key::F(7), "loss"), (Key::F(8), "jitter")] {
        assert!(link_keys().contains(&format!("{key} {word}")), "{}", link_keys());
        let mut setting = start.changed_by(key).expect("a key of the link");
        assert_ne!(setting, start);
        let mut presses = 1;
        while setting != start {
            setting = setting.changed_by(key).expect("a key of the link");
            presses += 1;
            assert!(presses < 12, "{key} does not come back to where it began");
        }
    }
}

#[test]
fn pause_is_told_with_its_player_and_its_limit() {
    assert_eq!(bens().paused(Player::One), "Ann paused the match");
    assert_eq!(bens().paused(Player::Two), "you paused the match");
    assert_eq!(bens().countdown(Duration::from_millis(2_001)), "the match goes on in 3 s");
    let limit = |by, left| bens().pause_limit(by, Duration::from_millis(left));
    assert_eq!(limit(Player::One, 41_001), "You may go on in 42 s. Whoever leaves forfeits it.");
    assert_eq!(limit(Player::One, 0), "You may go on, or leave without a forfeit.");
    assert_eq!(limit(Player::Two, 1), "Ann may go on in 1 s. Whoever leaves forfeits it.");
    assert_eq!(limit(Player::Two, 0), "Ann may go on or leave now.");
    let [result, connection] = told(&Finish::Ended(Reason::PausedTooLong));
    assert_eq!(result, "The match was not decided.");
    assert_eq!(connection, "The match is over: the match was paused for too long.");
}
