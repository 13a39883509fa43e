//! Writes runs with numbered events to the file in its argument, until it is killed. Each event is
//! printed after the store has accepted it: `NAME NUMBER`.
use bytes::Bytes;
use gateway::store::{FileLimits, FileStore, LogPart, RunRecord, RunStore, ThreadName};
use jsonrpc_core::wire;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Number of events of a run.
const EVENTS: u64 = 40;

/// Number of threads.
const THREADS: u64 = 3;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("expected a file")?);
    let prefix = arguments.next().ok_or("expected a prefix of names")?;
    let prefix = prefix.to_string_lossy();
    let limits = FileLimits {
        bytes: 64 << 20,
        threads: FileLimits::THREADS,
        shares: 1,
        age: Duration::from_secs(3600),
    };
    let store = FileStore::open(&path, limits)?;
    let mut out = std::io::stdout();
    let keep = Duration::from_secs(60);
    for run in 0_u64.. {
        let name = format!("{prefix}-{run}");
        let id = format!("t{}", run % THREADS);
        let thread = ThreadName { user: "u".into(), agent: "a".into(), id };
        let input = wire::decode(r#"{"threadId":"t","runId":"r","messages":[]}"#)?;
        let record = RunRecord {
            thread: thread.text(),
            owner: String::new(),
            fingerprint: 0,
            input,
            cancel: None,
        };
        store.begin_run(&name, &record).await?;
        for number in 1..=EVENTS {
            let frames = vec![Bytes::from(format!("{name}:{number}"))];
            let has_ended = number == EVENTS;
            let part = LogPart { base: None, after: number - 1, frames, has_ended };
            store.append(&name, &part, keep).await?;
            writeln!(out, "{name} {number}")?;
            out.flush()?;
        }
    }
    Ok(())
}
