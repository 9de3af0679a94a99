//! Playback of a recording: every frame is reached by seeking as by stepping, and a match can be taken over anywhere.

use games::duel::Duel;
use games::duel::bot::{Bot, Level};
use games::duel::script::{Fight, fight};
use rebout::replay::{
    End, Header, MatchEvent, Outcome, Playback, Recording, StreamRecorder, VerifyError, Winner,
};
use rebout::{Advanced, Config, Frame, FrameRate, Inputs, Player, checksum};
use std::time::Duration;

const SEED: u32 = 4;
const END: End = End { outcome: Outcome::Local, winner: Winner::Undecided };

fn recorded(frames: u32, spoil_from: u32) -> Recording {
    let header = Header { frame_rate: Some(FrameRate::hz(60)), ..Header::new(SEED) };
    let mut recorder = StreamRecorder::new(&header, Vec::new()).unwrap();
    let mut fight = Fight::new(SEED, Level::Easy);
    for frame in 0..frames {
        if recorder.is_checksum_due() {
            recorder.checksum(Frame(frame), checksum(&fight.duel) ^ u32::from(frame >= spoil_from));
        }
        recorder.record(Frame(frame), fight.step()).unwrap();
    }
    Recording::open(recorder.finish(END).unwrap()).unwrap()
}

fn loaded(frames: u32) -> Playback<Duel> {
    let mut playback = Playback::new(Duel::new(SEED), recorded(frames, u32::MAX));
    while !playback.load(1_000, |_, _| {}) {}
    playback
}

/// The checksum of every state.
fn states(frames: u32) -> Vec<u32> {
    let mut fight = Fight::new(SEED, Level::Easy);
    let first = checksum(&fight.duel);
    let rest = (0..frames).map(|_| {
        fight.step();
        checksum(&fight.duel)
    });
    [first].into_iter().chain(rest).collect()
}

#[test]
fn seek_in_ten_minutes_resimulates_under_240_frames() {
    let (mut playback, states) = (loaded(36_000), states(36_000));
    let mut most = 0;
    for step in 0..400_u32 {
        let frame = Frame(step.wrapping_mul(2_654_435_761) % 36_001);
        let resimulated = playback.seek(frame);
        most = most.max(resimulated);
        assert_eq!((playback.frame(), checksum(playback.game())), (frame, states[frame.0 as usize]));
    }
    assert!((200..240).contains(&most), "{most} frames");
    assert_eq!(playback.verified(), Ok(600));
    playback.seek(Frame(u32::MAX));
    assert_eq!(playback.frame(), Frame(36_000));
}

#[test]
fn seek_a_little_ahead_goes_on_from_where_it_is() {
    let mut playback = loaded(2_000);
    playback.seek(Frame(1_230));
    assert_eq!(playback.seek(Frame(1_235)), 5);
    assert_eq!(playback.seek(Frame(1_235)), 0);
    assert_eq!(playback.seek(Frame(1_234)), 34, "60 frames lie between two snapshots");
}

#[test]
fn loading_can_be_spread_and_shows_every_state_once() {
    let (mut playback, states) = (Playback::new(Duel::new(SEED), recorded(700, u32::MAX)), states(700));
    let mut seen = Vec::new();
    playback.step();
    while !playback.load(33, |frame, duel| seen.push((frame.0, checksum(duel)))) {
        assert_eq!(checksum(playback.game()), states[1], "what is shown stays");
    }
    assert!(seen.into_iter().eq((0..).zip(states.iter().copied())));
    assert_eq!((playback.loaded(), playback.verified()), (Frame(700), Ok(12)));
}

#[test]
fn frame_that_is_not_loaded_yet_can_be_sought() {
    let (mut playback, states) = (Playback::new(Duel::new(SEED), recorded(700, u32::MAX)), states(700));
    playback.load(100, |_, _| {});
    assert_eq!(playback.seek(Frame(450)), 350);
    assert_eq!(checksum(playback.game()), states[450]);
    assert_eq!((playback.seek(Frame(70)), checksum(playback.game())), (10, states[70]));
}

#[test]
fn few_snapshots_cost_more_steps_and_reach_the_same_states() {
    let states = states(5_000);
    let mut playback = Playback::with_snapshots(Duel::new(SEED), recorded(5_000, u32::MAX), 5);
    while !playback.load(700, |_, _| {}) {}
    let mut most = 0;
    for frame in (0..=5_000).rev().step_by(7) {
        most = most.max(playback.seek(Frame(frame)));
        assert_eq!(checksum(playback.game()), states[frame as usize], "{frame}");
    }
    assert!((1_500..1_920).contains(&most), "{most} frames between five snapshots");
}

#[test]
fn first_checksum_that_differs_is_named() {
    let mut playback = Playback::new(Duel::new(SEED), recorded(700, 300));
    while !playback.load(100, |_, _| {}) {}
    let Err(VerifyError::Checksum { frame, .. }) = playback.verified() else { panic!("not noticed") };
    assert_eq!(frame, Frame(300));
}

#[test]
fn playback_follows_the_clock_at_its_speed_and_makes_nothing_up() {
    let mut playback = loaded(2_000);
    let ms = Duration::from_millis;
    assert_eq!(playback.advance(ms(500), |_, _, _| {}), 0, "paused");
    let run = |playback: &mut Playback<Duel>, from: u64, speed: u32| {
        playback.play(ms(from));
        playback.set_speed(speed);
        (1..=100).map(|step| playback.advance(ms(from + step * 10), |_, _, _| {})).sum::<u32>()
    };
    assert_eq!(run(&mut playback, 1_000, 1_000), 60);
    assert_eq!(run(&mut playback, 5_000, 250), 15);
    assert_eq!(run(&mut playback, 7_000, 4_000), 240);
    playback.set_speed(1_000);
    assert_eq!(playback.advance(ms(60_000), |_, _, _| {}), 4, "a loop that was away");
    playback.pause();
    assert_eq!((playback.advance(ms(61_000), |_, _, _| {}), playback.is_playing()), (0, false));
    assert!(playback.step() && playback.frame() == Frame(60 + 15 + 240 + 4 + 1));
}

#[test]
fn cues_of_a_step_are_told_and_those_of_a_seek_are_not() {
    let mut playback = loaded(400);
    let mut told = 0;
    while playback.step() {
        told += playback.cues().len();
        assert!(playback.cues().iter().all(|cue| cue.frame.next() == playback.frame()));
    }
    assert!(told > 10, "{told}");
    playback.seek(Frame(101));
    assert!(playback.cues().is_empty());
}

#[test]
fn cut_recording_is_shown_from_its_start() {
    let recording = recorded(700, u32::MAX);
    let header = Header { start_frame: Frame(250), ..recording.header().clone() };
    let cut = recording.write_version_2(&header, Frame(500), Vec::new()).unwrap();
    let playback = Playback::new(Duel::new(SEED), Recording::open(cut).unwrap());
    assert_eq!((playback.frame(), playback.recording().frames()), (Frame(250), 500));
    assert_eq!(checksum(playback.game()), states(250)[250]);
}

#[test]
fn match_is_taken_over_against_the_recording_or_a_bot() {
    let inputs = fight(SEED, Level::Easy, 900);
    let states = states(900);
    let take_over = |from: u32| {
        let mut playback = loaded(900);
        playback.seek(Frame(from));
        playback.take_over(Duration::ZERO, &Config::new(1)).unwrap()
    };
    // With both recorded players it goes on as recorded.
    let mut live = take_over(333);
    let mut choose = Vec::new();
    while live.current() < Frame(900) {
        let advanced = live.advance(live.next_frame_at(), |_, recorded| recorded.unwrap());
        choose.extend(live.confirmed());
        assert_eq!(advanced, Advanced::Stepped);
    }
    assert_eq!((live.start(), checksum(live.game())), (Frame(333), states[900]));
    assert!(choose.into_iter().eq((333..900).map(|frame| (Frame(frame), inputs[frame as usize]))));
    assert!(live.inputs_before().eq(inputs[..333].iter().copied()));

    // With another player one, player two still does what was recorded, up to the end of the recording.
    let mut live = take_over(333);
    let mut seen = Vec::new();
    assert_eq!(live.advance(Duration::ZERO, |_, _| Inputs::default()), Advanced::Stepped);
    assert_eq!(live.advance(Duration::ZERO, |_, _| unreachable!("not due")), Advanced::NotDue);
    while live.current() < Frame(950) {
        live.advance(live.next_frame_at(), |_, recorded| {
            seen.push(recorded.map(|inputs| inputs[Player::Two]));
            let mut chosen = recorded.unwrap_or_default();
            chosen[Player::One] = Default::default();
            chosen
        });
    }
    let expected = (334..950).map(|frame| inputs.get(frame).map(|inputs| inputs[Player::Two]));
    assert!(seen.into_iter().eq(expected));
    assert_ne!(checksum(live.game()), states[900]);

    // A bot takes the seat.
    let (mut live, mut bot) = (take_over(500), Bot::new(9, Level::Easy));
    while live.current() < Frame(800) {
        live.advance(live.next_frame_at(), |duel, recorded| {
            let mut chosen = recorded.unwrap_or_default();
            chosen[Player::Two] = bot.buttons(duel, Player::Two).into();
            chosen
        });
    }
    assert_ne!(checksum(live.game()), states[800]);
}

#[test]
fn round_marks_are_found_by_loading_or_kept_from_the_file() {
    let mut recorder = StreamRecorder::new(&Header::new(SEED), Vec::new()).unwrap();
    let (mut fight, mut round) = (Fight::new(SEED, Level::Easy), 0);
    for frame in 0..9_000 {
        if std::mem::replace(&mut round, fight.duel.round) != fight.duel.round {
            recorder.event(MatchEvent::Mark(round.into()));
        }
        recorder.record(Frame(frame), fight.step()).unwrap();
    }
    let recording = Recording::open(recorder.finish(END).unwrap()).unwrap();
    let marks: Vec<u32> = recording.events().map(|(frame, _)| frame.0).collect();
    let (mut found, mut round) = (Vec::new(), 0);
    let mut playback = Playback::new(Duel::new(SEED), recording);
    playback.load(u32::MAX, |frame, duel| {
        if std::mem::replace(&mut round, duel.round) != duel.round {
            found.push(frame.0);
        }
    });
    assert!(marks.len() > 1 && marks == found, "{marks:?} {found:?}");
}
