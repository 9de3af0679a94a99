//! Every number and folder of the options reaches the place in the library that it is for.

use super::*;

/// The options with one change, as the library takes them.
fn chosen(change: impl Fn(&mut COptions)) -> Chosen {
    let mut given = COptions::defaults();
    change(&mut given);
    // SAFETY: a struct of this size, with texts that live for ever.
    unsafe { read(&raw const given) }.unwrap_or_else(|fault| panic!("{}", fault.text))
}

/// Checks a number by the text of its field, which no default has.
fn check(change: impl Fn(&mut COptions), field: &str) {
    let texts = [chosen(|_| {}), chosen(change)].map(|chosen| format!("{:?}", chosen.config));
    assert!(!texts[0].contains(field), "{field} is the default");
    assert!(texts[1].contains(field), "no {field}: {}", texts[1]);
}

#[test]
fn numbers_of_the_game_and_of_the_rollback_reach_the_config() {
    check(|o| o.game_id = 71, "id: 71,");
    check(|o| o.content_hash = 72, "content_hash: 72,");
    let rate = FrameRate::ratio(39_375_000, 655_171);
    check(
        |o| (o.rate_numerator, o.rate_denominator) = (39_375_000, 655_171),
        &format!("frame_rate: {rate:?}"),
    );
    check(|o| o.axes = 3, "axes: 3,");
    check(|o| o.pads = 4, "pads: 4");
    check(|o| o.seat = 1, "seat: Two");
    check(|o| o.seed = 73, "seed: Some(73)");
    check(|o| o.ask = 1, "ask_before_accepting: true");
    check(|o| o.first_state_limit = 74, "first_state_limit: 74");
    check(|o| o.entropy = 75, "entropy: Some(75)");
    check(|o| o.window_frames = 9, "window_frames: 9,");
    check(|o| o.delay_frames = 5, "delay_frames: Some(5)");
    check(|o| o.added_delay_frames = 6, "added_delay_frames: 6,");
    check(|o| o.prediction = PredictionCode::Neutral as u32, "prediction: Neutral");
    check(|o| o.saving = SavingCode::Every as u32, "saving: Every");
    check(|o| o.saving = SavingCode::Sparse as u32, "saving: Sparse");
    check(|o| o.look_ahead_frames = 7, "look_ahead_frames: 7,");
    check(|o| o.kept_buttons = 77, "kept_buttons: Buttons(77)");
    check(|o| o.cue_moves_within = 11, "cue_moves_within: 11,");
    check(|o| o.cadence_frames = 13, "cadence_frames: 13,");
    check(|o| o.pauses = 14, "pauses: 14,");
    check(|o| o.on_desync = OnDesyncCode::GoOn as u32, "on_desync: GoOn");
    check(|o| o.on_desync = OnDesyncCode::Stop as u32, "on_desync: Stop");
    check(|o| o.on_desync = OnDesyncCode::Mend as u32, "on_desync: Mend");
}

#[test]
fn times_of_the_options_reach_the_config() {
    check(|o| o.join_timeout_ms = 5_301, "join_timeout: 5.301s");
    check(|o| o.interrupted_after_ms = 1_302, "interrupted_after: 1.302s");
    check(|o| o.lost_after_ms = 9_303, "lost_after: 9.303s");
    check(|o| o.no_progress_after_ms = 9_304, "no_progress_after: 9.304s");
    check(|o| o.too_slow_after_ms = 9_305, "too_slow_after: 9.305s");
    check(|o| o.max_input_age_ms = 306, "max_input_age: Some(306ms)");
    check(|o| o.max_pause_ms = 9_307, "max_pause: 9.307s");
    check(|o| o.countdown_ms = 1_308, "countdown: 1.308s");
}

#[test]
fn spectators_and_folders_of_the_options_are_kept() {
    assert!(chosen(|_| {}).spectators.is_none());
    let watched = chosen(|o| {
        (o.max_spectators, o.watch_delay_ms) = (3, 4_500);
        (o.watch_bits_per_second, o.watch_messages) = (123_456, 1);
    });
    let expected = BroadcastConfig {
        max_spectators: 3,
        delay: Duration::from_millis(4_500),
        bits_per_second: 123_456,
        chat: true,
        ..BroadcastConfig::default()
    };
    assert_eq!(watched.spectators, Some(expected));
    let kept = chosen(|o| {
        (o.record_to, o.bundles_to, o.rejoin_in) = (c"one".as_ptr(), c"two".as_ptr(), c"three".as_ptr());
    });
    let folders = [kept.record_to, kept.bundles_to, kept.rejoin_in].map(Option::unwrap);
    assert_eq!(folders, ["one", "two", "three"].map(PathBuf::from));
}
