//! The mixer: late starts, cancels, volumes, loops, and more sounds than there is room for.

use std::time::Duration;

use stage::sound::{Bank, Clip, Levels, Mixer, Play, RATE, Score, Sound, SoundId, speech};

const TONE: SoundId = SoundId(1);
const LOOP: SoundId = SoundId(2);
const HZ: f32 = 300.0;
/// The largest step between two samples of the tone; a click is a larger one.
const STEEPEST: f32 = 0.5 * HZ * core::f32::consts::TAU / RATE as f32;

fn tone(seconds: f32) -> Clip {
    Clip::make(seconds, |t| 0.5 * (t * HZ * core::f32::consts::TAU).sin())
}

fn memory() -> (Sound, Mixer) {
    let cycles =
        (0..RATE as usize / 10).map(|at| 0.5 * (at as f32 / RATE as f32 * HZ * core::f32::consts::TAU).sin());
    // One note as long as the loop, which goes on where it began.
    let mut score = Score::new(60.0 * 10.0, 1);
    score.put(0.0, &Clip::of_samples(cycles.collect()), 1.0, 0.0);
    let bank = Bank::default().with(TONE, tone(0.5)).with_music(LOOP, score.finish());
    let (sound, mixer) = Sound::in_memory(bank);
    sound.set_levels(Levels { effects_percent: 100, music_percent: 100, muted: false });
    // The volume glides to where it is set.
    let mut mixer = mixer;
    left(&mut mixer, 10_000);
    (sound, mixer)
}

/// The next samples of the left side.
fn left(mixer: &mut Mixer, frames: usize) -> Vec<f32> {
    let mut out = vec![0.0; frames * 2];
    mixer.render(&mut out);
    out.iter().step_by(2).copied().collect()
}

fn steepest(samples: &[f32]) -> f32 {
    samples.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f32::max)
}

fn loudest(samples: &[f32]) -> f32 {
    samples.iter().fold(0.0, |loudest, sample| sample.abs().max(loudest))
}

#[test]
fn late_sound_skips_what_is_over_and_is_in_time() {
    let (in_time, mut first) = memory();
    in_time.play(Play::of(TONE));
    let truth = left(&mut first, 8_000);
    let (late, mut second) = memory();
    let before = left(&mut second, 2_400);
    late.play(Play::of(TONE).late(Duration::from_millis(50)));
    let heard = left(&mut second, 5_600);
    assert!(loudest(&before) < 1e-6 && loudest(&heard) > 0.4);
    // It fades in over two milliseconds, because it begins in the middle of a wave.
    let differs = |at: &usize| (truth[2_400 + at] - heard[*at]).abs() > 1e-3;
    assert!((0..96).any(|at| differs(&at)));
    assert_eq!((96..5_600).filter(differs).count(), 0);
    assert!(steepest(&heard) < 1.2 * STEEPEST, "a late start clicks");
}

#[test]
fn cancel_fades_its_own_sound_and_no_other_without_a_click() {
    let (sound, mut mixer) = memory();
    sound.play(Play::of(TONE).marked(7));
    let before = left(&mut mixer, 1_000);
    sound.cancel(8);
    let still = left(&mut mixer, 1_000);
    sound.cancel(7);
    let fading = left(&mut mixer, 600);
    let after = left(&mut mixer, 600);
    assert!(loudest(&still) > 0.45);
    assert!(loudest(&after) < 1e-6 && mixer.voices() == 0);
    // The clip itself begins with a steeper ramp.
    let heard = [before, still, fading, after].concat();
    assert!(steepest(&heard[100..]) < 1.2 * STEEPEST);
}

#[test]
fn muting_and_volumes_glide() {
    let (sound, mut mixer) = memory();
    sound.music(Some(LOOP));
    left(&mut mixer, 20_000);
    let loud = left(&mut mixer, 4_800);
    assert!(sound.toggle_mute());
    let gliding = left(&mut mixer, 4_801);
    let silent = left(&mut mixer, 4_800);
    assert!(!sound.toggle_mute());
    let again = left(&mut mixer, 4_801);
    assert!(loudest(&loud) > 0.45 && loudest(&silent) < 1e-6 && loudest(&again) > 0.4);
    assert!(steepest(&[loud, gliding, silent, again].concat()) < 1.2 * STEEPEST);
    sound.set_levels(Levels { music_percent: 50, ..sound.levels() });
    left(&mut mixer, 4_800);
    let half = loudest(&left(&mut mixer, 4_800));
    assert!((half - 0.125).abs() < 0.01, "{half}");
}

#[test]
fn music_loops_without_a_gap_and_is_not_restarted() {
    let (sound, mut mixer) = memory();
    sound.music(Some(LOOP));
    let mut heard = left(&mut mixer, 20_000);
    sound.music(Some(LOOP));
    heard.extend(left(&mut mixer, 20_000));
    assert!(steepest(&heard) < 1.05 * STEEPEST);
    assert!(loudest(&heard[30_000..]) < 0.51, "it plays twice at once");
    sound.stop();
    assert!(loudest(&left(&mut mixer, 4_800)) > 0.45, "music is no effect");
    sound.music(None);
    left(&mut mixer, 14_400);
    assert!(loudest(&left(&mut mixer, 4_800)) < 1e-6);
}

#[test]
fn many_sounds_neither_clip_nor_block() {
    let (sound, mut mixer) = memory();
    for mark in 0..10_000 {
        sound.play(Play::of(TONE).gain(3.0).marked(mark));
    }
    let heard = left(&mut mixer, 9_600);
    assert!(heard.iter().all(|sample| sample.abs() <= 1.0));
    assert!(mixer.voices() <= 64, "{}", mixer.voices());
    // What has no clip is silent, and what is over before it begins too.
    let (sound, mut mixer) = memory();
    sound.play(Play::of(SoundId(999)));
    sound.play(Play::of(TONE).late(Duration::from_secs(9)));
    assert!(loudest(&left(&mut mixer, 800)) < 1e-6 && mixer.voices() == 0);
}

#[test]
fn device_that_opens_in_the_middle_of_a_sound_does_not_click() {
    let (sound, mut mixer) = memory();
    sound.play(Play::of(TONE));
    left(&mut mixer, 530);
    mixer.fade_in();
    let heard = left(&mut mixer, 9_600);
    assert!(heard[0].abs() < 1e-3 && steepest(&heard) < 1.05 * STEEPEST && loudest(&heard) > 0.45);
}

#[test]
fn sound_is_where_it_is_panned() {
    let (sound, mut mixer) = memory();
    sound.play(Play::of(TONE).pan(-1.0));
    let mut out = vec![0.0; 2_000];
    mixer.render(&mut out);
    let side = |at: usize| loudest(&out.iter().skip(at).step_by(2).copied().collect::<Vec<_>>());
    assert!(side(0) > 0.45 && side(1) < 1e-6);
}

#[test]
fn mixer_notices_that_its_game_has_ended() {
    let (sound, mut mixer) = memory();
    sound.play(Play::of(TONE));
    let copy = sound.clone();
    drop(sound);
    left(&mut mixer, 100);
    assert!(!mixer.is_left());
    drop(copy);
    left(&mut mixer, 100);
    assert!(!mixer.is_left(), "the last sound is played to its end");
    left(&mut mixer, RATE as usize);
    left(&mut mixer, 100);
    assert!(mixer.is_left());
}

#[test]
fn speech_is_as_long_as_its_phones_and_never_runs_away() {
    let fight = speech::say("F AY:300 T", [120.0, 90.0]);
    let seconds = fight.samples().len() as f32 / RATE as f32;
    assert!((0.55..0.75).contains(&seconds), "{seconds}");
    let all = "AA AH AO EH IH IY UW AY AW EY OW R W L M N F V TH S D T K P _ nonsense:9999999 :";
    let clip = speech::say(all, [140.0, 60.0]);
    assert!(clip.samples().iter().all(|sample| sample.is_finite() && sample.abs() <= 1.0));
    assert!(speech::say("", [100.0, 100.0]).samples().is_empty());
}

#[test]
fn notes_sound_at_their_beats_and_sides() {
    const MUSIC: SoundId = SoundId(3);
    let mut score = Score::new(600.0, 4);
    // A beat has 4,800 samples. The last note is longer than the rest of the loop.
    score.put(1.0, &tone(0.02), 1.0, -1.0);
    score.put(3.9, &tone(0.05), 0.5, 1.0);
    let piece = score.finish();
    assert_eq!((piece.len(), piece.period()), (19_200, 19_200));
    let (sound, mut mixer) = Sound::in_memory(Bank::default().with_music(MUSIC, piece));
    sound.set_levels(Levels { effects_percent: 100, music_percent: 100, muted: false });
    sound.music(Some(MUSIC));
    let mut out = vec![0.0; 2 * 19_200];
    // The first loop fades in.
    mixer.render(&mut out);
    mixer.render(&mut out);
    let peak = |side: usize, from: usize, to: usize| {
        loudest(&out[2 * from..2 * to].iter().skip(side).step_by(2).copied().collect::<Vec<_>>())
    };
    assert!(peak(0, 4_800, 5_760) > 0.45 && peak(1, 4_800, 5_760) < 1e-6);
    assert!(peak(1, 18_720, 19_200) > 0.2 && peak(0, 18_720, 19_200) < 1e-6);
    assert!(peak(1, 100, 1_900) > 0.2, "the end of the last note sounds on at the beginning");
    assert!(peak(0, 0, 4_800) < 1e-6 && peak(1, 2_000, 18_700) < 1e-6);
}

#[test]
fn equal_parts_shorten_the_period_of_a_piece() {
    let piece = |gains: [f32; 4]| {
        let mut score = Score::new(120.0, 4);
        (0_u8..).zip(gains).for_each(|(beat, gain)| score.put(beat.into(), &tone(0.02), gain, 0.0));
        score.finish()
    };
    let period = |gains| piece(gains).period();
    assert_eq!(period([1.0, 0.5, 0.7, 0.2]), 96_000);
    assert_eq!(period([1.0, 0.5, 1.0, 0.5]), 48_000);
    assert_eq!(period([1.0; 4]), 24_000);
}

#[test]
fn driven_piece_stays_below_its_peak() {
    const MUSIC: SoundId = SoundId(3);
    let mut score = Score::new(600.0, 4);
    (0..9).for_each(|_| score.put(0.0, &tone(0.3), 1.0, 0.0));
    let bank = Bank::default().with_music(MUSIC, score.finish().driven(2.0, 0.4));
    let (sound, mut mixer) = Sound::in_memory(bank);
    sound.set_levels(Levels { effects_percent: 100, music_percent: 100, muted: false });
    sound.music(Some(MUSIC));
    left(&mut mixer, 19_200);
    let loud = loudest(&left(&mut mixer, 19_200));
    assert!((0.39..=0.4).contains(&loud), "{loud}");
}
