//! Collectors over TLS.

use crate::certificate::Certificate;
use crate::collector::Collector;
use crate::protocols::{HttpCollector, session};
use crate::proxy::{acp_traces, test_agent};
use crate::replay::{TURN, TURN_SPANS};
use axum::serve::Listener;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::process::Command;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A listener that performs TLS handshakes.
struct OverTls(TcpListener, TlsAcceptor);

impl Listener for OverTls {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let (stream, from) = self.0.accept().await.unwrap();
            // A client that does not trust the certificate disconnects.
            if let Ok(stream) = self.1.accept(stream).await {
                return (stream, from);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

fn to(url: &str, protocol: &str) -> Command {
    acp_traces(&["--otlp-endpoint", url, "--protocol", protocol])
}

/// Replays a recorded turn and waits for the response, however long the handshake takes.
fn turn_to(url: &str, protocol: &str) -> Command {
    acp_traces(&["replay", TURN, "--otlp-endpoint", url, "--protocol", protocol])
}

fn stderr_of(mut command: Command) -> String {
    String::from_utf8(command.output().unwrap().stderr).unwrap()
}

#[test]
fn certificate_of_the_environment_is_trusted() {
    let certificate = Certificate::new();
    let trusted = certificate.file("certificate.pem");
    for variable in ["OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE"] {
        let collector = Collector::start_with_tls(&certificate.pem, &certificate.key, false);
        let mut command = turn_to(&collector.url(), "grpc");
        command.env(variable, &trusted);
        assert_eq!(stderr_of(command), "");
        assert_eq!(collector.received().names(), TURN_SPANS, "{variable}");
        for protocol in ["http/protobuf", "http/json"] {
            let collector = HttpCollector::listen(|it| OverTls(it, certificate.acceptor(&[])));
            let mut command = turn_to(&format!("https://{}", collector.address), protocol);
            command.env(variable, &trusted);
            assert_eq!(stderr_of(command), "");
            assert_eq!(collector.request().trace().names(), TURN_SPANS, "{variable} {protocol}");
        }
    }
}

#[test]
fn metrics_go_over_tls_as_well() {
    let certificate = Certificate::new();
    let collector = Collector::start_with_tls(&certificate.pem, &certificate.key, false);
    let mut command = to(&collector.url(), "grpc");
    command.arg("--metrics");
    command.env("OTEL_EXPORTER_OTLP_CERTIFICATE", certificate.file("certificate.pem"));
    assert_eq!(session(command), "");
    assert!(collector.metrics().contains_key("acp.session.active"));
}

#[test]
fn collector_requires_a_client_certificate() {
    let certificate = Certificate::new();
    let collector = Collector::start_with_tls(&certificate.pem, &certificate.key, true);
    let mut command = turn_to(&collector.url(), "grpc");
    command.env("OTEL_EXPORTER_OTLP_CERTIFICATE", certificate.file("certificate.pem"));
    command.env("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", certificate.file("certificate.pem"));
    command.env("OTEL_EXPORTER_OTLP_CLIENT_KEY", certificate.file("key.pem"));
    assert_eq!(stderr_of(command), "");
    assert_eq!(collector.received().names(), TURN_SPANS);
    // A client without a certificate is rejected.
    let mut command = turn_to(&collector.url(), "grpc");
    command.env("OTEL_EXPORTER_OTLP_CERTIFICATE", certificate.file("certificate.pem"));
    assert!(stderr_of(command).contains("2 of 2 spans did not reach"));
    assert!(collector.received().spans.is_empty());
}

#[test]
fn untrusted_collector_receives_nothing() {
    let certificate = Certificate::new();
    let other = Certificate::new();
    let grpc = Collector::start_with_tls(&certificate.pem, &certificate.key, false);
    let http = HttpCollector::listen(|it| OverTls(it, certificate.acceptor(&[])));
    let http_url = format!("https://{}", http.address);
    for (url, protocol) in [(grpc.url(), "grpc"), (http_url, "http/protobuf")] {
        for trusted in [None, Some(other.file("certificate.pem"))] {
            let mut command = turn_to(&url, protocol);
            command.envs(trusted.map(|path| ("OTEL_EXPORTER_OTLP_CERTIFICATE", path)));
            let told = stderr_of(command);
            assert!(told.starts_with("acp-traces: 2 of 2 spans did not reach https://"), "{told}");
            assert!(told.contains("certificate"), "{told}");
        }
    }
    assert!(grpc.received().spans.is_empty());
}

#[test]
fn invalid_tls_settings_are_reported_and_the_session_continues() {
    let certificate = Certificate::new();
    let key = certificate.file("key.pem");
    let missing = certificate.file("missing.pem");
    let not_there = fs::read(&missing).unwrap_err().to_string();
    let rows = [
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", &missing, &*not_there),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", &key, "no certificate found"),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", &key, "the certificate and its key go together"),
    ];
    let run = |command: &mut Command| {
        let output = command.arg("--").arg(test_agent()).args(["exit", "7"]).output().unwrap();
        assert_eq!(output.status.code(), Some(7), "the agent ran");
        String::from_utf8(output.stderr).unwrap()
    };
    for (variable, path, expected) in rows {
        for protocol in ["grpc", "http/json"] {
            let told = run(to("https://127.0.0.1:1", protocol).env(variable, path));
            assert!(
                told.starts_with("acp-traces: invalid file ") && told.contains(variable),
                "{told}"
            );
            assert!(told.contains(expected) && told.contains("; no spans are sent\n"), "{told}");
        }
    }
    let told = run(&mut to("ftp://127.0.0.1", "grpc"));
    assert!(told.contains("expected http://HOST:PORT or https://HOST:PORT"), "{told}");
}
