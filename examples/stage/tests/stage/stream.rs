//! The stream of samples that a game makes itself: no drift, no click, and counted underruns.

use stage::sound::{Bank, RATE, Sound};

/// Plays a stream of so many milliseconds, whose game is faster than it says by so many millionths: what is waited for at the end
/// is not asked, but the underruns and dropped frames.
fn played(millis: u32, game_ppm: i64) -> (u64, u64, u64) {
    let (sound, mut mixer) = Sound::in_memory(Bank::default());
    let mut feed = sound.feed(44_100.0);
    let (mut owed_frames, mut block) = (0_i64, [0.0; 2 * 48]);
    for _ in 0..millis {
        owed_frames += 60 * (1_000_000 + game_ppm);
        while owed_frames >= 1_000_000_000 {
            owed_frames -= 1_000_000_000;
            feed.push(&[[1_000, -1_000]; 735]);
        }
        mixer.render(&mut block);
    }
    let stats = feed.stats();
    (stats.underruns, stats.dropped, stats.taken)
}

#[test]
fn stream_of_a_game_with_another_clock_does_not_break() {
    // Without rate control the buffer would be empty, or full, after half of the time.
    for (game_ppm, millis) in [(-4_000, 32_000), (4_000, 96_000)] {
        let (underruns, dropped, taken) = played(millis, game_ppm);
        assert_eq!((underruns, dropped), (0, 0), "{game_ppm} ppm");
        assert!(taken > u64::from(RATE) * (u64::from(millis) - 500) / 1_000, "{taken} frames");
    }
}

#[test]
fn game_that_is_too_slow_for_rate_control_underruns() {
    let (underruns, dropped, _) = played(10_000, -20_000);
    assert!(underruns > 0 && dropped == 0, "{underruns} underruns");
}

#[test]
fn stream_that_ends_fades_and_a_rest_is_no_underrun() {
    let (sound, mut mixer) = Sound::in_memory(Bank::default());
    let mut feed = sound.feed(48_000.0);
    let mut block = vec![0.0; 2 * 4_800];
    for _ in 0..8 {
        feed.push(&[[16_000, 16_000]; 800]);
    }
    mixer.render(&mut block);
    feed.rest();
    mixer.render(&mut block);
    assert_eq!(feed.stats().underruns, 0);
    let steps = block.chunks(2).collect::<Vec<_>>();
    let most = steps.windows(2).map(|pair| (pair[0][0] - pair[1][0]).abs()).fold(0.0, f32::max);
    assert!(most < 0.05, "a step of {most}");
    assert!(block.last().unwrap().abs() < 0.01);
}
