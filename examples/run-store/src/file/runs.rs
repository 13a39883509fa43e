//! Runs and their events.
use super::{FileLimits, threads, titles};
use crate::messages::{MessagesAfter, continue_with};
use crate::{Appended, LogBase, LogPart, RunRecord, ThreadName};
use bytes::Bytes;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Result, Row};

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

pub(super) fn record(it: &Connection, name: &str) -> Result<Option<RunRecord>> {
    let mut query = it.prepare_cached("SELECT record FROM run WHERE name = ?1")?;
    let text: Option<String> = query.query_row([name], |row| row.get(0)).optional()?;
    text.as_deref().map(decoded).transpose()
}

/// Returns the last run of a thread.
pub(super) fn last(it: &Connection, thread: &str) -> Result<Option<(String, RunRecord)>> {
    let mut query = it.prepare_cached(
        "SELECT name, record FROM run WHERE thread = ?1 ORDER BY number DESC LIMIT 1",
    )?;
    let found = query.query_row([thread], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)));
    let found = found.optional()?;
    found.map(|(name, text)| Ok((name, decoded(&text)?))).transpose()
}

/// Returns the last run of a thread, with the messages after it.
fn messages_of(it: &Connection, thread: &str) -> Result<Option<Vec<agui_types::message::Message>>> {
    let Some((name, record)) = last(it, thread)? else { return Ok(None) };
    let mut messages = MessagesAfter::new(record);
    if let Some(run) = find(it, &name)? {
        // A frame at a time, because a run may have many bytes.
        for sql in [FOLDED, FRAMES] {
            let mut query = it.prepare_cached(sql)?;
            let mut rows = query.query((run.number, 0))?;
            while let Some(row) = rows.next()? {
                messages.apply(row.get_ref(0)?.as_blob()?);
            }
        }
    }
    Ok(Some(messages.finish()))
}

/// The compacted events of a run from a place on.
const FOLDED: &str = "SELECT bytes FROM folded WHERE run = ?1 AND place >= ?2 ORDER BY place";

/// The events of a run after a number.
const FRAMES: &str = "SELECT bytes FROM frame WHERE run = ?1 AND number > ?2 ORDER BY number";

pub(super) fn begin(
    it: &Connection,
    name: &str,
    mut record: RunRecord,
    limits: &FileLimits,
    now: i64,
) -> Result<bool> {
    match find(it, name)? {
        Some(run) if !run.is_retired => return Ok(false),
        _ => {}
    }
    if let Some(before) = messages_of(it, &record.thread)? {
        continue_with(&mut record.input.messages, before);
    }
    // A run of another thread may have the id as well; its history stays.
    it.prepare_cached("UPDATE run SET name = name || '#' || number WHERE name = ?1")?
        .execute([name])?;
    let text = serde_json::to_string(&record)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    it.prepare_cached("INSERT INTO run (name, thread, id, record) VALUES (?1, ?2, ?3, ?4)")?
        .execute((name, &record.thread, record.input.run_id.as_str(), text))?;
    if let Some(thread) = ThreadName::of_text(&record.thread) {
        threads::begin_run(it, &thread, &record.input.messages, now)?;
    }
    threads::evict(it, limits, now)?;
    Ok(true)
}

pub(super) fn append(it: &Connection, name: &str, part: &LogPart, now: i64) -> Result<Appended> {
    let Some(mut run) = find(it, name)? else { return Ok(Appended::Unknown) };
    if run.has_ended {
        return Ok(Appended::Ended);
    }
    if let Some(base) = part.base.as_ref().filter(|base| base.last > run.folded) {
        it.prepare_cached("DELETE FROM frame WHERE run = ?1 AND number <= ?2")?
            .execute((run.number, base.last.cast_signed()))?;
        it.prepare_cached("DELETE FROM folded WHERE run = ?1")?.execute([run.number])?;
        let mut insert = it.prepare_cached("INSERT INTO folded VALUES (?1, ?2, ?3)")?;
        for (place, frame) in (0_i64..).zip(&base.frames) {
            insert.execute((run.number, place, &frame[..]))?;
        }
        (run.folded, run.last) = (base.last, run.last.max(base.last));
    }
    let known = usize::try_from(run.last.saturating_sub(part.after)).unwrap_or(usize::MAX);
    let mut insert = it.prepare_cached("INSERT INTO frame VALUES (?1, ?2, ?3)")?;
    for frame in part.frames.iter().skip(known) {
        run.last += 1;
        insert.execute((run.number, run.last.cast_signed(), &frame[..]))?;
    }
    it.prepare_cached("UPDATE run SET folded = ?2, last = ?3, ended = ?4 WHERE number = ?1")?
        .execute((run.number, run.folded.cast_signed(), run.last.cast_signed(), part.has_ended))?;
    let old = part.base.iter().flat_map(|base| &base.frames);
    let title = old.chain(part.frames.iter().skip(known)).filter_map(titles::agent_title).last();
    if let Some(title) = title {
        let thread = thread_of(it, run.number)?;
        threads::rename(it, &thread, &title, threads::TitleBy::Agent)?;
    }
    if part.has_ended {
        let thread = thread_of(it, run.number)?;
        let messages = messages_of(it, &thread)?.unwrap_or_default();
        threads::end_run(it, &thread, &messages, now)?;
    }
    Ok(Appended::Taken)
}

fn thread_of(it: &Connection, run: i64) -> Result<String> {
    it.prepare_cached("SELECT thread FROM run WHERE number = ?1")?
        .query_row([run], |row| row.get(0))
}

pub(super) fn read(it: &Connection, name: &str, after: u64) -> Result<Option<LogPart>> {
    let Some(run) = find(it, name)? else { return Ok(None) };
    let frames = |sql: &str, from: u64| -> Result<Vec<Bytes>> {
        let mut query = it.prepare_cached(sql)?;
        let rows = query.query_map((run.number, from.cast_signed()), |row| {
            row.get::<_, Vec<u8>>(0).map(Bytes::from)
        })?;
        rows.collect()
    };
    let base = if run.folded > after {
        Some(LogBase { last: run.folded, frames: frames(FOLDED, 0)? })
    } else {
        None
    };
    let after = after.max(run.folded);
    let frames = frames(FRAMES, after)?;
    let has_ended = run.has_ended && after + frames.len() as u64 == run.last;
    Ok(Some(LogPart { base, after, frames, has_ended }))
}

pub(super) fn end(it: &Connection, name: &str, after: u64, frame: &Bytes) -> Result<()> {
    let Some(run) = find(it, name)?.filter(|run| !run.has_ended && run.last == after) else {
        return Ok(());
    };
    let number = (after + 1).cast_signed();
    it.prepare_cached("INSERT INTO frame VALUES (?1, ?2, ?3)")?.execute((
        run.number,
        number,
        &frame[..],
    ))?;
    it.prepare_cached("UPDATE run SET last = ?2, ended = 1 WHERE number = ?1")?
        .execute((run.number, number))?;
    Ok(())
}

/// Removes a run, and its thread if that has no other.
pub(super) fn forget(it: &Connection, name: &str) -> Result<()> {
    let Some(run) = find(it, name)? else { return Ok(()) };
    let thread = thread_of(it, run.number)?;
    remove(it, name)?;
    threads::remove_empty(it, &thread)
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
    Ok(())
}

/// Removes a run with its events.
pub(super) fn remove(it: &Connection, name: &str) -> Result<()> {
    let Some(run) = find(it, name)? else { return Ok(()) };
    for table in ["frame", "folded"] {
        it.prepare_cached(&format!("DELETE FROM {table} WHERE run = ?1"))?.execute([run.number])?;
    }
    it.prepare_cached("DELETE FROM run WHERE number = ?1")?.execute([run.number])?;
    Ok(())
}
