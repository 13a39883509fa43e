//! Conversations: their list, titles, sessions, and removal.
use super::{FileLimits, notes, runs, titles};
use crate::{ThreadName, ThreadPage, ThreadQuery, ThreadSummary};
use agui_types::message::Message;
use rusqlite::{Connection, OptionalExtension, Result, Row};

/// Number of pages of the file that one change returns to the file system.
const MAX_RETURNED: usize = 4096;

/// The author of a title. A later one overrides earlier ones, not the reverse.
#[derive(Clone, Copy)]
pub(super) enum TitleBy {
    Prompt,
    Agent,
    User,
}

/// The columns of a summary, and the number of the thread.
const SUMMARY: &str = "thread.id, agent, title, created, updated, run.id,
    coalesce(NOT run.ended AND NOT run.retired, 0), thread.number";

/// The threads with their last runs.
const THREADS: &str = "thread LEFT JOIN run ON run.number =
    (SELECT max(number) FROM run WHERE run.thread = thread.name)";

fn summary(row: &Row<'_>) -> Result<ThreadSummary> {
    Ok(ThreadSummary {
        id: row.get(0)?,
        agent: row.get(1)?,
        title: row.get(2)?,
        created_at: row.get(3)?,
        updated_at: row.get(4)?,
        run_id: row.get(5)?,
        is_running: row.get(6)?,
    })
}

pub(super) fn list(it: &Connection, user: &str, query: &ThreadQuery) -> Result<ThreadPage> {
    let limit = query.limit.unwrap_or(ThreadQuery::MAX_LIMIT).clamp(1, ThreadQuery::MAX_LIMIT);
    let position = query.after.as_deref().and_then(|after| {
        let (updated, number) = after.split_once('-')?;
        Some((updated.parse::<i64>().ok()?, number.parse::<i64>().ok()?))
    });
    let (updated, number) = position.unwrap_or((i64::MAX, i64::MAX));
    let search = query.search.as_deref().unwrap_or_default().trim().to_lowercase();
    let sql = format!(
        "SELECT {SUMMARY} FROM {THREADS}
         WHERE user = ?1 AND (updated, thread.number) < (?2, ?3)
         AND (?4 = '' OR instr(text, ?4) > 0)
         ORDER BY updated DESC, thread.number DESC LIMIT ?5"
    );
    let mut statement = it.prepare_cached(&sql)?;
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement
        .query_map((user, updated, number, &search, most + 1), |row| {
            Ok((summary(row)?, row.get::<_, i64>(7)?))
        })?
        .collect::<Result<Vec<_>>>()?;
    let last = rows.get(limit - 1).filter(|_| rows.len() > limit);
    let next = last.map(|(thread, number)| format!("{}-{number}", thread.updated_at));
    let threads = rows.into_iter().take(limit).map(|(thread, _)| thread).collect();
    Ok(ThreadPage { threads, next })
}

pub(super) fn find(
    it: &Connection,
    user: &str,
    agent: Option<&str>,
    id: &str,
) -> Result<Option<ThreadSummary>> {
    let sql = format!(
        "SELECT {SUMMARY} FROM {THREADS}
         WHERE user = ?1 AND thread.id = ?2 AND (?3 IS NULL OR agent = ?3) ORDER BY updated DESC LIMIT 1"
    );
    it.prepare_cached(&sql)?.query_row((user, id, agent), summary).optional()
}

/// Notes the begin of a run: its thread is listed first.
pub(super) fn begin_run(
    it: &Connection,
    thread: &ThreadName,
    messages: &[Message],
    now: i64,
) -> Result<()> {
    let (name, title) = (thread.text(), titles::title(messages));
    let sql = "INSERT INTO thread (name, user, agent, id, title, title_by, text, created, updated)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, '', ?7, ?7)
               ON CONFLICT (name) DO UPDATE SET updated = ?7";
    let by = TitleBy::Prompt as i64;
    it.prepare_cached(sql)?.execute((
        &name,
        &thread.user,
        &thread.agent,
        &thread.id,
        title,
        by,
        now,
    ))?;
    write_text(it, &name, messages)
}

/// Notes the end of a run, with the messages after it.
pub(super) fn end_run(it: &Connection, name: &str, messages: &[Message], now: i64) -> Result<()> {
    it.prepare_cached("UPDATE thread SET updated = ?2 WHERE name = ?1")?.execute((name, now))?;
    write_text(it, name, messages)
}

/// Writes the text to search, which begins with the title.
fn write_text(it: &Connection, name: &str, messages: &[Message]) -> Result<()> {
    let title: Option<String> = it
        .prepare_cached("SELECT title FROM thread WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    let Some(title) = title else { return Ok(()) };
    let text = format!("{}\n{}", title.to_lowercase(), titles::text(messages));
    it.prepare_cached("UPDATE thread SET text = ?2 WHERE name = ?1")?.execute((name, text))?;
    Ok(())
}

/// Sets the title, unless a later author has set one. Returns whether the thread exists.
pub(super) fn rename(it: &Connection, name: &str, title: &str, by: TitleBy) -> Result<bool> {
    let (title, by) = (titles::shortened(title), by as i64);
    let text = format!("{}\n", title.to_lowercase());
    let sql = "UPDATE thread SET title = ?2, title_by = ?3, text = ?4 || text
               WHERE name = ?1 AND title_by <= ?3 AND title <> ?2";
    it.prepare_cached(sql)?.execute((name, title, by, text))?;
    it.prepare_cached("SELECT 1 FROM thread WHERE name = ?1")?.exists([name])
}

/// Removes a thread with its runs and its session. Returns whether it existed.
pub(super) fn remove(it: &Connection, name: &str) -> Result<bool> {
    let mut query = it.prepare_cached("SELECT name FROM run WHERE thread = ?1")?;
    let names = query.query_map([name], |row| row.get(0))?.collect::<Result<Vec<String>>>()?;
    for run in names {
        runs::remove(it, &run)?;
    }
    notes::set(it, notes::SESSION, name, None, 0)?;
    Ok(it.prepare_cached("DELETE FROM thread WHERE name = ?1")?.execute([name])? > 0)
}

/// Removes a thread without runs.
pub(super) fn remove_empty(it: &Connection, name: &str) -> Result<()> {
    it.prepare_cached(
        "DELETE FROM thread WHERE name = ?1
         AND NOT EXISTS (SELECT 1 FROM run WHERE run.thread = ?1)",
    )?
    .execute([name])?;
    Ok(())
}

/// Removes the oldest threads beyond the limits, except threads with an active run.
pub(super) fn evict(it: &Connection, limits: &FileLimits, now: i64) -> Result<()> {
    let first = "SELECT name, updated FROM thread WHERE NOT EXISTS
                  (SELECT 1 FROM run WHERE run.thread = thread.name AND NOT ended AND NOT retired)
                  ORDER BY updated, number LIMIT 1";
    let mut has_removed = false;
    loop {
        let row = it
            .prepare_cached(first)?
            .query_row((), |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)));
        let Some((name, updated)) = row.optional()? else { break };
        let is_old = updated < limits.oldest(now);
        if !is_old && used_bytes(it)? <= limits.bytes {
            break;
        }
        tracing::info!(is_old, "the oldest conversation is removed from the store");
        remove(it, &name)?;
        has_removed = true;
    }
    if has_removed {
        let freed = format!("PRAGMA incremental_vacuum({MAX_RETURNED})");
        it.prepare(&freed)?.query_map((), |_| Ok(()))?.for_each(drop);
    }
    Ok(())
}

/// Returns the bytes of the file that hold data.
fn used_bytes(it: &Connection) -> Result<u64> {
    let number = |name: &str| it.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = number("page_count")? - number("freelist_count")?;
    Ok((pages * number("page_size")?).cast_unsigned())
}
