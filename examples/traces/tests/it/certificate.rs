//! A certificate for test servers.
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// A self-signed certificate for this machine and its key, in files.
pub(crate) struct Certificate {
    folder: TempDir,
    pub(crate) pem: String,
    pub(crate) key: String,
    made: CertifiedKey<rcgen::KeyPair>,
}

impl Certificate {
    pub(crate) fn new() -> Self {
        // The server of tonic uses the provider of the process, which only the first test installs.
        let _ = default_provider().install_default();
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let made = generate_simple_self_signed(names).unwrap();
        let pem = made.cert.pem();
        let key = made.signing_key.serialize_pem();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("certificate.pem"), &pem).unwrap();
        fs::write(folder.path().join("key.pem"), &key).unwrap();
        Self { folder, pem, key, made }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Performs a TLS handshake as a server with these protocols, in order of preference.
    pub(crate) fn acceptor(&self, protocols: &[&str]) -> TlsAcceptor {
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let key = PrivateKeyDer::try_from(self.made.signing_key.serialize_der()).unwrap();
        let chain = vec![self.made.cert.der().clone()];
        let mut config = config.with_single_cert(chain, key).unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }
}
