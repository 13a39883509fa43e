//! Conversations that were deleted, or made room for others of their user. They can be restored for
//! a while.
//!
//! A thread in the trash and its runs have other names, so that no other query finds them, and a
//! new thread may have its name.
use super::clock::{DAY, Now};
use super::{FileLimits, notes, runs, threads};
use crate::store::{ThreadName, TrashReason, TrashedThread};
use rusqlite::{Connection, OptionalExtension, Result};

/// Time for which a conversation stays in the trash, in milliseconds.
const TIME: i64 = 30 * DAY;

/// Number of pages of the file that one change returns to the file system.
const MAX_RETURNED: usize = 4096;

/// Largest number of conversations in a list.
const MAX_LIST: i64 = 1000;

/// Moves a thread to the trash, without its session. Returns whether it existed.
pub(super) fn remove(it: &Connection, limits: &FileLimits, name: &str, now: Now) -> Result<bool> {
    let number: Option<i64> = it
        .prepare_cached("SELECT number FROM thread WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    let Some(number) = number else { return Ok(false) };
    notes::set(it, notes::SESSION, name, None, now)?;
    put(it, limits, number, TrashReason::User, now)?;
    Ok(true)
}

/// Moves a thread to the trash. The oldest of the user's trash beyond the user's share are deleted.
pub(super) fn put(
    it: &Connection,
    limits: &FileLimits,
    number: i64,
    reason: TrashReason,
    now: Now,
) -> Result<()> {
    let user: String = it
        .prepare_cached("SELECT user FROM thread WHERE number = ?1")?
        .query_row([number], |row| row.get(0))?;
    tracing::info!(user, ?reason, "a conversation is moved to the trash");
    it.prepare_cached(
        "UPDATE run SET name = name || '#' || number, thread = '#' || ?1
         WHERE thread = (SELECT name FROM thread WHERE number = ?1)",
    )?
    .execute([number])?;
    it.prepare_cached(
        "UPDATE thread SET name = '#' || number, trashed = ?2, reason = ?3 WHERE number = ?1",
    )?
    .execute((number, now.age, reason.number()))?;
    limit(it, limits, &user)
}

/// Deletes the oldest in the trash of a user beyond the user's share. The last one stays.
fn limit(it: &Connection, limits: &FileLimits, user: &str) -> Result<()> {
    let (mut bytes, mut count) = it
        .prepare_cached(
            "SELECT coalesce(sum(bytes), 0), count(*) FROM thread
             WHERE user = ?1 AND trashed IS NOT NULL",
        )?
        .query_row([user], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
    let mut has_deleted = false;
    while count > 1 && (bytes.cast_unsigned() > limits.share() || count > limits.threads()) {
        let (number, freed): (i64, i64) = it
            .prepare_cached(
                "SELECT number, bytes FROM thread WHERE user = ?1 AND trashed IS NOT NULL
                 ORDER BY trashed, number LIMIT 1",
            )?
            .query_row([user], |row| Ok((row.get(0)?, row.get(1)?)))?;
        tracing::info!(user, "the trash is full; its oldest conversation is deleted");
        delete(it, number)?;
        bytes -= freed;
        count -= 1;
        has_deleted = true;
    }
    if has_deleted { return_space(it) } else { Ok(()) }
}

/// Deletes what has been in the trash for its time.
pub(super) fn expire(it: &Connection, now: Now) -> Result<()> {
    let mut query = it.prepare_cached("SELECT number, user FROM thread WHERE trashed < ?1")?;
    let rows = query.query_map([now.age.saturating_sub(TIME)], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
    })?;
    let expired = rows.collect::<Result<Vec<_>>>()?;
    for (number, user) in &expired {
        tracing::info!(user, "a conversation is deleted from the trash after its time");
        delete(it, *number)?;
    }
    if expired.is_empty() { Ok(()) } else { return_space(it) }
}

/// Deletes a thread with its runs.
pub(super) fn delete(it: &Connection, number: i64) -> Result<()> {
    let mut query = it.prepare_cached(
        "SELECT run.name FROM run JOIN thread ON run.thread = thread.name WHERE thread.number = ?1",
    )?;
    let names = query.query_map([number], |row| row.get(0))?.collect::<Result<Vec<String>>>()?;
    for run in names {
        runs::remove(it, &run)?;
    }
    it.prepare_cached("DELETE FROM thread WHERE number = ?1")?.execute([number])?;
    Ok(())
}

/// Returns a part of the space of deleted threads to the file system.
pub(super) fn return_space(it: &Connection) -> Result<()> {
    let freed = format!("PRAGMA incremental_vacuum({MAX_RETURNED})");
    it.prepare(&freed)?.query_map((), |_| Ok(()))?.for_each(drop);
    Ok(())
}

/// Returns the trash of a user, the last moved first.
pub(super) fn list(it: &Connection, user: &str) -> Result<Vec<TrashedThread>> {
    let age: i64 = it.query_row("SELECT age FROM time", (), |row| row.get(0))?;
    let mut query = it.prepare_cached(
        "SELECT number, id, agent, title, updated, reason, trashed FROM thread
         WHERE user = ?1 AND trashed IS NOT NULL ORDER BY trashed DESC, number DESC LIMIT ?2",
    )?;
    let rows = query.query_map((user, MAX_LIST), |row| {
        let left = row.get::<_, i64>(6)?.saturating_add(TIME).saturating_sub(age);
        Ok(TrashedThread {
            number: row.get(0)?,
            id: row.get(1)?,
            agent: row.get(2)?,
            title: row.get(3)?,
            updated_at: row.get(4)?,
            reason: row.get(5)?,
            days_left: left.clamp(0, TIME).unsigned_abs().div_ceil(DAY.unsigned_abs()),
        })
    })?;
    rows.collect()
}

/// Returns the name of a thread in the trash of a user.
pub(super) fn name(it: &Connection, user: &str, number: i64) -> Result<Option<ThreadName>> {
    it.prepare_cached(
        "SELECT agent, id FROM thread WHERE number = ?1 AND user = ?2 AND trashed IS NOT NULL",
    )?
    .query_row((number, user), |row| {
        Ok(ThreadName { user: user.to_owned(), agent: row.get(0)?, id: row.get(1)? })
    })
    .optional()
}

/// Takes a thread out of the trash. Its name must be free.
pub(super) fn restore(it: &Connection, number: i64, name: &ThreadName, now: Now) -> Result<()> {
    let name = name.text();
    it.prepare_cached("UPDATE run SET thread = ?2 WHERE thread = '#' || ?1")?
        .execute((number, &name))?;
    it.prepare_cached("UPDATE thread SET name = ?2, trashed = NULL, used = ?3 WHERE number = ?1")?
        .execute((number, &name, now.age))?;
    Ok(())
}

/// Takes a thread out of the trash that its user has not deleted, because a run continues it.
pub(super) fn continue_evicted(it: &Connection, thread: &ThreadName, now: Now) -> Result<()> {
    if threads::exists(it, &thread.text())? {
        return Ok(());
    }
    let number: Option<i64> = it
        .prepare_cached(
            "SELECT number FROM thread WHERE user = ?1 AND agent = ?2 AND id = ?3
             AND trashed IS NOT NULL AND reason <> ?4 ORDER BY trashed DESC, number DESC LIMIT 1",
        )?
        .query_row((&thread.user, &thread.agent, &thread.id, TrashReason::User.number()), |row| {
            row.get(0)
        })
        .optional()?;
    match number {
        Some(number) => restore(it, number, thread, now),
        None => Ok(()),
    }
}
