//! The music of a fight: forty bars in A minor.

use super::{Chord, Drums, Harmony, Piece, Section, arrange};

const BEATS_PER_MINUTE: f32 = 126.0;

/// A minor, F, G, and E to come back by.
const HOME: [Chord; 8] = [(0, 3), (0, 3), (-4, 4), (-2, 4), (0, 3), (0, 3), (-4, 4), (-5, 4)];
/// F and G that climb to A minor, then C and E.
const CLIMB: [Chord; 8] = [(-4, 4), (-2, 4), (0, 3), (0, 3), (-4, 4), (-2, 4), (-9, 4), (-5, 4)];
/// D minor against A minor, for the quiet part.
const QUIET: [Chord; 8] = [(-7, 3), (-7, 3), (0, 3), (0, 3), (-7, 3), (-7, 3), (-5, 4), (-5, 4)];

const STEADY: Drums = Drums { kicks: &[0.0, 1.0, 2.0, 2.5, 3.0], snares: &[1.0, 3.0], hats: 8 };
const BUSY: Drums = Drums { kicks: &[0.0, 0.75, 2.0, 2.75, 3.0], snares: &[1.0, 3.0], hats: 16 };
const SPARE: Drums = Drums { kicks: &[0.0, 2.5], snares: &[2.0], hats: 4 };

/// Low eighths, with the octave on the off-beats.
const EIGHTHS: &[(f32, i32)] =
    &[(0.0, 0), (0.5, 0), (1.0, 12), (1.5, 0), (2.0, 0), (2.5, 12), (3.0, 0), (3.5, 7)];
const GALLOP: &[(f32, i32)] = &[
    (0.0, 0),
    (0.5, 0),
    (0.75, 0),
    (1.0, 12),
    (1.5, 0),
    (1.75, 0),
    (2.0, 7),
    (2.5, 0),
    (2.75, 0),
    (3.0, 12),
    (3.5, 10),
    (3.75, 7),
];
const HELD: &[(f32, i32)] = &[(0.0, 0), (2.0, 0), (3.5, 7)];

const OFF_BEATS: Harmony = Harmony::Stabs(&[0.0, 1.5, 3.0]);
const PUSHED: Harmony = Harmony::Stabs(&[0.5, 1.5, 2.5, 3.5]);

/// A short line over bars three and four, and its answer at the end.
const CALL: &[(f32, i32)] = &[
    (8.0, 8),
    (8.75, 7),
    (9.5, 3),
    (10.5, 5),
    (12.0, 7),
    (12.75, 5),
    (13.5, 2),
    (14.5, 3),
    (24.0, 12),
    (24.75, 10),
    (25.5, 8),
    (26.5, 7),
    (28.0, 8),
    (29.0, 7),
    (30.0, 11),
    (31.0, 14),
];
const CLIMBING: &[(f32, i32)] = &[
    (0.0, 12),
    (1.5, 15),
    (3.0, 12),
    (4.0, 14),
    (5.5, 10),
    (7.0, 14),
    (8.0, 15),
    (9.0, 14),
    (10.0, 12),
    (12.0, 7),
    (13.5, 10),
    (15.0, 12),
    (16.0, 12),
    (17.5, 15),
    (19.0, 17),
    (20.0, 14),
    (21.5, 17),
    (23.0, 19),
    (24.0, 15),
    (25.5, 12),
    (27.0, 7),
    (28.0, 8),
    (29.0, 7),
    (30.0, 11),
];
const ANSWER: &[(f32, i32)] = &[
    (0.0, 0),
    (0.5, 3),
    (1.0, 7),
    (2.5, 5),
    (4.0, 3),
    (5.5, 0),
    (8.0, 8),
    (8.75, 7),
    (9.5, 3),
    (10.5, 5),
    (12.0, 10),
    (13.0, 7),
    (14.0, 2),
    (16.0, 12),
    (16.5, 15),
    (17.0, 19),
    (18.5, 17),
    (20.0, 15),
    (21.5, 12),
    (24.0, 12),
    (24.75, 10),
    (25.5, 8),
    (26.5, 7),
    (28.0, 8),
    (29.0, 11),
    (30.0, 14),
    (31.0, 16),
];

pub(in crate::sound) fn piece() -> Piece {
    let home = Section { chords: HOME, drums: STEADY, bass: EIGHTHS, harmony: &[OFF_BEATS], lead: CALL };
    let sections = [
        home,
        Section { chords: CLIMB, bass: GALLOP, lead: CLIMBING, ..home },
        Section {
            chords: QUIET,
            drums: SPARE,
            bass: HELD,
            harmony: &[Harmony::Pad, Harmony::Arpeggio(8)],
            lead: &[],
        },
        Section { drums: BUSY, harmony: &[PUSHED, Harmony::Arpeggio(16)], lead: ANSWER, ..home },
        Section { chords: CLIMB, drums: BUSY, bass: GALLOP, harmony: &[OFF_BEATS, Harmony::Pad], lead: CALL },
    ];
    arrange(BEATS_PER_MINUTE, &sections).driven(0.8, 0.45)
}
