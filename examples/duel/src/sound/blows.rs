//! The sounds of blows, jumps and fireballs: noise through filters, and tones that fall.

use stage::sound::synth::{Filter, Noise, Osc, bump, decay, rise};
use stage::sound::{Bank, Clip};

use super::id_of;
use games::duel::effects::Effect;

/// Adds them to the bank. The peaks are the balance: a heavy hit is the loudest thing but a knockout, and a swing that
/// misses is barely there.
pub(super) fn add_to(bank: Bank) -> Bank {
    let sounds = [
        (Effect::LightHit, light_hit().with_peak(0.50)),
        (Effect::HeavyHit, heavy_hit().with_peak(0.68)),
        (Effect::Block, block().with_peak(0.42)),
        (Effect::Swing, swing().with_peak(0.26)),
        (Effect::Step, step().with_peak(0.16)),
        (Effect::Jump, jump().with_peak(0.22)),
        (Effect::Land, land().with_peak(0.30)),
        (Effect::Slam, slam().with_peak(0.58)),
        (Effect::Cast, cast().with_peak(0.45)),
        (Effect::Clash, clash().with_peak(0.55)),
        (Effect::Grab, grab().with_peak(0.40)),
        (Effect::Escape, escape().with_peak(0.40)),
    ];
    sounds.into_iter().fold(bank, |bank, (effect, clip)| bank.with(id_of(effect), clip))
}

/// A tone that falls from one pitch to another, as a struck body does.
fn thump(osc: &mut Osc, t: f32, from: f32, to: f32, fall: f32) -> f32 {
    osc.sine(to + (from - to) * decay(t, fall))
}

fn light_hit() -> Clip {
    let (mut noise, mut skin, mut body) = (Noise::new(11), Filter::default(), Osc::default());
    Clip::make(0.30, |t| {
        let slap = skin.band(noise.sample(), 2_400.0 - 3_000.0 * t, 1.2) * decay(t, 0.030);
        let knock = thump(&mut body, t, 340.0, 120.0, 0.03) * decay(t, 0.065);
        (2.2 * slap + 0.9 * knock).tanh()
    })
}

fn heavy_hit() -> Clip {
    let (mut noise, mut crack, mut rumble) = (Noise::new(23), Filter::default(), Filter::default());
    let mut body = Osc::default();
    Clip::make(0.55, |t| {
        let hiss = noise.sample();
        let slap = crack.band(hiss, 1_500.0 - 1_400.0 * t, 0.9) * decay(t, 0.055);
        let air = rumble.low(hiss, 500.0) * decay(t, 0.12);
        let knock = thump(&mut body, t, 210.0, 52.0, 0.05) * decay(t, 0.15);
        (2.0 * slap + 0.8 * air + 1.5 * knock).tanh()
    })
}

/// Forearms, hard and dry: tones that do not belong together.
fn block() -> Clip {
    let mut tones = [Osc::default(); 4];
    let (mut noise, mut edge) = (Noise::new(37), Filter::default());
    Clip::make(0.26, |t| {
        let parts = [(412.0, 0.060), (655.0, 0.045), (1_047.0, 0.035), (1_733.0, 0.020)];
        let ring: f32 =
            tones.iter_mut().zip(parts).map(|(tone, (hz, fall))| tone.sine(hz) * decay(t, fall)).sum();
        0.5 * ring + edge.high(noise.sample(), 2_500.0) * decay(t, 0.012)
    })
}

fn swing() -> Clip {
    let (mut noise, mut air) = (Noise::new(41), Filter::default());
    Clip::make(0.20, |t| {
        let hz = 500.0 + 1_500.0 * bump(t, 0.20);
        air.band(noise.sample(), hz, 1.6) * bump(t, 0.20).powi(2)
    })
}

fn step() -> Clip {
    let (mut noise, mut floor) = (Noise::new(43), Filter::default());
    Clip::make(0.09, |t| floor.low(noise.sample(), 420.0) * decay(t, 0.018))
}

fn jump() -> Clip {
    let (mut osc, mut noise, mut cloth) = (Osc::default(), Noise::new(47), Filter::default());
    Clip::make(0.24, |t| {
        let rising = osc.triangle(170.0 + 900.0 * t) * bump(t, 0.24);
        let flutter = cloth.band(noise.sample(), 900.0 + 2_000.0 * t, 1.0) * bump(t, 0.16);
        0.5 * rising + 0.6 * flutter
    })
}

fn land() -> Clip {
    let (mut body, mut noise, mut dust) = (Osc::default(), Noise::new(53), Filter::default());
    Clip::make(0.26, |t| {
        let knock = thump(&mut body, t, 130.0, 62.0, 0.03) * decay(t, 0.06);
        knock + 0.5 * dust.low(noise.sample(), 1_200.0) * decay(t, 0.05)
    })
}

/// A whole body on the floor.
fn slam() -> Clip {
    let (mut body, mut noise, mut dust) = (Osc::default(), Noise::new(59), Filter::default());
    Clip::make(0.60, |t| {
        let knock = thump(&mut body, t, 110.0, 40.0, 0.06) * decay(t, 0.17);
        let boards = dust.low(noise.sample(), 900.0 * decay(t, 0.3) + 120.0) * decay(t, 0.14);
        (1.4 * knock + 1.3 * boards).tanh()
    })
}

fn cast() -> Clip {
    let (mut noise, mut fire) = (Noise::new(61), Filter::default());
    let mut tones = [Osc::default(); 3];
    let mut warm = Filter::default();
    Clip::make(0.62, |t| {
        let sweep = 260.0 + 2_300.0 * rise(t, 0.16) * decay(t - 0.16, 0.4).max(f32::from(t < 0.16));
        let roar = fire.band(noise.sample(), sweep, 1.4) * rise(t, 0.05) * decay(t, 0.30);
        let pitch = 130.0 * (1.0 + 1.6 * rise(t, 0.14));
        let hum: f32 = tones.iter_mut().zip([0.99, 1.0, 1.013]).map(|(tone, by)| tone.saw(pitch * by)).sum();
        let glow = warm.low(hum, 1_600.0 * decay(t, 0.35) + 200.0) * rise(t, 0.03) * decay(t, 0.22);
        1.6 * roar + 0.35 * glow
    })
}

fn clash() -> Clip {
    let (mut carrier, mut ring) = (Osc::default(), Osc::default());
    let (mut noise, mut spark) = (Noise::new(67), Filter::default());
    Clip::make(0.50, |t| {
        let bend = ring.sine(1_370.0) * 900.0 * decay(t, 0.10);
        let metal = carrier.sine(880.0 + bend) * decay(t, 0.13);
        let burst = spark.high(noise.sample(), 1_800.0) * decay(t, 0.06);
        (metal + 0.9 * burst).tanh()
    })
}

/// Two hands that close on cloth.
fn grab() -> Clip {
    let (mut noise, mut cloth) = (Noise::new(71), Filter::default());
    Clip::make(0.24, |t| {
        let grips = decay(t, 0.020) + 0.9 * decay(t - 0.075, 0.028);
        cloth.band(noise.sample(), 750.0, 0.8) * grips
    })
}

fn escape() -> Clip {
    let mut tones = [Osc::default(); 2];
    let (mut noise, mut edge) = (Noise::new(73), Filter::default());
    Clip::make(0.34, |t| {
        let first = tones[0].triangle(1_245.0) * decay(t, 0.06);
        let second = tones[1].triangle(1_865.0) * rise(t - 0.05, 0.002) * decay(t - 0.05, 0.09);
        first + second + 0.5 * edge.high(noise.sample(), 3_000.0) * decay(t, 0.010)
    })
}
