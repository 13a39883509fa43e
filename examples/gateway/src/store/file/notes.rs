//! Texts by kind and key: sessions of threads, and what programs keep beside the conversations.
use super::FileLimits;
use super::clock::Now;
use crate::store::MAX_KEPT;
use rusqlite::{Connection, OptionalExtension, Result};

/// Kind of the texts about threads.
pub(super) const SESSION: &str = "session";

/// Kind of the texts of the program, which do not expire.
pub(super) const KEPT: &str = "kept";

/// Stores a text of the program, or removes it. Returns whether there is room.
pub(super) fn keep(it: &Connection, name: &str, text: Option<&str>, now: Now) -> Result<bool> {
    let others: i64 = it
        .prepare_cached("SELECT count(*) FROM note WHERE kind = ?1 AND key <> ?2")?
        .query_row((KEPT, name), |row| row.get(0))?;
    if text.is_some() && usize::try_from(others).is_ok_and(|others| others >= MAX_KEPT) {
        return Ok(false);
    }
    set(it, KEPT, name, text, now)?;
    Ok(true)
}

/// Stores a text, replacing the previous one; `None` removes it.
pub(super) fn set(
    it: &Connection,
    kind: &str,
    key: &str,
    text: Option<&str>,
    now: Now,
) -> Result<()> {
    match text {
        Some(text) => it
            .prepare_cached("INSERT OR REPLACE INTO note VALUES (?1, ?2, ?3, ?4)")?
            .execute((kind, key, text, now.age))?,
        None => it
            .prepare_cached("DELETE FROM note WHERE kind = ?1 AND key = ?2")?
            .execute((kind, key))?,
    };
    Ok(())
}

pub(super) fn get(it: &Connection, kind: &str, key: &str) -> Result<Option<String>> {
    it.prepare_cached("SELECT text FROM note WHERE kind = ?1 AND key = ?2")?
        .query_row((kind, key), |row| row.get(0))
        .optional()
}

/// Returns all keys of a kind with their texts.
pub(super) fn all(it: &Connection, kind: &str) -> Result<Vec<(String, String)>> {
    let mut query =
        it.prepare_cached("SELECT key, text FROM note WHERE kind = ?1 ORDER BY updated")?;
    let rows = query.query_map([kind], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Removes the texts that were not changed for the limit of age, and expire.
pub(super) fn forget_old(it: &Connection, limits: &FileLimits, now: Now) -> Result<()> {
    let removed = it.execute(
        "DELETE FROM note WHERE kind <> ?1 AND updated < ?2",
        (KEPT, limits.oldest(now.age)),
    )?;
    if removed > 0 {
        tracing::info!(removed, "texts that were unused for the limit of age are removed");
    }
    Ok(())
}
