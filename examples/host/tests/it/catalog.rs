//! The catalogue with fake search paths and documents of the registry.

mod download;
mod installing;
mod launching;
mod registry;
mod table;

use host::catalog::Programs;
use std::fs;
use tempfile::TempDir;

/// A search path with these programs, which do nothing. The folder ends with the first value.
fn with_programs(names: &[&str]) -> (TempDir, Programs) {
    let folder = TempDir::new().unwrap();
    for name in names {
        let name = if cfg!(windows) { format!("{name}.cmd") } else { (*name).to_owned() };
        let path = folder.path().join(name);
        fs::write(&path, "#!/bin/sh\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    let programs = Programs::in_path(folder.path());
    (folder, programs)
}
