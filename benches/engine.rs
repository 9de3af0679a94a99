//! The engine beside a loop written by hand that does the same saves, restores and steps, for three sizes of state.
//!
//! `cargo bench --bench engine`: criterion's figures, and then the ratio of the two, from runs that alternate so that
//! whatever else the machine does falls on both. The ratio says something; the times are those of the machine.

#[path = "loads.rs"]
#[allow(dead_code)]
mod loads;

use criterion::{BenchmarkId, Criterion, Throughput};
use loads::{ByHand, Load, WithEngine, assert_alike};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Frames in one measured run: short enough that most runs are not interrupted.
const FRAMES: u32 = 300;

/// Runs of each from which a ratio is taken.
const RUNS: usize = 1_001;

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
            "engine / by hand, {RUNS} alternating runs of {FRAMES} frames each: of the medians, of the least"
        );
        ratio::<14>();
        ratio::<1022>();
        ratio::<16_382>();
    }
}

fn size<const N: usize>(criterion: &mut Criterion) {
    assert_alike::<N, 15>();
    let mut group = criterion.benchmark_group(format!("{FRAMES} frames"));
    group.throughput(Throughput::Elements(u64::from(FRAMES)));
    let bytes = Load::<N>::BYTES;
    let mut by_hand = ByHand::<N, 15>::new();
    group.bench_function(BenchmarkId::new("by hand", bytes), |b| b.iter(|| by_hand.run(black_box(FRAMES))));
    let mut engine = WithEngine::<N, 15>::new();
    group.bench_function(BenchmarkId::new("engine", bytes), |b| b.iter(|| engine.run(black_box(FRAMES))));
    group.finish();
}

fn ratio<const N: usize>() {
    let (mut engine, mut by_hand) = (WithEngine::<N, 15>::new(), ByHand::<N, 15>::new());
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..RUNS {
        let start = Instant::now();
        black_box(engine.run(black_box(FRAMES)));
        let between = Instant::now();
        black_box(by_hand.run(black_box(FRAMES)));
        times[0].push(between - start);
        times[1].push(between.elapsed());
    }
    times.iter_mut().for_each(|times| times.sort());
    let of = |at: usize| times[0][at].as_secs_f64() / times[1][at].as_secs_f64();
    println!("{:>6} bytes: {:.3}, {:.3}", Load::<N>::BYTES, of(RUNS / 2), of(0));
}
