//! TLS of a listener.
use axum::Router;
use axum::routing::get;
use host::http::{ConnectionLimits, Tls, serve};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(60);

const LIMITS: ConnectionLimits = ConnectionLimits {
    connections: 4,
    strangers: 4,
    header: PATIENCE,
    body: PATIENCE,
    idle: PATIENCE,
    write: PATIENCE,
};

type Made = CertifiedKey<KeyPair>;

fn made() -> Made {
    generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

/// The files of a certificate.
struct Files(TempDir);

impl Files {
    fn with(made: &Made) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.write(made);
        files
    }

    fn write(&self, made: &Made) {
        fs::write(self.path("cert.pem"), made.cert.pem()).unwrap();
        fs::write(self.path("key.pem"), made.signing_key.serialize_pem()).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn load(&self) -> Tls {
        Tls::load(Some(self.path("cert.pem")), Some(self.path("key.pem"))).unwrap().unwrap()
    }
}

async fn start(tls: Arc<Tls>, limits: ConnectionLimits) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/", get(async || "encrypted"));
    tokio::spawn(serve(listener, Some(tls), router, limits, CancellationToken::new()));
    address
}

/// Sends a request, trusting this certificate. Returns the response.
async fn fetch(address: SocketAddr, trusted: &Made) -> Result<String, std::io::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    let request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut response)).await.unwrap()?;
    Ok(response)
}

#[tokio::test]
async fn certificate_is_replaced_while_server_runs() {
    let first = made();
    let second = made();
    let files = Files::with(&first);
    let tls = Arc::new(files.load());
    let address = start(tls.clone(), LIMITS).await;
    assert!(fetch(address, &first).await.unwrap().ends_with("encrypted"));
    assert!(fetch(address, &second).await.is_err(), "another certificate is not trusted");
    fs::write(files.path("key.pem"), "no key").unwrap();
    let error = tls.reload().unwrap_err().to_string();
    assert!(error.starts_with("site.tls-key: ") && error.contains("key.pem"), "{error}");
    assert!(fetch(address, &first).await.is_ok(), "the earlier one stays");
    files.write(&second);
    tls.reload().unwrap();
    assert!(fetch(address, &second).await.unwrap().ends_with("encrypted"));
    assert!(fetch(address, &first).await.is_err());
}

#[tokio::test]
async fn handshake_has_a_time_limit() {
    let files = Files::with(&made());
    let limits = ConnectionLimits { header: Duration::from_millis(200), ..LIMITS };
    let address = start(Arc::new(files.load()), limits).await;
    let mut silent = TcpStream::connect(address).await.unwrap();
    let read = timeout(PATIENCE, silent.read(&mut [0])).await.expect("it is closed");
    assert_eq!(read.unwrap_or(0), 0);
}

#[tokio::test]
async fn clear_text_is_refused() {
    let made = made();
    let files = Files::with(&made);
    let address = start(Arc::new(files.load()), LIMITS).await;
    let mut clear = TcpStream::connect(address).await.unwrap();
    clear.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut response = Vec::new();
    let _reset = timeout(PATIENCE, clear.read_to_end(&mut response)).await.unwrap();
    assert!(!response.starts_with(b"HTTP"), "{response:?}");
    assert!(fetch(address, &made).await.is_ok());
}

#[test]
fn files_are_checked() {
    let one = Files::with(&made());
    let other = Files::with(&made());
    let load = |cert: PathBuf, key: PathBuf| {
        Tls::load(Some(cert), Some(key)).err().map(|error| error.to_string())
    };
    let key = || one.path("key.pem");
    assert_eq!(load(one.path("cert.pem"), key()), None);
    let alone = Tls::load(None, Some(key())).unwrap_err().to_string();
    assert_eq!(alone, "site.tls-cert and site.tls-key: expected both or neither, got one of them");
    assert!(
        load(other.path("cert.pem"), key())
            .unwrap()
            .starts_with("site.tls-cert and site.tls-key: ")
    );
    assert!(load(one.path("missing.pem"), key()).unwrap().contains("missing.pem"));
    assert!(load(key(), key()).unwrap().contains("expected a certificate in PEM, got none"));
}
