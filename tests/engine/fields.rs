//! `fields!`: the words, checksum, paths and named differences of a state.

use fixed::types::{I8F8, I16F16, I32F32, U4F4};
use rebout::fields::Image;
use rebout::{SimHash, checksum, diff, fields, walk};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy)]
struct Pair<T> {
    left: T,
    right: T,
}
fields!(Pair<T> { left, right });

#[derive(Clone, Copy)]
struct Grid<T, const N: usize>([T; N], u8);
fields!(Grid<T, const N: usize>(cells, depth));

#[derive(Clone, Copy, Debug)]
enum Action {
    None,
    Some,
    Attack {
        since: u32,
        #[expect(dead_code, reason = "left out of the fields")]
        shown: u8,
    },
    Hurt(i16, #[expect(dead_code, reason = "left out of the fields")] bool),
}
fields!(enum Action { None, Some, Attack { since, shown: _ }, Hurt(frames, _) });

enum Either<L, R> {
    Left(L),
    Right { value: R },
}
fields!(enum Either<L, R> { Left(value), Right { value } });

struct Borrowed<'a> {
    items: &'a mut [u16],
}
// A reference is followed by hand: `fields!` lists values.
impl rebout::Fields for Borrowed<'_> {
    fn visit<V: rebout::Visitor>(&self, visitor: &mut V) {
        visitor.field("items", &*self.items);
    }
}

struct Unit {}
fields!(Unit {});

#[derive(Clone, Copy)]
struct Everything {
    small: (bool, u8, i8, u16, i16),
    wide: (u64, i64, u128, i128),
    points: (I8F8, U4F4, I16F16, I32F32),
    action: Action,
    open: Option<i32>,
    shut: Option<i32>,
    pair: Pair<u32>,
    grid: Grid<i8, 3>,
    #[expect(dead_code, reason = "left out of the fields")]
    only_shown: f32,
}
fields!(Everything { small, wide, points, action, open, shut, pair, grid, only_shown: _ });

const ALL: Everything = Everything {
    small: (true, 200, -1, 60_000, -2),
    wide: (0x1_0000_0002, -1, 1 << 64, i128::MIN),
    points: (I8F8::NEG_ONE, U4F4::ONE, I16F16::ONE, I32F32::NEG_ONE),
    action: Action::Hurt(-7, true),
    open: Some(-5),
    shut: None,
    pair: Pair { left: 1, right: 2 },
    grid: Grid([-1, 0, 1], 9),
    only_shown: 0.5,
};

fn image<T: rebout::Fields + ?Sized>(state: &T) -> Image {
    let mut image = Image::default();
    image.take(state);
    image
}

fn words<T: rebout::Fields + ?Sized>(state: &T) -> Vec<u32> {
    image(state).words().to_vec()
}

fn lines<T: rebout::Fields + ?Sized>(state: &T) -> Vec<String> {
    let mut lines = Vec::new();
    walk(state, |leaf| lines.push(format!("{leaf} ({})", leaf.shown)));
    lines
}

#[test]
fn every_kind_of_field_becomes_the_words_of_the_written_rule() {
    const ONES: u32 = u32::MAX;
    #[rustfmt::skip]
    let expected = [
        1, 200, ONES, 60_000, ONES - 1,
        2, 1,  ONES, ONES,  0, 0, 1, 0,  0, 0, 0, 0x8000_0000,
        0xffff_ff00, 0x10, 0x0001_0000, 0, ONES,
        3, (-7_i32) as u32,
        1, (-5_i32) as u32,
        0,
        1, 2,
        ONES, 0, 1, 9,
    ];
    assert_eq!(words(&ALL), expected);
    let mut hash = SimHash::new();
    for word in expected {
        hash.word(word);
    }
    assert_eq!(checksum(&ALL), hash.finish());
}

#[test]
fn display_only_fields_are_not_hashed() {
    let other = Everything { only_shown: 9.0, action: Action::Hurt(-7, false), ..ALL };
    assert_eq!(checksum(&other), checksum(&ALL));
    let (a, b) = (Action::Attack { since: 4, shown: 1 }, Action::Attack { since: 4, shown: 2 });
    assert_eq!(words(&a), [2, 4]);
    assert!(diff(&a, &b).is_empty());
}

#[test]
fn paths_name_fields_items_and_variants() {
    let lines = lines(&ALL);
    for expected in [
        "small.2 = 0xffffffff (-1)",
        "wide.0 = 0x0000000100000002 (4294967298)",
        "wide.3 = 0x80000000000000000000000000000000 (-170141183460469231731687303715884105728)",
        "points.0 = 0xffffff00 (-1)",
        "action = 0x00000003 (Hurt)",
        "action.frames = 0xfffffff9 (-7)",
        "open = 0x00000001 (Some)",
        "open.0 = 0xfffffffb (-5)",
        "shut = 0x00000000 (None)",
        "pair.right = 0x00000002 (2)",
        "grid.cells[0] = 0xffffffff (-1)",
        "grid.depth = 0x00000009 (9)",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected} is not among {lines:#?}");
    }
}

#[test]
fn variants_may_have_the_names_of_the_prelude() {
    assert_eq!(words(&Action::None), [0]);
    assert_eq!(words(&Action::Some), [1]);
    assert_eq!(words(&Either::<u8, i8>::Left(7)), [0, 7]);
    assert_eq!(words(&Either::<u8, i8>::Right { value: -1 }), [1, u32::MAX]);
    assert!(words(&Unit {}).is_empty());
}

#[test]
fn slices_carry_their_length_and_arrays_do_not() {
    assert_eq!(words(&[1_u32, 2]), [1, 2]);
    assert_eq!(words(&[1_u32, 2][..]), [2, 1, 2]);
    assert_eq!(words(&vec![3_u8]), [1, 3]);
    assert_eq!(words(&Box::new(5_i8)), [5]);
    assert_eq!(words(&Borrowed { items: &mut [8, 9] }), [2, 8, 9]);
    assert_eq!(
        lines(&Borrowed { items: &mut [8] }),
        ["items.len = 0x00000001 (1)", "items[0] = 0x00000008 (8)"]
    );
}

#[test]
fn large_byte_array_is_hashed_by_lane_and_named_by_byte() {
    let mut memory = [0_u8; 66];
    (memory[0], memory[5], memory[65]) = (1, 2, 3);
    let taken = image(&memory);
    assert_eq!((taken.words().len(), taken.lanes().len()), (0, 9));
    assert_eq!((taken.lanes()[0], taken.lanes()[8]), (0x200_0000_0001, 0x300));
    let mut hash = SimHash::new();
    hash.numbers(&memory);
    assert_eq!(checksum(&memory), hash.finish());

    let mut other = memory;
    other[65] = 9;
    assert!(taken.is_of(&memory));
    assert!(!taken.is_of(&other), "the padded last lane counts");
    let named: Vec<String> = diff(&memory, &other).iter().map(ToString::to_string).collect();
    assert_eq!(named, ["[65]: 3 / 9"]);
    assert_eq!(words(&[7_u8; 63]).len(), 63, "a small one is taken by the byte");
}

#[test]
fn every_flipped_bit_is_seen_and_named() {
    #[derive(Clone, Copy)]
    struct State {
        hp: [i16; 3],
        at: I16F16,
        far: u64,
    }
    fields!(State { hp, at, far });
    let state = State { hp: [100, -1, 0], at: I16F16::lit("1.5"), far: 9 };
    let taken = image(&state);
    assert!(taken.is_of(&state));
    for bit in 0..16 {
        let mut other = state;
        other.hp[1] ^= 1 << bit;
        assert!(!taken.is_of(&other));
        assert_eq!(diff(&state, &other)[0].path, "hp[1]");
    }
    for bit in 0..64 {
        let mut other = state;
        other.far ^= 1 << bit;
        assert!(!taken.is_of(&other));
        assert_eq!(diff(&state, &other).len(), 1);
    }
    let moved = State { at: I16F16::lit("-2.25"), ..state };
    assert_eq!(diff(&state, &moved)[0].to_string(), "at: 1.5 / -2.25");
}

#[test]
fn words_missing_at_the_end_or_too_many_are_a_difference() {
    let taken = image(&vec![1_u32, 2, 3]);
    assert!(taken.is_of(&vec![1_u32, 2, 3]));
    assert!(!taken.is_of(&vec![1_u32, 2, 3, 0]));
    assert!(!taken.is_of(&vec![1_u32, 2]));
    let taken = image(&vec![1_u64, 2, 3]);
    assert!(taken.is_of(&vec![1_u64, 2, 3]));
    assert!(!taken.is_of(&vec![1_u64, 2, 3, 0]));
    assert!(!taken.is_of(&vec![1_u64, 2]));
}

#[test]
fn every_bit_of_an_array_of_any_width_is_compared() {
    fn flipped<T: rebout::fields::Scalar + Copy, const N: usize>(zero: [T; N], flip: impl Fn(T, u32) -> T) {
        let taken = image(&zero);
        assert!(taken.is_of(&zero));
        for at in 0..N {
            for bit in 0..8 * T::BYTES as u32 {
                let mut other = zero;
                other[at] = flip(other[at], bit);
                assert!(!taken.is_of(&other), "number {at}, bit {bit} of {} bytes", T::BYTES);
            }
        }
    }
    flipped([5_u8; 67], |number, bit| number ^ 1 << bit);
    flipped([-5_i16; 35], |number, bit| number ^ 1 << bit);
    flipped([5_u32; 17], |number, bit| number ^ 1 << bit);
    flipped([-5_i32; 17], |number, bit| number ^ 1 << bit);
    flipped([5_u64; 9], |number, bit| number ^ 1 << bit);
    flipped([-5_i64; 9], |number, bit| number ^ 1 << bit);
    flipped([5_u8; 7], |number, bit| number ^ 1 << bit);
}

#[test]
fn states_of_different_shape_compare() {
    let left = (vec![1_u8, 2], Some(Action::Attack { since: 3, shown: 0 }));
    let right = (vec![1_u8, 5, 6], None::<Action>);
    let named: Vec<String> = diff(&left, &right).iter().map(ToString::to_string).collect();
    assert_eq!(
        named,
        [
            "0.len: 2 / 3",
            "0[1]: 2 / 5",
            "1: Some / None",
            "1.0: Attack / (absent)",
            "1.0.since: 3 / (absent)",
            "0[2]: (absent) / 6",
        ]
    );
}

#[test]
fn texts_queues_and_maps_are_hashed_as_the_page_says() {
    let text = String::from("añ");
    assert_eq!(checksum(&text), checksum(&vec![b'a', 0xC3, 0xB1]));
    assert_eq!(checksum(&'ñ'), checksum(&0xF1_u32));
    let mut queue: VecDeque<u16> = (0..6).collect();
    queue.rotate_left(2);
    queue.push_front(9);
    assert_eq!(checksum(&queue), checksum(&vec![9_u16, 2, 3, 4, 5, 0, 1]));
    let map: BTreeMap<u8, i16> = [(7, -1), (3, 5)].into();
    assert_eq!(checksum(&map), checksum(&(2_u32, (3_u8, 5_i16), (7_u8, -1_i16))));
}

#[test]
fn large_queue_of_bytes_hashes_alike_wherever_its_ring_begins() {
    let straight: VecDeque<u8> = (0..200).collect();
    let mut turned: VecDeque<u8> = (100..200).chain(0..100).collect();
    turned.rotate_left(100);
    let mut moved = VecDeque::with_capacity(200);
    moved.extend((0..60).map(|_| 0_u8));
    moved.drain(..);
    moved.extend(0..200_u8);
    assert_eq!((checksum(&straight), checksum(&straight)), (checksum(&turned), checksum(&moved)));
}

#[test]
fn entry_of_a_map_is_named_by_its_key() {
    let left: BTreeMap<u16, (i32, i32)> = [(500, (1, 2)), (900, (3, 4))].into();
    let mut right = left.clone();
    right.get_mut(&900).unwrap().1 = 5;
    right.insert(7, (0, 0));
    let lines: Vec<String> = diff(&left, &right).iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "len: 2 / 3",
            "[900].value.1: 4 / 5",
            "[7].key: (absent) / 7",
            "[7].value.0: (absent) / 0",
            "[7].value.1: (absent) / 0"
        ]
    );
    let wide: BTreeMap<u64, u8> = [(1 << 40, 1)].into();
    let other: BTreeMap<u64, u8> = [(1 << 40, 2)].into();
    assert_eq!(diff(&wide, &other)[0].to_string(), "[0].value: 1 / 2", "a wide key is no index");
}
