//! Highlighted lines of which parts are marked.
use crate::markdown::code::{Highlighter, MAX_HIGHLIGHTED, STYLE, syntax_of, syntaxes};
use std::ops::Range;
use syntect::html::line_tokens_to_classed_spans;
use syntect::parsing::{ParseState, Scope, ScopeStack, ScopeStackOp};
use syntect::util::LinesWithEndings;

/// Maximum number of nested scopes. Each line opens those before it again, so later lines of deeper
/// code have no colours.
const MAX_SCOPES: usize = 48;

type Ops = Vec<(usize, ScopeStackOp)>;

/// The scopes of the lines of a text. Lines behind a limit have none.
pub(crate) struct Lines(Vec<(ScopeStack, Ops)>);

impl Lines {
    /// Parses a text in the language of its file.
    pub(crate) fn new(text: &str, path: &str, highlighter: &Highlighter) -> Self {
        let mut lines = Vec::new();
        let Some(syntax) = syntax_of(path).filter(|_| text.len() <= MAX_HIGHLIGHTED) else {
            return Self(lines);
        };
        let mut state = ParseState::new(syntax);
        let mut stack = ScopeStack::new();
        for line in LinesWithEndings::from(text) {
            if stack.len() > MAX_SCOPES || !highlighter.takes(line) {
                break;
            }
            let Ok(ops) = state.parse_line(line, syntaxes()) else { break };
            let before = stack.clone();
            if ops.iter().any(|(_, op)| stack.apply(op).is_err()) {
                break;
            }
            lines.push((before, ops));
        }
        Self(lines)
    }

    /// Returns a line as HTML, without its line feed.
    ///
    /// * `at`: the number of the line, from 0
    /// * `marked`: increasing positions in the line, in bytes
    pub(crate) fn html(&self, at: usize, line: &str, marked: &[Range<usize>]) -> String {
        let plain = (ScopeStack::new(), Ops::new());
        let (before, ops) = self.0.get(at).unwrap_or(&plain);
        let html = spans(line, before, &with_marks(ops, marked));
        let html = html.or_else(|| spans(line, &plain.0, &with_marks(&plain.1, marked)));
        html.unwrap_or_default().replace('\n', "")
    }
}

/// Returns a line as HTML. Elements that begin before it are opened again, and all are closed at
/// its end.
fn spans(line: &str, before: &ScopeStack, ops: &Ops) -> Option<String> {
    let open: Ops = before.as_slice().iter().map(|scope| (0, ScopeStackOp::Push(*scope))).collect();
    let (mut html, opened) =
        line_tokens_to_classed_spans("", &open, STYLE, &mut ScopeStack::new()).ok()?;
    let (spans, more) = line_tokens_to_classed_spans(line, ops, STYLE, &mut before.clone()).ok()?;
    html.push_str(&spans);
    html.push_str(&"</span>".repeat(usize::try_from(opened + more).ok()?));
    Some(html)
}

/// Adds the scope `mark` to parts of a line. Elements cannot overlap, so a mark ends and begins
/// again at each change of scopes.
fn with_marks(ops: &Ops, marked: &[Range<usize>]) -> Ops {
    let Ok(mark) = Scope::new("mark") else { return ops.clone() };
    let begin = ScopeStackOp::Push(mark);
    let end = ScopeStackOp::Pop(1);
    let mut edges =
        marked.iter().flat_map(|part| [(part.start, true), (part.end, false)]).peekable();
    let mut all = Ops::new();
    let mut is_inside = false;
    for (at, op) in ops {
        while let Some((edge, starts)) = edges.next_if(|(edge, _)| edge <= at) {
            all.push((edge, if starts { begin.clone() } else { end.clone() }));
            is_inside = starts;
        }
        if is_inside {
            all.push((*at, end.clone()));
        }
        all.push((*at, op.clone()));
        if is_inside {
            all.push((*at, begin.clone()));
        }
    }
    all.extend(
        edges.map(|(edge, starts)| (edge, if starts { begin.clone() } else { end.clone() })),
    );
    all
}
