//! The lines of a transcript, with the findings of the linter beside them.

use super::Page;
use super::html::{Address, document, navigation};
use super::library::{Library, MAX_BYTES, PageError};
use crate::report::{Privacy, escaped, span_of_time};
use acp_types::lint::{Finding, Severity};
use core::time::Duration;
use jsonrpc_core::peek;
use jsonrpc_core::transcript::{Direction, Entry};
use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

/// Number of lines of a page.
const PAGE_LINES: u64 = 200;

/// Maximum number of bytes of a message that are shown.
const MAX_MESSAGE: usize = 8 << 10;

/// Maximum number of findings that are listed on top of the page.
const MAX_LISTED: usize = 200;

/// Returns the page with the lines from `from`, which counts from 1.
pub(super) fn page(library: &mut Library, name: &str, from: u64) -> Page {
    let from = from.max(1) - (from.max(1) - 1) % PAGE_LINES;
    let privacy = library.privacy().clone();
    let mut reader = library.reader();
    let path = library.find(name)?.path;
    let findings = library.open(name)?.findings.clone();
    let unreadable = |source| PageError::Unreadable { name: name.to_owned(), source };
    let file = File::open(&path).map_err(unreadable)?;
    let lines = BufReader::new(file.take(MAX_BYTES)).split(b'\n');
    let mut rows = String::new();
    let mut start = None;
    let mut is_more = false;
    for (number, line) in (1_u64..).zip(lines) {
        if number >= from + PAGE_LINES {
            is_more = true;
            break;
        }
        let entry = reader.entry(&line.map_err(unreadable)?).ok().flatten();
        let time = entry.as_ref().map(|entry| entry.time);
        start = start.or(time);
        if number >= from {
            let own = findings.iter().filter(|finding| finding.line == number);
            let after = time.zip(start).map(|(time, start)| time.saturating_sub(start));
            row(&mut rows, number, entry.as_ref().zip(after), own, &privacy);
        }
    }
    let address = Address::lines(name);
    let link = |from: u64, text: &str| format!("<a href=\"{address}{from}\">{text}</a> ");
    let mut pages = String::new();
    if from > 1 {
        pages += &link(from - PAGE_LINES, "Previous lines");
    }
    if is_more {
        pages += &link(from + PAGE_LINES, "Next lines");
    }
    let body = format!(
        "{}<p>{pages}</p><table class=\"list lines\"><tbody>{rows}</tbody></table><p>{pages}</p>",
        summary(&findings, &address)
    );
    Ok(document(&format!("Lines of {name}"), &navigation(Some((name, findings.len()))), &body))
}

/// Returns the list of findings, with links to their lines.
fn summary(findings: &[Finding], address: &Address) -> String {
    if findings.is_empty() {
        return "<p class=\"none\">acp-lint found no violations.</p>".to_owned();
    }
    let items = findings.iter().take(MAX_LISTED).map(|finding| {
        let line = finding.line;
        format!(
            "<li class=\"{}\"><a href=\"{address}{line}#line-{line}\">line {line}</a> {}</li>",
            class(finding),
            words(finding)
        )
    });
    let items: String = items.collect();
    let count = findings.len();
    format!(
        "<details class=\"findings\"><summary>{count} findings of acp-lint</summary><ol>{items}</ol></details>"
    )
}

fn class(finding: &Finding) -> &'static str {
    match finding.rule.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        _ => "info",
    }
}

fn words(finding: &Finding) -> String {
    let code = finding.rule.code;
    let pointer = &finding.pointer;
    let message = &finding.message;
    format!("<b>{}</b> <code>{}</code> {}", escaped(code), escaped(pointer), escaped(message))
}

fn row<'a>(
    rows: &mut String,
    number: u64,
    entry: Option<(&Entry<'_>, Duration)>,
    findings: impl Iterator<Item = &'a Finding>,
    privacy: &Privacy,
) {
    let findings: String = findings
        .map(|finding| format!("<p class=\"finding {}\">{}</p>", class(finding), words(finding)))
        .collect();
    let cells = match entry {
        Some((entry, after)) => {
            let (class, direction) = match entry.direction {
                Direction::Sent => ("sent", "→ agent"),
                Direction::Received => ("received", "← agent"),
            };
            let method = peek(&entry.bytes).ok();
            let method = method.map(|message| match message.method() {
                Some(method) => method.decode().unwrap_or_default().into_owned(),
                None if message.error().is_some() => "error".to_owned(),
                None => "result".to_owned(),
            });
            let method = escaped(&method.unwrap_or_else(|| "not a message".to_owned()));
            let text = String::from_utf8_lossy(&entry.bytes);
            let text = privacy.html(&text, MAX_MESSAGE);
            format!(
                "<td class=\"time\">{}</td><td class=\"{class}\">{direction}</td><td><details><summary>{method}\
                 </summary><pre>{text}</pre></details>{findings}</td>",
                span_of_time(after)
            )
        }
        None => format!("<td></td><td></td><td>not an entry{findings}</td>"),
    };
    // Writing to a `String` does not fail.
    let _ =
        writeln!(rows, "<tr id=\"line-{number}\"><td class=\"number\">{number}</td>{cells}</tr>");
}
