//! Output of the result.
use crate::check::{Checker, Strictness};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Maximum length of an event that is shown, in characters.
const MAX_SHOWN: usize = 400;

/// Formats the result as text.
pub(crate) fn text(checker: &Checker, strictness: Strictness) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = match checker.problem() {
        None => {
            let events = checker.events();
            let runs = checker.runs();
            writeln!(out, "ok: {events} events, {runs} runs, no problems ({})", strictness.name())
        }
        Some(problem) => {
            let place = if problem.is_event {
                format!("event {}", problem.index)
            } else {
                format!("the end, after {} events", problem.index)
            };
            let detail = problem.detail.iter().map(|detail| format!("  here   {detail}\n"));
            let detail: String = detail.collect();
            let shown = shown(checker);
            writeln!(
                out,
                "wrong: {place}\n  rule   {}: {}\n{detail}  see    {}\n\n{shown}",
                problem.code, problem.rule, problem.link
            )
        }
    };
    out.trim_end().to_owned() + "\n"
}

fn shown(checker: &Checker) -> String {
    let wrong = checker.problem().filter(|it| it.is_event).map(|it| it.index);
    let lines = checker.shown().map(|(index, event)| {
        let mark = if wrong == Some(index) { '>' } else { ' ' };
        let cut: String = event.chars().take(MAX_SHOWN).collect();
        let more = if cut.len() < event.len() { "…" } else { "" };
        format!("{mark} {index:>4}  {cut}{more}\n")
    });
    lines.collect()
}

/// Formats the result as JSON.
pub(crate) fn json(checker: &Checker, strictness: Strictness) -> Value {
    let mut report = json!({
        "ok": checker.problem().is_none(),
        "profile": strictness.name(),
        "events": checker.events(),
        "runs": checker.runs(),
    });
    if let (Some(problem), Some(members)) = (checker.problem(), report.as_object_mut()) {
        let as_json = |text: &str| {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
        };
        let mut shown: Vec<Value> = checker.shown().map(|(_, event)| as_json(event)).collect();
        let event = if problem.is_event { shown.pop() } else { None };
        members.insert(
            "problem".into(),
            json!({
                "code": problem.code,
                "rule": problem.rule,
                "link": problem.link,
                "detail": problem.detail,
                "index": problem.index,
                "event": event,
                "before": shown,
            }),
        );
    }
    report
}
