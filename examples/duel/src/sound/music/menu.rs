//! The music of the menus: twenty-four slow bars in D minor, without a beat at first.

use super::{Chord, Drums, Harmony, Piece, Section, arrange};

const BEATS_PER_MINUTE: f32 = 84.0;

/// D minor, B flat, F and C.
const OPEN: [Chord; 8] = [(-7, 3), (-7, 3), (-11, 4), (-11, 4), (-4, 4), (-4, 4), (-9, 4), (-9, 4)];
/// G minor and A, which lead back to D minor.
const TURN: [Chord; 8] = [(-2, 3), (-2, 3), (-7, 3), (-7, 3), (-11, 4), (-11, 4), (0, 4), (0, 4)];
const RETURN: [Chord; 8] = [(-7, 3), (-9, 4), (-11, 4), (-4, 4), (-2, 3), (-7, 3), (-11, 4), (0, 4)];

const NONE: Drums = Drums { kicks: &[], snares: &[], hats: 0 };
const SOFT: Drums = Drums { kicks: &[0.0, 2.75], snares: &[], hats: 4 };
const WALKING: Drums = Drums { kicks: &[0.0, 1.5, 2.5], snares: &[2.0], hats: 8 };

const ROOT: &[(f32, i32)] = &[(0.0, 0), (2.5, 7)];
const ROOT_AND_FIFTH: &[(f32, i32)] = &[(0.0, 0), (1.5, 7), (2.0, 12), (3.5, 7)];

const SLOW: &[(f32, i32)] = &[
    (4.0, 5),
    (6.0, 8),
    (7.0, 12),
    (8.0, 10),
    (11.0, 8),
    (12.0, 5),
    (16.0, 8),
    (18.0, 12),
    (20.0, 15),
    (22.0, 12),
    (24.0, 10),
    (27.0, 7),
    (28.0, 3),
];
const SECOND: &[(f32, i32)] = &[
    (0.0, 10),
    (1.5, 13),
    (3.0, 10),
    (4.0, 12),
    (6.0, 8),
    (8.0, 5),
    (9.5, 8),
    (11.0, 12),
    (12.0, 17),
    (14.0, 15),
    (16.0, 13),
    (18.0, 12),
    (20.0, 8),
    (24.0, 7),
    (25.5, 4),
    (27.0, 0),
    (28.0, 4),
    (30.0, 7),
];

pub(in crate::sound) fn piece() -> Piece {
    let open = Section {
        chords: OPEN,
        drums: NONE,
        bass: ROOT,
        harmony: &[Harmony::Pad, Harmony::Arpeggio(8)],
        lead: &[],
    };
    let sections = [
        open,
        Section { chords: TURN, drums: SOFT, lead: SLOW, ..open },
        Section {
            chords: RETURN,
            drums: WALKING,
            bass: ROOT_AND_FIFTH,
            harmony: &[Harmony::Pad, Harmony::Arpeggio(16)],
            lead: SECOND,
        },
    ];
    arrange(BEATS_PER_MINUTE, &sections).driven(1.3, 0.4)
}
