//! Tests of the rules of a configuration.

use super::*;

fn checked(change: impl FnOnce(&mut Config)) -> Result<(), ConfigError> {
    Config::new(1).with(change).check()
}

#[test]
fn every_limit_is_taken_at_its_edge_and_refused_beyond() {
    assert_eq!(checked(|_| {}), Ok(()));
    let rate = |frame_rate| checked(|config| config.game.frame_rate = frame_rate);
    for good in [FrameRate::hz(1), FrameRate::hz(1_000), FrameRate::ratio(39_375_000, 655_171)] {
        assert_eq!(rate(good), Ok(()));
    }
    for frame_rate in [FrameRate::hz(0), FrameRate::hz(1_001), FrameRate::hz(65_535), FrameRate::ratio(9, 0)]
    {
        assert_eq!(rate(frame_rate), Err(ConfigError::FrameRate { frame_rate }));
    }
    let axes = |axes| checked(|config| config.game.axes = axes);
    assert_eq!((axes(6), axes(7)), (Ok(()), Err(ConfigError::Axes { axes: 7 })));
    let pads = |pads, axes| checked(|config| (config.game.pads, config.game.axes) = (pads, axes));
    assert_eq!((pads(1, 6), pads(2, 0), pads(4, 0)), (Ok(()), Ok(()), Ok(())));
    assert_eq!(
        (pads(0, 0), pads(5, 0)),
        (Err(ConfigError::Pads { pads: 0 }), Err(ConfigError::Pads { pads: 5 }))
    );
    assert_eq!(pads(2, 1), Err(ConfigError::PadsAndAxes { pads: 2, axes: 1 }));
    let window = |window_frames| checked(|config| config.rollback.window_frames = window_frames);
    assert_eq!((window(22), window(23)), (Ok(()), Err(ConfigError::Window { window_frames: 23 })));
    let delay = |window_frames, delay_frames| {
        checked(|config| {
            config.rollback.window_frames = window_frames;
            config.rollback.delay_frames = Some(delay_frames);
        })
    };
    for (window_frames, delay_frames) in [(8, 22), (6, 24), (22, 8), (0, 24)] {
        assert_eq!(delay(window_frames, delay_frames), Ok(()));
    }
    assert_eq!(delay(0, 25), Err(ConfigError::Delay { delay_frames: 25 }));
    let too_much = ConfigError::WindowAndDelay { window_frames: 22, delay_frames: 9 };
    assert_eq!(delay(22, 9), Err(too_much));
    let ahead = |look_ahead_frames| checked(|config| config.rollback.look_ahead_frames = look_ahead_frames);
    assert_eq!((ahead(8), ahead(9)), (Ok(()), Err(ConfigError::LookAhead { look_ahead_frames: 9 })));
    let cadence = |cadence_frames| checked(|config| config.cadence_frames = cadence_frames);
    assert_eq!((cadence(1), cadence(600)), (Ok(()), Ok(())));
    for cadence_frames in [0, 601, u16::MAX] {
        assert_eq!(cadence(cadence_frames), Err(ConfigError::Cadence { cadence_frames }));
    }
    let user_data = |len| checked(|config| config.lobby.user_data = vec![0; len]);
    assert_eq!((user_data(64), user_data(65)), (Ok(()), Err(ConfigError::UserData { len: 65 })));
    let most = MAX_FIRST_STATE;
    let limit = |limit| checked(|config| config.lobby.first_state_limit = limit);
    let too_long = Err(ConfigError::FirstState { len: most as usize + 1 });
    assert_eq!((limit(most), limit(most + 1)), (Ok(()), too_long));
    let state = |len: u32| checked(|config| config.lobby.first_state = vec![0; len as usize].into());
    assert_eq!((state(most), state(most + 1)), (Ok(()), too_long));
}

#[test]
fn entropy_must_be_given_where_the_target_has_none() {
    let given = |entropy| Config::new(1).with(|config| config.lobby.entropy = entropy);
    assert_eq!(given(None).check_entropy(false), Err(ConfigError::Entropy));
    assert_eq!((given(Some(0)).check_entropy(false), given(None).check_entropy(true)), (Ok(()), Ok(())));
}

#[test]
fn timeouts_are_not_zero_and_interruption_precedes_loss() {
    let none: [fn(&mut Config); 4] = [
        |config| config.timeouts.lost_after = Duration::ZERO,
        |config| config.timeouts.no_progress_after = Duration::ZERO,
        |config| config.timeouts.too_slow_after = Duration::ZERO,
        |config| config.timeouts.join_timeout = Duration::ZERO,
    ];
    for change in none {
        assert!(matches!(checked(change), Err(ConfigError::NoPatience { .. })));
    }
    let silence = |interrupted_after, lost_after| {
        checked(|config| {
            config.timeouts.interrupted_after = interrupted_after;
            config.timeouts.lost_after = lost_after;
        })
    };
    let (short, long) = (Duration::from_secs(1), Duration::from_secs(2));
    assert_eq!((silence(short, long), silence(long, long)), (Ok(()), Ok(())));
    let refused = ConfigError::Silence { interrupted_after: long, lost_after: short };
    assert_eq!(silence(long, short), Err(refused));
}

#[test]
fn greatest_delay_leaves_room_for_the_window() {
    for (window_frames, max) in [(0, 24), (6, 24), (8, 22), (22, 8), (29, 1), (200, 0)] {
        let config = Config::new(1).with(|config| config.rollback.window_frames = window_frames);
        assert_eq!(config.max_delay_frames(), max);
    }
}
