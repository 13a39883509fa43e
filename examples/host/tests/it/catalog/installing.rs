//! Programs of a registry, from a server on loopback.
use crate::catalog::download::server;
use flate2::Compression;
use flate2::write::GzEncoder;
use host::catalog::{ArchiveLimits, Catalog, InstallError, Installation, Programs};
use sha2::{Digest, Sha256};
use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A tar.gz with a program that prints a text.
fn archive(text: &str) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let program = format!("#!/bin/sh\necho {text} \"$@\"\n");
    let mut header = tar::Header::new_gnu();
    header.set_size(program.len() as u64);
    header.set_mode(0o644);
    tar.append_data(&mut header, "dist/one-acp", program.as_bytes()).unwrap();
    tar.into_inner().unwrap().finish().unwrap()
}

/// A catalogue with an agent that has an archive at an address.
fn catalog(address: &str, sha256: &str) -> Catalog {
    let os = if OS == "macos" { "darwin" } else { OS };
    let text = format!(
        r#"{{"version":"1","agents":[{{"id":"new-one","name":"New one","version":"1.2.3","description":"x",
            "distribution":{{"binary":{{"{os}-{ARCH}":{{"archive":"{address}","cmd":"./dist/one-acp","args":["--acp"]{sha256}}}}}}}}}]}}"#
    );
    Catalog::known().unwrap().with_registry(&text).unwrap()
}

fn install(catalog: &Catalog, folder: &Path) -> Result<std::path::PathBuf, InstallError> {
    Installation::new(catalog.agent("new-one").unwrap(), folder)?.run(&ArchiveLimits::default())
}

fn launched(catalog: &Catalog, folder: &Path) -> Result<Vec<String>, String> {
    let programs = Programs::in_path("/nonexistent").with_agents(folder);
    catalog.launch("new-one", &programs).map(|it| it.words).map_err(|error| error.to_string())
}

#[test]
fn archive_is_installed_and_its_program_is_run() {
    let folder = TempDir::new().unwrap();
    let server = server("200 OK", "", archive("first"));
    let catalog = catalog(&server.address, "");
    assert_eq!(
        launched(&catalog, folder.path()).unwrap_err(),
        "New one is not installed: run `gateway agents install new-one`"
    );
    let shown = Installation::new(catalog.agent("new-one").unwrap(), folder.path()).unwrap();
    let shown = shown.to_string();
    for part in ["New one 1.2.3", &server.address, "1 KiB", "not checked", "new-one", "one-acp"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is installed yet");
    let program = install(&catalog, folder.path()).unwrap();
    assert!(program.starts_with(folder.path().join("new-one")));
    let words = launched(&catalog, folder.path()).unwrap();
    assert_eq!(words, [program.to_str().unwrap(), "--acp"]);
    if cfg!(unix) {
        let output = Command::new(&words[0]).args(&words[1..]).output().unwrap();
        assert_eq!(output.stdout, b"first --acp\n");
    }
    // A program on the path has precedence.
    let (_path, programs) = crate::catalog::with_programs(&["one-acp"]);
    let launch = catalog.launch("new-one", &programs.with_agents(folder.path())).unwrap();
    assert_eq!(launch.words, ["one-acp", "--acp"]);
}

#[test]
fn newer_installation_replaces_older_one_only_if_it_succeeds() {
    let folder = TempDir::new().unwrap();
    let program = |text: &str| {
        let server = server("200 OK", "", archive(text));
        install(&catalog(&server.address, ""), folder.path()).unwrap()
    };
    let first = fs::read_to_string(program("first")).unwrap();
    let second = fs::read_to_string(program("second")).unwrap();
    assert!(first.contains("first") && second.contains("second"));
    let mut damaged = archive("third");
    damaged.truncate(damaged.len() / 2);
    let server = server("200 OK", "", damaged);
    let error = install(&catalog(&server.address, ""), folder.path()).unwrap_err().to_string();
    assert!(error.contains("nothing was installed"), "{error}");
    let kept = fs::read_to_string(folder.path().join("new-one/dist/one-acp")).unwrap();
    assert_eq!(kept, second);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no part is left");
}

#[test]
fn checksum_of_registry_is_checked() {
    let digest: String =
        Sha256::digest(archive("x")).iter().map(|byte| format!("{byte:02X}")).collect();
    for (sum, is_right) in
        [(digest.clone(), true), (format!("sha256:{digest}"), true), ("0".repeat(64), false)]
    {
        let server = server("200 OK", "", archive("x"));
        let folder = TempDir::new().unwrap();
        let catalog = catalog(&server.address, &format!(r#","sha256":"{sum}""#));
        match install(&catalog, folder.path()) {
            Ok(_) => assert!(is_right, "{sum}"),
            Err(error) => {
                assert!(!is_right, "{error}");
                assert!(matches!(error, InstallError::Checksum { .. }), "{error}");
                assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
            }
        }
    }
}

#[test]
fn failing_downloads_install_nothing() {
    for (status, header, body, reason) in [
        ("404 Not Found", "", Vec::new(), "404"),
        ("200 OK", "", vec![b'x'; 2048], "expected at most 1024 bytes"),
        ("200 OK", "", b"<html>".to_vec(), "got another file"),
        ("302 Found", "location: http://archives.example/a.tar.gz\r\n", Vec::new(), "got another"),
    ] {
        let server = server(status, header, body);
        let folder = TempDir::new().unwrap();
        let catalog = catalog(&server.address, "");
        let limits = ArchiveLimits { archive_bytes: 1024, ..ArchiveLimits::default() };
        let plan = Installation::new(catalog.agent("new-one").unwrap(), folder.path());
        let error = plan.and_then(|plan| plan.run(&limits)).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains(&server.address), "{reason}: {error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{reason}");
    }
    let folder = TempDir::new().unwrap();
    for address in ["http://archives.example/a.tar.gz", "ftp://127.0.0.1/a", "file:///a"] {
        let error = install(&catalog(address, ""), folder.path()).unwrap_err().to_string();
        assert!(error.contains("expected an address with https"), "{error}");
    }
    let known = Catalog::known().unwrap();
    let error = Installation::new(known.agent("goose").unwrap(), folder.path()).unwrap_err();
    assert!(error.to_string().starts_with("goose has no archive for this system; install it: "));
}
