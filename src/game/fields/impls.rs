//! `Fields` for primitive and standard types, and for types of this crate.

use super::{Fields, Visitor, halves};
use crate::{Buttons, Frame, Input, Inputs, Player, Rng};
use core::fmt::Display;
use std::collections::{BTreeMap, VecDeque};

/// A type of at most 32 bits is one word, sign-extended if it is signed.
macro_rules! one_word {
    ($($type:ty: $word:ty),*) => {$(
        impl Fields for $type {
            #[inline]
            fn visit<V: Visitor>(&self, visitor: &mut V) {
                visitor.leaf(&[<$word>::from(*self) as u32], self);
            }

            #[inline]
            fn visit_items<V: Visitor>(items: &[Self], visitor: &mut V) {
                visitor.numbers(items);
            }
        }
    )*};
}
one_word!(bool: u32, char: u32, u8: u32, u16: u32, u32: u32, i8: i32, i16: i32, i32: i32);

/// The four words of a 128-bit integer, low first.
pub(super) const fn quarters(bits: u128) -> [u32; 4] {
    let [[a, b], [c, d]] = [halves(bits as u64), halves((bits >> 64) as u64)];
    [a, b, c, d]
}

macro_rules! wide {
    ($($type:ty: $words:ident as $bits:ident $(by $items:ident)?),*) => {$(
        impl Fields for $type {
            #[inline]
            fn visit<V: Visitor>(&self, visitor: &mut V) {
                visitor.leaf(&$words(*self as $bits), self);
            }
            $(
                #[inline]
                fn visit_items<V: Visitor>(items: &[Self], visitor: &mut V) {
                    visitor.$items(items);
                }
            )?
        }
    )*};
}
wide!(
    u64: halves as u64 by numbers,
    i64: halves as u64 by numbers,
    u128: quarters as u128,
    i128: quarters as u128
);

impl<T: Fields, const N: usize> Fields for [T; N] {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        T::visit_items(self, visitor);
    }
}

/// The length as one word, then the items. No state is large enough for a length beyond `u32`.
impl<T: Fields> Fields for [T] {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.field("len", &(self.len() as u32));
        T::visit_items(self, visitor);
    }
}

impl<T: Fields> Fields for Vec<T> {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        self.as_slice().visit(visitor);
    }
}

/// Like a slice. Item by item, because where the ring of its memory begins is not part of the state.
impl<T: Fields> Fields for VecDeque<T> {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.field("len", &(self.len() as u32));
        for (index, item) in self.iter().enumerate() {
            visitor.item(index, item);
        }
    }
}

/// The number of entries, then each entry's key and value, in the order of the keys.
///
/// An entry is named by its key where the key is a single word, and otherwise by its position.
impl<K: Fields, T: Fields> Fields for BTreeMap<K, T> {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.field("len", &(self.len() as u32));
        for (position, (key, value)) in self.iter().enumerate() {
            visitor.item(only_word(key).map_or(position, |word| word as usize), &Entry { key, value });
        }
    }
}

struct Entry<'a, K, T> {
    key: &'a K,
    value: &'a T,
}

impl<K: Fields, T: Fields> Fields for Entry<'_, K, T> {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.field("key", self.key);
        visitor.field("value", self.value);
    }
}

/// The word of a value that has exactly one.
#[inline]
fn only_word<T: Fields>(value: &T) -> Option<u32> {
    struct First(usize, u32);
    impl Visitor for First {
        #[inline]
        fn leaf(&mut self, words: &[u32], _: &dyn Display) {
            self.0 += words.len();
            self.1 = words.first().copied().unwrap_or_default();
        }
    }
    let mut first = First(0, 0);
    value.visit(&mut first);
    (first.0 == 1).then_some(first.1)
}

/// The bytes of the text, as a slice of bytes.
impl Fields for str {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        self.as_bytes().visit(visitor);
    }
}

impl Fields for String {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        self.as_str().visit(visitor);
    }
}

impl<T: Fields + ?Sized> Fields for Box<T> {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        (**self).visit(visitor);
    }
}

/// A word 0 for `None`; a word 1 and then the value for `Some`.
impl<T: Fields> Fields for Option<T> {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        let shown = if self.is_some() { "Some" } else { "None" };
        visitor.leaf(&[u32::from(self.is_some())], &shown);
        if let Some(value) = self {
            visitor.field("0", value);
        }
    }
}

impl Fields for () {
    #[inline]
    fn visit<V: Visitor>(&self, _: &mut V) {}
}

macro_rules! tuples {
    ($($($type:ident $index:tt)+;)*) => {$(
        impl<$($type: Fields),+> Fields for ($($type,)+) {
            #[inline]
            fn visit<V: Visitor>(&self, visitor: &mut V) {
                $(visitor.field(stringify!($index), &self.$index);)+
            }
        }
    )*};
}
tuples!(
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
);

impl Fields for Frame {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.leaf(&[self.0], self);
    }
}

impl Fields for Buttons {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.leaf(&[u32::from(self.0)], &format_args!("{self:#06x}"));
    }
}

impl Fields for Input {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.leaf(&halves(self.bits()), self);
    }
}

impl Fields for Rng {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.leaf(&[self.state()], &self.state());
    }
}

crate::fields!(Inputs(players));
crate::fields!(
    enum Player {
        One,
        Two,
    }
);
