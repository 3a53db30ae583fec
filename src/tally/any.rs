//! A tally of a type that is not known: what reads files is in the program once, and not once for each kind of report.
//! A walk knows the type, because a call for each entry would cost it more than a file.

use std::any::Any;
use std::fmt;

use crate::measure::View;
use crate::tally::{Entry, Tally};
use crate::tree::{Sums, Tree};

/// A tally of any type.
pub struct AnyTally(Box<dyn TallyObject>);

/// What such a tally keeps; nothing yet if it has got nothing.
#[derive(Debug, Default)]
pub struct AnyPart(Option<Box<dyn Any + Send>>);

/// Makes a tally for a view.
pub type MakeTally = Box<dyn FnOnce(View) -> AnyTally + Send>;

impl AnyTally {
    pub(super) fn new(tally: impl Tally) -> Self {
        Self(Box::new(tally))
    }

    /// What makes the same tally as `tally`, without its type.
    pub fn made_by<T: Tally>(tally: impl FnOnce(View) -> T + Send + 'static) -> MakeTally {
        Box::new(|view| tally(view).untyped())
    }
}

impl fmt::Debug for AnyTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyTally").finish_non_exhaustive()
    }
}

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

/// [`Tally`] without its types.
trait TallyObject: Send + Sync {
    fn adds_up(&self) -> bool;
    fn leaf(&self, part: &mut AnyPart, entry: &Entry<'_>);
    fn merge(&self, part: &mut AnyPart, other: AnyPart);
    fn close(&self, parent: &mut AnyPart, directory: &Entry<'_>, part: AnyPart);
    fn sums(&self, root: &Entry<'_>, part: &AnyPart) -> Sums;
    fn finish(&self, root: &Entry<'_>, part: AnyPart) -> Tree;
}

impl<T: Tally> TallyObject for T {
    fn adds_up(&self) -> bool {
        Tally::adds_up(self)
    }

    fn leaf(&self, part: &mut AnyPart, entry: &Entry<'_>) {
        if let Some(part) = part.known() {
            Tally::leaf(self, part, entry);
        }
    }

    fn merge(&self, part: &mut AnyPart, other: AnyPart) {
        if let Some(part) = part.known() {
            Tally::merge(self, part, other.into_known());
        }
    }

    fn close(&self, parent: &mut AnyPart, directory: &Entry<'_>, part: AnyPart) {
        if let Some(parent) = parent.known() {
            Tally::close(self, parent, directory, part.into_known());
        }
    }

    fn sums(&self, root: &Entry<'_>, part: &AnyPart) -> Sums {
        let known = part.0.as_ref().and_then(|part| part.downcast_ref());
        known.map_or_else(
            || Tally::sums(self, root, &T::Part::default()),
            |part| Tally::sums(self, root, part),
        )
    }

    fn finish(&self, root: &Entry<'_>, part: AnyPart) -> Tree {
        Tally::finish(self, root, part.into_known())
    }
}

impl Tally for AnyTally {
    type Part = AnyPart;

    fn untyped(self) -> AnyTally {
        self
    }

    fn adds_up(&self) -> bool {
        self.0.adds_up()
    }

    fn leaf(&self, part: &mut AnyPart, entry: &Entry<'_>) {
        self.0.leaf(part, entry);
    }

    fn merge(&self, part: &mut AnyPart, other: AnyPart) {
        self.0.merge(part, other);
    }

    fn close(&self, parent: &mut AnyPart, directory: &Entry<'_>, part: AnyPart) {
        self.0.close(parent, directory, part);
    }

    fn sums(&self, root: &Entry<'_>, part: &AnyPart) -> Sums {
        self.0.sums(root, part)
    }

    fn finish(&self, root: &Entry<'_>, part: AnyPart) -> Tree {
        self.0.finish(root, part)
    }
}
