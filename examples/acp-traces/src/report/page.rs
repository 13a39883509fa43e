//! The HTML page of a report.

use super::curve;
use super::session::{Kind, Session, Span, shown};
use core::fmt::{self, Write};
use core::time::Duration;
use semconv_map::{Attribute, Counters, keys};
use std::borrow::Cow;

/// Maximum indentation of spans.
const MAX_DEPTH: usize = 16;

/// Maximum length of a label in characters.
const MAX_LABEL: usize = 160;

/// Creates the page of a session. `counters` describe the data that is missing.
pub(crate) fn of(session: &Session, counters: Counters) -> String {
    let mut page = String::new();
    // Writing to a `String` does not fail.
    let _ = write(&mut page, session, counters);
    page
}

fn write(page: &mut String, session: &Session, counters: Counters) -> fmt::Result {
    let turn = session.of_kind(Kind::Turn).next();
    let agent = turn.and_then(|turn| turn.text(keys::GEN_AI_AGENT_NAME));
    let title = format!("Session with {}", agent.as_deref().unwrap_or("an agent"));
    write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title><style>{style}</style></head><body>\n<header><h1>{title}</h1>\
         <p>{start}, {length}</p></header>\n",
        title = escaped(&title),
        style = include_str!("page.css"),
        start = utc(session.start()),
        length = span_of_time(session.end().saturating_sub(session.start())),
    )?;
    totals(page, session)?;
    curves(page, session)?;
    waterfalls(page, session)?;
    footer(page, counters)?;
    page.write_str("</body></html>\n")
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
        rows.push(("Cost", money(*cost, session)));
    }
    page.write_str("<dl class=\"totals\">")?;
    for (name, value) in rows {
        write!(page, "<div><dt>{name}</dt><dd>{value}</dd></div>")?;
    }
    page.write_str("</dl>\n")
}

const TOKENS: [(&str, &str); 2] = [
    ("Input tokens", keys::GEN_AI_USAGE_INPUT_TOKENS),
    ("Output tokens", keys::GEN_AI_USAGE_OUTPUT_TOKENS),
];

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

fn curves(page: &mut String, session: &Session) -> fmt::Result {
    let used = match session.context_size {
        Some(size) => format!("Tokens in the context window, of {}", grouped(size)),
        None => "Tokens in the context window".to_owned(),
    };
    let count = |value: f64| grouped(value as i64);
    let all = [
        ("Tokens of all turns so far".to_owned(), token_curve(session), false),
        (used, session.context.clone(), false),
        ("Cost so far".to_owned(), session.cost.clone(), true),
    ];
    for (name, points, is_cost) in &all {
        let top = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        if top <= 0.0 {
            continue;
        }
        let top_text = if *is_cost { money(top, session) } else { count(top) };
        writeln!(
            page,
            "<figure><figcaption>{name}<span>up to {top_text}</span></figcaption>{svg}\
             <div class=\"axis\"><span>0 s</span><span>{end}</span></div></figure>",
            svg = curve::svg(points, session.start(), session.end(), top),
            end = span_of_time(session.end().saturating_sub(session.start())),
        )?;
    }
    if all.iter().all(|(_, points, _)| points.is_empty()) {
        page.write_str("<p class=\"none\">No token counts or costs were reported.</p>\n")?;
    }
    Ok(())
}

/// Writes a waterfall for each turn, each with its own scale, because users pause between turns. Consecutive spans
/// outside of turns form a waterfall of their own.
fn waterfalls(page: &mut String, session: &Session) -> fmt::Result {
    let mut requests = Vec::new();
    let mut turns = 0;
    for &at in &session.roots {
        let Some(span) = session.spans.get(at).filter(|span| span.kind() == Kind::Turn) else {
            requests.push(at);
            continue;
        };
        waterfall(page, session, "Session requests", &core::mem::take(&mut requests))?;
        turns += 1;
        let reason = span.text(keys::ACP_STOP_REASON);
        let ended = reason.or_else(|| span.text(keys::ERROR_TYPE));
        let ended = ended.as_deref().unwrap_or("no end");
        waterfall(page, session, &format!("Turn {turns}: {ended}"), &[at])?;
    }
    waterfall(page, session, "Session requests", &requests)
}

fn waterfall(page: &mut String, session: &Session, title: &str, roots: &[usize]) -> fmt::Result {
    let spans = || roots.iter().filter_map(|at| session.spans.get(*at));
    let Some(start) = spans().map(|span| span.start).min() else { return Ok(()) };
    let end = spans().map(|span| span.end).max().unwrap_or(start);
    writeln!(
        page,
        "<section><h2>{}<span>{} after the start, {}</span></h2>",
        escaped(title),
        span_of_time(start.saturating_sub(session.start())),
        span_of_time(end.saturating_sub(start)),
    )?;
    // Spans to write, with their depth, in reverse order.
    let mut rest: Vec<_> = roots.iter().rev().map(|at| (*at, 0)).collect();
    while let Some((at, depth)) = rest.pop() {
        let Some(span) = session.spans.get(at) else { continue };
        row(page, span, depth, (start, end))?;
        rest.extend(span.below.iter().rev().map(|at| (*at, (depth + 1).min(MAX_DEPTH))));
    }
    page.write_str("</section>\n")
}

fn row(
    page: &mut String,
    span: &Span,
    depth: usize,
    (start, end): (Duration, Duration),
) -> fmt::Result {
    let whole = end.saturating_sub(start).as_secs_f64().max(f64::MIN_POSITIVE);
    let share = |time: Duration| (100.0 * time.as_secs_f64() / whole).min(100.0);
    let class = match span.kind() {
        Kind::Turn => "turn",
        Kind::Subagent => "subagent",
        Kind::Tool => "tool",
        Kind::Permission => "permission",
        Kind::Request => "request",
    };
    let failed = if span.error.is_some() { " failed" } else { "" };
    writeln!(
        page,
        "<details class=\"{class}{failed}\"><summary><span class=\"name\" style=\"--depth:{depth}\">{name}</span>\
         <span class=\"track\"><span class=\"bar\" style=\"left:{left:.2}%;width:{width:.2}%\"></span></span>\
         <span class=\"time\">{time}</span></summary>",
        name = name(span),
        left = share(span.start.saturating_sub(start)).min(99.5),
        width = share(span.duration()),
        time = span_of_time(span.duration()),
    )?;
    page.write_str("<table>")?;
    if let Some(Some(words)) = &span.error {
        write!(page, "<tr><th>error</th><td>{}</td></tr>", escaped(words))?;
    }
    attributes(page, &span.attributes)?;
    for event in &span.events {
        let after = span_of_time(event.time.saturating_sub(span.start));
        write!(page, "<tr><th>{}</th><td>after {after}</td></tr>", key(event.name))?;
        attributes(page, &event.attributes)?;
    }
    page.write_str("</table></details>\n")
}

/// Returns the label of a span, with the human-readable part first.
fn name(span: &Span) -> String {
    let label = match span.kind() {
        Kind::Turn => "Turn".to_owned(),
        Kind::Subagent => span.text(keys::ACP_SUBAGENT_TITLE).unwrap_or_else(|| span.name.clone()),
        Kind::Tool => {
            let tool = span.text(keys::GEN_AI_TOOL_NAME).unwrap_or_else(|| span.name.clone());
            let title = span.text(keys::ACP_TOOL_TITLE).filter(|title| *title != tool);
            title.map_or_else(|| tool.clone(), |title| format!("{tool}: {title}"))
        }
        Kind::Permission => match span.text(keys::ACP_PERMISSION_OUTCOME) {
            Some(outcome) => {
                let option = span.text(keys::ACP_PERMISSION_OPTION_KIND).unwrap_or(outcome);
                format!("permission: {option}")
            }
            None => "permission: no answer".to_owned(),
        },
        Kind::Request => span.name.clone(),
    };
    // Isolates right-to-left text.
    let mut label = format!("<bdi>{}</bdi>", escaped(&shortened(&label)));
    if span.error.is_some() {
        let why = span.text(keys::ERROR_TYPE).unwrap_or_else(|| "failed".to_owned());
        label += &format!(" <em>{}</em>", escaped(&why));
    }
    label
}

/// Truncates a label. The complete text is among the attributes.
fn shortened(label: &str) -> Cow<'_, str> {
    match label.char_indices().nth(MAX_LABEL) {
        Some((end, _)) => format!("{}…", label.get(..end).unwrap_or_default()).into(),
        None => label.into(),
    }
}

fn attributes(page: &mut String, attributes: &[Attribute]) -> fmt::Result {
    for attribute in attributes {
        let value = escaped(&shown(&attribute.value));
        write!(page, "<tr><th>{}</th><td>{value}</td></tr>", key(attribute.key))?;
    }
    Ok(())
}

/// Formats the name of an attribute or event, with break opportunities after dots.
fn key(name: &str) -> String {
    escaped(name).replace('.', ".<wbr>")
}

fn footer(page: &mut String, counters: Counters) -> fmt::Result {
    page.write_str("<footer><p>")?;
    for (count, what) in [
        (counters.invalid_lines, "lines are not messages"),
        (counters.undecodable, "messages do not match their methods"),
        (counters.dropped_spans, "spans exceeded a limit and are missing"),
        (counters.dropped_events, "events exceeded a limit and are missing"),
    ] {
        if count > 0 {
            write!(page, "{} {what}. ", grouped(i64::try_from(count).unwrap_or(i64::MAX)))?;
        }
    }
    writeln!(page, "Created by acp-traces {}.</p></footer>", env!("CARGO_PKG_VERSION"))
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// Formats a duration.
fn span_of_time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match duration.as_secs() {
        0 if duration.is_zero() => "0 s".to_owned(),
        0 if seconds < 0.001 => format!("{:.0} µs", seconds * 1e6),
        0 if seconds < 0.9995 => format!("{:.0} ms", seconds * 1e3),
        0..60 => format!("{seconds:.1} s"),
        whole @ 60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        whole => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

/// Formats a count with separated thousands.
fn grouped(count: i64) -> String {
    let digits = count.unsigned_abs().to_string();
    let mut text = String::from(if count < 0 { "−" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

fn money(amount: f64, session: &Session) -> String {
    let currency = session.currency.as_deref().unwrap_or_default();
    // Very large amounts use scientific notation.
    let amount = if amount < 1e12 { format!("{amount:.4}") } else { format!("{amount:e}") };
    format!("{amount} {}", escaped(currency))
}

/// Formats a time since the Unix epoch as date and time. A time before 2000 has an unknown epoch.
fn utc(time: Duration) -> String {
    const DAY: u64 = 86_400;
    let (days, second) = (time.as_secs() / DAY, time.as_secs() % DAY);
    if days < 10_957 {
        return "Recording without a date".to_owned();
    }
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Returns year, month and day of a number of days since 1970-01-01 in the Gregorian calendar. Years start in March, so
/// that the leap day is the last day.
fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    let days = days + 719_468;
    let (era, day) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values of the `date` program: `date -u -d @SECONDS '+%F %T'`.
    #[test]
    fn times_are_shown_as_dates() {
        let table = [
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_709_164_799, "2024-02-28 23:59:59 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (1_795_166_045, "2026-11-20 09:14:05 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ];
        for (seconds, expected) in table {
            assert_eq!(utc(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn durations_are_short() {
        let table = [
            (0, "0 s"),
            (999, "999 µs"),
            (1_000, "1 ms"),
            (999_499, "999 ms"),
            (999_500, "1.0 s"),
            (1_500_000, "1.5 s"),
        ];
        for (micros, expected) in table {
            assert_eq!(span_of_time(Duration::from_micros(micros)), expected);
        }
        assert_eq!(span_of_time(Duration::from_secs(7_265)), "2 h 1 min");
    }
}
