//! Summaries of many recorded sessions: a list of sessions, and durations by agent and operation.

use crate::conventions::ReadingOptions;
use crate::report::{Kind, Privacy, RecordedSession, Session, Span, read};
use crate::table::{Format, Table};
use crate::transcript::{TranscriptOptions, open};
use clap::Args;
use core::time::Duration;
use semconv_map::{AttributeValue, keys};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Maximum number of durations of an operation. Further ones are counted only.
const MAX_DURATIONS: usize = 1 << 20;

/// Options for summaries of many sessions.
#[derive(Debug, Args)]
pub(crate) struct SummaryOptions {
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,

    #[command(flatten)]
    pub(crate) transcript_options: TranscriptOptions,

    /// Format of the table
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: Format,

    /// Transcripts, or folders with transcripts (`.jsonl`, `.jsons`)
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

/// Lists the sessions of the transcripts.
///
/// # Errors
/// Returns an error if the list cannot be written.
pub(crate) fn list_sessions(options: &SummaryOptions) -> io::Result<ExitCode> {
    let mut table = Table::new(&SESSION_COLUMNS);
    let privacy = Privacy::new(&options.reading, &options.reading.policy());
    let status = each(options, |path, reading| {
        for row in sessions(path, reading, &privacy) {
            table.push(row);
        }
    });
    io::stdout().lock().write_all(table.text(options.format).as_bytes())?;
    Ok(status)
}

/// Writes the durations of operations over all transcripts.
///
/// # Errors
/// Returns an error if the table cannot be written.
pub(crate) fn write_stats(options: &SummaryOptions) -> io::Result<ExitCode> {
    let mut operations = BTreeMap::<(String, String), Operation>::new();
    let status = each(options, |_, RecordedSession { session, .. }| {
        let agents = agents(session);
        for span in &session.spans {
            let agent = agents.last().map(|agent| agent.0.clone()).unwrap_or_default();
            let agent = span.text(keys::GEN_AI_AGENT_NAME).unwrap_or(agent);
            let name = match span.kind() {
                Kind::Turn | Kind::Subagent => "invoke_agent".to_owned(),
                _ => span.name.clone(),
            };
            operations.entry((agent, name)).or_default().add(span);
        }
    });
    let mut table = Table::new(&STATS_COLUMNS);
    for ((agent, name), mut operation) in operations {
        operation.seconds.sort_by(f64::total_cmp);
        let [p50, p95, p99] = [50, 95, 99].map(|percent| operation.percentile(percent));
        let Operation { count, errors, .. } = operation;
        table.push(vec![json!(agent), json!(name), json!(count), json!(errors), p50, p95, p99]);
    }
    io::stdout().lock().write_all(table.text(options.format).as_bytes())?;
    Ok(status)
}

pub(crate) const SESSION_COLUMNS: [&str; 14] = [
    "file",
    "session",
    "title",
    "agent",
    "version",
    "model",
    "start",
    "seconds",
    "turns",
    "tools",
    "errors",
    "input_tokens",
    "output_tokens",
    "cost",
];

const STATS_COLUMNS: [&str; 7] = ["agent", "operation", "count", "errors", "p50", "p95", "p99"];

/// Spans of one name of an agent.
#[derive(Debug, Default)]
struct Operation {
    count: u64,
    errors: u64,
    /// Durations in seconds.
    seconds: Vec<f64>,
}

impl Operation {
    fn add(&mut self, span: &Span) {
        self.count += 1;
        self.errors += u64::from(span.error.is_some());
        if self.seconds.len() < MAX_DURATIONS {
            self.seconds.push(span.duration().as_secs_f64());
        }
    }

    /// Returns the nearest rank of the sorted durations.
    fn percentile(&self, percent: usize) -> Value {
        let rank = (self.seconds.len() * percent).div_ceil(100).max(1);
        json!(self.seconds.get(rank - 1))
    }
}

/// Reads each transcript. Those that cannot be read are reported and skipped; the exit status is 1
/// then.
fn each(options: &SummaryOptions, mut take: impl FnMut(&Path, &RecordedSession)) -> ExitCode {
    let mut failed = false;
    for path in &options.paths {
        let transcripts = transcripts(path).unwrap_or_else(|error| {
            eprintln!("acp-traces: cannot read {}: {error}", path.display());
            failed = true;
            Vec::new()
        });
        for path in transcripts {
            let session = open(&path).map_err(io::Error::other);
            let session = session.and_then(|transcript| {
                read(transcript, &options.transcript_options, options.reading.policy())
            });
            match session {
                Ok((reading, bad_lines)) => {
                    failed |= bad_lines > 0;
                    take(&path, &reading);
                }
                Err(error) => {
                    eprintln!("acp-traces: {}: {error}", path.display());
                    failed = true;
                }
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Returns a transcript, or the transcripts of a folder in order of their names.
fn transcripts(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "jsonl" || it == "jsons") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the names and versions of the agents of a transcript.
fn agents(session: &Session) -> Vec<(String, String)> {
    let turns = session.of_kind(Kind::Turn);
    let agents = turns.filter_map(|turn| {
        let version = turn.text(keys::GEN_AI_AGENT_VERSION).or(turn.text(keys::ACP_AGENT_VERSION));
        Some((turn.text(keys::GEN_AI_AGENT_NAME)?, version.unwrap_or_default()))
    });
    agents.collect()
}

/// Returns a row for each session with a turn.
pub(crate) fn sessions(
    path: &Path,
    reading: &RecordedSession,
    privacy: &Privacy,
) -> Vec<Vec<Value>> {
    let RecordedSession { session, .. } = reading;
    let mut by_id = BTreeMap::<String, Vec<&Span>>::new();
    for span in &session.spans {
        if let Some(id) = span.text(keys::GEN_AI_CONVERSATION_ID) {
            by_id.entry(id).or_default().push(span);
        }
    }
    let mut by_start: Vec<_> = by_id.into_iter().collect();
    by_start.sort_by_key(|(_, spans)| spans.iter().map(|span| span.start).min());
    let rows = by_start.into_iter().filter_map(|(id, spans)| {
        let title = reading.title(&id, privacy);
        row(path, &id, title.as_deref(), &spans)
    });
    rows.collect()
}

fn row(path: &Path, id: &str, title: Option<&str>, spans: &[&Span]) -> Option<Vec<Value>> {
    let of_kind = |kind| spans.iter().filter(move |span| span.kind() == kind);
    let turns: Vec<_> = of_kind(Kind::Turn).collect();
    let last = turns.last()?;
    let start = spans.iter().map(|span| span.start).min().unwrap_or_default();
    let end = spans.iter().map(|span| span.end).max().unwrap_or_default();
    let sum = |key| turns.iter().filter_map(|turn| turn.count(key)).reduce(i64::saturating_add);
    let latest = |key| turns.iter().rev().find_map(|turn| turn.text(key));
    let model = latest(keys::GEN_AI_RESPONSE_MODEL).or(latest(keys::GEN_AI_REQUEST_MODEL));
    let version = last.text(keys::GEN_AI_AGENT_VERSION).or(last.text(keys::ACP_AGENT_VERSION));
    Some(vec![
        json!(path.file_name().unwrap_or_default().to_string_lossy()),
        json!(id),
        json!(title),
        json!(last.text(keys::GEN_AI_AGENT_NAME)),
        json!(version),
        json!(model),
        json!(date(start)),
        json!(end.saturating_sub(start).as_secs_f64()),
        json!(turns.len()),
        json!(of_kind(Kind::Tool).count()),
        json!(spans.iter().filter(|span| span.error.is_some()).count()),
        json!(sum(keys::GEN_AI_USAGE_INPUT_TOKENS)),
        json!(sum(keys::GEN_AI_USAGE_OUTPUT_TOKENS)),
        json!(turns.iter().rev().find_map(|turn| cost(turn))),
    ])
}

/// Returns the cost of the session, as last reported.
fn cost(turn: &Span) -> Option<f64> {
    let amount = turn.attributes.iter().find(|it| it.key == keys::ACP_COST_AMOUNT)?;
    if let AttributeValue::F64(amount) = amount.value { Some(amount) } else { None }
}

fn date(time: Duration) -> Option<String> {
    let time = std::time::UNIX_EPOCH.checked_add(time)?;
    Some(humantime::format_rfc3339_seconds(time).to_string())
}
