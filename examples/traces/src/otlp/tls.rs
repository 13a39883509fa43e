//! TLS settings for collectors: trusted certificates and the client certificate.
//!
//! Spec: [OTLP
//! exporter](https://opentelemetry.io/docs/specs/otel/protocol/exporter/#configuration-options)

use super::ExportError;
use super::signal::Signal;
use hyper_rustls::ConfigBuilderExt;
use opentelemetry_otlp::tonic_types::transport::{Certificate, ClientTlsConfig, Identity};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::fs;
use std::sync::Arc;

/// TLS settings of the environment. By default the certificates of the system are trusted.
#[derive(Debug)]
pub(crate) struct Tls {
    /// Certificates of trusted authorities.
    trusted: Option<Pem>,
    /// Client certificate and its key.
    own: Option<(Pem, Pem)>,
}

/// A file named by a variable.
#[derive(Debug)]
struct Pem {
    variable: String,
    path: String,
    text: Vec<u8>,
}

impl Tls {
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub(crate) fn of(signal: Signal) -> Result<Self, ExportError> {
        let trusted = Pem::named(signal, "CERTIFICATE")?;
        let certificate = Pem::named(signal, "CLIENT_CERTIFICATE")?;
        let key = Pem::named(signal, "CLIENT_KEY")?;
        if let (Some(alone), None) | (None, Some(alone)) = (&certificate, &key) {
            return Err(alone.is_bad(&"the certificate and its key go together"));
        }
        Ok(Self { trusted, own: certificate.zip(key) })
    }

    /// Returns the settings for gRPC.
    ///
    /// # Errors
    /// Returns an error if a file is not a certificate or key.
    pub(crate) fn for_grpc(&self) -> Result<ClientTlsConfig, ExportError> {
        // Validates the files, because the errors of gRPC do not contain their names.
        self.settings()?;
        let config = ClientTlsConfig::new();
        let config = match &self.trusted {
            Some(trusted) => config.ca_certificate(Certificate::from_pem(&trusted.text)),
            None => config.with_native_roots(),
        };
        Ok(match &self.own {
            Some((certificate, key)) => {
                config.identity(Identity::from_pem(&certificate.text, &key.text))
            }
            None => config,
        })
    }

    /// Returns the settings for HTTP.
    ///
    /// # Errors
    /// Returns an error if a file is not a certificate or key, or the system has no certificates.
    pub(crate) fn settings(&self) -> Result<ClientConfig, ExportError> {
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(ExportError::tls)?;
        let builder = match &self.trusted {
            Some(trusted) => {
                let mut roots = RootCertStore::empty();
                for certificate in trusted.certificates()? {
                    roots.add(certificate).map_err(|error| trusted.is_bad(&error))?;
                }
                builder.with_root_certificates(roots)
            }
            None => builder.with_native_roots().map_err(ExportError::tls)?,
        };
        let Some((certificate, key)) = &self.own else { return Ok(builder.with_no_client_auth()) };
        let chain = certificate.certificates()?;
        let secret =
            PrivateKeyDer::from_pem_slice(&key.text).map_err(|error| key.is_bad(&error))?;
        builder.with_client_auth_cert(chain, secret).map_err(|error| certificate.is_bad(&error))
    }
}

impl Pem {
    fn named(signal: Signal, what: &str) -> Result<Option<Self>, ExportError> {
        let Some((variable, path)) = signal.variable(what) else { return Ok(None) };
        match fs::read(&path) {
            Ok(text) => Ok(Some(Self { variable, path, text })),
            Err(error) => {
                let text = Vec::new();
                Err(Self { variable, path, text }.is_bad(&error))
            }
        }
    }

    /// Parses the certificates, at least one.
    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, ExportError> {
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.text).collect();
        let certificates = read.map_err(|error| self.is_bad(&error))?;
        if certificates.is_empty() {
            return Err(self.is_bad(&"no certificate found"));
        }
        Ok(certificates)
    }

    fn is_bad(&self, why: &dyn core::fmt::Display) -> ExportError {
        let Self { variable, path, .. } = self;
        ExportError::Certificate {
            variable: variable.clone(),
            path: path.clone(),
            why: why.to_string(),
        }
    }
}

impl ExportError {
    fn tls(error: impl core::fmt::Display) -> Self {
        Self::Tls(error.to_string())
    }
}
