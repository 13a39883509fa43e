//! Documents of the registry at an address, with a server on loopback.
use host::catalog::{Catalog, CatalogError, MAX_DOCUMENT_BYTES};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const AGENT: &str = r#"{"version":"1.0.0","agents":[{"id":"new-one","name":"New one","version":"1.0.0","description":"An agent",
    "distribution":{"npx":{"package":"@new/one@1.0.0"}}}]}"#;

/// A server that answers each request with one response, and counts them.
pub(crate) struct Server {
    pub(crate) address: String,
    requests: Arc<AtomicUsize>,
}

pub(crate) fn server(status: &'static str, header: &'static str, body: Vec<u8>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/registry.json", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let count = requests.clone();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            let mut request = [0; 4096];
            let _ = connection.read(&mut request);
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\n{header}content-length: {length}\r\nconnection: close\r\n\r\n"
            );
            // A client that has enough closes the connection.
            let _ =
                connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(&body));
        }
    });
    Server { address, requests }
}

fn load(address: &str, folder: &TempDir) -> Result<Catalog, CatalogError> {
    Catalog::load_with_copies(Some(Path::new(address)), Some(folder.path()))
}

/// Sets the age of the copy in a folder.
fn age(folder: &TempDir, hours: u64) {
    let copy = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let time = SystemTime::now() - Duration::from_secs(hours * 60 * 60);
    File::options().write(true).open(copy).unwrap().set_modified(time).unwrap();
}

#[test]
fn document_is_requested_again_after_six_hours() {
    let server = server("200 OK", "", AGENT.into());
    let folder = TempDir::new().unwrap();
    for (hours, requests) in [(0, 1), (5, 1), (7, 2), (0, 2)] {
        if requests + hours > 1 {
            age(&folder, hours as u64);
        }
        let catalog = load(&server.address, &folder).unwrap();
        assert!(catalog.agent("new-one").is_some());
        assert!(catalog.agent("gemini").is_some(), "the known agents stay");
        assert_eq!(catalog.warning(), None);
        assert_eq!(server.requests.load(Ordering::SeqCst), requests, "{hours} hours");
    }
}

#[test]
fn old_copy_is_used_with_a_warning_while_the_address_fails() {
    let folder = TempDir::new().unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = format!("http://{closed}/registry.json");
    let error = load(&closed, &folder).unwrap_err().to_string();
    assert!(error.contains(&closed), "{error}");
    for (status, body, reason) in [
        ("503 Service Unavailable", AGENT.as_bytes().to_vec(), "503"),
        ("200 OK", b"<html>".to_vec(), "expected a document"),
        ("200 OK", vec![b' '; MAX_DOCUMENT_BYTES as usize + 1], "expected at most"),
        ("200 OK", vec![0xff], "UTF-8"),
    ] {
        let server = server(status, "", body);
        let folder = TempDir::new().unwrap();
        let error = load(&server.address, &folder).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "a bad document is not copied");
        let name = copy_name(&server.address);
        fs::write(folder.path().join(name), AGENT).unwrap();
        age(&folder, 1000);
        let catalog = load(&server.address, &folder).unwrap();
        assert!(catalog.agent("new-one").is_some());
        let warning = catalog.warning().unwrap_or_default();
        assert!(warning.contains(reason) && warning.contains(&server.address), "{warning}");
    }
}

/// Returns the name of the copy of an address.
fn copy_name(address: &str) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(address);
    let digits: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("agents-{digits}.json")
}

#[test]
fn only_encrypted_and_local_addresses_are_requested() {
    let folder = TempDir::new().unwrap();
    for address in ["http://registry.example/a.json", "http://10.0.0.1/a.json", "http://"] {
        let error = load(address, &folder).unwrap_err().to_string();
        assert!(error.contains("expected an address with https"), "{address}: {error}");
    }
    let to_other = "location: http://registry.example/a.json\r\n";
    let server = server("302 Found", to_other, Vec::new());
    let error = load(&server.address, &folder).unwrap_err().to_string();
    assert!(error.contains("expected a document"), "the redirection is not followed: {error}");
}
