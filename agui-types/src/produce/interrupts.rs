//! The interrupts that end a run.
use crate::interrupt::Interrupt;
use alloc::vec::Vec;

/// The interrupts of a run: at least one, each with its own identifier.
///
/// ```
/// use agui_types::interrupt::Interrupt;
/// use agui_types::produce::Interrupts;
///
/// let interrupts = Interrupts::new(Interrupt::new("i1", "confirmation"));
/// assert!(interrupts.and(Interrupt::new("i1", "input_required")).is_err());
/// ```
///
/// Spec: [Interrupting,
/// 1.0](https://ag-ui.com/spec/1.0/basic/patterns/interrupt-resume#interrupting)
#[derive(Clone, Debug, PartialEq)]
pub struct Interrupts(Vec<Interrupt>);

impl Interrupts {
    /// Creates a list with one interrupt.
    pub fn new(interrupt: Interrupt) -> Self {
        Self(Vec::from([interrupt]))
    }

    /// Adds an interrupt.
    ///
    /// # Errors
    /// Another interrupt has this identifier.
    pub fn and(mut self, interrupt: Interrupt) -> Result<Self, DuplicateInterruptId> {
        if self.0.iter().any(|other| other.id == interrupt.id) {
            return Err(DuplicateInterruptId);
        }
        self.0.push(interrupt);
        Ok(self)
    }

    pub(super) fn into_list(self) -> Vec<Interrupt> {
        self.0
    }
}

/// An error adding an interrupt: another one of the run has the same identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("another interrupt of the run has this identifier")]
pub struct DuplicateInterruptId;
