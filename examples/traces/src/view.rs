//! Pages of recorded and running sessions, served on loopback.

mod compare;
mod html;
mod library;
mod lines;
mod list;
mod search;

use crate::conventions::ReadingOptions;
use crate::report::{Live, page_of, security_policy};
use crate::transcript::TranscriptOptions;
use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use clap::Args;
use core::time::Duration;
use host::http::{
    Access, AuthSettings, ConnectionLimits, SiteSettings, UserLimits, authenticate, check_site,
    sign_in,
};
use html::{Address, VIEW_STYLE, navigation};
use library::{Library, PageError};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

/// Seconds between updates of a page.
const UPDATE_SECONDS: u32 = 2;

/// Requests of the user: at the same time, and in a minute.
const LIMITS: UserLimits = UserLimits { at_work: 16, a_minute: 1200 };

const CONNECTIONS: ConnectionLimits = ConnectionLimits {
    connections: 64,
    strangers: 16,
    header: Duration::from_secs(10),
    body: Duration::from_secs(10),
    idle: Duration::from_secs(60),
    write: Duration::from_secs(30),
};

#[derive(Debug, Args)]
pub(crate) struct ViewOptions {
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,

    #[command(flatten)]
    pub(crate) transcript_options: TranscriptOptions,

    /// Address on loopback; port 0 is any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,

    /// Transcripts, or folders with transcripts (`.jsonl`, `.jsons`)
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

/// Serves the pages until the process is ended.
///
/// # Errors
/// Returns an error if the address cannot be used.
pub(crate) fn run(options: &ViewOptions) -> io::Result<ExitCode> {
    if !options.listen.ip().is_loopback() {
        eprintln!("acp-traces: --listen: expected a loopback address, got {}", options.listen);
        return Ok(ExitCode::from(2));
    }
    let library = Library::new(options);
    if let Err(error) = library.transcripts() {
        eprintln!("acp-traces: {error}");
        return Ok(ExitCode::from(2));
    }
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let site = SiteSettings::default();
        let auth = AuthSettings::default();
        let access = Access::new(&site, &auth, LIMITS, address);
        let (access, token) = access.map_err(io::Error::other)?;
        let token = token.ok_or_else(|| io::Error::other("no token was generated"))?;
        let mut stdout = io::stdout();
        writeln!(stdout, "http://{address}/?token={}", token.reveal())?;
        stdout.flush()?;
        let router = router(Arc::new(Mutex::new(library)), access.without_scripts());
        host::http::serve(listener, None, router, CONNECTIONS, CancellationToken::new()).await;
        Ok(ExitCode::SUCCESS)
    })
}

/// The sessions, which one request at a time reads.
type Shared = Arc<Mutex<Library>>;

type Parameters = Query<BTreeMap<String, String>>;

fn router(library: Shared, access: Access) -> Router {
    let access = Arc::new(access);
    Router::new()
        .route("/", page(list))
        .route("/session", get(session))
        .route("/lines", page(lines))
        .route("/search", page(search))
        .route("/compare", page(compare))
        .with_state(library)
        .route_layer(from_fn_with_state(Arc::clone(&access), authenticate))
        .route_layer(from_fn_with_state(Arc::clone(&access), sign_in))
        .layer(from_fn_with_state(access, check_site))
}

/// Result of a handler: a page.
type Page = Result<String, PageError>;

fn list(library: &mut Library, _: &BTreeMap<String, String>) -> Page {
    list::page(library)
}

fn lines(library: &mut Library, query: &BTreeMap<String, String>) -> Page {
    let from = query.get("from").and_then(|from| from.parse().ok()).unwrap_or(1);
    lines::page(library, text(query, "file"), from)
}

fn search(library: &mut Library, query: &BTreeMap<String, String>) -> Page {
    search::page(library, text(query, "q"))
}

fn compare(library: &mut Library, query: &BTreeMap<String, String>) -> Page {
    compare::page(library, text(query, "a"), text(query, "b"))
}

fn text<'a>(query: &'a BTreeMap<String, String>, name: &str) -> &'a str {
    query.get(name).map(String::as_str).unwrap_or_default()
}

/// Answers with a page that depends on the query.
fn page(page: fn(&mut Library, &BTreeMap<String, String>) -> Page) -> MethodRouter<Shared> {
    get(async move |State(library): State<Shared>, Query(query): Parameters| {
        respond(library, move |library| page(library, &query).map(|page| (None, Some(page)))).await
    })
}

/// Answers with the page of a session, unless the browser has its current state.
async fn session(
    State(library): State<Shared>,
    Query(query): Parameters,
    headers: HeaderMap,
) -> Response {
    let known = headers.get(header::IF_NONE_MATCH).cloned();
    let page = move |library: &mut Library| {
        let privacy = library.privacy().clone();
        let name = text(&query, "file");
        let opened = library.open(name)?;
        let tag = opened.tag();
        if known.is_some_and(|known| known == tag) {
            return Ok((Some(tag), None));
        }
        let findings = opened.findings.len();
        let lines = Address::lines(name);
        let live = Live {
            seconds: UPDATE_SECONDS,
            tag: &tag,
            lines: lines.as_str(),
            style: VIEW_STYLE,
            navigation: &navigation(Some((name, findings))),
        };
        let page = page_of(opened.reading(), &privacy, Some(live));
        Ok((Some(tag), Some(page)))
    };
    respond(library, page).await
}

/// Creates a page on a thread that may wait for files. The page is `None` if the browser has it.
async fn respond(
    library: Shared,
    page: impl FnOnce(&mut Library) -> Result<(Option<String>, Option<String>), PageError>
    + Send
    + 'static,
) -> Response {
    let page = tokio::task::spawn_blocking(move || page(&mut lock(&library))).await;
    let (tag, response) = match page {
        Ok(Ok((tag, Some(page)))) => (tag, Html(page).into_response()),
        Ok(Ok((tag, None))) => (tag, StatusCode::NOT_MODIFIED.into_response()),
        Ok(Err(error)) => {
            let page = html::error(&error.to_string());
            (None, (StatusCode::NOT_FOUND, Html(page)).into_response())
        }
        Err(_) => (None, StatusCode::INTERNAL_SERVER_ERROR.into_response()),
    };
    let policy = HeaderValue::from_str(&security_policy()).ok();
    let policy = policy.map(|policy| (header::CONTENT_SECURITY_POLICY, policy));
    let tag = tag.and_then(|tag| Some((header::ETAG, HeaderValue::from_str(&tag).ok()?)));
    let referrer = (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let headers: HeaderMap = policy.into_iter().chain(tag).chain([referrer]).collect();
    (headers, response).into_response()
}

fn lock(library: &Mutex<Library>) -> MutexGuard<'_, Library> {
    library.lock().unwrap_or_else(PoisonError::into_inner)
}
