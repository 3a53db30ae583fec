//! A tally of a type that is not known: what reads files is in the program once, and not once for each kind of report.
//! A walk keeps the type: calls through a table, one for each entry, would slow it down more than they slow down
//! reading a file.

use std::any::Any;

use crate::measure::View;
use crate::tally::{Entry, Tally};
use crate::tree::{Sums, Tree};

/// A tally of any type.
pub type AnyTally = Box<dyn Tally<Part = AnyPart>>;

/// Makes a tally for a view.
pub type MakeTally = Box<dyn FnOnce(View) -> AnyTally + Send>;

/// What makes the same tally as `tally`, without its type.
pub fn untyped<T: Tally>(tally: impl FnOnce(View) -> T + Send + 'static) -> MakeTally {
    Box::new(|view| tally(view).untyped())
}

/// What such a tally keeps; nothing yet if it has got nothing.
#[derive(Debug, Default)]
pub struct AnyPart(Option<Box<dyn Any + Send>>);

impl AnyPart {
    /// What the tally has kept, which is all of one type.
    fn known<P: Any + Default + Send>(&mut self) -> Option<&mut P> {
        self.0.get_or_insert_with(|| Box::new(P::default())).downcast_mut()
    }

    fn into_known<P: Any + Default + Send>(self) -> P {
        let known = self.0.and_then(|part| part.downcast().ok());
        known.map_or_else(P::default, |part| *part)
    }
}

/// A tally whose type is to be forgotten. It is never live: only a walk is, and that knows the type.
pub(super) struct Untyped<T>(pub(super) T);

impl<T: Tally> Tally for Untyped<T> {
    type Part = AnyPart;

    fn adds_up(&self) -> bool {
        self.0.adds_up()
    }

    fn leaf(&self, part: &mut AnyPart, entry: &Entry<'_>) {
        if let Some(part) = part.known() {
            self.0.leaf(part, entry);
        }
    }

    fn merge(&self, part: &mut AnyPart, other: AnyPart) {
        if let Some(part) = part.known() {
            self.0.merge(part, other.into_known());
        }
    }

    fn close(&self, parent: &mut AnyPart, directory: &Entry<'_>, part: AnyPart) {
        if let Some(parent) = parent.known() {
            self.0.close(parent, directory, part.into_known());
        }
    }

    fn sums(&self, root: &Entry<'_>, AnyPart(part): &AnyPart) -> Sums {
        match part.as_ref().and_then(|part| part.downcast_ref()) {
            Some(part) => self.0.sums(root, part),
            None => self.0.sums(root, &T::Part::default()),
        }
    }

    fn finish(&self, root: &Entry<'_>, part: AnyPart) -> Tree {
        self.0.finish(root, part.into_known())
    }
}

impl Tally for AnyTally {
    type Part = AnyPart;

    fn untyped(self) -> AnyTally {
        self
    }

    fn adds_up(&self) -> bool {
        (**self).adds_up()
    }

    fn leaf(&self, part: &mut AnyPart, entry: &Entry<'_>) {
        (**self).leaf(part, entry);
    }

    fn merge(&self, part: &mut AnyPart, other: AnyPart) {
        (**self).merge(part, other);
    }

    fn close(&self, parent: &mut AnyPart, directory: &Entry<'_>, part: AnyPart) {
        (**self).close(parent, directory, part);
    }

    fn sums(&self, root: &Entry<'_>, part: &AnyPart) -> Sums {
        (**self).sums(root, part)
    }

    fn finish(&self, root: &Entry<'_>, part: AnyPart) -> Tree {
        (**self).finish(root, part)
    }
}
