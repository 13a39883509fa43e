//! The standard error of an agent: passed on to that of this program, with its end for the reason
//! of a failure.
use core::mem;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::ChildStderr;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Maximum number of bytes of a line that is passed on at once.
const MAX_LINE: u64 = 64 * 1024;

/// Maximum number of lines that wait to be written. Then the agent's pipe is not read.
const MAX_WAITING: usize = 16;

/// Maximum number of lines that are kept.
const MAX_LINES: usize = 12;

/// Maximum number of bytes of a line that is kept.
const MAX_KEPT: usize = 1024;

/// Time for the last lines of an agent that has ended. Processes that it has left may hold the pipe
/// open.
const REST: Duration = Duration::from_millis(500);

/// The task that passes lines on, and the last lines.
#[derive(Debug)]
pub(crate) struct Errors {
    lines: Arc<Mutex<VecDeque<String>>>,
    task: JoinHandle<()>,
}

impl Errors {
    /// Passes lines on until the end of the pipe, also when this value is dropped.
    ///
    /// # Errors
    /// The system starts no thread.
    pub(crate) fn follow(stderr: ChildStderr) -> io::Result<Self> {
        let lines = Arc::<Mutex<VecDeque<String>>>::default();
        let kept = lines.clone();
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        let (done, written) = oneshot::channel();
        // A write may block for any time.
        thread::Builder::new().spawn(move || {
            write(receiver);
            let _gone = done.send(());
        })?;
        let task = tokio::spawn(async move {
            let mut stderr = BufReader::new(stderr);
            let mut line = Vec::new();
            while let Ok(1..) = (&mut stderr).take(MAX_LINE).read_until(b'\n', &mut line).await {
                let head = line.get(..MAX_KEPT).unwrap_or(&line);
                let head = String::from_utf8_lossy(head).trim_end().to_owned();
                {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    if kept.len() == MAX_LINES {
                        kept.pop_front();
                    }
                    kept.push_back(head);
                }
                // Without the thread the line is lost, as the agent's own would be.
                let _lost = sender.send(mem::take(&mut line)).await;
            }
            drop(sender);
            let _written = written.await;
        });
        Ok(Self { lines, task })
    }

    /// Returns the last lines of an agent that has ended.
    pub(crate) async fn last(mut self) -> Vec<String> {
        let _open = timeout(REST, &mut self.task).await;
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }
}

fn write(mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.blocking_recv() {
        if io::stderr().write_all(&line).is_err() {
            return;
        }
    }
}
