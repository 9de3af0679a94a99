//! Fields of a type that is known only where it was registered.
//!
//! `Fields` and `Visitor` are generic over each other, so that neither can be an object. Here each side of a visit is
//! an object that forwards to the other.

use core::fmt::Display;
use rebout::{Fields, Visitor};

/// A value that shows its fields.
pub(super) trait ErasedFields {
    fn visit_erased(&self, visitor: &mut dyn ErasedVisitor);
}

/// A visitor of such values.
pub(super) trait ErasedVisitor {
    fn leaf(&mut self, words: &[u32], shown: &dyn Display);
    fn field(&mut self, name: &str, value: &dyn ErasedFields);
    fn skipped(&mut self, name: &str);
    fn item(&mut self, index: usize, value: &dyn ErasedFields);
    fn addressed(&mut self, base: u32, items: &dyn ErasedFields);
}

/// Any value, as an object.
pub(super) struct Known<'a, T: ?Sized>(pub(super) &'a T);

impl<T: Fields + ?Sized> ErasedFields for Known<'_, T> {
    fn visit_erased(&self, visitor: &mut dyn ErasedVisitor) {
        self.0.visit(&mut ToErased(visitor));
    }
}

struct ToErased<'a>(&'a mut dyn ErasedVisitor);

impl Visitor for ToErased<'_> {
    fn leaf(&mut self, words: &[u32], shown: &dyn Display) {
        self.0.leaf(words, shown);
    }

    fn field<T: Fields + ?Sized>(&mut self, name: &str, value: &T) {
        self.0.field(name, &Known(value));
    }

    fn skipped(&mut self, name: &str) {
        self.0.skipped(name);
    }

    fn item<T: Fields + ?Sized>(&mut self, index: usize, value: &T) {
        self.0.item(index, &Known(value));
    }

    fn addressed<T: Fields + ?Sized>(&mut self, base: u32, items: &T) {
        self.0.addressed(base, &Known(items));
    }
}

/// An object, as a value again.
pub(super) struct Erased<'a>(pub(super) &'a dyn ErasedFields);

impl Fields for Erased<'_> {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        self.0.visit_erased(&mut FromErased(visitor));
    }
}

struct FromErased<'a, V>(&'a mut V);

impl<V: Visitor> ErasedVisitor for FromErased<'_, V> {
    fn leaf(&mut self, words: &[u32], shown: &dyn Display) {
        self.0.leaf(words, shown);
    }

    fn field(&mut self, name: &str, value: &dyn ErasedFields) {
        self.0.field(name, &Erased(value));
    }

    fn skipped(&mut self, name: &str) {
        self.0.skipped(name);
    }

    fn item(&mut self, index: usize, value: &dyn ErasedFields) {
        self.0.item(index, &Erased(value));
    }

    fn addressed(&mut self, base: u32, items: &dyn ErasedFields) {
        self.0.addressed(base, &Erased(items));
    }
}
