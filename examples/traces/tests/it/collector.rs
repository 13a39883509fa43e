//! A collector that implements the official service definition and keeps the received data.

use opentelemetry_proto::tonic::collector::logs::v1::logs_service_server::{
    LogsService, LogsServiceServer,
};
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::logs::v1::ResourceLogs;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::runtime::Runtime;
use tonic::codec::CompressionEncoding;
use tonic::metadata::MetadataMap;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status};

/// A listening collector.
pub(crate) struct Collector {
    scheme: &'static str,
    address: SocketAddr,
    requests: Receiver<(MetadataMap, ExportTraceServiceRequest)>,
    metrics: Receiver<(MetadataMap, ExportMetricsServiceRequest)>,
    logs: Receiver<ExportLogsServiceRequest>,
    /// Stops the server when dropped.
    _runtime: Runtime,
}

/// All received spans.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) metadata: MetadataMap,
    pub(crate) resource: BTreeMap<String, Value>,
    pub(crate) scope: InstrumentationScope,
    pub(crate) schema_url: String,
    pub(crate) spans: Vec<Span>,
}

struct Keep(Sender<(MetadataMap, ExportTraceServiceRequest)>);

#[tonic::async_trait]
impl TraceService for Keep {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let kept = self.0.send((request.metadata().clone(), request.into_inner()));
        kept.map_err(|error| Status::internal(error.to_string()))?;
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

struct KeepMetrics(Sender<(MetadataMap, ExportMetricsServiceRequest)>);

#[tonic::async_trait]
impl MetricsService for KeepMetrics {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        let kept = self.0.send((request.metadata().clone(), request.into_inner()));
        kept.map_err(|error| Status::internal(error.to_string()))?;
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

struct KeepLogs(Sender<ExportLogsServiceRequest>);

#[tonic::async_trait]
impl LogsService for KeepLogs {
    async fn export(
        &self,
        request: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        let kept = self.0.send(request.into_inner());
        kept.map_err(|error| Status::internal(error.to_string()))?;
        Ok(Response::new(ExportLogsServiceResponse::default()))
    }
}

impl Collector {
    pub(crate) fn start() -> Self {
        Self::listen("http", Server::builder())
    }

    /// Starts a collector with a certificate, which optionally requires the same client
    /// certificate.
    pub(crate) fn start_with_tls(certificate: &str, key: &str, is_mutual: bool) -> Self {
        let tls = ServerTlsConfig::new().identity(Identity::from_pem(certificate, key));
        let trusted = is_mutual.then(|| Certificate::from_pem(certificate));
        let tls = trusted.into_iter().fold(tls, ServerTlsConfig::client_ca_root);
        Self::listen("https", Server::builder().tls_config(tls).unwrap())
    }

    fn listen(scheme: &'static str, mut server: Server) -> Self {
        let runtime = Runtime::new().unwrap();
        let _context = runtime.enter();
        let incoming = TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = incoming.local_addr().unwrap();
        let (keep, requests) = channel();
        let (keep_metrics, metrics) = channel();
        let (keep_logs, logs) = channel();
        let server = server
            .add_service(
                LogsServiceServer::new(KeepLogs(keep_logs))
                    .accept_compressed(CompressionEncoding::Gzip),
            )
            .add_service(
                TraceServiceServer::new(Keep(keep)).accept_compressed(CompressionEncoding::Gzip),
            )
            .add_service(
                MetricsServiceServer::new(KeepMetrics(keep_metrics))
                    .accept_compressed(CompressionEncoding::Gzip),
            );
        runtime.spawn(server.serve_with_incoming(incoming));
        drop(_context);
        Self { scheme, address, requests, metrics, logs, _runtime: runtime }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Returns the received spans.
    pub(crate) fn received(&self) -> Trace {
        let mut trace = Trace::default();
        for (metadata, request) in self.requests.try_iter() {
            trace.metadata = metadata;
            trace.extend(request);
        }
        trace
    }
}

impl Collector {
    /// Returns the received log records.
    pub(crate) fn logs(&self) -> Vec<ResourceLogs> {
        self.logs.try_iter().flat_map(|request| request.resource_logs).collect()
    }

    /// Returns the requests of metrics in order.
    pub(crate) fn metric_requests(&self) -> Vec<ExportMetricsServiceRequest> {
        self.metrics.try_iter().map(|(_, request)| request).collect()
    }

    /// Returns the last state of the metrics by name.
    pub(crate) fn metrics(&self) -> BTreeMap<String, Metric> {
        self.last_metrics().map(|(_, metrics)| metrics).unwrap_or_default()
    }

    /// Returns the last metrics with their metadata.
    pub(crate) fn last_metrics(&self) -> Option<(MetadataMap, BTreeMap<String, Metric>)> {
        self.metrics.try_iter().last().map(|(metadata, last)| (metadata, by_name(last)))
    }
}

pub(crate) fn by_name(request: ExportMetricsServiceRequest) -> BTreeMap<String, Metric> {
    let scopes = request.resource_metrics.into_iter().flat_map(|it| it.scope_metrics);
    let metrics = scopes.flat_map(|it| it.metrics);
    metrics.map(|metric| (metric.name.clone(), metric)).collect()
}

impl Trace {
    pub(crate) fn extend(&mut self, request: ExportTraceServiceRequest) {
        for of_resource in request.resource_spans {
            self.resource = attributes(&of_resource.resource.unwrap().attributes);
            for of_scope in of_resource.scope_spans {
                self.scope = of_scope.scope.unwrap();
                self.schema_url = of_scope.schema_url;
                self.spans.extend(of_scope.spans);
            }
        }
    }

    /// Returns the only span with this name.
    pub(crate) fn span(&self, name: &str) -> &Span {
        let named: Vec<_> = self.spans.iter().filter(|span| span.name == name).collect();
        assert_eq!(named.len(), 1, "spans named {name} in {:?}", self.names());
        named[0]
    }

    /// Returns the names of all spans, sorted.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.spans.iter().map(|span| span.name.as_str()).collect();
        names.sort_unstable();
        names
    }
}

pub(crate) fn attributes(attributes: &[KeyValue]) -> BTreeMap<String, Value> {
    let value = |it: &KeyValue| Some((it.key.clone(), it.value.clone()?.value?));
    attributes.iter().filter_map(value).collect()
}
