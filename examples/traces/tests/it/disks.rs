//! Transcripts on slow or full disks.

use crate::proxy::{End, Proxy};
use crate::recording::{place, recorded_by};
use jsonrpc_core::transcript::Entry;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::thread;

/// Passes `lines` through in both directions.
fn echo(mut proxy: Proxy, lines: Vec<u8>) -> End {
    let mut stdin = proxy.child.stdin.take().unwrap();
    let given = lines.clone();
    let writer = thread::spawn(move || stdin.write_all(&given));
    let end = proxy.wait();
    writer.join().unwrap().unwrap();
    assert!(end.stdout == lines);
    assert_eq!(end.status, Some(0));
    end
}

#[test]
fn blocked_disk_does_not_affect_the_session() {
    let (_folder, path) = place();
    mkfifo(&path, Mode::S_IRWXU).unwrap();
    // The pipe has a reader that never reads.
    let _unread = File::options().read(true).write(true).open(&path).unwrap();
    let end = echo(recorded_by(&path, &["echo"]), b"{\"a\":\"message\"}\n".repeat(100_000));
    let told = end.stderr.lines().find(|line| line.contains("messages are missing in")).unwrap();
    assert!(
        told.starts_with("acp-traces: ") && told.ends_with("it is written too slowly"),
        "{told}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_does_not_affect_the_session() {
    let end = echo(recorded_by(Path::new("/dev/full"), &["echo"]), b"{}\n".repeat(10));
    let told = "acp-traces: 20 of 20 messages are missing in /dev/full: No space left on device";
    assert!(end.stderr.starts_with(told), "{}", end.stderr);
}

/// The session continues until everything is analyzed, so the test does not depend on timing.
#[test]
fn message_over_the_limit_is_counted() {
    let (_folder, path) = place();
    mkfifo(&path, Mode::S_IRWXU).unwrap();
    let transcript = path.clone();
    let recorded = thread::spawn(move || {
        let lines = BufReader::new(File::open(transcript).unwrap()).lines().take(2);
        lines.map(|line| Entry::from_line(&line.unwrap()).unwrap().bytes.into_owned()).collect()
    });
    let mut proxy = recorded_by(&path, &["echo"]);
    let mut stdin = proxy.child.stdin.take().unwrap();
    let mut lines = vec![b'x'; 17 << 20];
    lines.extend_from_slice(b"\n{}\n");
    let writer = thread::spawn(move || {
        stdin.write_all(&lines).unwrap();
        let seen: Vec<Vec<u8>> = recorded.join().unwrap();
        assert_eq!(seen, [b"{}", b"{}"]);
    });
    let end = proxy.wait();
    writer.join().unwrap();
    assert_eq!(end.status, Some(0));
    assert_eq!(end.stdout.len(), (17 << 20) + 4);
    let told = "acp-traces: 2 messages over 16777216 bytes were not analyzed\n";
    assert_eq!(end.stderr, told);
}
