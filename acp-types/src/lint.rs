//! Finds what is wrong with a conversation between a client and an agent (feature `lint`).
//!
//! Give a [`Linter`] the lines that passed, out of a transcript or while they pass, and take its [findings](Finding).
//! It sends nothing, needs no clock, and believes nobody: whatever the lines are, it neither panics nor grows beyond its
//! [`Limits`].
//!
//! ```
//! use acp_types::lint::{Linter, Severity};
//! use jsonrpc_core::transcript::Direction;
//!
//! let mut linter = Linter::default();
//! linter.handle_line(Direction::Sent, br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
//! linter.handle_line(Direction::Received, br#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}"#);
//! linter.handle_line(Direction::Sent, br#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"src","mcpServers":[]}}"#);
//! linter.finish();
//!
//! let finding = linter.poll_finding().ok_or("nothing found")?;
//! assert_eq!((finding.rule.code, finding.rule.severity), ("relative-path", Severity::Error));
//! assert_eq!((finding.line, &*finding.pointer), (3, "/params/cwd"));
//! assert_eq!(finding.to_string(), "line 3, sent: error[relative-path] at /params/cwd: expected an absolute path");
//! assert_eq!(linter.poll_finding().map(|finding| finding.rule.code), Some("unanswered-request"));
//! # Ok::<(), &str>(())
//! ```
//!
//! Both versions are known; which of them it is, the shape of the answer to `initialize` decides, since there are agents
//! that repeat any number that they are asked for. Rules that a race may excuse (a permission asked for while the
//! cancellation is under way) are warnings.
#![doc = include_str!("../LINT.md")]
use crate::methods::Direction as Receiver;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use core::fmt;
use jsonrpc_core::transcript::Direction;

mod background;
mod check;
mod errors;
mod forms;
mod messages;
mod options;
mod patch;
mod prose;
mod proxy;
mod rule;
mod schema;
mod session;

pub use rule::{Group, RULES, Rule, Severity};

use messages::{Connection, Pending};
use schema::Schemas;
use session::Session;

/// How much a [`Linter`] keeps at most. What is beyond is not looked at, and nothing is found about it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Sessions.
    pub sessions: usize,
    /// Requests that are open, of each side.
    pub requests: usize,
    /// Tool calls, terminals and other named things of each session, of each kind.
    pub names: usize,
    /// Findings that wait to be taken; the rest is counted, see [`Linter::missed`].
    pub findings: usize,
    /// Findings of one rule in one line; the rest is counted, see [`Linter::missed`].
    pub findings_per_rule: usize,
}

impl Default for Limits {
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

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that it breaks.
    pub rule: &'static Rule,
    /// In which line, counted from 1; what is missing at the end is found in the line that asked for it.
    pub line: u64,
    /// Which way that went, as the client sees it.
    pub direction: Direction,
    /// Where in the line, as a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)); empty for all of it.
    pub pointer: String,
    /// What is wrong there. It repeats names, ids and methods that came, and no text.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            Direction::Sent => "sent",
            Direction::Received => "received",
        };
        let (severity, code) = (self.rule.severity, self.rule.code);
        write!(f, "line {}, {direction}: {severity}[{code}]", self.line)?;
        if !self.pointer.is_empty() {
            write!(f, " at {}", self.pointer)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Looks at the lines of a connection; see the [module](self).
#[derive(Clone, Debug)]
pub struct Linter {
    limits: Limits,
    schemas: Schemas,
    connection: Connection,
    sessions: BTreeMap<String, Session>,
    report: Report,
}

/// What is found, and where the linter is.
#[derive(Clone, Debug)]
struct Report {
    limits: Limits,
    off: BTreeSet<&'static str>,
    findings: VecDeque<Finding>,
    missed: u64,
    line: u64,
    direction: Direction,
    /// How often each rule was broken in this line.
    in_line: BTreeMap<&'static str, usize>,
}

impl Report {
    /// Something is wrong in the line that is looked at.
    fn add(&mut self, rule: &'static Rule, pointer: impl Into<String>, message: impl Into<String>) {
        self.add_at(rule, self.line, self.direction, pointer.into(), message.into());
    }

    fn add_at(
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
        self.findings.push_back(Finding { rule, line, direction, pointer, message });
    }
}

impl Default for Linter {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Linter {
    /// With all rules, before the first line.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            schemas: Schemas::default(),
            connection: Connection::default(),
            sessions: BTreeMap::new(),
            report: Report {
                limits,
                off: BTreeSet::new(),
                findings: VecDeque::new(),
                missed: 0,
                line: 0,
                direction: Direction::Sent,
                in_line: BTreeMap::new(),
            },
        }
    }

    /// One with the same rules and limits, before the first line. It shares the schemas, which take longer to make than a
    /// conversation to look at.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let mut fresh = Self::new(self.limits);
        fresh.schemas = self.schemas.clone();
        fresh.report.off = self.report.off.clone();
        fresh
    }

    /// The same without a rule.
    #[must_use]
    pub fn without(mut self, rule: &'static Rule) -> Self {
        self.report.off.insert(rule.code);
        self
    }

    /// Looks at a line, without its line end. `Sent` is from the client, `Received` from the agent. Blank lines count,
    /// and are nothing else.
    pub fn handle_line(&mut self, direction: Direction, line: &[u8]) {
        self.report.line += 1;
        self.report.direction = direction;
        self.report.in_line.clear();
        if !line.trim_ascii().is_empty() {
            self.look_at(line);
        }
    }

    /// Counts a line that cannot be given, because it is too long or lost.
    pub fn skip_line(&mut self) {
        self.report.line += 1;
    }

    /// There are no more lines: what is missing now is missing.
    pub fn finish(&mut self) {
        self.report.in_line.clear();
        for (direction, open) in [
            (Direction::Sent, core::mem::take(&mut self.connection.open_to_agent)),
            (Direction::Received, core::mem::take(&mut self.connection.open_to_client)),
        ] {
            for Pending { line, method, .. } in open.into_values() {
                self.report.in_line.clear();
                let message = format!("`{method}` has no answer");
                let rule = &rule::UNANSWERED_REQUEST;
                self.report.add_at(rule, line, direction, String::new(), message);
            }
        }
    }

    /// The next finding. Lines come in order; what only the end shows, comes at the end.
    pub fn poll_finding(&mut self) -> Option<Finding> {
        self.report.findings.pop_front()
    }

    /// How many findings there were that [`poll_finding`](Self::poll_finding) does not give, for the [`Limits`].
    pub fn missed(&self) -> u64 {
        self.report.missed
    }

    /// The version of the protocol that the connection speaks, once that is known: 1 or 2.
    pub fn version(&self) -> Option<u16> {
        self.connection.version
    }
}

fn receiver(direction: Direction) -> Receiver {
    match direction {
        Direction::Sent => Receiver::ToAgent,
        Direction::Received => Receiver::ToClient,
    }
}
