//! Short programs that show one use of one crate each.
