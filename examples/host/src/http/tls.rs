//! TLS of a listener: a certificate and its key in files, which can be replaced while the server
//! runs.
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use tokio_rustls::TlsAcceptor;

/// Protocols of HTTP, in order of preference.
///
/// Spec: [ALPN](https://www.iana.org/assignments/tls-extensiontype-values/tls-extensiontype-values.xhtml#alpn-protocol-ids)
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The certificate of a listener and its key, as PEM files.
#[derive(Debug)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<ServerConfig>>,
}

/// A certificate that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// One setting is missing.
    #[error("site.tls-cert and site.tls-key: expected both or neither, got one of them")]
    Alone,
    /// A file cannot be read, or is no PEM.
    #[error("{setting}: {path}: {error}")]
    File {
        /// The setting.
        setting: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        error: pem::Error,
    },
    /// The file has no certificate.
    #[error("site.tls-cert: {0}: expected a certificate in PEM, got none")]
    Empty(PathBuf),
    /// The certificate and the key do not belong together, or are of an unknown kind.
    #[error("site.tls-cert and site.tls-key: {0}")]
    Pair(#[from] rustls::Error),
}

impl Tls {
    /// Returns the TLS of these files; `None` without files.
    ///
    /// # Errors
    /// The files cannot be used.
    pub fn load(
        certificate: Option<PathBuf>,
        key: Option<PathBuf>,
    ) -> Result<Option<Self>, TlsError> {
        let (certificate, key) = match (certificate, key) {
            (Some(certificate), Some(key)) => (certificate, key),
            (None, None) => return Ok(None),
            _ => return Err(TlsError::Alone),
        };
        let current = RwLock::new(Arc::new(config(&certificate, &key)?));
        Ok(Some(Self { certificate, key, current }))
    }

    /// Reads the files again. Open connections keep the earlier certificate.
    ///
    /// # Errors
    /// The files cannot be used. The earlier certificate stays.
    pub fn reload(&self) -> Result<(), TlsError> {
        let config = config(&self.certificate, &self.key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
        Ok(())
    }

    /// Returns the acceptor of new connections.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone().into()
    }
}

fn config(certificate: &PathBuf, key: &PathBuf) -> Result<ServerConfig, TlsError> {
    let wrong = |setting, path: &PathBuf| {
        let path = path.clone();
        move |error| TlsError::File { setting, path, error }
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(wrong("site.tls-cert", certificate))?;
    if chain.is_empty() {
        return Err(TlsError::Empty(certificate.clone()));
    }
    let key = PrivateKeyDer::from_pem_file(key).map_err(wrong("site.tls-key", key))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let config = config.with_safe_default_protocol_versions()?.with_no_client_auth();
    let mut config = config.with_single_cert(chain, key)?;
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok(config)
}
