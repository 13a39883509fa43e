//! A program that is killed loses at most the change that it was writing.
use gateway::store::{FileError, FileLimits, FileStore, RunStore};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Number of kills, unless the variable `STORE_KILLS` is set.
const KILLS: u64 = 20;

/// Largest number of changes before a kill.
const MAX_CHANGES: u64 = 150;

fn open(path: &Path) -> Result<FileStore, FileError> {
    FileStore::open(
        path,
        FileLimits {
            bytes: 64 << 20,
            threads: FileLimits::THREADS,
            shares: 1,
            age: Duration::from_secs(3600),
        },
    )
}

/// Runs the program until it has accepted about `changes` changes, and kills it. Returns the
/// numbers of the accepted events.
fn killed_after(changes: u64, path: &Path, prefix: &str) -> BTreeMap<String, u64> {
    let mut writer = Command::new(env!("CARGO_BIN_EXE_store-writer"))
        .arg(path)
        .arg(prefix)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut out = BufReader::new(writer.stdout.take().expect("its output"));
    let mut text = String::new();
    for _ in 0..changes {
        out.read_line(&mut text).expect("a line");
    }
    if changes == MAX_CHANGES {
        assert!(matches!(open(path), Err(FileError::InUse(_))), "another program has the file");
    }
    writer.kill().expect("the program is killed");
    writer.wait().expect("the program has ended");
    out.read_to_string(&mut text).expect("the rest");
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let accepted = whole.lines().filter_map(|line| line.split_once(' '));
    accepted.map(|(run, number)| (run.to_owned(), number.parse().expect("a number"))).collect()
}

#[tokio::test]
async fn killed_program_loses_at_most_the_change_being_written() {
    let kills = std::env::var("STORE_KILLS").ok().and_then(|kills| kills.parse().ok());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.db");
    for kill in 0..kills.unwrap_or(KILLS) {
        let prefix = format!("k{kill}");
        let random = getrandom::u64().expect("randomness") % MAX_CHANGES;
        let changes = if kill == 0 { MAX_CHANGES } else { random };
        let accepted = killed_after(changes, &path, &prefix);
        let store = open(&path).expect("the file is whole");
        let last = accepted.keys().filter_map(|run| run.rsplit_once('-')?.1.parse::<u64>().ok());
        // The run that may have begun after the last accepted event.
        let next = last.max().map_or(0, |last| last + 1);
        let mut unaccepted = 0;
        for run in 0..=next {
            let name = format!("{prefix}-{run}");
            let accepted = accepted.get(&name).copied().unwrap_or_default();
            let part = store.read(&name, 0).await.expect("the file can be read");
            let part = part.unwrap_or_default();
            let expected = (1..=part.last()).map(|number| format!("{name}:{number}"));
            assert!(part.frames.iter().eq(expected.collect::<Vec<_>>().iter()), "{part:?}");
            assert!(part.last() >= accepted, "{name}: {} < {accepted}", part.last());
            unaccepted += part.last() - accepted;
        }
        // Only the last run of each thread stays.
        for run in 0..=next {
            store.retire_run(&format!("{prefix}-{run}")).await.expect("the file can be written");
        }
        assert!(unaccepted <= 1, "one change at a time was written: {unaccepted}");
    }
}
