//! Lines of an agent's output that are no JSON, and of its standard error. They often state why the
//! agent ends.
use crate::hub::Variables;
use agui_bridge::excerpt;
use std::collections::VecDeque;

/// Maximum number of lines that are kept.
const MAX_LINES: usize = 3;

/// Maximum number of bytes of a line that are quoted.
const MAX_QUOTE: usize = 300;

/// The last lines that are no JSON, since the last one that is.
#[derive(Debug, Default)]
pub(crate) struct Strays {
    lines: VecDeque<String>,
}

impl Strays {
    /// Handles a line: logs one that is no JSON, and keeps it until a message follows.
    pub(crate) fn handle_line(&mut self, line: &str, variables: &Variables) {
        let text = line.trim_start();
        if text.is_empty() {
            return;
        }
        if text.starts_with(['{', '[']) {
            self.lines.clear();
            return;
        }
        let line = excerpt(&variables.hide(line), MAX_QUOTE);
        tracing::warn!(line, "the agent wrote a line that is no JSON");
        if self.lines.len() == MAX_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// Handles the last lines of standard error of an agent that does not start: those that state
    /// the reason are kept, unless the output has some.
    pub(crate) fn handle_errors(&mut self, errors: &[String], variables: &Variables) {
        if self.lines.is_empty() {
            let telling = errors.iter().filter(|line| is_telling(line)).rev().take(MAX_LINES);
            self.lines = telling.map(|line| excerpt(&variables.hide(line), MAX_QUOTE)).collect();
            self.lines.make_contiguous().reverse();
        }
    }

    /// Adds the lines to the reason of an end.
    pub(crate) fn explain(&self, why: String) -> String {
        if self.lines.is_empty() {
            return why;
        }
        let lines: Vec<_> = self.lines.iter().map(|line| format!("{line:?}")).collect();
        format!("{why}; its last output: {}", lines.join(" "))
    }
}

/// Returns whether a line is more than a frame of a stack, or the version of a runtime.
fn is_telling(line: &str) -> bool {
    let line = line.trim();
    let is_mark = line.chars().all(|c| matches!(c, '^' | '~' | '|' | '-') || c.is_whitespace());
    !is_mark && !line.starts_with("at ") && !line.starts_with("Node.js v")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_lines_that_are_no_json_explain_an_end() {
        let mut strays = Strays::default();
        assert_eq!(strays.explain("gone".to_owned()), "gone");
        for line in ["one", "  ", "two", "three", "the \u{1b}[1mlast \"4\""] {
            strays.handle_line(line, &Variables::default());
        }
        let explained = strays.explain("gone".to_owned());
        assert_eq!(explained, r#"gone; its last output: "two" "three" "the last \"4\"""#);
        strays.handle_line(r#" {"jsonrpc":"2.0"}"#, &Variables::default());
        assert_eq!(strays.explain("gone".to_owned()), "gone", "a message follows");
    }

    #[test]
    fn telling_lines_of_standard_error_explain_an_end() {
        let errors = [
            "file:///agent.js:3",
            "    throw new Error('no key sk-abc123');",
            "          ^",
            "",
            "Error: no key open-sesame",
            "    at main (file:///agent.js:3:11)",
            "",
            "Node.js v22.1.0",
        ];
        let errors = errors.map(str::to_owned);
        let secret = [("KEY".to_owned(), "open-sesame".to_owned())].into_iter().collect();
        let mut strays = Strays::default();
        strays.handle_errors(&errors, &secret);
        assert_eq!(
            strays.explain("gone".to_owned()),
            "gone; its last output: \"file:///agent.js:3\" \"throw new Error('no key (hidden)');\" \"Error: no key (hidden)\""
        );
        let mut strays = Strays::default();
        strays.handle_line("usage: agent", &Variables::default());
        strays.handle_errors(&errors, &Variables::default());
        assert_eq!(strays.explain("gone".to_owned()), r#"gone; its last output: "usage: agent""#);
    }

    #[test]
    fn long_line_is_cut() {
        let mut strays = Strays::default();
        strays.handle_line(&"x".repeat(100_000), &Variables::default());
        assert!(strays.explain(String::new()).len() < MAX_QUOTE + 60);
    }
}
