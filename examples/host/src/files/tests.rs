//! Paths in and out of a root, and pieces of files.
use super::*;
use acp_types::v1::file_system::WriteTextFileRequestMembers;
use proptest::prelude::*;

fn read(root: &Root, path: impl AsRef<Path>) -> Result<String, ErrorObject> {
    let request = ReadTextFileRequest::new("s", path.as_ref().to_str().unwrap());
    Ok(root.read(&request)?.content)
}

fn write(root: &Root, path: impl AsRef<Path>) -> Result<(), ErrorObject> {
    let path = path.as_ref().to_str().unwrap().into();
    let content = "new".into();
    root.write(&WriteTextFileRequestMembers { session_id: "s".into(), path, content }.into())?;
    Ok(())
}

#[test]
fn a_file_below_the_root_is_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::open(folder.path()).unwrap();
    let path = folder.path().join("a/b/c.txt");
    let missing = read(&root, &path).unwrap_err();
    assert_eq!(missing.code, RESOURCE_NOT_FOUND);
    let uri = path.to_str().unwrap();
    assert_eq!(missing.data.unwrap().decode::<serde_json::Value>().unwrap(), json!({ "uri": uri }));
    write(&root, &path).unwrap();
    assert_eq!(read(&root, &path).unwrap(), "new");
    std::fs::write(&path, "a text that is longer").unwrap();
    write(&root, &path).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    // A detour within the root does not leave it.
    assert_eq!(read(&root, folder.path().join("a/../a/b/./c.txt")).unwrap(), "new");
    assert_eq!(read(&root, folder.path().join("a")).unwrap_err().code, ErrorCode::INVALID_PARAMS);
    assert!(write(&root, folder.path()).is_err());
}

#[cfg(unix)]
#[test]
fn written_file_is_replaced_and_keeps_its_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let root = Root::open(folder.path()).unwrap();
    let [path, other, link] = ["file", "other", "link"].map(|name| folder.path().join(name));
    std::fs::write(&path, "old").unwrap();
    // The usual mask of new files has a bit of it.
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o770)).unwrap();
    std::fs::hard_link(&path, &other).unwrap();
    symlink("file", &link).unwrap();
    write(&root, &link).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "old", "the file was not truncated");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o770);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary file is left");
}

/// The existing file is unchanged until the temporary one has its name.
#[cfg(unix)]
#[test]
fn temporary_file_has_the_mode_from_the_start() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let root = Root::open(folder.path()).unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "old").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o6700)).unwrap();
    let (_, permissions) = root.target(path.to_str().unwrap()).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let empty = root.create(Path::new("empty"), permissions.as_ref()).unwrap();
    assert_eq!(mode(&folder.path().join("empty")) & 0o777, 0o700, "before it has a content");
    drop(empty);
    // A directory cannot be replaced, which leaves the temporary file as it was created.
    std::fs::create_dir(folder.path().join("directory")).unwrap();
    let temporary = Path::new(".temporary");
    let target = Path::new("directory");
    assert!(root.replace(temporary, target, permissions, b"new").is_err());
    assert_eq!(mode(&folder.path().join(temporary)), 0o700);
    write(&root, &path).unwrap();
    assert_eq!(mode(&path), 0o700, "the bits for the user and the group are removed");
}

#[cfg(unix)]
#[test]
fn failed_write_leaves_no_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::open(folder.path()).unwrap();
    std::fs::create_dir(folder.path().join("directory")).unwrap();
    let temporary = Path::new(".temporary");
    let target = Path::new("directory");
    assert!(root.replace(temporary, target, None, b"new").is_err());
    assert!(write(&root, folder.path().join("directory")).is_err());
    // `write` removes it; `replace` alone leaves it.
    std::fs::remove_file(folder.path().join(temporary)).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn no_path_leads_out_of_the_root() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("root");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(folder.path().join("beside"), "secret").unwrap();
    std::fs::create_dir(folder.path().join("root-of-another")).unwrap();
    std::fs::write(folder.path().join("root-of-another/file"), "secret").unwrap();
    symlink(&secret, inside.join("link")).unwrap();
    symlink(outside.path(), inside.join("directory")).unwrap();
    symlink("../beside", inside.join("relative")).unwrap();
    symlink("link", inside.join("twice")).unwrap();
    symlink(outside.path().join("not-yet"), inside.join("dangling")).unwrap();
    std::fs::write(inside.join("own"), "own").unwrap();
    symlink("own", inside.join("harmless")).unwrap();
    let root = Root::open(&inside).unwrap();
    let name = inside.to_str().unwrap();
    let ways = [
        secret.to_str().unwrap().to_owned(),
        "own".to_owned(),
        String::new(),
        format!("{name}/../beside"),
        format!("{name}/./../beside"),
        format!("{name}/own/../../beside"),
        format!("{name}-of-another/file"),
        format!("{name}/link"),
        format!("{name}/twice"),
        format!("{name}/directory/secret"),
        format!("{name}/relative"),
        format!("{name}/dangling"),
        format!("{name}/{}", secret.display()),
        format!("{name}/own\0"),
        "/proc/self/root/etc/hostname".to_owned(),
    ];
    for way in ways {
        let read = read(&root, &way).unwrap_err();
        let written = write(&root, &way).map_err(|error| error.code);
        // `root//tmp/secret` is a path below the root, which does not exist yet.
        if way.contains("//") {
            assert_eq!(read.code, RESOURCE_NOT_FOUND, "{way}");
            assert_eq!(written, Ok(()), "{way}");
        } else {
            assert!(written.is_err(), "{way}");
        }
        assert!(!read.message.contains("secret\n"), "{way}");
        assert!(root.directory(Some(&way)).is_err(), "{way}");
    }
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret");
    assert_eq!(std::fs::read_to_string(folder.path().join("beside")).unwrap(), "secret");
    assert!(!outside.path().join("not-yet").exists());
    assert_eq!(read(&root, inside.join("harmless")).unwrap(), "own");
}

#[cfg(unix)]
#[test]
fn a_link_that_is_exchanged_all_the_time_leads_nowhere() {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("file"), "secret").unwrap();
    let inside = tempfile::tempdir().unwrap();
    let root = Root::open(inside.path()).unwrap();
    let own = inside.path().join("own");
    let way = inside.path().join("way");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("file"), "own").unwrap();
    symlink(&own, &way).unwrap();
    let done = AtomicBool::new(false);
    let mut seen = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let next = inside.path().join("next");
            while !done.load(Ordering::Relaxed) {
                for target in [&own, &outside.path().to_owned()] {
                    symlink(target, &next).unwrap();
                    std::fs::rename(&next, &way).unwrap();
                }
            }
        });
        for _ in 0..500 {
            seen.extend(read(&root, way.join("file")).ok());
            let _refused = write(&root, way.join("file"));
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(!seen.contains(&"secret".to_owned()));
    assert_eq!(std::fs::read_to_string(outside.path().join("file")).unwrap(), "secret");
}

#[cfg(unix)]
#[test]
fn what_is_no_file_keeps_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::open(folder.path()).unwrap();
    let pipe = folder.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(read(&root, &pipe).unwrap_err().message.contains("not a file"));
    write(&root, &pipe).unwrap_err();
}

#[test]
fn what_is_too_large_or_no_text_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::open(folder.path()).unwrap();
    let path = folder.path().join("large");
    std::fs::File::create(&path).unwrap().set_len(MAX_FILE + 1).unwrap();
    assert!(read(&root, &path).unwrap_err().message.contains("more than"));
    let path = folder.path().join("bytes");
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(read(&root, &path).unwrap_err().message.contains("not UTF-8"));
}

#[test]
fn lines_are_counted_from_one() {
    let table = [
        (None, None, "a\nb\r\nc"),
        (Some(1), Some(1), "a\n"),
        (Some(0), Some(1), "a\n"),
        (Some(2), None, "b\r\nc"),
        (Some(2), Some(1), "b\r\n"),
        (Some(3), Some(9), "c"),
        (Some(4), None, ""),
        (None, Some(0), ""),
        (Some(u32::MAX), Some(u32::MAX), ""),
    ];
    for (line, limit, expected) in table {
        assert_eq!(lines("a\nb\r\nc".to_owned(), line, limit), expected, "{line:?} {limit:?}");
    }
}

proptest! {
    /// A file read in pieces of so many lines is the file.
    #[test]
    fn pieces_make_the_whole(text in "([a-z\u{e9}\n\r]{0,4}){0,12}", size in 1..5_u32) {
        let count = u32::try_from(text.lines().count()).unwrap() + 1;
        let pieces = (0..=count / size).map(|piece| {
            lines(text.clone(), Some(piece * size + 1), Some(size))
        });
        prop_assert_eq!(pieces.collect::<String>(), text);
    }
}
