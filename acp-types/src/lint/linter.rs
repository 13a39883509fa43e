//! The linter: composition and findings.
use super::connection::Connection;
use super::pending::PendingRequest;
use super::report::{Finding, LintLimits, Report};
use super::rule::{self, Rule};
use super::schema::Schemas;
use super::session::Session;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::transcript::Direction;

/// Checks the lines of a connection; see the [module documentation](super).
///
/// ```
/// use acp_types::jsonrpc_core::transcript::Direction;
/// use acp_types::lint::Linter;
///
/// let mut linter = Linter::default();
/// linter.handle_line(Direction::Sent, b"{}");
/// linter.finish();
/// let finding = linter.poll_finding().ok_or("no finding")?;
/// println!("{finding}");
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct Linter {
    pub(super) limits: LintLimits,
    pub(super) schemas: Schemas,
    pub(super) connection: Connection,
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) report: Report,
}

impl Default for Linter {
    fn default() -> Self {
        Self::new(LintLimits::default())
    }
}

impl Linter {
    /// Creates a linter with all rules, before the first line.
    pub fn new(limits: LintLimits) -> Self {
        Self {
            limits,
            schemas: Schemas::default(),
            connection: Connection::default(),
            sessions: BTreeMap::new(),
            report: Report::new(limits),
        }
    }

    /// Creates a linter with the same rules and limits, before the first line. It shares the
    /// schemas, which are expensive to create.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let mut fresh = Self::new(self.limits);
        fresh.schemas = self.schemas.clone();
        fresh.report.off = self.report.off.clone();
        fresh
    }

    /// Disables a rule.
    #[must_use]
    pub fn without(mut self, rule: &'static Rule) -> Self {
        self.report.off.insert(rule.code);
        self
    }

    /// Counts a line that is not available, because it is too long or lost.
    pub fn skip_line(&mut self) {
        self.report.line += 1;
    }

    /// Ends the connection: open requests are unanswered.
    pub fn finish(&mut self) {
        self.report.in_line.clear();
        for (direction, open) in [
            (Direction::Sent, core::mem::take(&mut self.connection.open_to_agent)),
            (Direction::Received, core::mem::take(&mut self.connection.open_to_client)),
        ] {
            for PendingRequest { line, method, .. } in open.into_values() {
                self.report.in_line.clear();
                self.report.set_method(&method);
                let message = format!("`{method}` has no answer");
                let rule = &rule::UNANSWERED_REQUEST;
                self.report.add_at(rule, line, direction, String::new(), message);
            }
        }
    }

    /// Returns the next finding. Findings are in the order of lines; those of
    /// [`finish`](Self::finish) are last.
    pub fn poll_finding(&mut self) -> Option<Finding> {
        self.report.findings.pop_front()
    }

    /// Number of findings that were dropped because of the [`LintLimits`].
    pub fn missed(&self) -> u64 {
        self.report.missed
    }

    /// Returns the version of the protocol that the connection speaks, once known: 1 or 2.
    pub fn version(&self) -> Option<u16> {
        self.connection.version
    }
}
