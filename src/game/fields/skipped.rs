//! The fields that a state declares with `_`: restored, never compared.

use super::{Fields, Scalar, Visitor};
use core::fmt::Display;

/// The most fields that are listed. A state with more of them has the same ones in variants or tuples.
const MAX_LISTED: usize = 64;

/// The fields of a state that are declared with `_`, in declared order and each once: `fighters[].sparks` for that of every
/// item. A desync in them is not noticed before it reaches a field that is compared.
///
/// ```
/// use rebout::fields;
/// use rebout::fields::not_compared;
///
/// struct Fighter { hp: i16, sparks: f32 }
/// fields!(Fighter { hp, sparks: _ });
/// struct Duel { fighters: [Fighter; 2], drawn: u64 }
/// fields!(Duel { fighters, drawn: _ });
///
/// let fighter = || Fighter { hp: 1, sparks: 0.5 };
/// let duel = Duel { fighters: [fighter(), fighter()], drawn: 9 };
/// assert_eq!(not_compared(&duel), ["fighters[].sparks", "drawn"]);
/// # let _ = (duel.drawn, duel.fighters[0].sparks);
/// ```
#[must_use]
pub fn not_compared<T: Fields + ?Sized>(state: &T) -> Vec<String> {
    let mut skipped = Skipped { path: String::new(), found: Vec::new() };
    state.visit(&mut skipped);
    skipped.found
}

struct Skipped {
    path: String,
    found: Vec<String>,
}

impl Skipped {
    /// Appends the name of a field to the path; answers the length that the path had.
    fn push(&mut self, name: &str) -> usize {
        let len = self.path.len();
        if len > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        len
    }
}

impl Visitor for Skipped {
    fn leaf(&mut self, _: &[u32], _: &dyn Display) {}

    fn numbers<T: Scalar>(&mut self, _: &[T]) {}

    fn field<T: Fields + ?Sized>(&mut self, name: &str, value: &T) {
        let len = self.push(name);
        value.visit(self);
        self.path.truncate(len);
    }

    fn item<T: Fields + ?Sized>(&mut self, _: usize, value: &T) {
        let len = self.path.len();
        self.path.push_str("[]");
        value.visit(self);
        self.path.truncate(len);
    }

    fn skipped(&mut self, name: &str) {
        let len = self.push(name);
        if self.found.len() < MAX_LISTED && !self.found.contains(&self.path) {
            self.found.push(self.path.clone());
        }
        self.path.truncate(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    enum Move {
        Rest,
        Dash { speed: u8, dust: u8 },
    }
    crate::fields!(
        enum Move {
            Rest,
            Dash { speed, dust: _ },
        }
    );

    struct State {
        moves: Vec<Move>,
        by_id: BTreeMap<u8, Move>,
        pair: (u8, Option<Move>),
    }
    crate::fields!(State { moves, by_id, pair });

    #[test]
    fn field_of_every_item_entry_and_variant_is_listed_once() {
        let dash = || Move::Dash { speed: 1, dust: 2 };
        assert!(matches!(dash(), Move::Dash { dust: 2, .. }));
        let state = State {
            moves: vec![Move::Rest, dash(), dash()],
            by_id: BTreeMap::from([(3, dash()), (9, dash())]),
            pair: (1, Some(dash())),
        };
        let found = not_compared(&state);
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0], "moves[].dust");
        assert!(found[1].starts_with("by_id[]") && found[2].starts_with("pair.1"), "{found:?}");
        assert!(not_compared(&[1_u32, 2]).is_empty());
    }

    /// A state of many different fields that are not compared, as no struct of ours has them.
    struct Many;

    impl Fields for Many {
        fn visit<V: Visitor>(&self, visitor: &mut V) {
            for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i"] {
                visitor.field(name, &Nine);
            }
        }
    }

    struct Nine;

    impl Fields for Nine {
        fn visit<V: Visitor>(&self, visitor: &mut V) {
            ["1", "2", "3", "4", "5", "6", "7", "8", "9"].iter().for_each(|name| visitor.skipped(name));
        }
    }

    #[test]
    fn list_is_bounded() {
        assert_eq!(not_compared(&Many).len(), 64);
    }
}
