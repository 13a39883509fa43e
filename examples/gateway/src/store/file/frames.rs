//! Events of runs. Events that are added together are one row, because rows cost far more than
//! bytes.
use bytes::Bytes;
use rusqlite::{Connection, Result, Row};
use std::slice;

/// Largest size of a row with several events, in bytes.
const MAX_ROW: usize = 64 * 1024;

/// Bytes of the size of an event among the sizes of a row.
const SIZE_BYTES: usize = size_of::<u32>();

/// The rows with events after a number. The number of a row is that of its last event. A row with
/// one event has no sizes.
const ROWS: &str = "SELECT number, bytes, sizes FROM frame
    WHERE run = ?1 AND number > ?2 ORDER BY number";

/// A row before it is added.
pub(super) struct EventRow {
    pub(super) bytes: Bytes,
    /// Missing for one event.
    sizes: Option<Vec<u8>>,
    count: u64,
}

/// Returns the rows of events.
pub(super) fn rows(frames: &[Bytes]) -> Vec<EventRow> {
    let mut rows = Vec::new();
    let mut rest = frames;
    while !rest.is_empty() {
        let (row, others) = rest.split_at(fitting(rest));
        let (bytes, sizes) = match row {
            [frame] => (frame.clone(), None),
            _ => (row.concat().into(), Some(sizes(row))),
        };
        rows.push(EventRow { bytes, sizes, count: row.len() as u64 });
        rest = others;
    }
    rows
}

/// Adds rows of events after the number `last`. Returns the number of the last event.
pub(super) fn insert(it: &Connection, run: i64, last: u64, rows: &[EventRow]) -> Result<u64> {
    let mut insert =
        it.prepare_cached("INSERT INTO frame (run, number, bytes, sizes) VALUES (?1, ?2, ?3, ?4)")?;
    let mut last = last;
    for row in rows {
        last += row.count;
        insert.execute((run, last.cast_signed(), &row.bytes[..], row.sizes.as_deref()))?;
    }
    Ok(last)
}

/// Returns the number of the first events that fit into a row: at least one.
fn fitting(frames: &[Bytes]) -> usize {
    let mut bytes = 0_usize;
    let fits = |frame: &&Bytes| {
        bytes = bytes.saturating_add(frame.len());
        bytes <= MAX_ROW
    };
    frames.iter().take_while(fits).count().max(1)
}

/// Returns the sizes of events that fit into a row.
fn sizes(frames: &[Bytes]) -> Vec<u8> {
    let size = |frame: &Bytes| u32::try_from(frame.len()).unwrap_or(u32::MAX).to_le_bytes();
    frames.iter().flat_map(size).collect()
}

/// Removes the rows with events up to this number. A row with later ones stays, and readers skip
/// its earlier events.
pub(super) fn remove_until(it: &Connection, run: i64, last: u64) -> Result<()> {
    it.prepare_cached("DELETE FROM frame WHERE run = ?1 AND number <= ?2")?
        .execute((run, last.cast_signed()))?;
    Ok(())
}

/// Passes on each event after a number, in order.
pub(super) fn for_each(
    it: &Connection,
    run: i64,
    after: u64,
    mut handle: impl FnMut(&[u8]),
) -> Result<()> {
    let mut query = it.prepare_cached(ROWS)?;
    let mut found = query.query((run, after.cast_signed()))?;
    while let Some(row) = found.next()? {
        for_each_of_row(row, after, &mut handle)?;
    }
    Ok(())
}

/// Passes on the events of a row after a number.
fn for_each_of_row(row: &Row<'_>, after: u64, handle: &mut impl FnMut(&[u8])) -> Result<()> {
    let last = row.get::<_, i64>(0)?.cast_unsigned();
    let mut bytes = row.get_ref(1)?.as_blob()?;
    let whole = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
    let sizes: &[[u8; SIZE_BYTES]] = match row.get_ref(2)?.as_blob_or_null()? {
        Some(sizes) => sizes.as_chunks().0,
        None => slice::from_ref(&whole),
    };
    let before = last.saturating_sub(sizes.len() as u64);
    for (number, size) in (before + 1..).zip(sizes) {
        let size = usize::try_from(u32::from_le_bytes(*size)).unwrap_or(usize::MAX);
        let Some((event, rest)) = bytes.split_at_checked(size) else { break };
        bytes = rest;
        if number > after {
            handle(event);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::file::schema;

    #[test]
    fn events_of_any_size_are_read_as_they_were_added() {
        let it = schema::in_memory().expect("a database");
        let sizes = [0, 1, 100, MAX_ROW - 101, 100, 2 * MAX_ROW, 0, MAX_ROW + 1, 7, 0];
        let events: Vec<Bytes> = sizes.iter().map(|size| vec![b'e'; *size].into()).collect();
        let mut last = 0;
        for added in events.chunks(7) {
            last = insert(&it, 1, last, &rows(added)).expect("a change");
        }
        assert_eq!(last, 10);
        for removed in 0..=last {
            remove_until(&it, 1, removed).expect("a change");
            for after in removed..=last {
                let mut read = Vec::new();
                let handle = |event: &[u8]| read.push(Bytes::copy_from_slice(event));
                for_each(&it, 1, after, handle).expect("a read");
                let skipped = usize::try_from(after).expect("a number");
                assert_eq!(read, events[skipped..], "{removed} removed, {after} read");
            }
        }
    }

    #[test]
    fn events_of_one_part_are_few_rows() {
        let it = schema::in_memory().expect("a database");
        // 200 kB, so four rows of at most 64 KiB.
        let events = vec![Bytes::from_static(b"data: {}\n\n"); 20_000];
        insert(&it, 1, 0, &rows(&events)).expect("a change");
        let count = it.query_row("SELECT count(*) FROM frame", (), |row| row.get::<_, i64>(0));
        assert_eq!(count.expect("a number"), 4);
    }
}
