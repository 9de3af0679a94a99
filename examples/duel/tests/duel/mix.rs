//! The sound of a match, rendered to memory: every hit that is confirmed is heard once, and in time.

use std::sync::LazyLock;

use duel::sound;
use games::duel::bot::Level;
use games::duel::effects::{Effect, Shown};
use games::duel::script;
use games::duel::{Duel, Phase};
use rebout::rollback::{Advance, EngineConfig, Rollback};
use rebout::{Cue, CueChange, Cues, Frame, Game, Inputs, Player, Save, StateError};
use stage::sound::{Bank, Levels, Mixer, RATE, Sound, SoundId};

/// Samples of one frame, on both sides.
const BLOCK: usize = 2 * 800;
const FRAMES: u32 = 2_700;
/// Frames in which a prediction can be taken back, with those of a fade.
const UNSURE_FRAMES: u32 = 10;
/// Between two mixes that are the same there is no more than rounding.
const SAME: f32 = 1e-3;

static BANK: LazyLock<Bank> = LazyLock::new(sound::bank);

const HITS: [Effect; 2] = [Effect::LightHit, Effect::HeavyHit];

fn is_hit(cue: Cue) -> bool {
    Shown::unpack(cue).is_some_and(|shown| HITS.contains(&shown.effect))
}

/// A mixer that knows the sounds of hits alone.
fn hits_in_memory() -> (Sound, Mixer) {
    let bank = HITS.into_iter().fold(Bank::default(), |bank, effect| {
        let id = SoundId(effect as u16);
        bank.with(id, BANK.get(id).expect("a hit has a sound").clone())
    });
    let (sound, mixer) = Sound::in_memory(bank);
    sound.set_levels(Levels { effects_percent: 80, music_percent: 0, muted: false });
    (sound, mixer)
}

fn block(mixer: &mut Mixer) -> Vec<f32> {
    let mut block = vec![0.0; BLOCK];
    mixer.render(&mut block);
    block
}

/// The duel, which notes what every step asks for.
struct Noted<'a> {
    duel: &'a mut Duel,
    asked: &'a mut Vec<Cue>,
}

impl Save for Noted<'_> {
    type Snapshot = Duel;

    fn snapshot(&self) -> Duel {
        *self.duel
    }

    fn save(&self, slot: &mut Duel) -> Result<(), StateError> {
        *slot = *self.duel;
        Ok(())
    }

    fn restore(&mut self, snapshot: &Duel) -> Result<(), StateError> {
        *self.duel = *snapshot;
        Ok(())
    }
}

impl Game for Noted<'_> {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.duel.step(inputs, cues);
        self.asked.extend(cues.as_slice());
    }
}

/// The mix of the match as it really was, stepped once with every input known, and the frames of its hits.
fn as_it_was(inputs: &[Inputs]) -> (Vec<Vec<f32>>, Vec<(u32, Effect)>) {
    let (sound, mut mixer) = hits_in_memory();
    let (mut duel, mut cues, mut hits) = (Duel::new(7), Cues::new(), Vec::new());
    let frames = (0..).zip(inputs);
    let mix = frames.map(|(frame, inputs)| {
        cues.clear();
        duel.step(*inputs, &mut cues);
        sound::hear_steps(&sound, &duel, cues.as_slice());
        let shown = cues.as_slice().iter().filter(|cue| is_hit(**cue)).filter_map(|cue| Shown::unpack(*cue));
        hits.extend(shown.map(|shown| (frame, shown.effect)));
        block(&mut mixer)
    });
    (mix.collect(), hits)
}

#[derive(Clone, Copy, PartialEq)]
enum Ears {
    Ledger,
    Steps,
}

/// The mix of a match whose second player is far away, and what happened to the cues of hits.
#[derive(Default)]
struct Heard {
    mix: Vec<Vec<f32>>,
    /// The frames in which a hit was started.
    starts: Vec<u32>,
    late: usize,
    cancelled: usize,
}

fn online(inputs: &[Inputs], ears: Ears) -> Heard {
    let (sound, mut mixer) = hits_in_memory();
    let mut duel = Duel::new(7);
    // A cue that moves keeps the time of its first start; here every one must be in time.
    let config = EngineConfig { cue_moves_within: 0, ..EngineConfig::default() };
    let mut engine = Rollback::new(config, &duel);
    let (mut asked, mut heard) = (Vec::new(), Heard::default());
    for (now, frame) in (0..).zip(inputs) {
        assert!(engine.press(Player::One, 0, frame[Player::One]));
        // Between five and seven frames of delay, in order.
        loop {
            let next = engine.next_input(Player::Two);
            let delay = 5 + (next.0 / 5 * 7919) % 3;
            if next.0 + delay > now {
                break;
            }
            let arrived = engine.confirm(Player::Two, next, inputs[next.0 as usize][Player::Two]);
            assert_eq!(arrived, Ok(true));
        }
        asked.clear();
        let advanced = engine.advance(&mut Noted { duel: &mut duel, asked: &mut asked });
        assert_eq!(advanced, Advance::Stepped, "frame {now}");
        match ears {
            Ears::Ledger => sound::hear(&sound, &duel, engine.cues()),
            Ears::Steps => sound::hear_steps(&sound, &duel, &asked),
        }
        for event in engine.cues().iter().filter(|event| is_hit(event.cue)) {
            match event.change {
                CueChange::Start { late_by } => {
                    heard.starts.push(now);
                    heard.late += usize::from(late_by > 0);
                }
                CueChange::Cancel => heard.cancelled += 1,
                CueChange::Confirm => {}
            }
        }
        heard.mix.push(block(&mut mixer));
    }
    assert!(engine.settled() > Frame(FRAMES - UNSURE_FRAMES));
    heard
}

/// The frames in which nothing is unsure: no hit has begun for a while, in truth or by prediction.
fn sure_frames(hits: &[(u32, Effect)], starts: &[u32]) -> Vec<u32> {
    let begun = |frame: u32| {
        hits.iter()
            .map(|(at, _)| *at)
            .chain(starts.iter().copied())
            .any(|at| (at..at + UNSURE_FRAMES).contains(&frame))
    };
    (0..FRAMES - UNSURE_FRAMES).filter(|frame| !begun(*frame)).collect()
}

fn difference(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
}

/// Hits that are in the mix of `heard`: a sure frame within the clip sounds as it must, and not without the hit.
fn found(hits: &[(u32, Effect)], sure: &[u32], truth: &[Vec<f32>], heard: &[Vec<f32>]) -> usize {
    let is_found = |(at, effect): &&(u32, Effect)| {
        let clip = BANK.get(SoundId(*effect as u16)).expect("a hit has a sound").samples();
        sure.iter().filter(|frame| **frame >= *at).any(|frame| {
            let start = (frame - at) as usize * BLOCK / 2;
            let own = clip.get(start..start + BLOCK / 4).unwrap_or(&[]);
            let loud = own.iter().any(|sample| sample.abs() > 10.0 * SAME);
            let same = difference(&truth[*frame as usize], &heard[*frame as usize]) < SAME;
            loud && same
        })
    };
    hits.iter().filter(is_found).count()
}

/// A match between bots, with its mix and its hits as they really were.
struct Match {
    inputs: Vec<Inputs>,
    truth: Vec<Vec<f32>>,
    hits: Vec<(u32, Effect)>,
}

static MATCHES: LazyLock<[Match; 3]> = LazyLock::new(|| {
    [5, 8, 9].map(|seed| {
        let inputs = script::fight(seed, Level::Normal, FRAMES);
        let (truth, hits) = as_it_was(&inputs);
        Match { inputs, truth, hits }
    })
});

/// Three matches by ear: their hits, the sure frames that sound wrong, and the hits that were found.
#[derive(Default)]
struct Tally {
    hits: usize,
    late: usize,
    cancelled: usize,
    wrong_frames: usize,
    found: usize,
}

fn listen(ears: Ears) -> Tally {
    let mut tally = Tally::default();
    for Match { inputs, truth, hits } in MATCHES.iter() {
        let heard = online(inputs, ears);
        let sure = sure_frames(hits, &heard.starts);
        let is_wrong =
            |frame: &&u32| difference(&truth[**frame as usize], &heard.mix[**frame as usize]) > SAME;
        tally.hits += hits.len();
        tally.late += heard.late;
        tally.cancelled += heard.cancelled;
        tally.wrong_frames += sure.iter().filter(is_wrong).count();
        tally.found += found(hits, &sure, truth, &heard.mix);
    }
    // Otherwise there was nothing to get wrong.
    let Tally { hits, late, cancelled, .. } = tally;
    let is_loud = hits >= 40 && late >= 8 && cancelled >= 3;
    assert!(is_loud, "the matches were too quiet: {hits} hits, {late} late, {cancelled} cancelled");
    tally
}

#[test]
fn every_confirmed_hit_is_heard_once_and_in_time() {
    let tally = listen(Ears::Ledger);
    assert_eq!((tally.wrong_frames, tally.found), (0, tally.hits));
}

#[test]
fn without_the_cue_ledger_hits_sound_twice_or_by_mistake() {
    let tally = listen(Ears::Steps);
    assert!(tally.wrong_frames > 5 * tally.hits, "{}", tally.wrong_frames);
    assert!(tally.found < tally.hits * 2 / 3, "{} of {}", tally.found, tally.hits);
}

#[test]
fn every_effect_sounds_different_and_without_clipping() {
    let duel = Duel::between(1, games::duel::Character::ALL);
    let effects =
        (0..).map(|number| Cue(number << 24)).map_while(|cue| Some((cue, Shown::unpack(cue)?.effect)));
    let mut seen = 0;
    for (cue, effect) in effects {
        let play = sound::play_of(cue, &duel).expect("every effect is played");
        let clip = BANK.get(play.sound).unwrap_or_else(|| panic!("{effect:?} is silent"));
        let samples = clip.samples();
        assert!((0.1..0.9).contains(&clip.peak()), "{effect:?}: {}", clip.peak());
        assert!(samples.iter().all(|sample| sample.is_finite()), "{effect:?}");
        let ends = [samples[0], samples[samples.len() - 1]];
        assert!(ends.iter().all(|end| end.abs() < 0.01), "{effect:?} begins or ends with a click: {ends:?}");
        let mean = samples.iter().sum::<f32>() / samples.len() as f32;
        assert!(mean.abs() < 0.01, "{effect:?} pushes to one side: {mean}");
        seen += 1;
    }
    assert_eq!(seen, 19);
    let peak = |effect: Effect| BANK.get(SoundId(effect as u16)).map_or(0.0, stage::sound::Clip::peak);
    let order = [Effect::Ko, Effect::HeavyHit, Effect::LightHit, Effect::Block, Effect::Swing, Effect::Step];
    assert!(order.windows(2).all(|pair| peak(pair[0]) > peak(pair[1])), "the balance of the blows");
    let rounds =
        (1..=7).map(|round| sound::play_of(Cue((Effect::RoundStart as u32) << 24), &Duel { round, ..duel }));
    assert!(rounds.flatten().all(|play| BANK.get(play.sound).is_some()), "every round is called");
}

/// The level of a piece: the highest sample, and the mean square of both sides and of their difference.
struct Levelled {
    peak: f32,
    sides: [f32; 2],
    difference: f32,
}

fn level_of(music: SoundId, seconds: usize) -> Levelled {
    let piece = BANK.music(music).expect("there is music").clone();
    let (sound, mut mixer) = Sound::in_memory(Bank::default().with_music(music, piece));
    sound.set_levels(Levels { effects_percent: 0, music_percent: 100, muted: false });
    sound.music(Some(music));
    let mut out = vec![0.0; 2 * seconds * RATE as usize];
    mixer.render(&mut out);
    let mean = |value: fn(&[f32]) -> f32| {
        (out.chunks(2).map(value).map(|value| value * value).sum::<f32>() / (out.len() / 2) as f32).sqrt()
    };
    Levelled {
        peak: out.iter().fold(0.0, |peak, sample| sample.abs().max(peak)),
        sides: [mean(|sides| sides[0]), mean(|sides| sides[1])],
        difference: mean(|sides| sides[0] - sides[1]),
    }
}

const PIECES: [SoundId; 3] = [sound::MENU_MUSIC, sound::FIGHT_MUSIC, sound::LAST_ROUND_MUSIC];

#[test]
fn each_piece_lasts_more_than_a_minute() {
    for music in PIECES {
        let period = BANK.music(music).expect("there is music").period();
        assert!(period > 60 * RATE as usize, "{music:?} repeats after {period} samples");
    }
}

#[test]
fn music_is_balanced_stereo_below_the_blows() {
    // All of it takes seconds without optimisation.
    let seconds = if support::repeats(4) == 4 { 80 } else { 4 };
    let heavy = BANK.get(SoundId(Effect::HeavyHit as u16)).map_or(0.0, stage::sound::Clip::peak);
    for music in PIECES {
        let Levelled { peak, sides: [left, right], difference } = level_of(music, seconds);
        assert!((0.2..0.5).contains(&peak) && peak < heavy, "{music:?}: a peak of {peak}, a hit {heavy}");
        assert!((0.7..1.4).contains(&(left / right)), "{music:?}: {left} left, {right} right");
        assert!(left > 0.03, "{music:?}: {left} is silence");
        assert!(difference > 0.1 * left, "{music:?}: {difference} is mono");
    }
}

#[test]
fn last_round_has_music_of_its_own() {
    let mut duel = Duel::between(1, games::duel::Character::ALL);
    assert_eq!(sound::music_of(&duel), Some(sound::FIGHT_MUSIC));
    duel.fighters[0].rounds = 1;
    assert_eq!(sound::music_of(&duel), Some(sound::FIGHT_MUSIC));
    duel.fighters[1].rounds = 1;
    assert_eq!(sound::music_of(&duel), Some(sound::LAST_ROUND_MUSIC));
    duel.phase = Phase::Done { winner: None };
    assert_eq!(sound::music_of(&duel), None, "the end of a match keeps the music");
}
