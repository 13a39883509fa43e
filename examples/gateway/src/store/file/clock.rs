//! The time of a store, by which conversations age.
//!
//! It advances with the clock of the system while the store is in use. A clock that jumps does not
//! advance it: neither back, nor by more than [`MAX_PAUSE`]. A wrong clock, and a long time without
//! use, therefore let nothing age.
use rusqlite::{Connection, Result};
use std::time::{SystemTime, UNIX_EPOCH};

/// A day in milliseconds.
pub(super) const DAY: i64 = 24 * 60 * 60 * 1000;

/// Longest time between two uses of a store, in milliseconds, that counts as age.
const MAX_PAUSE: i64 = 7 * DAY;

/// Time after which the clock is written again, in milliseconds.
const INTERVAL: i64 = 60 * 1000;

/// A point in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// Milliseconds since 1970 by the clock of the system, for display.
    pub(super) clock: i64,
    /// Milliseconds of the store, for ages.
    pub(super) age: i64,
}

/// Returns the time, and advances the time of the store.
pub(super) fn now(it: &Connection) -> Result<Now> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let clock = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    let (last_clock, last_age): (i64, i64) = it
        .prepare_cached("SELECT clock, age FROM time")?
        .query_row((), |row| Ok((row.get(0)?, row.get(1)?)))?;
    if last_clock == 0 {
        return write(it, Now { clock, age: clock });
    }
    let pause = clock.saturating_sub(last_clock);
    if (0..INTERVAL).contains(&pause) {
        return Ok(Now { clock, age: last_age.saturating_add(pause) });
    }
    if !(-MAX_PAUSE..=MAX_PAUSE).contains(&pause) {
        tracing::warn!(
            days = pause / DAY,
            "the clock differs from the last use of the store; this time does not count as age of conversations"
        );
    }
    let passed = if (0..=MAX_PAUSE).contains(&pause) { pause } else { 0 };
    write(it, Now { clock, age: last_age.saturating_add(passed) })
}

fn write(it: &Connection, now: Now) -> Result<Now> {
    it.prepare_cached("UPDATE time SET clock = ?1, age = ?2")?.execute((now.clock, now.age))?;
    Ok(now)
}
