//! Conversations: their list, titles and texts.
use super::clock::Now;
use super::titles;
use crate::store::{ThreadName, ThreadPage, ThreadQuery, ThreadSummary, TrashReason};
use agui_types::message::Message;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, OptionalExtension, Result, Row};

/// Number of characters of the entries of the index of texts.
const INDEXED: usize = 3;

/// Size of a text with its index, for each byte of the text.
const TEXT_BYTES: i64 = 4;

/// Bytes of a thread beside its runs and its text: rows, and entries of indexes.
const THREAD_BYTES: i64 = 1024;

/// The author of a title. A later one overrides earlier ones, not the reverse.
#[derive(Clone, Copy)]
pub(super) enum TitleBy {
    Prompt,
    Agent,
    User,
}

impl TrashReason {
    /// Returns its number in a row.
    pub(super) fn number(self) -> i64 {
        match self {
            Self::User => 0,
            Self::Space => 1,
            Self::Age => 2,
        }
    }
}

impl FromSql for TrashReason {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_i64()? {
            0 => Ok(Self::User),
            1 => Ok(Self::Space),
            2 => Ok(Self::Age),
            other => Err(FromSqlError::OutOfRange(other)),
        }
    }
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
    // The index has three characters at a time; texts of this user alone are read for fewer.
    let is_indexed = search.chars().count() >= INDEXED;
    let in_text = if is_indexed {
        "thread.number IN (SELECT rowid FROM search WHERE search MATCH ?6)"
    } else {
        "instr(text, ?6) > 0"
    };
    let sought = if is_indexed { phrases(user, &search) } else { search.clone() };
    let sql = format!(
        "SELECT {SUMMARY} FROM {THREADS}
         WHERE user = ?1 AND trashed IS NULL AND (updated, thread.number) < (?2, ?3)
         AND (?4 = '' OR instr(sought_title, ?4) > 0 OR {in_text})
         ORDER BY updated DESC, thread.number DESC LIMIT ?5"
    );
    let mut statement = it.prepare_cached(&sql)?;
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement
        .query_map((user, updated, number, &search, most + 1, &sought), |row| {
            Ok((summary(row)?, row.get::<_, i64>(7)?))
        })?
        .collect::<Result<Vec<_>>>()?;
    let last = rows.get(limit - 1).filter(|_| rows.len() > limit);
    let next = last.map(|(thread, number)| format!("{}-{number}", thread.updated_at));
    let threads = rows.into_iter().take(limit).map(|(thread, _)| thread).collect();
    let (trashed, evicted) = count_trash(it, user)?;
    Ok(ThreadPage { threads, next, trashed, evicted })
}

/// Returns the query of the index for a text of a user.
fn phrases(user: &str, search: &str) -> String {
    let phrase = |text: &str| format!("\"{}\"", text.replace('"', "\"\"").replace('\0', " "));
    let text = format!("text : {}", phrase(search));
    if user.chars().count() < INDEXED {
        text
    } else {
        format!("user : {} AND {text}", phrase(user))
    }
}

pub(super) fn find(
    it: &Connection,
    user: &str,
    agent: Option<&str>,
    id: &str,
) -> Result<Option<ThreadSummary>> {
    let sql = format!(
        "SELECT {SUMMARY} FROM {THREADS}
         WHERE user = ?1 AND thread.id = ?2 AND trashed IS NULL AND (?3 IS NULL OR agent = ?3)
         ORDER BY updated DESC LIMIT 1"
    );
    it.prepare_cached(&sql)?.query_row((user, id, agent), summary).optional()
}

/// Notes the begin of a run: its thread is listed first.
pub(super) fn begin_run(
    it: &Connection,
    thread: &ThreadName,
    messages: &[Message],
    now: Now,
) -> Result<()> {
    let name = thread.text();
    let title = titles::title(messages);
    let sought_title = title.to_lowercase();
    let is_new = !exists(it, &name)?;
    let sql = "INSERT INTO thread
                   (name, user, agent, id, title, title_by, sought_title, text, created, updated, used)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?9, '', ?7, ?7, ?8)
               ON CONFLICT (name) DO UPDATE SET updated = ?7, used = ?8";
    let by = TitleBy::Prompt as i64;
    it.prepare_cached(sql)?.execute((
        &name,
        &thread.user,
        &thread.agent,
        &thread.id,
        title,
        by,
        now.clock,
        now.age,
        sought_title,
    ))?;
    // The text of an active run is searched after its end.
    if is_new {
        write_text(it, &name, messages)?;
    }
    Ok(())
}

/// Notes the end of a run, with the messages after it.
pub(super) fn end_run(it: &Connection, name: &str, messages: &[Message], now: Now) -> Result<()> {
    it.prepare_cached("UPDATE thread SET updated = ?2, used = ?3 WHERE name = ?1")?
        .execute((name, now.clock, now.age))?;
    write_text(it, name, messages)
}

/// Measures a thread after a change of its runs.
pub(super) fn measure(it: &Connection, name: &str) -> Result<()> {
    it.prepare_cached(
        "UPDATE thread SET bytes = ?2 + ?3 * octet_length(text)
             + (SELECT coalesce(sum(bytes), 0) FROM run WHERE run.thread = thread.name)
         WHERE name = ?1",
    )?
    .execute((name, THREAD_BYTES, TEXT_BYTES))?;
    Ok(())
}

/// Writes the text to search.
fn write_text(it: &Connection, name: &str, messages: &[Message]) -> Result<()> {
    it.prepare_cached("UPDATE thread SET text = ?2 WHERE name = ?1")?
        .execute((name, titles::text(messages)))?;
    Ok(())
}

/// Returns the numbers of conversations in the trash of a user: all, and those that its user did
/// not delete.
fn count_trash(it: &Connection, user: &str) -> Result<(i64, i64)> {
    it.prepare_cached(
        "SELECT count(*), coalesce(sum(reason <> ?2), 0) FROM thread
         WHERE user = ?1 AND trashed IS NOT NULL",
    )?
    .query_row((user, TrashReason::User.number()), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Sets the title, unless a later author has set one. Returns whether the thread exists.
pub(super) fn rename(it: &Connection, name: &str, title: &str, by: TitleBy) -> Result<bool> {
    let title = titles::shortened(title);
    it.prepare_cached(
        "UPDATE thread SET title = ?2, title_by = ?3, sought_title = ?4
         WHERE name = ?1 AND title_by <= ?3",
    )?
    .execute((name, &title, by as i64, title.to_lowercase()))?;
    exists(it, name)
}

pub(super) fn exists(it: &Connection, name: &str) -> Result<bool> {
    it.prepare_cached("SELECT 1 FROM thread WHERE name = ?1")?.exists([name])
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
