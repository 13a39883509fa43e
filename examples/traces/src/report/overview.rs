//! The timeline of a whole session.

use super::session::{Kind, Session, Span};
use super::text::span_of_time;
use super::waterfall::class;
use core::fmt::{self, Write};
use core::time::Duration;

/// Maximum number of marks of a lane. Neighbouring marks are merged.
const MAX_MARKS: u32 = 400;

/// Maximum number of ticks.
const MAX_TICKS: u32 = 6;

/// Minimum width of a turn with its number, in percent.
const MIN_LABELLED: f64 = 2.0;

/// Place of the last tick with its time on the right, in percent.
const MAX_LEFT: f64 = 88.0;

/// Distances between ticks in seconds.
const STEPS: [f64; 22] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0,
    300.0, 600.0, 1800.0, 3600.0, 14_400.0, 86_400.0,
];

/// Writes the lanes of turns, tools and permissions over the time of the session. Turns are links;
/// `turns` are their spans and the ids of their sections.
pub(super) fn write(page: &mut String, session: &Session, turns: &[(&Span, usize)]) -> fmt::Result {
    let start = session.start();
    let length = session.end().saturating_sub(session.start());
    if turns.is_empty() || length.is_zero() {
        return Ok(());
    }
    let share = |time: Duration| 100.0 * time.as_secs_f64() / length.as_secs_f64();
    page.write_str(
        "<nav class=\"overview\" aria-label=\"Timeline of the session\"><div class=\"lanes\">",
    )?;
    page.write_str(
        "<div class=\"lane\"><span class=\"lane-name\">Turns</span><div class=\"track\">",
    )?;
    for (span, number) in turns {
        let failed = if span.error.is_some() { " failed" } else { "" };
        let left = share(span.start.saturating_sub(start)).min(99.5);
        let width = share(span.duration());
        let label = if width > MIN_LABELLED { number.to_string() } else { String::new() };
        write!(
            page,
            "<a class=\"bar turn{failed}\" href=\"#turn-{number}\" style=\"left:{left:.2}%;width:{width:.2}%\" \
             title=\"Turn {number}, {time}\"><span>{label}</span></a>",
            time = span_of_time(span.duration()),
        )?;
    }
    page.write_str("</div></div>")?;
    for (name, kind) in [("Tools", Kind::Tool), ("Permissions", Kind::Permission)] {
        let mut marks = marks(session, kind, start, length).peekable();
        if marks.peek().is_none() {
            continue;
        }
        let class = class(kind);
        write!(
            page,
            "<div class=\"lane\"><span class=\"lane-name\">{name}</span><div class=\"track\">"
        )?;
        for (left, width) in marks {
            write!(
                page,
                "<i class=\"bar {class}\" style=\"left:{left:.2}%;width:{width:.2}%\"></i>"
            )?;
        }
        page.write_str("</div></div>")?;
    }
    page.write_str("<div class=\"lane\"><span class=\"lane-name\"></span><div class=\"ticks\">")?;
    for tick in ticks(length) {
        let left = share(tick);
        let time = span_of_time(tick);
        let class = if left > MAX_LEFT { " class=\"end\"" } else { "" };
        write!(page, "<span{class} style=\"left:{left:.2}%\">{time}</span>")?;
    }
    page.write_str("</div></div></div></nav>\n")
}

/// Returns left end and width of the marks of a lane, in percent.
fn marks(
    session: &Session,
    kind: Kind,
    start: Duration,
    length: Duration,
) -> impl Iterator<Item = (f64, f64)> {
    let cell =
        |time: Duration| (f64::from(MAX_MARKS) * time.as_secs_f64() / length.as_secs_f64()).floor();
    let mut cells: Vec<(f64, f64)> = session
        .of_kind(kind)
        .map(|span| (cell(span.start.saturating_sub(start)), cell(span.end.saturating_sub(start))))
        .collect();
    cells.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (from, to) in cells {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    let percent = 100.0 / f64::from(MAX_MARKS);
    merged.into_iter().map(move |(from, to)| (from * percent, (to - from).max(0.5) * percent))
}

/// Returns the times of ticks from the start to `length`.
fn ticks(length: Duration) -> Vec<Duration> {
    let fits = |step: &&f64| length.as_secs_f64() / **step <= f64::from(MAX_TICKS);
    let days = length.as_secs_f64() / f64::from(MAX_TICKS);
    let step = STEPS.iter().find(fits).copied().unwrap_or(days);
    let step = Duration::try_from_secs_f64(step).unwrap_or(length);
    let times = (0..=MAX_TICKS).map_while(|number| step.checked_mul(number));
    times.take_while(|time| *time <= length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let table: [(f64, &[f64]); 4] = [
            (0.5, &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
            (7.0, &[0.0, 2.0, 4.0, 6.0]),
            (100.0, &[0.0, 30.0, 60.0, 90.0]),
            (7300.0, &[0.0, 1800.0, 3600.0, 5400.0, 7200.0]),
        ];
        for (length, expected) in table {
            let ticks = ticks(Duration::from_secs_f64(length));
            let expected: Vec<_> = expected.iter().map(|it| Duration::from_secs_f64(*it)).collect();
            assert_eq!(ticks, expected, "{length}");
        }
    }
}
