//! New files with free names.

use super::{OpenError, Output, open};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maximum number of names that are tried for a new file.
const MAX_NUMBER: u32 = 1000;

/// A new file, which is continued in others at its maximum size.
#[derive(Debug)]
pub(super) struct Parts {
    file: File,
    /// Name of the file.
    path: PathBuf,
    /// Name without a number.
    base: PathBuf,
    size: u64,
    limit: u64,
    /// Whether the last line is incomplete.
    is_in_line: bool,
}

impl Parts {
    /// Creates the file with the first free name.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created, or [`MAX_NUMBER`] names are taken.
    pub(super) fn create(base: &Path, limit: Option<u64>) -> Result<Self, OpenError> {
        let limit = limit.unwrap_or(u64::MAX);
        let (file, path) = create_numbered(base)?;
        let base = base.to_owned();
        Ok(Self { file, path, base, size: 0, limit, is_in_line: false })
    }

    /// Returns the current name.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Creates a file with the first free name of [`numbered`].
fn create_numbered(base: &Path) -> Result<(File, PathBuf), OpenError> {
    let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 1..=MAX_NUMBER {
        let path = numbered(base, number);
        // `create_new` fails for any existing entry, including links.
        match open(&path, File::options().write(true).create_new(true)) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.source.kind() == io::ErrorKind::AlreadyExists => {
                taken = error.source;
            }
            Err(error) => return Err(error),
        }
    }
    Err(OpenError::of(base)(taken))
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.limit.saturating_sub(self.size);
        let fits = bytes.get(..usize::try_from(room).unwrap_or(usize::MAX)).unwrap_or(bytes);
        let line = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let part = if fits.len() == bytes.len() {
            bytes
        } else if let Some(end) = fits.iter().rposition(|byte| *byte == b'\n') {
            bytes.get(..=end).unwrap_or(bytes)
        } else {
            if self.size > 0 && !self.is_in_line {
                let (file, path) = create_numbered(&self.base).map_err(|error| error.source)?;
                self.file = file;
                self.path = path;
                self.size = 0;
            }
            bytes.get(..line).unwrap_or(bytes)
        };
        let written = self.file.write(part)?;
        self.size += written as u64;
        let end = written.checked_sub(1).and_then(|at| part.get(at));
        self.is_in_line = end.map_or(self.is_in_line, |byte| *byte != b'\n');
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Output for Parts {
    fn rename(&mut self, base: &Path) -> Option<PathBuf> {
        for number in 1..=MAX_NUMBER {
            let path = numbered(base, number);
            match fs::hard_link(&self.path, &path) {
                Ok(()) => {
                    // The file has both names if the old one cannot be removed.
                    let _ = fs::remove_file(&self.path);
                    self.path = path.clone();
                    self.base = base.to_owned();
                    return Some(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(_) => return None,
            }
        }
        None
    }
}

/// Returns `session.jsonl` for 1, `session-2.jsonl` for 2.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let Some(stem) = path.file_stem().filter(|_| number > 1) else { return path.to_owned() };
    let mut name = stem.to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Parts contain the lines in order. Each is within the limit, or one line.
        #[test]
        fn parts_contain_complete_lines(
            batches in prop::collection::vec(prop::collection::vec(0_usize..40, 0..8), 0..8),
            limit in 1_u64..100,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file.jsonl");
            let mut parts = Parts::create(&path, Some(limit)).unwrap();
            let mut all = String::new();
            for batch in batches {
                let lines: String = batch.iter().map(|length| "x".repeat(*length) + "\n").collect();
                parts.write_all(lines.as_bytes()).unwrap();
                all.push_str(&lines);
            }
            let read = |number| fs::read_to_string(numbered(&path, number));
            let texts: Vec<_> = (1..=MAX_NUMBER).map_while(|number| read(number).ok()).collect();
            prop_assert_eq!(texts.concat(), all);
            for text in &texts {
                prop_assert!(text.is_empty() || text.ends_with('\n'));
                prop_assert!(text.len() as u64 <= limit || text.matches('\n').count() == 1);
            }
        }
    }
}
