//! The calls of a match: rounds, the knockout, the end of time, the winner.

use stage::sound::speech::say;
use stage::sound::synth::{Filter, Noise, Osc, decay, note, rise};
use stage::sound::{Bank, Clip};

use super::{call_of, id_of};
use games::duel::effects::Effect;

/// The numbers of the rounds that can be called.
const NUMBERS: [&str; 7] = [
    "W AH:170 N:140",
    "T UW:260",
    "TH R IY:260",
    "F AO:200 R:150",
    "F AY:270 V:110",
    "S IH:170 K S:120",
    "S EH:170 V AH:110 N:120",
];

pub(super) fn add_to(bank: Bank) -> Bank {
    let gong = gong().with_peak(1.0);
    let bank = (1_u8..).zip(NUMBERS).fold(bank, |bank, (round, number)| {
        let words = called(&format!("R:100 AW:250 N:110 D _:60 {number}"), [112.0, 84.0]);
        bank.with(call_of(round), Clip::together(&[(0.0, &gong, 0.14), (0.14, &words, 0.75)]).with_peak(0.62))
    });
    let fight = called("F:130 AY:330 T", [138.0, 96.0]);
    let knocked_out = called("K EY:330 _:40 OW:480", [132.0, 78.0]);
    let time_up = called("T AY:250 M _:40 AH:190 P", [112.0, 84.0]);
    bank.with(
        id_of(Effect::FightStart),
        Clip::together(&[(0.0, &gong, 0.18), (0.0, &fight, 0.8)]).with_peak(0.70),
    )
    .with(
        id_of(Effect::Ko),
        Clip::together(&[(0.0, &blast(), 1.0), (0.42, &knocked_out, 0.9)]).with_peak(0.85),
    )
    .with(
        id_of(Effect::TimeUp),
        Clip::together(&[(0.0, &bell(), 0.4), (0.25, &time_up, 0.75)]).with_peak(0.62),
    )
    .with(id_of(Effect::MatchEnd), fanfare().with_peak(0.50))
    .with(id_of(Effect::Rematch), fanfare().with_peak(0.40))
    .with(id_of(Effect::Ready), bell().with_peak(0.30))
}

/// The voice of the hall: dense, with the walls behind it.
fn called(text: &str, pitch_hz: [f32; 2]) -> Clip {
    let voice = say(text, pitch_hz).driven(1.6);
    Clip::together(&[(0.0, &voice, 1.0), (0.061, &voice, 0.14), (0.113, &voice, 0.08), (0.187, &voice, 0.04)])
}

/// A gong: tones that do not belong together, the high ones gone first.
fn gong() -> Clip {
    let mut tones = [Osc::default(); 6];
    Clip::make(1.4, |t| {
        let parts = [(98.0, 0.60), (147.3, 0.50), (233.0, 0.40), (329.6, 0.30), (493.0, 0.22), (771.0, 0.12)];
        let all = tones.iter_mut().zip(parts);
        all.map(|(tone, (hz, fall))| tone.sine(hz) * decay(t, fall)).sum::<f32>() * rise(t, 0.004)
    })
}

/// The blow that ends a round.
fn blast() -> Clip {
    let (mut body, mut noise, mut dust) = (Osc::default(), Noise::new(79), Filter::default());
    Clip::make(1.3, |t| {
        let knock = body.sine(36.0 + 190.0 * decay(t, 0.07)) * decay(t, 0.38);
        let burst = dust.low(noise.sample(), 3_800.0 * decay(t, 0.18) + 150.0) * decay(t, 0.30);
        (1.8 * knock + 1.6 * burst).tanh()
    })
}

fn bell() -> Clip {
    let mut tones = [Osc::default(); 3];
    Clip::make(1.2, |t| {
        let strikes = decay(t, 0.25) + decay(t - 0.22, 0.25) + decay(t - 0.44, 0.35);
        let parts = [(1_174.0, 1.0), (2_793.0, 0.35), (3_520.0, 0.18)];
        tones.iter_mut().zip(parts).map(|(tone, (hz, part))| tone.sine(hz) * part).sum::<f32>() * strikes
    })
}

/// Four notes up, the last one held.
fn fanfare() -> Clip {
    let mut tones = [Osc::default(); 3];
    let mut warm = Filter::default();
    Clip::make(1.5, |t| {
        let at = ((t / 0.14) as usize).min(3);
        let since = t - at as f32 * 0.14;
        let hz = note([-9, -5, -2, 3][at]);
        let horn: f32 = tones.iter_mut().zip([0.997, 1.0, 1.5]).map(|(tone, by)| tone.saw(hz * by)).sum();
        let fall = if at == 3 { 0.5 } else { 0.12 };
        warm.low(horn, 2_400.0) * rise(since, 0.006) * decay(since, fall)
    })
}
