//! Several programs behind one address, up to 2025-11-25: the requests of a session reach the
//! program that has it.
use crate::failure::failure;
use crate::random::random_id;
use async_trait::async_trait;
use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use std::fmt;
use std::io;
use std::sync::Arc;

/// Header of a request that another program has forwarded. Such a request is not forwarded again.
const FORWARDED: &str = "mcp-bridge-forwarded";

/// Separates the random part of a session id from the name of its program.
const SEPARATOR: char = '.';

/// Headers that apply to one connection.
const OF_CONNECTION: [&str; 7] =
    ["connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];

/// The addresses of the programs that share sessions.
#[async_trait]
pub trait Directory: Send + Sync + 'static {
    /// Returns the URL of the endpoint of a program, or `None` if the program has ended.
    ///
    /// # Errors
    /// Returns an error if the address cannot be determined.
    async fn endpoint_of(&self, program: &str) -> io::Result<Option<String>>;
}

/// This program among others behind one address.
///
/// Sessions of clients up to 2025-11-25 are in the memory of one program, which their ids name.
/// Other programs forward their requests to it, with all headers, and return its response, also a
/// stream. The sessions of an ended program are not found, and clients start new ones.
#[derive(Clone)]
pub struct Replicas {
    program: String,
    directory: Arc<dyn Directory>,
    http: reqwest::Client,
}

impl fmt::Debug for Replicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replicas").field("program", &self.program).finish_non_exhaustive()
    }
}

/// Outcome of forwarding a request.
pub(crate) enum ForwardOutcome {
    Response(Response),
    /// The program that had the session has ended.
    Ended,
    /// The directory or the program does not respond.
    Failed,
}

impl Replicas {
    /// Creates the program with a name that is unique among all programs and consists of letters,
    /// digits and hyphens. `http` sends the forwarded requests; it must not follow redirects or
    /// limit the total time of a response.
    pub fn new(
        program: impl Into<String>,
        directory: Arc<dyn Directory>,
        http: reqwest::Client,
    ) -> Self {
        Self { program: program.into(), directory, http }
    }

    /// Returns the id of a new session.
    pub(crate) fn new_session(&self) -> io::Result<String> {
        Ok(format!("{}{SEPARATOR}{}", random_id()?, self.program))
    }

    /// Returns the other program that has a session, unless the request was already forwarded.
    pub(crate) fn owner<'a>(&self, session: &'a str, headers: &HeaderMap) -> Option<&'a str> {
        let (_, program) = session.split_once(SEPARATOR)?;
        (program != self.program && !headers.contains_key(FORWARDED)).then_some(program)
    }

    /// Forwards a request to a program.
    pub(crate) async fn forward(&self, program: &str, parts: Parts, body: Bytes) -> ForwardOutcome {
        let url = match self.directory.endpoint_of(program).await {
            Ok(Some(url)) => url,
            Ok(None) => return ForwardOutcome::Ended,
            Err(error) => {
                tracing::warn!(%error, program, "failed to find the program of a session");
                return ForwardOutcome::Failed;
            }
        };
        let request = self.http.request(parts.method, url).headers(end_to_end(parts.headers));
        match request.header(FORWARDED, "1").body(body).send().await {
            Ok(response) => ForwardOutcome::Response(returned(response)),
            // The entry in the directory outlives a killed program for some time.
            Err(error) if error.is_connect() => ForwardOutcome::Ended,
            Err(error) => {
                let error = failure(error);
                tracing::warn!(error, program, "failed to forward the request of a session");
                ForwardOutcome::Failed
            }
        }
    }
}

/// Returns the headers that apply to a message, and not to one connection.
fn end_to_end(mut headers: HeaderMap) -> HeaderMap {
    OF_CONNECTION.iter().for_each(|name| drop(headers.remove(*name)));
    headers
}

fn returned(mut response: reqwest::Response) -> Response {
    let status: StatusCode = response.status();
    let headers = end_to_end(std::mem::take(response.headers_mut()));
    (status, headers, Body::from_stream(response.bytes_stream())).into_response()
}
