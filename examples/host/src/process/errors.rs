//! Standard error of a command, passed on within a limit.
//!
//! It is read at any time. Neither a flood nor a reader of this program's standard error that
//! stands still stops the command, and the memory is bounded.
use std::io::{self, Write};
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::ChildStderr;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

/// Maximum number of bytes in [`WINDOW`].
const LIMIT: usize = 256 * 1024;

/// Period of [`LIMIT`].
const WINDOW: Duration = Duration::from_secs(10);

/// Size of a read.
const READ_SIZE: usize = 4096;

/// Time that the reader of this program's standard error has for the rest.
const WRITE_TIME: Duration = Duration::from_secs(5);

/// Maximum number of reads that wait to be written.
const MAX_WAITING: usize = 64;

/// A task that reads, and a thread that writes.
pub(super) struct ErrorRelay {
    reading: JoinHandle<()>,
    /// Ends the reading.
    stop: oneshot::Sender<()>,
    written: oneshot::Receiver<()>,
}

impl ErrorRelay {
    /// Passes on what is written to `errors`. `name` is the program's own, for its messages.
    ///
    /// # Errors
    /// The system starts no thread.
    pub(super) fn begin(errors: ChildStderr, name: &str) -> io::Result<Self> {
        let (sender, receiver) = channel(MAX_WAITING);
        let (done, written) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        // A write may block for any time.
        thread::Builder::new().spawn(move || {
            write(receiver);
            let _gone = done.send(());
        })?;
        let output = LimitedOutput::new(sender, name.to_owned());
        Ok(Self { reading: tokio::spawn(output.read(errors, stopped)), stop, written })
    }

    /// Passes on the rest, as far as it comes within `time`. Another process may hold the pipe
    /// open.
    pub(super) async fn end(self, time: Duration) {
        let Self { mut reading, stop, written } = self;
        let rest = async {
            if timeout(time, &mut reading).await.is_err() {
                let _ended = stop.send(());
                let _reported = reading.await;
            }
            let _written = written.await;
        };
        let _late = timeout(time + WRITE_TIME, rest).await;
    }
}

fn write(mut receiver: Receiver<Vec<u8>>) {
    let mut output = io::stderr();
    while let Some(bytes) = receiver.blocking_recv() {
        if output.write_all(&bytes).is_err() {
            return;
        }
    }
}

/// The output within its limit.
struct LimitedOutput {
    sender: Sender<Vec<u8>>,
    name: String,
    began: Instant,
    /// Bytes that were passed on in this window.
    passed: usize,
    /// Bytes that were not, and are not reported yet.
    left_out: usize,
    /// Whether the last byte ends a line.
    is_at_start: bool,
}

impl LimitedOutput {
    fn new(sender: Sender<Vec<u8>>, name: String) -> Self {
        Self { sender, name, began: Instant::now(), passed: 0, left_out: 0, is_at_start: true }
    }

    async fn read(mut self, mut errors: impl AsyncRead + Unpin, mut stop: oneshot::Receiver<()>) {
        let mut buffer = [0; READ_SIZE];
        loop {
            tokio::select! {
                read = errors.read(&mut buffer) => match read {
                    Ok(length @ 1..) => self.pass(buffer.get(..length).unwrap_or_default()),
                    Ok(0) | Err(_) => break,
                },
                () = sleep_until(self.began + WINDOW), if self.left_out > 0 => self.begin_window(),
                _ = &mut stop => break,
            }
        }
        if self.left_out > 0 {
            // There is no later report: this one waits for room.
            let _closed = self.sender.send(self.line()).await;
        }
    }

    fn pass(&mut self, bytes: &[u8]) {
        if self.began.elapsed() >= WINDOW {
            self.begin_window();
        }
        let fits = self.passed + bytes.len() <= LIMIT;
        if fits && self.sender.try_send(bytes.to_vec()).is_ok() {
            self.passed += bytes.len();
            self.is_at_start = bytes.ends_with(b"\n");
        } else {
            self.left_out = self.left_out.saturating_add(bytes.len());
        }
    }

    fn begin_window(&mut self) {
        self.report();
        self.began = Instant::now();
        self.passed = 0;
    }

    fn report(&mut self) {
        if self.left_out > 0 && self.sender.try_send(self.line()).is_ok() {
            self.left_out = 0;
            self.is_at_start = true;
        }
    }

    /// The report of what was left out.
    fn line(&self) -> Vec<u8> {
        let start = if self.is_at_start { "" } else { "\n" };
        let name = &self.name;
        let count = self.left_out;
        format!(
            "{start}{name}: {count} further bytes of the agent's standard error were left out\n"
        )
        .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    fn said(receiver: &mut Receiver<Vec<u8>>) -> String {
        let mut bytes = Vec::new();
        while let Ok(part) = receiver.try_recv() {
            bytes.extend(part);
        }
        String::from_utf8(bytes).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn output_has_a_limit_for_each_window() {
        let (sender, mut receiver) = channel(MAX_WAITING * 2);
        let mut output = LimitedOutput::new(sender, "program".to_owned());
        for _ in 0..3 {
            for _ in 0..LIMIT / READ_SIZE + 10 {
                output.pass(&[b'x'; READ_SIZE]);
            }
            assert_eq!(said(&mut receiver).len(), LIMIT);
            tokio::time::advance(WINDOW).await;
            output.pass(b"next\n");
            let left_out = 10 * READ_SIZE;
            let report = format!(
                "\nprogram: {left_out} further bytes of the agent's standard error were left out\nnext\n"
            );
            assert_eq!(said(&mut receiver), report);
            tokio::time::advance(WINDOW).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn output_that_nothing_reads_is_left_out() {
        let (sender, mut receiver) = channel(1);
        let mut output = LimitedOutput::new(sender, "program".to_owned());
        for _ in 0..3 {
            output.pass(b"line\n");
        }
        output.report();
        assert_eq!(output.left_out, 10);
        assert_eq!(said(&mut receiver), "line\n");
        output.report();
        let report = "program: 10 further bytes of the agent's standard error were left out\n";
        assert_eq!(output.left_out, 0);
        assert_eq!(said(&mut receiver), report);
        drop(receiver);
        output.pass(b"line\n");
        assert_eq!(output.left_out, 5);
    }

    #[tokio::test]
    async fn end_waits_for_room_for_the_report() {
        let (sender, mut receiver) = channel(1);
        let (mut program, errors) = tokio::io::duplex(READ_SIZE);
        let (stop, stopped) = oneshot::channel();
        let output = LimitedOutput::new(sender, "program".to_owned());
        let reading = tokio::spawn(output.read(errors, stopped));
        for _ in 0..4 {
            program.write_all(&[b'\n'; READ_SIZE]).await.unwrap();
        }
        // The pipe stays open, as it does while another process has it.
        stop.send(()).unwrap();
        let mut parts = Vec::new();
        while let Some(part) = receiver.recv().await {
            parts.push(String::from_utf8(part).unwrap());
        }
        reading.await.unwrap();
        let report = parts.pop().unwrap();
        assert!(report.starts_with("program: "), "{report}");
        assert!(report.ends_with(" of the agent's standard error were left out\n"), "{report}");
    }
}
