//! MCP on stdio, forwarded to an endpoint of Streamable HTTP, for agents that start their servers
//! themselves.
//!
//! The environment has the URL of the endpoint and its secret.
use crate::tools::page_server::{SECRET_VARIABLE, URL_VARIABLE};
use agui_types::sse::Decoder;
use futures::StreamExt;
use jsonrpc_core::{ErrorCode, ErrorObject, Message, RequestId, Response};
use mcp_bridge::http::{PROTOCOL_VERSION, SESSION_ID, headers_of};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder, StatusCode};
use rustls::crypto::ring::default_provider;
use serde_json::Value;
use std::collections::HashMap;
use std::env;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::task::AbortHandle;

/// Forwards standard input until it ends.
#[tokio::main(flavor = "current_thread")]
pub async fn run() -> ExitCode {
    let (Ok(url), Ok(secret)) = (env::var(URL_VARIABLE), env::var(SECRET_VARIABLE)) else {
        warn(format_args!(
            "mcp-shim: {URL_VARIABLE} and {SECRET_VARIABLE} have to contain the server's address"
        ));
        return ExitCode::from(2);
    };
    // The client panics without a default provider. A default of the program stays in place.
    let _ = default_provider().install_default();
    let shim = Arc::new(Shim {
        client: Client::new(),
        url,
        secret,
        session: Mutex::default(),
        open: Mutex::default(),
    });
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        match lines.next_line().await {
            Ok(Some(line)) if line.trim().is_empty() => {}
            Ok(Some(line)) => shim.clone().take(line).await,
            Ok(None) => break,
            Err(error) => {
                warn(format_args!("mcp-shim: standard input: {error}"));
                return ExitCode::FAILURE;
            }
        }
    }
    shim.end().await;
    ExitCode::SUCCESS
}

/// The session of the generation up to 2025-11-25.
#[derive(Clone, Debug, Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
}

struct Shim {
    client: Client,
    url: String,
    secret: String,
    session: Mutex<Session>,
    /// Open requests, to cancel them.
    open: Mutex<HashMap<RequestId, AbortHandle>>,
}

impl Shim {
    async fn take(self: Arc<Self>, line: String) {
        let message = match Message::decode(&line) {
            Ok(message) => message,
            Err(error) => {
                let answer = ErrorObject::new(error.code(), error.to_string());
                return answer_error(error.id(), answer);
            }
        };
        let (id, method) = match &message {
            Message::Request(request) => (Some(request.id.clone()), request.method.to_string()),
            Message::Notification(notification) => {
                if notification.method == "notifications/cancelled" && self.cancel(&line) {
                    return;
                }
                (None, notification.method.to_string())
            }
            Message::Response(_) => (None, String::new()),
        };
        // Only the newer protocol generation has these headers; each of its requests states the
        // version.
        let mut headers = Vec::new();
        if let Message::Request(request) = &message
            && line.contains("io.modelcontextprotocol/protocolVersion")
        {
            let known = headers_of(request, None).unwrap_or_default();
            headers = known.into_iter().map(|(name, value)| (name.into_owned(), value)).collect();
        }
        let Some(id) = id else {
            // Sent in order, since a notification may concern an earlier request.
            return self.post(line, None, headers).await;
        };
        let shim = self.clone();
        let key = id.clone();
        let is_initialize = method == "initialize";
        let task = tokio::spawn(async move {
            shim.post(line, Some(key.clone()), headers).await;
            lock(&shim.open).remove(&key);
        });
        if is_initialize {
            // Later messages require the session.
            let _ = task.await;
            tokio::spawn(self.listen());
        } else {
            lock(&self.open).insert(id, task.abort_handle());
        }
    }

    /// Cancels a request by closing its connection, as the newer generation does. Returns whether
    /// the generation does so.
    fn cancel(&self, line: &str) -> bool {
        if lock(&self.session).id.is_some() {
            return false;
        }
        let id = serde_json::from_str::<Value>(line).ok().and_then(|cancelled| {
            serde_json::from_value(cancelled.pointer("/params/requestId")?.clone()).ok()
        });
        if let Some(task) = id.and_then(|id: RequestId| lock(&self.open).remove(&id)) {
            task.abort();
        }
        true
    }

    fn request(&self, request: RequestBuilder) -> RequestBuilder {
        let mut request = request.bearer_auth(&self.secret);
        let session = lock(&self.session).clone();
        if let Some(id) = session.id {
            request = request.header(SESSION_ID, id);
            if let Some(version) = session.version {
                request = request.header(PROTOCOL_VERSION, version);
            }
        }
        request
    }

    async fn post(&self, line: String, id: Option<RequestId>, headers: Vec<(String, String)>) {
        let mut request = self.request(self.client.post(&self.url));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        let response = match request.body(line).send().await {
            Ok(response) => response,
            Err(error) => return unreachable(id.as_ref(), &error),
        };
        if let Some(session) = response.headers().get(SESSION_ID)
            && let Ok(session) = session.to_str()
        {
            lock(&self.session).id = Some(session.to_owned());
        }
        if let Err(error) = self.pass_on(response, id.as_ref()).await {
            unreachable(id.as_ref(), &error);
        }
    }

    /// Writes the messages of a response.
    async fn pass_on(
        &self,
        response: reqwest::Response,
        id: Option<&RequestId>,
    ) -> reqwest::Result<()> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let status = response.status();
        if is_stream {
            let mut bytes = response.bytes_stream();
            let mut decoder = Decoder::default();
            while let Some(chunk) = bytes.next().await {
                decoder.push(&chunk?);
                while let Some(Ok(frame)) = decoder.next_frame() {
                    self.write_message(&frame.data);
                }
            }
            return Ok(());
        }
        let text = response.text().await?;
        if text.trim_start().starts_with(r#"{"jsonrpc""#)
            || serde_json::from_str::<Value>(&text)
                .is_ok_and(|value| value.get("jsonrpc").is_some())
        {
            self.write_message(&text);
        } else if id.is_some() {
            let message = format!("the server answers {status}: {}", text.trim());
            answer_error(id, ErrorObject::new(ErrorCode::INTERNAL_ERROR, message));
        } else if status != StatusCode::ACCEPTED {
            warn(format_args!("mcp-shim: the server answers {status}: {}", text.trim()));
        }
        Ok(())
    }

    /// Writes messages outside of responses, up to 2025-11-25.
    async fn listen(self: Arc<Self>) {
        if lock(&self.session).id.is_none() {
            return;
        }
        let request = self.request(self.client.get(&self.url)).header(ACCEPT, "text/event-stream");
        let listened = match request.send().await {
            Ok(response) if response.status().is_success() => self.pass_on(response, None).await,
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = listened {
            warn(format_args!("mcp-shim: {}", error.without_url()));
        }
    }

    /// Writes a message as a line.
    fn write_message(&self, message: &str) {
        let Ok(value) = serde_json::from_str::<Value>(message) else { return };
        if let Some(version) = value.pointer("/result/protocolVersion").and_then(Value::as_str) {
            lock(&self.session).version = Some(version.to_owned());
        }
        let line = if message.contains('\n') { value.to_string() } else { message.to_owned() };
        write_line(&line);
    }

    /// Ends the session.
    async fn end(&self) {
        if lock(&self.session).id.is_some()
            && let Err(error) = self.request(self.client.delete(&self.url)).send().await
        {
            warn(format_args!("mcp-shim: {}", error.without_url()));
        }
    }
}

/// Writes a message to standard error.
fn warn(message: impl Display) {
    // Standard error is the last place to report a failure.
    let _ = writeln!(io::stderr(), "{message}");
}

fn unreachable(id: Option<&RequestId>, error: &reqwest::Error) {
    // The URL is a secret as well.
    let message = match error.is_connect() {
        true => "the server cannot be reached".to_owned(),
        false => "the connection to the server has failed".to_owned(),
    };
    warn(format_args!("mcp-shim: {message}"));
    if id.is_some() {
        answer_error(id, ErrorObject::new(ErrorCode::INTERNAL_ERROR, message));
    }
}

fn answer_error(id: Option<&RequestId>, error: ErrorObject) {
    let mut line = Vec::new();
    let id = id.cloned().unwrap_or(RequestId::NULL);
    Message::from(Response::new(id, Err(error))).to_line(&mut line);
    write_line(String::from_utf8_lossy(&line).trim_end());
}

fn write_line(line: &str) {
    let mut out = io::stdout().lock();
    // A closed output means that the input ends soon.
    let _ = out
        .write_all(line.as_bytes())
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush());
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
