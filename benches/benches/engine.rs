//! The engine beside a loop written by hand that does the same saves, restores and steps, for three sizes of state.
//!
//! `cargo bench --bench engine`: criterion's figures, and then the ratio of the two, from runs that alternate so that
//! whatever else the machine does falls on both. The ratio says something; the times are those of the machine.

use benches::{ByHand, Load, WithEngine, assert_alike};
use criterion::{BenchmarkId, Criterion, Throughput};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Frames in one measured run: short enough that most runs are not interrupted.
const FRAMES: u32 = 300;

/// The positions in memory at which a ratio is taken. The position of a state relative to its snapshots changes the speed
/// of copying by more than a tenth either way.
const PLACES: usize = 61;
const RUNS: usize = 41;

fn main() {
    let mut criterion = Criterion::default()
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_secs(1))
        .sample_size(50)
        .configure_from_args();
    size::<14>(&mut criterion);
    size::<1022>(&mut criterion);
    size::<16_382>(&mut criterion);
    criterion.final_summary();
    // `cargo test --benches` only asks whether it runs.
    if std::env::args().any(|arg| arg == "--bench") {
        println!(
            "engine / by hand, {RUNS} alternating runs of {FRAMES} frames at each of {PLACES} places in memory: \
             median (quartiles)"
        );
        ratio::<14, 15>();
        ratio::<14, 1>();
        ratio::<1022, 15>();
        ratio::<1022, 1>();
        ratio::<16_382, 15>();
        ratio::<16_382, 1>();
    }
}

fn size<const N: usize>(criterion: &mut Criterion) {
    assert_alike::<N, 15>();
    assert_alike::<N, 1>();
    let mut group = criterion.benchmark_group(format!("{FRAMES} frames"));
    group.throughput(Throughput::Elements(u64::from(FRAMES)));
    let bytes = Load::<N>::BYTES;
    let mut by_hand = ByHand::<N, 15>::start();
    group.bench_function(BenchmarkId::new("by hand", bytes), |b| b.iter(|| by_hand.run(black_box(FRAMES))));
    let mut engine = WithEngine::<N, 15>::start();
    group.bench_function(BenchmarkId::new("engine", bytes), |b| b.iter(|| engine.run(black_box(FRAMES))));
    group.finish();
}

fn ratio<const N: usize, const CHANGE: u32>() {
    let mut ratios: Vec<f64> = (0..PLACES).map(ratio_at::<N, CHANGE>).collect();
    ratios.sort_by(f64::total_cmp);
    let [low, median, high] = [PLACES / 4, PLACES / 2, PLACES * 3 / 4].map(|at| ratios[at]);
    let every = if CHANGE == 1 { "every frame".to_owned() } else { format!("{CHANGE} frames") };
    println!(
        "{:>6} bytes, a rollback of 3 in {every}: {median:.3} ({low:.3} to {high:.3})",
        Load::<N>::BYTES
    );
}

/// The ratio of the medians of both, somewhere in memory.
fn ratio_at<const N: usize, const CHANGE: u32>(place: usize) -> f64 {
    let space = |step: usize| black_box(vec![0_u8; 16 * (place * step % 256)]);
    let (mut engine, mut by_hand) = (WithEngine::<N, CHANGE>::start(), ByHand::<N, CHANGE>::start());
    // The space lies between a state and its snapshots, which are there already.
    let _between = space(23);
    engine.move_to(Box::new(Load::start()));
    let _between = space(41);
    by_hand.move_to(Box::new(Load::start()));
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..RUNS {
        let start = Instant::now();
        black_box(engine.run(black_box(FRAMES)));
        let between = Instant::now();
        black_box(by_hand.run(black_box(FRAMES)));
        times[0].push(between - start);
        times[1].push(between.elapsed());
    }
    let [engine, by_hand] = times.map(|mut times| {
        times.sort();
        times[RUNS / 2].as_secs_f64()
    });
    engine / by_hand
}
