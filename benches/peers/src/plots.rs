//! The plots of docs/PERFORMANCE.md.

use crate::figures::Figures;
use crate::libs::Library;
use crate::plot::{Axis, Line, Plot};
use std::io;

/// Draws the plots whose figures were measured.
pub(crate) fn draw(figures: &Figures) -> io::Result<()> {
    draw_one(figures, "states", "docs/peers-states.svg", &STATES)?;
    draw_one(figures, "rollback", "docs/peers-rollback.svg", &ROLLBACK)?;
    draw_one(figures, "instructions-depth", "docs/peers-depth.svg", &DEPTH)?;
    draw_one(figures, "stalls-6", "docs/peers-loss.svg", &LOSS)?;
    draw_one(figures, "packets", "docs/peers-packets.svg", &PACKETS)
}

/// The texts and marks of a plot: each mark is a value and its text.
struct Frame {
    title: &'static str,
    x: (&'static str, bool, &'static [(f64, &'static str)]),
    y: (&'static str, bool, &'static [(f64, &'static str)]),
}

const LOSSES: &[(f64, &str)] =
    &[(0.0, "0"), (1.0, "1"), (2.0, "2"), (5.0, "5"), (10.0, "10"), (20.0, "20 %")];

const STATES: Frame = Frame {
    title: "Processor time of a frame against the loop by hand",
    x: ("state", true, &[(64.0, "64 B"), (4096.0, "4 KiB"), (65536.0, "64 KiB"), (1_048_576.0, "1 MiB")]),
    y: (
        "times the loop by hand",
        true,
        &[(0.05, "0.05"), (0.2, "0.2"), (1.0, "1"), (5.0, "5"), (20.0, "20"), (80.0, "80")],
    ),
};
const ROLLBACK: Frame = Frame {
    title: "A frame with a rollback of 8",
    x: ("state", true, &[(64.0, "64 KiB"), (256.0, "256 KiB"), (1024.0, "1 MiB"), (4096.0, "4 MiB")]),
    y: (
        "ms of processor time",
        true,
        &[(0.001, "0.001"), (0.01, "0.01"), (0.1, "0.1"), (1.0, "1"), (10.0, "10"), (20.0, "20")],
    ),
};
const DEPTH: Frame = Frame {
    title: "A rollback in every frame, 64 bytes of state",
    x: ("depth of the rollback in frames", false, &[(2.0, "2"), (4.0, "4"), (6.0, "6"), (8.0, "8")]),
    y: (
        "instructions a frame and peer",
        true,
        &[(300.0, "300"), (1e3, "1,000"), (1e4, "10,000"), (1e5, "100,000")],
    ),
};
const LOSS: Frame = Frame {
    title: "Frames stalled at a latency of 6 frames, all at a depth of 8",
    x: ("packets lost", false, LOSSES),
    y: ("% of frames", false, &[(0.0, "0"), (0.5, "0.5"), (1.0, "1"), (1.5, "1.5"), (2.0, "2")]),
};
const PACKETS: Frame = Frame {
    title: "Packets sent at a latency of 4 frames",
    x: ("packets lost", false, LOSSES),
    y: ("packets a second and machine", false, &[(0.0, "0"), (50.0, "50"), (100.0, "100"), (150.0, "150")]),
};

fn draw_one(figures: &Figures, case: &str, path: &str, frame: &Frame) -> io::Result<()> {
    let line = |library: Library| Line {
        name: library.name(),
        colour: colour(library),
        points: figures.line(case, library),
    };
    let lines: Vec<Line<'_>> =
        Library::ALL.into_iter().map(line).filter(|line| !line.points.is_empty()).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let axis = |(label, log, marks): (&'static str, bool, &[(f64, &str)])| Axis {
        label,
        log,
        marks: marks.iter().map(|(value, text)| (*value, (*text).to_owned())).collect(),
    };
    let plot = Plot { title: frame.title, x: axis(frame.x), y: axis(frame.y), lines };
    std::fs::write(path, plot.svg())
}

/// The colour of a library, the same in every plot: readable on white, and lighter where it saves sparsely.
fn colour(library: Library) -> &'static str {
    match library {
        Library::Floor => "#555555",
        Library::Rebout => "#c0392b",
        Library::ReboutSparse => "#e08a80",
        Library::ReboutPages => "#d98b00",
        Library::Ggrs => "#1f77b4",
        Library::GgrsSparse => "#7fb2dc",
        Library::Fortress => "#2e8b57",
        Library::FortressSparse => "#8fc9a5",
    }
}
