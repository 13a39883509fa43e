//! Findings, and the limits of a linter.
use super::rule::Rule;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use core::fmt;
use jsonrpc_core::transcript::Direction;

/// Memory limits of a [`Linter`](super::Linter). Anything beyond them is not checked.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LintLimits {
    /// Sessions; 1,024 by default.
    pub sessions: usize,
    /// Open requests, of each side; 4,096 by default.
    pub requests: usize,
    /// Tool calls, terminals and other named items of a session, of each kind; 16,384 by default.
    pub names: usize,
    /// Unpolled findings; 16,384 by default. Further ones are counted, see
    /// [`missed`](super::Linter::missed).
    pub findings: usize,
    /// Findings of one rule in one line; 16 by default. Further ones are counted, see
    /// [`missed`](super::Linter::missed).
    pub findings_per_rule: usize,
}

impl Default for LintLimits {
    fn default() -> Self {
        Self {
            sessions: 1024,
            requests: 4096,
            names: 16 * 1024,
            findings: 16 * 1024,
            findings_per_rule: 16,
        }
    }
}

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that is broken.
    pub rule: &'static Rule,
    /// The line, counted from 1. An unanswered request is reported for its own line.
    pub line: u64,
    /// Direction of the line, from the client's point of view.
    pub direction: Direction,
    /// Place in the line as a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901));
    /// empty for the whole line.
    pub pointer: String,
    /// Method of the message, or of the request that it answers, up to 256 bytes. `None` if it is
    /// unknown.
    pub method: Option<String>,
    /// Description of the problem. It contains received names, ids and methods, but no text.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            Direction::Sent => "sent",
            Direction::Received => "received",
        };
        let severity = self.rule.severity;
        let code = self.rule.code;
        write!(f, "line {}, {direction}: {severity}[{code}]", self.line)?;
        if !self.pointer.is_empty() {
            write!(f, " at {}", self.pointer)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Maximum length of the method of a finding in bytes.
const MAX_METHOD_BYTES: usize = 256;

/// The findings, and the current line.
#[derive(Clone, Debug)]
pub(super) struct Report {
    limits: LintLimits,
    pub(super) off: BTreeSet<&'static str>,
    pub(super) findings: VecDeque<Finding>,
    pub(super) missed: u64,
    pub(super) line: u64,
    pub(super) direction: Direction,
    /// Method of the current line. Empty if it is unknown.
    pub(super) method: String,
    /// Number of violations of each rule in the current line.
    pub(super) in_line: BTreeMap<&'static str, usize>,
}

impl Report {
    pub(super) fn new(limits: LintLimits) -> Self {
        Self {
            limits,
            off: BTreeSet::new(),
            findings: VecDeque::new(),
            missed: 0,
            line: 0,
            direction: Direction::Sent,
            method: String::new(),
            in_line: BTreeMap::new(),
        }
    }

    /// Sets the method of the current line.
    pub(super) fn set_method(&mut self, method: &str) {
        self.method.clear();
        let mut ends = (0..=method.len().min(MAX_METHOD_BYTES)).rev();
        let end = ends.find(|end| method.is_char_boundary(*end));
        self.method.push_str(end.and_then(|end| method.get(..end)).unwrap_or_default());
    }

    /// Counts a violation in the current line if it is beyond the limits, so that it need not be
    /// described. Returns whether it is.
    pub(super) fn is_beyond(&mut self, rule: &'static Rule) -> bool {
        let in_line = self.in_line.get(rule.code).copied().unwrap_or_default();
        let is_beyond = in_line >= self.limits.findings_per_rule && !self.off.contains(rule.code);
        self.missed += u64::from(is_beyond);
        is_beyond
    }

    /// Adds a finding in the current line.
    pub(super) fn add(
        &mut self,
        rule: &'static Rule,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) {
        self.add_at(rule, self.line, self.direction, pointer.into(), message.into());
    }

    /// Adds a finding in another line.
    pub(super) fn add_at(
        &mut self,
        rule: &'static Rule,
        line: u64,
        direction: Direction,
        pointer: String,
        message: String,
    ) {
        if self.off.contains(rule.code) {
            return;
        }
        let in_line = self.in_line.entry(rule.code).or_default();
        *in_line += 1;
        if *in_line > self.limits.findings_per_rule || self.findings.len() >= self.limits.findings {
            self.missed += 1;
            return;
        }
        let method = Some(self.method.clone()).filter(|method| !method.is_empty());
        self.findings.push_back(Finding { rule, line, direction, pointer, method, message });
    }
}
