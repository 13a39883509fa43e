//! Hostile archives, and the law of unpacking.
use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An entry: its type, its path, and its content or target.
type Entry<'a> = (EntryType, &'a str, &'a str);

fn tar_gz(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (kind, path, text) in entries {
        let mut header = tar::Header::new_gnu();
        // The setters refuse paths that lead out.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        let is_file = *kind == EntryType::Regular;
        if !is_file {
            header.as_old_mut().linkname[..text.len()].copy_from_slice(text.as_bytes());
        }
        let content = if is_file { text.as_bytes() } else { b"" };
        header.set_size(content.len() as u64);
        header.set_cksum();
        tar.append(&header, content).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

fn zipped(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for (kind, path, text) in entries {
        match kind {
            // The writer refuses a path that it has.
            EntryType::Symlink => drop(zip.add_symlink(*path, *text, options)),
            EntryType::Directory => drop(zip.add_directory(*path, options)),
            _ => {
                if zip.start_file(*path, options).is_ok() {
                    zip.write_all(text.as_bytes()).unwrap();
                }
            }
        }
    }
    zip.finish().unwrap().into_inner()
}

/// Unpacks an archive with a program `bin/agent` below a folder.
fn unpacked(archive: &[u8], folder: &Path, limits: &ArchiveLimits) -> Result<(), ArchiveError> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(archive).unwrap();
    let root = folder.join("root");
    fs::create_dir(&root).unwrap();
    unpack(file, Path::new("bin/agent"), &root, limits)
}

const PROGRAM: Entry<'static> = (EntryType::Regular, "bin/agent", "#!/bin/sh\n");

#[test]
fn hostile_archives_are_refused() {
    use EntryType::{Block, Char, Directory, Fifo, Link, Regular, Symlink};
    for (entry, why) in [
        ((Regular, "../evil", "x"), "the path leads out"),
        ((Regular, "a/../../evil", "x"), "the path leads out"),
        ((Regular, "/tmp/evil", "x"), "the path leads out"),
        ((Directory, "../evil/", ""), "the path leads out"),
        ((Regular, "bin/agent", "x"), "not the only one"),
        ((Symlink, "bin/agent", "x"), "not the only one"),
        ((Symlink, "a", "/etc"), "may lead out"),
        ((Symlink, "a", ".."), "may lead out"),
        ((Symlink, "a/b", "../../x"), "may lead out"),
        ((Symlink, "a/b", "c/../../.."), "may lead out"),
        ((Symlink, "../a", "b"), "the path leads out"),
        ((Symlink, "a", ""), ""),
        ((Link, "a", "bin/agent"), "expected a file"),
        ((Fifo, "a", ""), "expected a file"),
        ((Block, "a", ""), "expected a file"),
        ((Char, "a", ""), "expected a file"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let error = unpacked(&tar_gz(&[PROGRAM, entry]), folder.path(), &ArchiveLimits::default());
        let error = error.unwrap_err().to_string();
        assert!(error.contains(why), "{entry:?}: {error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{entry:?}");
        if matches!(entry.0, Regular | Symlink) && !entry.1.starts_with("bin") {
            let folder = tempfile::tempdir().unwrap();
            let error =
                unpacked(&zipped(&[PROGRAM, entry]), folder.path(), &ArchiveLimits::default());
            assert!(error.is_err(), "{entry:?}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{entry:?}");
        }
    }
}

#[test]
fn link_below_a_link_is_refused() {
    let links = [
        PROGRAM,
        (EntryType::Regular, "s/x", ""),
        (EntryType::Symlink, "p/q/x", "../../s"),
        (EntryType::Symlink, "p/q/x/y", "../../../../outside"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let error = unpacked(&tar_gz(&links), folder.path(), &ArchiveLimits::default()).unwrap_err();
    assert!(error.to_string().contains("a link"), "{error}");
    // A file does not follow a link either.
    let through = [PROGRAM, (EntryType::Symlink, "d", "bin"), (EntryType::Regular, "d/other", "x")];
    let folder = tempfile::tempdir().unwrap();
    let error = unpacked(&tar_gz(&through), folder.path(), &ArchiveLimits::default()).unwrap_err();
    assert!(error.to_string().contains("not the only one"), "{error}");
    assert!(!folder.path().join("root/bin/other").exists());
}

#[test]
fn bombs_are_refused() {
    let zeros = "\0".repeat(1 << 20);
    let bomb = [PROGRAM, (EntryType::Regular, "zeros", &zeros)];
    let limits = ArchiveLimits { bytes: 1 << 19, ..ArchiveLimits::default() };
    for archive in [tar_gz(&bomb), zipped(&bomb)] {
        assert!(archive.len() < 1 << 15, "the archive is small");
        let folder = tempfile::tempdir().unwrap();
        let error = unpacked(&archive, folder.path(), &limits).unwrap_err();
        assert!(matches!(error, ArchiveError::Bytes(_)), "{error}");
    }
    let names: Vec<_> = (0..20).map(|number| format!("f{number}")).collect();
    let many: Vec<_> = names.iter().map(|name| (EntryType::Regular, name.as_str(), "")).collect();
    let limits = ArchiveLimits { entries: 10, ..ArchiveLimits::default() };
    for archive in [tar_gz(&many), zipped(&many)] {
        let folder = tempfile::tempdir().unwrap();
        let error = unpacked(&archive, folder.path(), &limits).unwrap_err();
        assert!(matches!(error, ArchiveError::Entries(10)), "{error}");
    }
}

#[test]
fn other_files_are_explained() {
    for (content, why) in [
        (&b"BZh91AY"[..], "got a bzip2 file"),
        (b"\xfd7zXZ\0", "got an xz file"),
        (b"<!DOCTYPE html>", "got another file"),
        (b"", "got another file"),
        (b"\x1f\x8bgarbage", "cannot unpack"),
        (b"PK\x03\x04garbage", "cannot unpack"),
        (&tar_gz(&[(EntryType::Regular, "other", "x")]), "has no program \"bin/agent\""),
        (&tar_gz(&[(EntryType::Directory, "bin/agent", "")]), "has no program \"bin/agent\""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let error =
            unpacked(content, folder.path(), &ArchiveLimits::default()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

fn path() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec!["a", "b", "c", "..", ".", "", "bin"]);
    prop::collection::vec(part, 1..5).prop_map(|parts| parts.join("/"))
}

fn kind() -> impl Strategy<Value = EntryType> {
    prop::sample::select(vec![EntryType::Regular, EntryType::Directory, EntryType::Symlink])
}

/// Returns all paths below a folder, without following links.
#[cfg(unix)]
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_symlink() && path.is_dir() {
            found.extend(walk(&path));
        }
        found.push(path);
    }
    found
}

#[cfg(unix)]
proptest! {
    /// Nothing is written outside of the folder, and no link leads out, for any entries in any
    /// order.
    #[test]
    fn unpacked_archive_stays_in_its_folder(
        entries in prop::collection::vec((kind(), path(), path()), 0..8),
        is_zip in any::<bool>(),
    ) {
        let mut all = vec![PROGRAM];
        all.extend(entries.iter().map(|(kind, path, text)| (*kind, path.as_str(), text.as_str())));
        let archive = if is_zip { zipped(&all) } else { tar_gz(&all) };
        let folder = tempfile::tempdir().unwrap();
        let done = unpacked(&archive, folder.path(), &ArchiveLimits::default());
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        if done.is_ok() {
            let root = folder.path().join("root").canonicalize().unwrap();
            for path in walk(&root) {
                // A link may lead to a path that does not exist.
                if let Ok(place) = path.canonicalize() {
                    prop_assert!(place.starts_with(&root), "{:?} leads to {:?}", path, place);
                }
            }
        }
    }
}
