//! The limits of conversations: a run that begins or ends moves old conversations to the trash.
use super::clock::Now;
use super::{FileLimits, runs, threads, trash};
use crate::store::{AppendOutcome, LogPart, RunRecord, ThreadName, TrashReason};
use rusqlite::{Connection, OptionalExtension, Result};

/// Begins a run. Returns `false` if a run with this name exists.
pub(super) fn begin_run(
    it: &Connection,
    name: &str,
    record: RunRecord,
    limits: &FileLimits,
    now: Now,
) -> Result<bool> {
    if runs::exists(it, name)? {
        return Ok(false);
    }
    let thread = ThreadName::of_text(&record.thread);
    if let Some(thread) = &thread {
        trash::continue_evicted(it, thread, now)?;
    }
    runs::begin(it, name, record, now)?;
    if let Some(thread) = &thread {
        make_room(it, limits, thread, now)?;
    }
    expire(it, limits, now)?;
    Ok(true)
}

/// Adds the new events of a run.
pub(super) fn append(
    it: &Connection,
    run: &str,
    part: &LogPart,
    limits: &FileLimits,
    now: Now,
) -> Result<AppendOutcome> {
    let appended = runs::append(it, run, part, now)?;
    if part.has_ended
        && appended == AppendOutcome::Taken
        && let Some(thread) = runs::thread(it, run)?
    {
        make_room(it, limits, &thread, now)?;
    }
    Ok(appended)
}

/// A condition of threads that can be moved: not in the trash, and without an active run.
const IS_IDLE: &str = "trashed IS NULL AND NOT EXISTS
    (SELECT 1 FROM run WHERE run.thread = thread.name AND NOT ended AND NOT retired)";

/// Moves the least recently used threads of a user beyond the user's share to the trash, except the
/// thread `current`. Threads of other users stay.
pub(super) fn make_room(
    it: &Connection,
    limits: &FileLimits,
    current: &ThreadName,
    now: Now,
) -> Result<()> {
    let user = &current.user;
    let name = current.text();
    threads::measure(it, &name)?;
    let (mut bytes, mut count) = it
        .prepare_cached(
            "SELECT coalesce(sum(bytes), 0), count(*) FROM thread
             WHERE user = ?1 AND trashed IS NULL",
        )?
        .query_row([user], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
    let share = share(it, limits)?;
    while bytes.cast_unsigned() > share || count > limits.threads() {
        let oldest = format!(
            "SELECT number, bytes FROM thread WHERE user = ?1 AND name <> ?2 AND {IS_IDLE}
             ORDER BY used, number LIMIT 1"
        );
        let oldest = it
            .prepare_cached(&oldest)?
            .query_row((user, &name), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
        let Some((number, freed)) = oldest.optional()? else { break };
        trash::put(it, limits, number, TrashReason::Space, now)?;
        bytes -= freed;
        count -= 1;
    }
    Ok(())
}

/// Returns the bytes that a user may have: a share of the limit, or an equal part of it while all
/// conversations together are beyond it.
fn share(it: &Connection, limits: &FileLimits) -> Result<u64> {
    let share = limits.share();
    if used_bytes(it)? <= limits.bytes {
        return Ok(share);
    }
    let (bytes, users) = it
        .prepare_cached(
            "SELECT coalesce(sum(bytes), 0), count(DISTINCT user) FROM thread WHERE trashed IS NULL",
        )?
        .query_row((), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
    if bytes.cast_unsigned() <= limits.bytes {
        return Ok(share);
    }
    Ok(share.min(limits.bytes / users.max(1).cast_unsigned()))
}

/// Moves the threads that were unused for the limit of age to the trash, and deletes what was there
/// for its time.
pub(super) fn expire(it: &Connection, limits: &FileLimits, now: Now) -> Result<()> {
    let old = format!("SELECT number FROM thread WHERE used < ?1 AND {IS_IDLE}");
    let mut query = it.prepare_cached(&old)?;
    let rows = query.query_map([limits.oldest(now.age)], |row| row.get(0))?;
    for number in rows.collect::<Result<Vec<i64>>>()? {
        trash::put(it, limits, number, TrashReason::Age, now)?;
    }
    trash::expire(it, now)
}

/// Returns the bytes of the file that hold data.
fn used_bytes(it: &Connection) -> Result<u64> {
    let number = |name: &str| it.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = number("page_count")? - number("freelist_count")?;
    Ok((pages * number("page_size")?).cast_unsigned())
}
