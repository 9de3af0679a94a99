//! The sounds of the duel: which effect sounds how, and when a cue starts or stops one.

mod blows;
mod calls;
mod music;

use std::time::Duration;

use rebout::{Cue, CueChange, CueEvent};

use games::duel::effects::{Effect, Shown};
use games::duel::{Duel, Phase};
use stage::sound::{Bank, Play, Sound, SoundId};

/// The music of the menus, of a fight and of the last round, each in a loop.
pub const MENU_MUSIC: SoundId = SoundId(0x100);
pub const FIGHT_MUSIC: SoundId = SoundId(0x101);
pub const LAST_ROUND_MUSIC: SoundId = SoundId(0x102);
/// The calls of the rounds, from the first on.
const ROUND_CALLS: u16 = 0x80;
/// Half of the stage, for left and right.
const HALF_WIDTH: f32 = 225.0;
/// The one at the edge is still heard on the other side.
const MAX_PAN: f32 = 0.6;
/// Two blows at different places differ by at most this much in pitch, so that a row of them is no machine.
const PITCH_SPREAD: f32 = 0.06;
const FRAME: Duration = Duration::from_nanos(16_666_667);

/// Every sound of the duel.
pub fn bank() -> Bank {
    let bank = calls::add_to(blows::add_to(Bank::default()));
    bank.with_music(MENU_MUSIC, music::menu())
        .with_music(FIGHT_MUSIC, music::fight())
        .with_music(LAST_ROUND_MUSIC, music::last_round())
}

/// The music that a state calls for; `None` leaves the one that plays. The end of a round may be mispredicted, so it
/// changes nothing.
pub fn music_of(duel: &Duel) -> Option<SoundId> {
    let is_last = duel.fighters.iter().all(|fighter| fighter.rounds + 1 == duel.rounds_to_win());
    match duel.phase {
        Phase::Intro | Phase::Fight if is_last => Some(LAST_ROUND_MUSIC),
        Phase::Intro | Phase::Fight => Some(FIGHT_MUSIC),
        Phase::Choose => Some(MENU_MUSIC),
        Phase::RoundOver { .. } | Phase::MatchOver { .. } | Phase::Done { .. } => None,
    }
}

const fn id_of(effect: Effect) -> SoundId {
    SoundId(effect as u16)
}

const fn call_of(round: u8) -> SoundId {
    SoundId(ROUND_CALLS + round as u16)
}

/// The sound of a cue; `None` if no duel emitted it. The number of the round is told by the state alone.
pub fn play_of(cue: Cue, duel: &Duel) -> Option<Play> {
    let Shown { effect, x, .. } = Shown::unpack(cue)?;
    let play = match effect {
        Effect::RoundStart => Play::of(call_of(duel.round)),
        Effect::FightStart | Effect::Ko | Effect::TimeUp | Effect::MatchEnd | Effect::Rematch => {
            Play::of(id_of(effect))
        }
        _ => {
            let spread = (cue.0.wrapping_mul(2_654_435_761) >> 16) as f32 / 65_535.0 * 2.0 - 1.0;
            let pan = (x as f32 / HALF_WIDTH).clamp(-1.0, 1.0) * MAX_PAN;
            Play::of(id_of(effect)).pan(pan).pitch(1.0 + spread * PITCH_SPREAD)
        }
    };
    Some(play)
}

/// Plays what the ledger of cues tells: a start in time, even if it was found late, and a cancel at once.
pub fn hear(sound: &Sound, duel: &Duel, events: &[CueEvent]) {
    for event in events {
        let mark = u64::from(event.id.0);
        match event.change {
            CueChange::Start { late_by } => {
                if let Some(play) = play_of(event.cue, duel) {
                    sound.play(play.late(FRAME * late_by).marked(mark));
                }
            }
            CueChange::Cancel => sound.cancel(mark),
            // It is heard already, and now it is true as well.
            CueChange::Confirm => {}
        }
    }
}

/// Plays what the steps themselves asked for, resimulated ones too: every sound as often as its frame was stepped, and the
/// sounds of what never happened. It is there to be heard once beside [`hear`].
pub fn hear_steps(sound: &Sound, duel: &Duel, cues: &[Cue]) {
    cues.iter().filter_map(|cue| play_of(*cue, duel)).for_each(|play| sound.play(play));
}
