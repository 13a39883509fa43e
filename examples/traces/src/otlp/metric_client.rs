//! The client of the SDK's metrics exporter. It sends the message prepared here, over HTTP or gRPC.
//!
//! The exporter provides the headers, the retries and the timeout. Its own message, which has no
//! exemplars, is discarded.

use crate::otlp::ExportError;
use crate::otlp::http_client::{Cause, Client, in_words};
use crate::otlp::tls::Tls;
use async_trait::async_trait;
use core::error::Error;
use core::time::Duration;
use flate2::Compression;
use flate2::write::GzEncoder;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_client::MetricsServiceClient;
use prost::Message;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use tonic::codec::CompressionEncoding;
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_types::StatusExt;

/// The next message to send.
pub(crate) type Outgoing = Arc<Mutex<ExportMetricsServiceRequest>>;

#[derive(Debug)]
pub(crate) struct MetricClient {
    pub(crate) transport: MetricTransport,
    pub(crate) outgoing: Outgoing,
}

/// Transport of the message.
#[derive(Debug)]
pub(crate) enum MetricTransport {
    Http(Client),
    Grpc(GrpcClient),
}

/// Records the cause of a failed call, which the exporter would treat as an HTTP response.
#[derive(Debug)]
pub(crate) struct GrpcClient {
    inner: MetricsServiceClient<Channel>,
    cause: Cause,
}

impl GrpcClient {
    /// Creates a client without connecting. Requires the context of a runtime.
    ///
    /// # Errors
    /// Returns an error if the URL or the TLS settings of the environment are invalid.
    pub(crate) fn new(
        url: &str,
        tls: Option<&Tls>,
        timeout: Duration,
        cause: &Cause,
    ) -> Result<Self, ExportError> {
        let endpoint = Endpoint::from_shared(url.to_owned()).map_err(|error| ExportError::Url {
            endpoint: url.to_owned(),
            source: ExporterBuildError::InvalidConfiguration(error.to_string()),
        })?;
        let endpoint = match tls {
            Some(tls) => endpoint
                .tls_config(tls.for_grpc()?)
                .map_err(|error| ExportError::Tls(in_words(&error)))?,
            None => endpoint,
        };
        let inner = MetricsServiceClient::new(endpoint.timeout(timeout).connect_lazy());
        Ok(Self { inner, cause: Arc::clone(cause) })
    }

    async fn send(
        &self,
        request: Request<Bytes>,
        message: ExportMetricsServiceRequest,
    ) -> Result<Response<Bytes>, HttpError> {
        let mut client = self.inner.clone();
        if is_compressed(&request) {
            let encoding = CompressionEncoding::Gzip;
            client = client.send_compressed(encoding).accept_compressed(encoding);
        }
        let mut headers = request.into_parts().0.headers;
        headers.remove("content-encoding");
        let mut request = tonic::Request::new(message);
        *request.metadata_mut() = MetadataMap::from_headers(headers);
        let failed = client.export(request).await.err();
        let words = failed.as_ref().map(words);
        *self.cause.lock().unwrap_or_else(PoisonError::into_inner) = words;
        failed.as_ref().map_or_else(|| Ok(Response::default()), refusal)
    }
}

#[async_trait]
impl HttpClient for MetricClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let message = self.outgoing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match &self.transport {
            MetricTransport::Http(client) => {
                let body = body(&request, &message)?;
                client.send_bytes(request.map(|_| body)).await
            }
            MetricTransport::Grpc(client) => client.send(request, message).await,
        }
    }
}

/// Encodes the message as the headers require.
fn body(
    request: &Request<Bytes>,
    message: &ExportMetricsServiceRequest,
) -> Result<Bytes, HttpError> {
    let is_json = request.headers().get("content-type").is_some_and(|it| it == "application/json");
    let plain = if is_json { serde_json::to_vec(message)? } else { message.encode_to_vec() };
    if !is_compressed(request) {
        return Ok(plain.into());
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&plain)?;
    Ok(encoder.finish()?.into())
}

/// Returns whether the body is compressed. gzip is the only compression supported by the exporter.
fn is_compressed(request: &Request<Bytes>) -> bool {
    request.headers().contains_key("content-encoding")
}

/// Converts a failed call into the response that makes the exporter retry or give up.
///
/// Spec: [OTLP/gRPC response](https://opentelemetry.io/docs/specs/otlp/#otlpgrpc-response),
/// [OTLP/HTTP throttling](https://opentelemetry.io/docs/specs/otlp/#otlphttp-throttling)
fn refusal(status: &Status) -> Result<Response<Bytes>, HttpError> {
    let delay = status.get_details_retry_info().and_then(|it| it.retry_delay);
    let code = match status.code() {
        Code::Cancelled
        | Code::DeadlineExceeded
        | Code::Aborted
        | Code::OutOfRange
        | Code::Unavailable
        | Code::DataLoss => 503,
        Code::ResourceExhausted if delay.is_some() => 429,
        _ => 400,
    };
    let mut response = Response::builder().status(code);
    if let Some(delay) = delay {
        response = response.header("retry-after", delay.as_secs_f64().ceil().to_string());
    }
    Ok(response.body(Bytes::new())?)
}

/// Describes a status without the collector's message, which may contain sensitive data.
fn words(status: &Status) -> String {
    let code = format!("gRPC code {:?}", status.code());
    let why = status.source().map(|error| format!("{code}: {}", in_words(error)));
    why.unwrap_or(code)
}
