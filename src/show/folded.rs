//! Folded stacks, for flame graph viewers: a line for each node, with the names from the root to it, separated by
//! semicolons, and its own size without its content.

use std::io::{self, Write};

use crate::base::escape::escape;
use crate::tree::{Order, Shape, Step, Traversal, Tree};

/// Writes every node that has a size of its own. An inode with several links has a line for each.
///
/// # Errors
/// The writer's.
pub fn write(out: &mut dyn Write, tree: &Tree) -> io::Result<()> {
    let mut stack = String::new();
    let mut traversal = Traversal::new(tree.root());
    while let Some(step) = traversal.next() {
        let Step::Node(node) = step else { continue };
        let above = traversal.innermost().copied();
        stack.truncate(above.unwrap_or(0));
        let is_path = tree.shape() == Shape::List && above.is_some();
        let name = match node.name() {
            b"" => "(total)".to_owned(),
            name => escape(name).replace(';', "\\x3b"),
        };
        if above.is_some() {
            stack.push(';');
        }
        stack += &if is_path { name.replace('/', ";") } else { name };
        let children = node.children(Order::Size);
        let within = children.iter().fold(0, |sum: u64, child| sum.saturating_add(child.size()));
        let rest = node.size().saturating_sub(within);
        // Links to one file add up to more than it. Groups have what is the root's own among them.
        let own = match tree.shape() {
            Shape::Groups => rest,
            Shape::Directory | Shape::List => rest.max(node.own().unwrap_or(0)),
        };
        if own > 0 {
            writeln!(out, "{stack} {own}")?;
        }
        if node.id().is_some() {
            traversal.enter(stack.len(), children);
        }
    }
    Ok(())
}
