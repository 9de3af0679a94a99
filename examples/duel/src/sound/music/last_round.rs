//! The music of the last round: forty fast bars in E minor.

use super::{Chord, Drums, Harmony, Piece, Section, arrange};

const BEATS_PER_MINUTE: f32 = 148.0;

/// E minor, C, D, and B to come back by.
const DRIVE: [Chord; 8] = [(-5, 3), (-5, 3), (-9, 4), (-7, 4), (-5, 3), (-5, 3), (-9, 4), (-10, 4)];
/// A minor that rises by steps.
const RISE: [Chord; 8] = [(0, 3), (0, 3), (-2, 4), (-2, 4), (-9, 4), (-7, 4), (-10, 4), (-10, 4)];
/// E minor and F, half a tone apart.
const THREAT: [Chord; 8] = [(-5, 3), (-5, 3), (-4, 4), (-4, 4), (-5, 3), (-5, 3), (-4, 4), (-10, 4)];

const RUSH: Drums = Drums { kicks: &[0.0, 0.5, 1.0, 2.0, 2.5, 3.0], snares: &[1.0, 3.0], hats: 8 };
const STORM: Drums =
    Drums { kicks: &[0.0, 0.5, 0.75, 1.5, 2.0, 2.5, 2.75, 3.5], snares: &[1.0, 3.0], hats: 16 };
const MARCH: Drums = Drums { kicks: &[0.0, 1.0, 2.0, 3.0], snares: &[0.5, 1.5, 2.5, 3.5], hats: 4 };

const PEDAL: &[(f32, i32)] =
    &[(0.0, 0), (0.5, 0), (1.0, 0), (1.5, 12), (2.0, 0), (2.5, 0), (3.0, 10), (3.5, 12)];
const RUN: &[(f32, i32)] = &[
    (0.0, 0),
    (0.25, 0),
    (0.5, 12),
    (1.0, 0),
    (1.25, 0),
    (1.5, 10),
    (2.0, 0),
    (2.25, 0),
    (2.5, 7),
    (3.0, 5),
    (3.25, 5),
    (3.5, 7),
];

const HITS: Harmony = Harmony::Stabs(&[0.0, 0.75, 1.5, 2.5, 3.25]);
const FOURS: Harmony = Harmony::Stabs(&[0.0, 1.0, 2.0, 3.0]);

const CRY: &[(f32, i32)] = &[
    (0.0, 7),
    (0.75, 10),
    (1.5, 14),
    (3.0, 12),
    (4.0, 10),
    (5.5, 7),
    (8.0, 3),
    (8.75, 7),
    (9.5, 10),
    (12.0, 9),
    (13.0, 5),
    (14.0, 2),
    (16.0, 7),
    (16.75, 10),
    (17.5, 14),
    (19.0, 17),
    (20.0, 14),
    (21.5, 10),
    (24.0, 15),
    (25.0, 14),
    (26.0, 10),
    (28.0, 11),
    (29.0, 14),
    (30.0, 18),
];
const STEPS: &[(f32, i32)] = &[
    (0.0, 12),
    (1.0, 15),
    (2.0, 19),
    (3.0, 15),
    (4.0, 12),
    (6.0, 7),
    (8.0, 10),
    (9.0, 14),
    (10.0, 17),
    (11.0, 14),
    (12.0, 10),
    (14.0, 5),
    (16.0, 7),
    (17.0, 10),
    (18.0, 15),
    (20.0, 9),
    (21.0, 12),
    (22.0, 17),
    (24.0, 18),
    (25.0, 14),
    (26.0, 11),
    (28.0, 6),
    (29.0, 9),
    (30.0, 11),
    (31.0, 14),
];
const SIREN: &[(f32, i32)] = &[
    (0.0, 19),
    (2.0, 15),
    (4.0, 19),
    (6.0, 22),
    (8.0, 20),
    (10.0, 17),
    (12.0, 20),
    (14.0, 24),
    (16.0, 19),
    (17.0, 15),
    (18.0, 19),
    (19.0, 22),
    (20.0, 19),
    (22.0, 14),
    (24.0, 20),
    (26.0, 17),
    (28.0, 18),
    (30.0, 14),
];

pub(in crate::sound) fn piece() -> Piece {
    let drive = Section { chords: DRIVE, drums: RUSH, bass: PEDAL, harmony: &[HITS], lead: &[] };
    let sections = [
        drive,
        Section { drums: STORM, lead: CRY, ..drive },
        Section { chords: RISE, bass: RUN, harmony: &[FOURS, Harmony::Arpeggio(16)], lead: STEPS, ..drive },
        Section { chords: THREAT, drums: MARCH, harmony: &[Harmony::Pad, Harmony::Arpeggio(8)], ..drive },
        Section { chords: THREAT, drums: STORM, bass: RUN, harmony: &[HITS, Harmony::Pad], lead: SIREN },
    ];
    arrange(BEATS_PER_MINUTE, &sections).driven(0.8, 0.45)
}
