//! Agents behind a proxy.
use crate::corpus;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;

/// Standard output without a buffer: each write is one system call.
pub fn stdout() -> File {
    File::from(io::stdout().as_fd().try_clone_to_owned().expect("standard output"))
}

pub fn stdin() -> File {
    File::from(io::stdin().as_fd().try_clone_to_owned().expect("standard input"))
}

/// Starts `flood`. It is a message, for proxies that forward only messages.
pub const GO: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"_go\"}\n";

/// Returns a line of this number of bytes, including its end.
pub fn line(length: usize) -> Vec<u8> {
    let start = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#;
    let end = "\"}}}}\n";
    let text = "x".repeat(length.saturating_sub(start.len() + end.len()));
    format!("{start}{text}{end}").into_bytes()
}

/// Announces the number of bytes, waits for a line, and repeats the lines of a case: each in a
/// write of its own, or in writes of `size` bytes. Then it waits for the end of its input.
pub fn flood(case: &str, size: usize, bytes: usize) {
    let lines: Vec<_> = corpus::lines(case).iter().map(|line| format!("{line}\n")).collect();
    let stream = lines.concat();
    let rounds = bytes.div_ceil(stream.len());
    let total = rounds * stream.len();
    let mut stdout = stdout();
    // A message, for relays that forward only messages.
    writeln!(stdout, r#"{{"jsonrpc":"2.0","method":"_total","params":{{"total":{total}}}}}"#)
        .expect("a reader");
    let mut stdin = BufReader::new(stdin());
    stdin.read_line(&mut String::new()).expect("a word");
    // A proxy that has ended is already measured.
    if size == 0 {
        for _ in 0..rounds {
            if lines.iter().try_for_each(|line| stdout.write_all(line.as_bytes())).is_err() {
                return;
            }
        }
    } else {
        let stream = stream.repeat(size.div_ceil(stream.len()) * 8);
        for start in (0..total).step_by(stream.len()) {
            let some = &stream.as_bytes()[..stream.len().min(total - start)];
            if some.chunks(size).try_for_each(|chunk| stdout.write_all(chunk)).is_err() {
                return;
            }
        }
    }
    let _ = stdin.read_to_end(&mut Vec::new());
}

/// Returns each complete line.
pub fn echo() {
    let mut stdin = stdin();
    let mut stdout = stdout();
    let mut buffer = vec![0; 1 << 16];
    let mut line = Vec::new();
    loop {
        let length = stdin.read(&mut buffer).expect("a line");
        let Some(read) = buffer.get(..length).filter(|read| !read.is_empty()) else { return };
        line.extend_from_slice(read);
        if line.ends_with(b"\n") {
            if stdout.write_all(&line).is_err() {
                return;
            }
            line.clear();
        }
    }
}
