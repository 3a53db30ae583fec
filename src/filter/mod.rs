//! What does not count. Filters change totals; they do not merely hide lines.
//!
//! Each kind of filter is a value in a file of its own. The walk asks them in the order of what the
//! answer costs: names first, before anything has been asked of the system.

mod names;

pub use names::Names;

/// All that is left out of a walk. Roots are always weighed: they were asked for by name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    /// What is left out for its name.
    pub names: Names,
}
