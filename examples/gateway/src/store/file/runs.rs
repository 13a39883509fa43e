//! Runs and their events.
use super::clock::Now;
use super::{frames, threads, titles};
use crate::store::messages::{MessagesAfter, continue_after, continue_with, event};
use crate::store::{AppendOutcome, LastRun, LogBase, LogPart, RunRecord, ThreadName};
use agui_types::event::{Event, RunFinishedOutcome};
use agui_types::message::Message;
use bytes::Bytes;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Result, Row};
use std::slice;

/// Bytes of a row beside its events.
const FRAME_BYTES: i64 = 16;

/// Error codes of runs that leave the questions of the run before open.
const UNANSWERED: [&str; 4] =
    ["INTERRUPTS_OPEN", "RESUME_MISMATCH", "RESUME_INVALID", "EDIT_UNSUPPORTED"];

/// A row of a run.
struct Run {
    number: i64,
    folded: u64,
    last: u64,
    has_ended: bool,
    is_retired: bool,
}

fn find(it: &Connection, name: &str) -> Result<Option<Run>> {
    let mut query =
        it.prepare_cached("SELECT number, folded, last, ended, retired FROM run WHERE name = ?1")?;
    let run = query.query_row([name], |row| {
        Ok(Run {
            number: row.get(0)?,
            folded: unsigned(row, 1)?,
            last: unsigned(row, 2)?,
            has_ended: row.get(3)?,
            is_retired: row.get(4)?,
        })
    });
    run.optional()
}

fn unsigned(row: &Row<'_>, column: usize) -> Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}

fn decoded(text: &str) -> Result<RunRecord> {
    let invalid = |error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error));
    serde_json::from_str(text).map_err(invalid)
}

fn encoded(record: &RunRecord) -> Result<String> {
    serde_json::to_string(record)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

pub(super) fn record(it: &Connection, name: &str) -> Result<Option<RunRecord>> {
    find(it, name)?.map(|run| record_of(it, run.number)).transpose()
}

/// Returns a record with the conversation before the run.
fn record_of(it: &Connection, run: i64) -> Result<RunRecord> {
    let mut query = it.prepare_cached("SELECT record, follows FROM run WHERE number = ?1")?;
    let (text, follows) = query
        .query_row([run], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<i64>>(1)?)))?;
    let mut record = decoded(&text)?;
    if let Some(before) = follows {
        let asked = record_of(it, before)?.input;
        continue_after(&mut record.input, Some(&asked), messages_after(it, before)?);
    }
    Ok(record)
}

/// Returns the last run of a thread.
pub(super) fn last(it: &Connection, thread: &str) -> Result<Option<LastRun>> {
    let Some(run) = last_of(it, thread)? else { return Ok(None) };
    let mut query = it.prepare_cached("SELECT name, question FROM run WHERE number = ?1")?;
    let (name, question) = query.query_row([run], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, Option<Vec<u8>>>(1)?))
    })?;
    let question = match question.as_deref().and_then(event) {
        Some(Event::RunFinished(finished)) => Some(finished),
        _ => None,
    };
    Ok(Some(LastRun { name, record: record_of(it, run)?, question }))
}

/// Copies the questions of the run before to a run that has ended without an answer to them.
fn keep_question(it: &Connection, run: i64, thread: &str) -> Result<()> {
    let end = match last_frame(it, run)?.as_deref().and_then(event) {
        Some(Event::RunError(error)) => error,
        _ => return Ok(()),
    };
    if !UNANSWERED.iter().any(|code| end.code.as_deref() == Some(*code)) {
        return Ok(());
    }
    let before: Option<(i64, Option<Vec<u8>>)> = it
        .prepare_cached(
            "SELECT number, question FROM run WHERE thread = ?1 AND number < ?2
             ORDER BY number DESC LIMIT 1",
        )?
        .query_row((thread, run), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((before, question)) = before else { return Ok(()) };
    let question = match question {
        Some(question) => Some(question),
        None => last_frame(it, before)?.filter(|frame| has_question(frame)),
    };
    it.prepare_cached("UPDATE run SET question = ?2 WHERE number = ?1")?
        .execute((run, question))?;
    Ok(())
}

fn has_question(frame: &[u8]) -> bool {
    match event(frame) {
        Some(Event::RunFinished(finished)) => {
            matches!(finished.outcome, Some(RunFinishedOutcome::Interrupt(_)))
        }
        _ => false,
    }
}

/// Returns the frame of the last event of a run.
fn last_frame(it: &Connection, run: i64) -> Result<Option<Vec<u8>>> {
    let last = it
        .prepare_cached("SELECT last FROM run WHERE number = ?1")?
        .query_row([run], |row| unsigned(row, 0))?;
    let mut found = None;
    frames::for_each(it, run, last.saturating_sub(1), |frame| found = Some(frame.to_vec()))?;
    if found.is_some() {
        return Ok(found);
    }
    it.prepare_cached("SELECT bytes FROM folded WHERE run = ?1 ORDER BY place DESC LIMIT 1")?
        .query_row([run], |row| row.get(0))
        .optional()
}

fn last_of(it: &Connection, thread: &str) -> Result<Option<i64>> {
    it.prepare_cached("SELECT max(number) FROM run WHERE thread = ?1")?
        .query_row([thread], |row| row.get(0))
}

/// Returns the messages of a thread after its last run.
fn messages_of(it: &Connection, thread: &str) -> Result<Vec<Message>> {
    let last = last_of(it, thread)?;
    Ok(last.map(|run| messages_after(it, run)).transpose()?.unwrap_or_default())
}

/// Returns the messages after a run.
fn messages_after(it: &Connection, run: i64) -> Result<Vec<Message>> {
    let mut messages = MessagesAfter::new(record_of(it, run)?);
    // A row at a time, because a run may have many bytes.
    let mut query = it.prepare_cached(FOLDED)?;
    let mut rows = query.query([run])?;
    while let Some(row) = rows.next()? {
        messages.apply(row.get_ref(0)?.as_blob()?);
    }
    let folded = it
        .prepare_cached("SELECT folded FROM run WHERE number = ?1")?
        .query_row([run], |row| unsigned(row, 0))?;
    frames::for_each(it, run, folded, |frame| messages.apply(frame))?;
    Ok(messages.finish())
}

/// The compacted events of a run.
const FOLDED: &str = "SELECT bytes FROM folded WHERE run = ?1 ORDER BY place";

/// Returns whether a run that is not retired has this name.
pub(super) fn exists(it: &Connection, name: &str) -> Result<bool> {
    Ok(find(it, name)?.is_some_and(|run| !run.is_retired))
}

/// Returns the thread of a run.
pub(super) fn thread(it: &Connection, name: &str) -> Result<Option<ThreadName>> {
    let Some(run) = find(it, name)? else { return Ok(None) };
    Ok(ThreadName::of_text(&thread_of(it, run.number)?))
}

/// Begins a run. Its name must be free.
pub(super) fn begin(it: &Connection, name: &str, mut record: RunRecord, now: Now) -> Result<()> {
    let before = last_of(it, &record.thread)?;
    let follows = before.map(|run| is_open(it, run)).transpose()?.unwrap_or_default();
    if let Some(before) = before
        && !follows
    {
        continue_with(&mut record.input, messages_after(it, before)?);
    }
    // A run of another thread may have the id as well; its history stays.
    it.prepare_cached("UPDATE run SET name = name || '#' || number WHERE name = ?1")?
        .execute([name])?;
    let text = encoded(&record)?;
    it.prepare_cached(
        "INSERT INTO run (name, thread, id, record, bytes, follows)
         VALUES (?1, ?2, ?3, ?4, octet_length(?4), ?5)",
    )?
    .execute((
        name,
        &record.thread,
        record.input.run_id.as_str(),
        &text,
        before.filter(|_| follows),
    ))?;
    if let Some(thread) = ThreadName::of_text(&record.thread) {
        let whole = record_of(it, it.last_insert_rowid())?;
        threads::begin_run(it, &thread, &whole.input.messages, now)?;
    }
    Ok(())
}

fn is_open(it: &Connection, run: i64) -> Result<bool> {
    it.prepare_cached("SELECT NOT ended FROM run WHERE number = ?1")?
        .query_row([run], |row| row.get(0))
}

/// Completes the records of the runs that waited for this one.
fn complete_next(it: &Connection, run: i64) -> Result<()> {
    let mut query = it.prepare_cached("SELECT number FROM run WHERE follows = ?1")?;
    let next = query.query_map([run], |row| row.get(0))?;
    for next in next.collect::<Result<Vec<i64>>>()? {
        let text = encoded(&record_of(it, next)?)?;
        it.prepare_cached("UPDATE run SET follows = NULL WHERE number = ?1")?.execute([next])?;
        replace(it, next, &text)?;
    }
    Ok(())
}

/// Replaces the record of a run.
fn replace(it: &Connection, run: i64, record: &str) -> Result<()> {
    it.prepare_cached(
        "UPDATE run SET record = ?2, bytes = bytes - octet_length(record) + octet_length(?2)
         WHERE number = ?1",
    )?
    .execute((run, record))?;
    Ok(())
}

/// Records that a run is being cancelled.
pub(super) fn cancel(it: &Connection, name: &str, reason: String) -> Result<()> {
    let Some(run) = find(it, name)? else { return Ok(()) };
    let text: String = it
        .prepare_cached("SELECT record FROM run WHERE number = ?1")?
        .query_row([run.number], |row| row.get(0))?;
    let record = RunRecord { cancel: Some(reason), ..decoded(&text)? };
    replace(it, run.number, &encoded(&record)?)
}

pub(super) fn append(
    it: &Connection,
    name: &str,
    part: &LogPart,
    now: Now,
) -> Result<AppendOutcome> {
    let Some(mut run) = find(it, name)? else { return Ok(AppendOutcome::Unknown) };
    if run.has_ended {
        return Ok(AppendOutcome::Ended);
    }
    if let Some(base) = part.base.as_ref().filter(|base| base.last > run.folded) {
        frames::remove_until(it, run.number, base.last)?;
        it.prepare_cached("DELETE FROM folded WHERE run = ?1")?.execute([run.number])?;
        let mut insert = it.prepare_cached("INSERT INTO folded VALUES (?1, ?2, ?3)")?;
        for (place, frame) in (0_i64..).zip(&base.frames) {
            insert.execute((run.number, place, &frame[..]))?;
        }
        run.folded = base.last;
        run.last = run.last.max(base.last);
    }
    let known = usize::try_from(run.last.saturating_sub(part.after)).unwrap_or(usize::MAX);
    let new = part.frames.get(known..).unwrap_or_default();
    let rows = frames::rows(new);
    run.last = frames::insert(it, run.number, run.last, &rows)?;
    it.prepare_cached("UPDATE run SET folded = ?2, last = ?3, ended = ?4 WHERE number = ?1")?
        .execute((run.number, run.folded.cast_signed(), run.last.cast_signed(), part.has_ended))?;
    if part.has_ended {
        complete_next(it, run.number)?;
        keep_question(it, run.number, &thread_of(it, run.number)?)?;
        measure(it, run.number)?;
    }
    let old = part.base.iter().flat_map(|base| &base.frames);
    let is_titled = rows.iter().any(|row| titles::has_agent_title(&row.bytes));
    let titled = if is_titled { new } else { &[] };
    if let Some(title) = titles::agent_title(old.chain(titled)) {
        let thread = thread_of(it, run.number)?;
        threads::rename(it, &thread, &title, threads::TitleBy::Agent)?;
    }
    if part.has_ended {
        let thread = thread_of(it, run.number)?;
        let messages = messages_of(it, &thread)?;
        threads::end_run(it, &thread, &messages, now)?;
    }
    Ok(AppendOutcome::Taken)
}

/// Measures a run with its events.
fn measure(it: &Connection, run: i64) -> Result<()> {
    it.prepare_cached(
        "UPDATE run SET bytes = octet_length(record) + coalesce(octet_length(question), 0)
             + (SELECT coalesce(sum(octet_length(bytes) + coalesce(octet_length(sizes), 0) + ?2), 0)
                 FROM frame WHERE run = ?1)
             + (SELECT coalesce(sum(octet_length(bytes) + ?2), 0) FROM folded WHERE run = ?1)
         WHERE number = ?1",
    )?
    .execute((run, FRAME_BYTES))?;
    Ok(())
}

fn thread_of(it: &Connection, run: i64) -> Result<String> {
    it.prepare_cached("SELECT thread FROM run WHERE number = ?1")?
        .query_row([run], |row| row.get(0))
}

pub(super) fn read(it: &Connection, name: &str, after: u64) -> Result<Option<LogPart>> {
    let Some(run) = find(it, name)? else { return Ok(None) };
    let base = if run.folded > after {
        let mut query = it.prepare_cached(FOLDED)?;
        let rows =
            query.query_map([run.number], |row| row.get::<_, Vec<u8>>(0).map(Bytes::from))?;
        Some(LogBase { last: run.folded, frames: rows.collect::<Result<_>>()? })
    } else {
        None
    };
    let after = after.max(run.folded);
    let mut frames = Vec::new();
    frames::for_each(it, run.number, after, |frame| frames.push(Bytes::copy_from_slice(frame)))?;
    let has_ended = run.has_ended && after + frames.len() as u64 == run.last;
    Ok(Some(LogPart { base, after, frames, has_ended }))
}

pub(super) fn end(it: &Connection, name: &str, after: u64, frame: &Bytes) -> Result<()> {
    let Some(run) = find(it, name)?.filter(|run| !run.has_ended && run.last == after) else {
        return Ok(());
    };
    let last = frames::insert(it, run.number, after, &frames::rows(slice::from_ref(frame)))?;
    it.prepare_cached("UPDATE run SET last = ?2, ended = 1 WHERE number = ?1")?
        .execute((run.number, last.cast_signed()))?;
    complete_next(it, run.number)?;
    measure(it, run.number)?;
    threads::measure(it, &thread_of(it, run.number)?)
}

/// Removes a run, and its thread if that has no other.
pub(super) fn forget(it: &Connection, name: &str) -> Result<()> {
    let Some(run) = find(it, name)? else { return Ok(()) };
    let thread = thread_of(it, run.number)?;
    remove(it, name)?;
    threads::remove_empty(it, &thread)?;
    threads::measure(it, &thread)
}

/// Ends the retention of a run: only the last run of a thread is kept for the history.
pub(super) fn retire(it: &Connection, name: &str) -> Result<()> {
    let Some(run) = find(it, name)? else { return Ok(()) };
    it.prepare_cached("UPDATE run SET retired = 1 WHERE number = ?1")?.execute([run.number])?;
    let thread = thread_of(it, run.number)?;
    let mut query = it.prepare_cached(
        "SELECT name FROM run WHERE thread = ?1 AND retired = 1
         AND number < (SELECT max(number) FROM run WHERE thread = ?1)",
    )?;
    let earlier = query.query_map([&thread], |row| row.get(0))?;
    for name in earlier.collect::<Result<Vec<String>>>()? {
        remove(it, &name)?;
    }
    threads::measure(it, &thread)
}

/// Removes a run with its events.
pub(super) fn remove(it: &Connection, name: &str) -> Result<()> {
    let Some(run) = find(it, name)? else { return Ok(()) };
    // Those that waited for this one have what it would have had.
    let relinked = it
        .prepare_cached(
            "UPDATE run SET follows = (SELECT follows FROM run WHERE number = ?1)
             WHERE follows = ?1 AND EXISTS (SELECT 1 FROM run WHERE number = ?1 AND follows IS NOT NULL)",
        )?
        .execute([run.number])?;
    if relinked == 0 {
        complete_next(it, run.number)?;
    }
    for table in ["frame", "folded"] {
        it.prepare_cached(&format!("DELETE FROM {table} WHERE run = ?1"))?.execute([run.number])?;
    }
    it.prepare_cached("DELETE FROM run WHERE number = ?1")?.execute([run.number])?;
    Ok(())
}
