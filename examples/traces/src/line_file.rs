//! A file of lines, written by a dedicated thread so that callers never wait for the disk.

mod parts;

use host::relay::{BatchItems, BatchQueue};
use parts::Parts;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

/// Maximum number of bytes that wait to be written. Further lines are dropped and counted.
pub(crate) const MAX_WAITING_BYTES: usize = 32 << 20;

/// Maximum number of bytes per write.
const MANY_BYTES: usize = 256 << 10;

/// A file of lines with a queue. Clones share the file.
#[derive(Clone, Debug)]
pub(crate) struct LineFile {
    queue: Arc<BatchQueue<WriteQueue>>,
}

#[derive(Debug, Default)]
struct WriteQueue {
    /// Name of the file in messages.
    path: PathBuf,
    /// New name of the file.
    new_path: Option<PathBuf>,
    bytes: Vec<u8>,
    offered: u64,
    written: u64,
    is_closed: bool,
    /// Whether the writer has ended.
    is_done: bool,
    error: Option<io::Error>,
}

impl BatchItems for WriteQueue {
    fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn is_much(&self) -> bool {
        self.bytes.len() >= MANY_BYTES
    }

    fn is_closed(&self) -> bool {
        self.is_closed
    }
}

impl WriteQueue {
    fn offer(&mut self, line: &[u8]) {
        self.offered += 1;
        let fits = self.bytes.len() + line.len() <= MAX_WAITING_BYTES;
        if fits && !self.is_done && !self.is_closed {
            self.bytes.extend_from_slice(line);
        }
    }
}

/// Returns whether two names refer to the same existing file.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// An error opening a file.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to {}: {source}", path.display())]
pub(crate) struct OpenError {
    path: PathBuf,
    source: io::Error,
}

impl LineFile {
    /// Creates a file named `path`. If it exists, a number is appended to the name. Pipes and
    /// devices are opened directly. A regular file that would exceed `limit` bytes is continued in
    /// another one, with the next free number.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created, or too many names are taken.
    pub(crate) fn create_new(path: &Path, limit: Option<u64>) -> Result<Self, OpenError> {
        let is_special = |it: fs::Metadata| !it.is_file() && !it.is_dir() && !it.is_symlink();
        if path.symlink_metadata().is_ok_and(is_special) {
            return Self::append(path);
        }
        let file = Parts::create(path, limit)?;
        let created = file.path().to_owned();
        Self::start(&created, file).map_err(OpenError::of(path))
    }

    /// Returns the name of the file.
    pub(crate) fn path(&self) -> PathBuf {
        self.queue.with(|waiting| waiting.path.clone())
    }

    /// Renames the file, after the lines that are queued. If the name is taken, a number is
    /// appended. The file keeps its name if the file system has no hard links, because other ways
    /// to rename may replace a file.
    pub(crate) fn rename(&self, path: PathBuf) {
        self.queue.with(|waiting| waiting.new_path = Some(path));
    }

    /// Appends to a file. Several processes may append concurrently; lines are not split.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
    pub(crate) fn append(path: &Path) -> Result<Self, OpenError> {
        Self::start(path, append(path)?).map_err(OpenError::of(path))
    }

    /// Starts the writer of `file`. `path` is its name in messages.
    ///
    /// # Errors
    /// Returns an error if no thread can be created.
    fn start(path: &Path, file: impl Output) -> io::Result<Self> {
        let queue = Arc::new(BatchQueue::<WriteQueue>::default());
        queue.with(|waiting| path.clone_into(&mut waiting.path));
        let waiting = Arc::clone(&queue);
        thread::Builder::new().name("file".to_owned()).spawn(move || write_to(file, &waiting))?;
        Ok(Self { queue })
    }

    /// Queues a line, including its line break. If the queue is full, the line is counted as lost.
    pub(crate) fn offer(&self, line: &[u8]) {
        if self.queue.add(|waiting| waiting.offer(line)) {
            self.queue.wake();
        }
    }

    /// Waits for the queue to be written, until `deadline`. Returns a description of lost lines,
    /// which are `what`.
    pub(crate) fn finish(&self, what: &str, deadline: Instant) -> Option<String> {
        self.queue.with(|waiting| waiting.is_closed = true);
        self.queue.wake();
        self.queue.wait_until(
            deadline,
            |waiting| waiting.is_done,
            |waiting| {
                let offered = waiting.offered;
                let lost = waiting.offered - waiting.written;
                let reason = match &waiting.error {
                    Some(error) => error.to_string(),
                    None => "it is written too slowly".to_owned(),
                };
                let path = waiting.path.display();
                (lost > 0)
                    .then(|| format!("{lost} of {offered} {what} are missing in {path}: {reason}"))
            },
        )
    }
}

/// Creates or truncates a file.
///
/// # Errors
/// Returns an error if the file cannot be opened.
pub(crate) fn create(path: &Path) -> Result<File, OpenError> {
    open(path, File::options().write(true).create(true).truncate(true))
}

/// Opens a file for appending.
///
/// # Errors
/// Returns an error if the file cannot be opened.
pub(crate) fn append(path: &Path) -> Result<File, OpenError> {
    open(path, File::options().append(true).create(true))
}

/// Opens a file. A new file is readable only by its owner (mode 600), because it may contain
/// content.
fn open(path: &Path, options: &mut OpenOptions) -> Result<File, OpenError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path).map_err(OpenError::of(path))
}

impl OpenError {
    /// Creates the error for a file that is also used by another option.
    pub(crate) fn in_use(path: &Path) -> Self {
        Self::of(path)(io::Error::other("another option names the same file"))
    }

    pub(crate) fn of(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { path: path.to_owned(), source }
    }
}

/// Writes queued lines until the queue is closed or writing fails.
fn write_to(mut file: impl Output, queue: &BatchQueue<WriteQueue>) {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let new_path = queue.take(|waiting| {
            core::mem::swap(&mut bytes, &mut waiting.bytes);
            waiting.new_path.take()
        });
        // An empty batch means that the queue is closed.
        let is_last = bytes.is_empty();
        let (lines, error) = if is_last { (0, None) } else { write_lines(&mut file, &bytes) };
        let renamed = new_path.and_then(|path| file.rename(&path));
        let is_done = queue.with(|waiting| {
            waiting.path = renamed.unwrap_or(core::mem::take(&mut waiting.path));
            waiting.written += lines;
            waiting.is_done = is_last || error.is_some();
            waiting.error = error.or(waiting.error.take());
            waiting.is_done
        });
        if is_done {
            queue.wake();
            return;
        }
    }
}

/// Destination of a [`LineFile`].
trait Output: Write + Send + 'static {
    /// Renames the file to a free name. Returns the name, or `None` if the file is not renamed.
    fn rename(&mut self, path: &Path) -> Option<PathBuf>;
}

/// Appended to by several processes, which know its name.
impl Output for File {
    fn rename(&mut self, _: &Path) -> Option<PathBuf> {
        None
    }
}

/// Returns the number of complete lines written, and the error that stopped it.
fn write_lines(file: &mut impl Write, bytes: &[u8]) -> (u64, Option<io::Error>) {
    let mut written = 0;
    let error = loop {
        match bytes.get(written..).filter(|rest| !rest.is_empty()).map(|rest| file.write(rest)) {
            None => break file.flush().err(),
            Some(Ok(0)) => break Some(io::ErrorKind::WriteZero.into()),
            Some(Ok(length)) => written += length,
            Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Some(Err(error)) => break Some(error),
        }
    };
    let lines = bytes.iter().take(written).filter(|byte| **byte == b'\n').count();
    (lines as u64, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use std::sync::mpsc::{Receiver, Sender, channel};

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    /// A disk that reports each write, and accepts a given number of bytes.
    struct Disk {
        asked: Sender<Vec<u8>>,
        takes: Receiver<io::Result<usize>>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.asked.send(bytes.to_vec());
            self.takes.recv().unwrap()
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Output for Disk {
        fn rename(&mut self, _: &Path) -> Option<PathBuf> {
            None
        }
    }

    fn on_disk() -> (LineFile, Receiver<Vec<u8>>, Sender<io::Result<usize>>) {
        let ((asked, asks), (take, takes)) = (channel(), channel());
        (LineFile::start(Path::new("file"), Disk { asked, takes }).unwrap(), asks, take)
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_counted() {
        let (file, asks, take) = on_disk();
        file.offer(b"first\n");
        assert_eq!(asks.recv().unwrap(), b"first\n");
        // The writer is busy. Fill the queue and exceed it by one line.
        let half = [vec![b'x'; MAX_WAITING_BYTES / 2 - 1], vec![b'\n']].concat();
        file.offer(&half);
        file.offer(&half);
        file.offer(b"\n");
        take.send(Ok(6)).unwrap();
        assert_eq!(asks.recv().unwrap().len(), MAX_WAITING_BYTES);
        take.send(Ok(MAX_WAITING_BYTES)).unwrap();
        let told = "1 of 4 lines are missing in file: it is written too slowly";
        assert_eq!(file.finish("lines", soon()).as_deref(), Some(told));
    }

    #[test]
    fn a_full_disk_is_told_with_what_is_missing() {
        let (file, asks, take) = on_disk();
        file.offer(b"a\n");
        assert_eq!(asks.recv().unwrap(), b"a\n");
        file.offer(b"b\n");
        file.offer(b"c\n");
        for taken in [Ok(2), Ok(3), Err(io::ErrorKind::StorageFull.into())] {
            take.send(taken).unwrap();
        }
        let told = "1 of 3 lines are missing in file: no storage space";
        assert_eq!(file.finish("lines", soon()).as_deref(), Some(told));
        assert_eq!(asks.try_iter().collect::<Vec<_>>(), [&b"b\nc\n"[..], b"\n"]);
    }

    #[test]
    fn nobody_waits_for_a_disk_that_hangs() {
        let (file, asks, take) = on_disk();
        file.offer(b"a\n");
        asks.recv().unwrap();
        let told = file.finish("lines", Instant::now());
        assert!(told.unwrap().starts_with("1 of 1 lines are missing"));
        take.send(Ok(2)).unwrap();
        assert_eq!(file.finish("lines", soon()), None);
    }
}
