//! The HTTP client of exporters. It records the cause of a failed request, which the exporter does
//! not report.

use super::ExportError;
use super::tls::Tls;
use async_trait::async_trait;
use core::error::Error;
use core::iter::successors;
use core::time::Duration;
use hyper_rustls::HttpsConnectorBuilder;
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use std::sync::{Arc, Mutex, PoisonError};

/// Cause of the last failure as text. `None` after a response.
pub(crate) type Cause = Arc<Mutex<Option<String>>>;

#[derive(Debug)]
pub(crate) struct Client {
    inner: Box<dyn HttpClient>,
    cause: Cause,
}

impl Client {
    /// Returns an error if the TLS settings of the environment are invalid.
    /// The TLS settings of the environment are invalid.
    pub(crate) fn new(
        tls: Option<&Tls>,
        timeout: Duration,
        cause: &Cause,
    ) -> Result<Self, ExportError> {
        let inner: Box<dyn HttpClient> = match tls {
            Some(tls) => {
                let connector = HttpsConnectorBuilder::new().with_tls_config(tls.settings()?);
                let connector = connector.https_only().enable_http1().build();
                Box::new(HyperClient::new(connector, timeout, None))
            }
            None => Box::new(HyperClient::with_default_connector(timeout, None)),
        };
        Ok(Self { inner, cause: Arc::clone(cause) })
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = self.inner.send_bytes(request).await;
        let cause = answer.as_ref().err().map(|error| in_words(&**error));
        *self.cause.lock().unwrap_or_else(PoisonError::into_inner) = cause;
        answer
    }
}

/// Formats an error and its sources, without repetitions.
pub(crate) fn in_words(error: &(dyn Error + 'static)) -> String {
    let mut words: Vec<String> = Vec::new();
    for cause in successors(Some(error), |&error| error.source()).map(ToString::to_string) {
        if words.last().is_none_or(|last| !last.ends_with(&cause)) {
            words.push(cause);
        }
    }
    words.join(": ")
}
