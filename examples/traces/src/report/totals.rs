//! Totals of a session, and the curves of tokens and cost.

use super::conversation::Talk;
use super::curve;
use super::session::{Kind, Session, Span};
use super::text::{escaped, grouped, money, span_of_time};
use core::fmt::{self, Write};
use core::time::Duration;
use semconv_map::keys;

const TOKENS: [(&str, &str); 2] = [
    ("Input tokens", keys::GEN_AI_USAGE_INPUT_TOKENS),
    ("Output tokens", keys::GEN_AI_USAGE_OUTPUT_TOKENS),
];

/// Maximum number of sessions with a curve of their own.
const MAX_CONTEXTS: usize = 8;

/// Writes the totals and the curves.
pub(super) fn write(page: &mut String, session: &Session, talks: &[Talk]) -> fmt::Result {
    totals(page, session)?;
    curves(page, session, talks)
}

fn totals(page: &mut String, session: &Session) -> fmt::Result {
    let failed = |kind| session.of_kind(kind).filter(|span| span.error.is_some()).count();
    let number = |kind| session.of_kind(kind).count();
    let with_failed = |kind| match failed(kind) {
        0 => number(kind).to_string(),
        failed => format!("{} <small>{failed} failed</small>", number(kind)),
    };
    let wait: Duration = session.of_kind(Kind::Permission).map(Span::duration).sum();
    let asked = number(Kind::Permission);
    let mut rows = vec![
        ("Turns", with_failed(Kind::Turn)),
        ("Tool calls", with_failed(Kind::Tool)),
        ("Permissions asked", asked.to_string()),
    ];
    if asked > 0 {
        rows.push(("Waited for permissions", span_of_time(wait)));
    }
    for (name, key) in TOKENS {
        if let Some(tokens) = tokens(session, key) {
            rows.push((name, grouped(tokens)));
        }
    }
    if let Some((_, cost)) = session.cost.last() {
        rows.push(("Cost", money(*cost, session.currency.as_deref().unwrap_or_default())));
    }
    page.write_str("<dl class=\"totals\">")?;
    for (name, value) in rows {
        write!(page, "<div><dt>{name}</dt><dd>{value}</dd></div>")?;
    }
    page.write_str("</dl>\n")
}

/// Returns the tokens in the context window over time, with a caption, of each of the first
/// sessions with a report.
fn contexts(talks: &[Talk]) -> impl Iterator<Item = (String, &[(Duration, f64)])> {
    let is_only = talks.iter().filter(|talk| !talk.context.is_empty()).count() < 2;
    let reported = talks.iter().filter(|talk| !talk.context.is_empty()).take(MAX_CONTEXTS);
    reported.map(move |talk| {
        let size = talk.state.usage().map_or(0, |usage| usage.size);
        let of_session =
            if is_only { String::new() } else { format!(", session {}", escaped(&talk.id)) };
        let size = grouped(i64::try_from(size).unwrap_or(i64::MAX));
        (format!("Tokens in the context window, of {size}{of_session}"), &*talk.context)
    })
}

fn curves(page: &mut String, session: &Session, talks: &[Talk]) -> fmt::Result {
    let count = |value: f64| grouped(value as i64);
    let tokens = token_curve(session);
    let mut all = vec![("Tokens of all turns so far".to_owned(), &*tokens, false)];
    all.extend(contexts(talks).map(|(name, points)| (name, points, false)));
    all.push(("Cost so far".to_owned(), &*session.cost, true));
    if all.iter().all(|(_, points, _)| points.is_empty()) {
        return page.write_str("<p class=\"none\">No token counts or costs were reported.</p>\n");
    }
    page.write_str("<div class=\"curves\">")?;
    for (name, points, is_cost) in &all {
        let top = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        if top <= 0.0 {
            continue;
        }
        let currency = session.currency.as_deref().unwrap_or_default();
        let top_text = if *is_cost { money(top, currency) } else { count(top) };
        writeln!(
            page,
            "<figure><figcaption>{name}<span>up to {top_text}</span></figcaption>{svg}\
             <div class=\"axis\"><span>0 s</span><span>{end}</span></div></figure>",
            svg = curve::svg(points, session.start(), session.end(), top),
            end = span_of_time(session.end().saturating_sub(session.start())),
        )?;
    }
    page.write_str("</div>\n")
}

/// Returns the total tokens of all turns, if the agent reports them.
fn tokens(session: &Session, key: &str) -> Option<i64> {
    let counts = session.of_kind(Kind::Turn).filter_map(|turn| turn.count(key));
    counts.reduce(i64::saturating_add)
}

/// Returns the cumulative tokens at the end of each turn.
fn token_curve(session: &Session) -> Vec<(Duration, f64)> {
    let mut turns: Vec<_> = session
        .of_kind(Kind::Turn)
        .filter_map(|turn| {
            let counts = TOKENS.iter().filter_map(|(_, key)| turn.count(key));
            Some((turn.end, counts.reduce(i64::saturating_add)? as f64))
        })
        .collect();
    turns.sort_by_key(|(time, _)| *time);
    let mut sum = 0.0;
    for (_, tokens) in &mut turns {
        sum += *tokens;
        *tokens = sum;
    }
    turns
}
