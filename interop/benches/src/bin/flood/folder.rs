//! A temporary folder.
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that is removed when dropped.
pub struct Folder(PathBuf);

static CREATED: AtomicUsize = AtomicUsize::new(0);

impl Folder {
    pub fn new() -> Self {
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("flood-{}-{number}", std::process::id()));
        fs::create_dir(&path).expect("a new folder");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _missing = fs::remove_dir_all(&self.0);
    }
}
