//! Diagnostics on standard error.
use crate::NAME;
use acp_types::convert::{BridgeDiagnostic, BridgeLoss};
use std::collections::BTreeSet;

/// Writes diagnostics: of losses only the first of each kind, unless all are wanted.
#[derive(Debug)]
pub(crate) struct Report {
    is_verbose: bool,
    lost: BTreeSet<BridgeLoss>,
    /// Whether the sides have no common version.
    pub(crate) has_failed: bool,
}

impl Report {
    pub(crate) fn new(is_verbose: bool) -> Self {
        Self { is_verbose, lost: BTreeSet::new(), has_failed: false }
    }

    pub(crate) fn write(&mut self, diagnostic: &BridgeDiagnostic) {
        self.has_failed |= matches!(diagnostic, BridgeDiagnostic::Unsupported(_));
        match diagnostic {
            BridgeDiagnostic::Lost(loss, _) if !self.lost.insert(*loss) && !self.is_verbose => {}
            diagnostic => eprintln!("{NAME}: {diagnostic}"),
        }
    }
}
