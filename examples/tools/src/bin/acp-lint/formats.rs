//! Findings by rule, and as documents for other programs: SARIF, JUnit, and annotations of GitHub.

use crate::output::Item;
use acp_types::lint::{RULES, Severity};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Returns a line for each rule with findings, the severest and most frequent first.
pub(crate) fn summary(items: &[Item]) -> String {
    let mut by_rule = BTreeMap::<_, Vec<_>>::new();
    for item in items {
        by_rule.entry(item.finding.rule.code).or_default().push(item);
    }
    let mut groups: Vec<_> = by_rule.into_values().collect();
    groups
        .sort_by_key(|group| group.first().map(|it| (Reverse(it.severity), Reverse(group.len()))));
    let mut text = String::new();
    for group in groups {
        let [first, ..] = &group[..] else { continue };
        let files: BTreeSet<_> = group.iter().map(|item| &item.file).collect();
        let findings = counted(group.len(), "finding");
        let files = counted(files.len(), "file");
        let Item { file, finding, severity, .. } = first;
        let code = finding.rule.code;
        let line = finding.line;
        let about = first.description();
        // Writing to a `String` does not fail.
        let _ = writeln!(
            text,
            "{severity}[{code}]: {findings} in {files}; the first at {file}:{line}: {about}"
        );
    }
    text
}

fn counted(count: usize, name: &str) -> String {
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

/// Returns a SARIF log.
///
/// Spec: [SARIF 2.1.0](https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html)
pub(crate) fn sarif(items: &[Item]) -> Value {
    let rules = RULES.iter().map(|rule| {
        json!({
            "id": rule.code,
            "shortDescription": { "text": rule.about },
            "helpUri": rule.spec(1),
            "defaultConfiguration": { "level": level(rule.severity) },
        })
    });
    let results = items.iter().map(|item| {
        let mut result = json!({
            "ruleId": item.finding.rule.code,
            "level": level(item.severity),
            "message": { "text": item.description() },
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": { "uri": item.file },
                    "region": { "startLine": item.finding.line },
                },
                "logicalLocations": [{ "fullyQualifiedName": item.finding.pointer }],
            }],
        });
        if let (Some(excerpt), Some(region)) = (
            &item.excerpt,
            result
                .pointer_mut("/locations/0/physicalLocation/region")
                .and_then(Value::as_object_mut),
        ) {
            region.insert("snippet".to_owned(), json!({ "text": excerpt }));
        }
        result
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": crate::NAME,
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<_>>(),
            } },
            "results": results.collect::<Vec<_>>(),
        }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// Returns a JUnit document: a suite for each file, and a test case for each rule with findings. A
/// case fails if one of its findings affects the exit status.
pub(crate) fn junit(files: &[String], items: &[Item]) -> String {
    let mut suites = String::new();
    let mut cases = 0;
    let mut failures = 0;
    for file in files {
        let mut by_rule = BTreeMap::<_, Vec<_>>::new();
        for item in items.iter().filter(|item| item.file == *file) {
            by_rule.entry(item.finding.rule.code).or_default().push(item);
        }
        let failed = by_rule.values().filter(|items| items.iter().any(|item| item.fails)).count();
        let count = by_rule.len().max(1);
        cases += count;
        failures += failed;
        let name = escaped(file);
        let mut suite = String::new();
        for (rule, items) in &by_rule {
            let texts: Vec<_> = items.iter().map(|item| escaped(&item.to_string())).collect();
            let text = texts.join("\n");
            let body = if items.iter().any(|item| item.fails) {
                let about = items.first().map_or("", |item| item.finding.rule.about);
                format!("<failure message=\"{}\">{text}</failure>", escaped(about))
            } else {
                format!("<system-out>{text}</system-out>")
            };
            let _ =
                writeln!(suite, "<testcase classname=\"{name}\" name=\"{rule}\">{body}</testcase>");
        }
        if by_rule.is_empty() {
            let _ = writeln!(suite, "<testcase classname=\"{name}\" name=\"all rules\"/>");
        }
        let _ = writeln!(
            suites,
            "<testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failed}\">\n{suite}</testsuite>"
        );
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{cases}\" failures=\"{failures}\">\n{suites}</testsuites>\n"
    )
}

/// Returns text for XML. Characters that XML does not permit are replaced.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\n' | '\t' => xml.push(c),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => xml.push('\u{fffd}'),
            c => xml.push(c),
        }
    }
    xml
}

/// Returns the annotation of a finding.
///
/// Spec: [Workflow
/// commands](https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message)
pub(crate) fn annotation(item: &Item) -> String {
    let command = match item.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    format!(
        "::{command} file={},line={},title={}::{}",
        property(&item.file),
        item.finding.line,
        property(item.finding.rule.code),
        data(&item.description()),
    )
}
