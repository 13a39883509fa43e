//! Diagnostics on standard error.
use crate::NAME;
use acp_types::convert::{Diagnostic, Loss};
use std::collections::BTreeSet;

/// Writes diagnostics: of losses only the first of each kind, unless all are wanted.
#[derive(Debug)]
pub(crate) struct Report {
    is_verbose: bool,
    lost: BTreeSet<Loss>,
    /// Whether the sides have no common version.
    pub(crate) has_failed: bool,
}

impl Report {
    pub(crate) fn new(is_verbose: bool) -> Self {
        Self { is_verbose, lost: BTreeSet::new(), has_failed: false }
    }

    pub(crate) fn write(&mut self, diagnostic: &Diagnostic) {
        self.has_failed |= matches!(diagnostic, Diagnostic::Unsupported(_));
        match diagnostic {
            Diagnostic::Lost(loss, _) if !self.lost.insert(*loss) && !self.is_verbose => {}
            diagnostic => eprintln!("{NAME}: {diagnostic}"),
        }
    }
}
