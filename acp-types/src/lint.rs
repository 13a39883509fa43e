//! A linter for conversations between a client and an agent (feature `lint`).
//!
//! A [`Linter`] checks the lines of a connection, from a transcript or live, and returns
//! [findings](Finding). It sends no messages and needs no clock. Any input is safe: the linter
//! neither panics nor exceeds its [`LintLimits`].
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
//! assert_eq!(finding.rule.code, "relative-path");
//! assert_eq!(finding.rule.severity, Severity::Error);
//! assert_eq!(finding.line, 3);
//! assert_eq!(&*finding.pointer, "/params/cwd");
//! assert_eq!(finding.to_string(), "line 3, sent: error[relative-path] at /params/cwd: expected an absolute path");
//! assert_eq!(linter.poll_finding().map(|finding| finding.rule.code), Some("unanswered-request"));
//! # Ok::<(), &str>(())
//! ```
//!
//! Both versions are supported. The shape of the response to `initialize` decides which one
//! applies, since some agents repeat any requested number. Violations that a race may excuse (a
//! permission request during a cancellation) are warnings.
#![doc = include_str!("../LINT.md")]
mod background;
mod check;
mod connection;
mod cursors;
mod errors;
mod forms;
mod linter;
mod messages;
mod options;
mod patch;
mod pending;
mod prose;
mod proxy;
mod report;
mod rule;
mod schema;
mod session;
mod submissions;
mod terminals;
mod value;

pub use linter::Linter;
pub use report::{Finding, LintLimits};
pub use rule::{Group, RULES, Rule, Severity};
