//! The description of a state, and the operations over it.

use super::Scalar;
use core::fmt::Display;

/// A value that shows every field to a [`Visitor`] by name and as 32-bit words, in declared order.
///
/// Write [`fields!`](crate::fields!) instead of implementing this by hand: it does not compile when a field is left
/// out. Implemented for `bool`, `char`, integers of fixed width, arrays, slices, `Vec`, `VecDeque`, `BTreeMap`, `String`,
/// `Box`, tuples and `Option`, and with the feature `fixed` for `fixed` numbers.
///
/// Not implemented for `usize` and `isize`, whose width differs between machines; nor for `HashMap` and `HashSet`, whose
/// order of iteration does; nor for floats, whose last bits may: two machines must agree on every bit of a state.
/// [`Bits`](super::Bits) takes a float in anyway.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a simulation state: it does not implement `Fields`",
    label = "not a `Fields` type",
    note = "for a struct or enum of yours, write `fields!(Type {{ every, field }});` or `fields!(enum Type {{ A, B }});`",
    note = "`usize` has another width on other machines: use `u32`; floats round differently: use a `fixed` number with the feature `fixed`, or `rebout::fields::Bits<f32>` if they are the same on all machines",
    note = "a `HashMap` has another order on every machine: use a `BTreeMap`",
    note = "a field that is restored but never compared is left out visibly: `fields!(Type {{ frame, particles: _ }});`"
)]
pub trait Fields {
    /// Shows every field to `visitor`, in declared order.
    fn visit<V: Visitor>(&self, visitor: &mut V);

    /// Shows the items of an array or slice of this type. Numbers override it, because they are handled many at once.
    #[doc(hidden)]
    #[inline]
    fn visit_items<V: Visitor>(items: &[Self], visitor: &mut V)
    where
        Self: Sized,
    {
        for (index, item) in items.iter().enumerate() {
            visitor.item(index, item);
        }
    }
}

/// An operation over the fields of a state: a hash, a walk, a comparison.
///
/// A visitor that needs no names ignores them at no cost: only [`leaf`](Self::leaf) has to be written.
pub trait Visitor: Sized {
    /// A value that has no parts: its words, low first, and how its type prints it.
    fn leaf(&mut self, words: &[u32], shown: &dyn Display);

    /// The numbers of an array or slice. A visitor that needs no names can handle many at once.
    #[inline]
    fn numbers<T: Scalar>(&mut self, numbers: &[T]) {
        for (index, number) in numbers.iter().enumerate() {
            self.item(index, number);
        }
    }

    /// A field of a struct, or of a variant. A name may be known at run time only, such as that of an emulator's memory.
    #[inline]
    fn field<T: Fields + ?Sized>(&mut self, name: &str, value: &T) {
        let _ = name;
        value.visit(self);
    }

    /// A field that is declared with `_`: restored with the state, never compared.
    #[inline]
    fn skipped(&mut self, name: &str) {
        let _ = name;
    }

    /// An item of an array or slice.
    #[inline]
    fn item<T: Fields + ?Sized>(&mut self, index: usize, value: &T) {
        let _ = index;
        value.visit(self);
    }

    /// An array or slice whose items are named by their addresses in hexadecimal, from `base` on: `wram[0x7e0012]`. The
    /// checksum is that of `items` alone.
    ///
    /// ```
    /// use rebout::{Fields, Visitor, diff};
    ///
    /// struct Region { name: String, base: u32, bytes: Vec<u8> }
    /// impl Fields for Region {
    ///     fn visit<V: Visitor>(&self, visitor: &mut V) {
    ///         visitor.addressed(self.base, &self.bytes);
    ///     }
    /// }
    /// struct Core { regions: Vec<Region> }
    /// impl Fields for Core {
    ///     fn visit<V: Visitor>(&self, visitor: &mut V) {
    ///         self.regions.iter().for_each(|region| visitor.field(&region.name, region));
    ///     }
    /// }
    ///
    /// let core = |byte| Core { regions: vec![Region { name: "wram".into(), base: 0x7e0000, bytes: vec![byte] }] };
    /// assert_eq!(diff(&core(1), &core(2))[0].to_string(), "wram[0x7e0000]: 1 / 2");
    /// ```
    #[inline]
    fn addressed<T: Fields + ?Sized>(&mut self, base: u32, items: &T) {
        let _ = base;
        items.visit(self);
    }
}
