//! Two answers of one walk, for example everything, to be saved, and the largest, to be shown. So nobody looks for the
//! largest in the whole tree afterwards. Neither may be live or add up by itself.

use super::{Entry, Tally};

impl<A: Tally, B: Tally> Tally for (A, B) {
    type Part = (A::Part, B::Part);
    type Answer = (A::Answer, B::Answer);

    fn begin_part(&self, (one, other): &Self::Part) -> Self::Part {
        (self.0.begin_part(one), self.1.begin_part(other))
    }

    fn leaf(&self, (one, other): &mut Self::Part, entry: &Entry<'_>) {
        self.0.leaf(one, entry);
        self.1.leaf(other, entry);
    }

    fn merge(&self, (one, other): &mut Self::Part, more: Self::Part) {
        self.0.merge(one, more.0);
        self.1.merge(other, more.1);
    }

    fn close(&self, parent: &mut Self::Part, directory: &Entry<'_>, part: Self::Part) {
        self.0.close(&mut parent.0, directory, part.0);
        self.1.close(&mut parent.1, directory, part.1);
    }

    fn finish(&self, root: &Entry<'_>, (one, other): Self::Part) -> Self::Answer {
        (self.0.finish(root, one), self.1.finish(root, other))
    }
}
