//! Downloads: documents of a registry, with a copy in the cache folder of the user, and files of
//! agents.
use crate::catalog::document::{CatalogError, DownloadError, MAX_DOCUMENT_BYTES, read_file};
use core::fmt::Write as _;
use core::future::Future;
use core::time::Duration;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};
use rustls::crypto::ring::default_provider;
use sha2::{Digest, Sha256};
use std::env;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::thread;

/// Age of a copy up to which the document is not requested again.
const MAX_AGE: Duration = Duration::from_secs(6 * 60 * 60);

/// Time limit of a request for a document, and for the beginning of another one.
const REQUEST_TIME: Duration = Duration::from_secs(10);

/// Time in which a part of a file has to arrive.
const STALL_TIME: Duration = Duration::from_secs(60);

/// Maximum number of redirections.
const MAX_REDIRECTS: usize = 5;

/// Returns the address if `document` is one instead of a file.
pub(crate) fn address(document: &Path) -> Option<&str> {
    let text = document.to_str()?;
    (text.starts_with("https://") || text.starts_with("http://")).then_some(text)
}

/// Returns the folder of the copies, in the cache folder of the user.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        env::home_dir().map(|home| home.join("Library/Caches"))
    } else {
        variable("XDG_CACHE_HOME").or_else(|| Some(env::home_dir()?.join(".cache")))
    };
    Some(base?.join("spanwire"))
}

/// Returns what `read` makes of the document at an address, and a warning if it is an old copy. A
/// copy that is at most [`MAX_AGE`] old is used without a request. A document is copied if `read`
/// accepts it.
pub(crate) fn read<T>(
    address: &str,
    folder: Option<&Path>,
    read: impl Fn(&str) -> Result<T, CatalogError>,
) -> Result<(T, Option<String>), CatalogError> {
    let url = permitted(address)?;
    let copy = folder.map(|folder| folder.join(copy_name(address)));
    let copy = copy.as_deref();
    if let Some(value) = copy.filter(|copy| is_fresh(copy)).and_then(|copy| stored(copy, &read)) {
        return Ok((value, None));
    }
    let error = match download(url) {
        Ok(text) => match read(&text) {
            Ok(value) => {
                // Without a copy the document is requested again the next time.
                if let Some(copy) = copy {
                    let _ = store(copy, &text);
                }
                return Ok((value, None));
            }
            Err(error) => error,
        },
        Err(error) => error.into(),
    };
    match copy.and_then(|copy| stored(copy, &read)) {
        Some(value) => Ok((value, Some(format!("{address}: {error}; an older copy is used")))),
        None => Err(error),
    }
}

/// Returns the URL of an address with HTTPS, or on this machine.
pub(crate) fn permitted(address: &str) -> Result<Url, DownloadError> {
    let url: Url = address.parse().map_err(|_| DownloadError::Address)?;
    is_permitted(&url).then_some(url).ok_or(DownloadError::Address)
}

fn is_permitted(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let is_here = host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    url.scheme() == "https" || (url.scheme() == "http" && is_here)
}

/// The name of the copy, which is different for each address.
fn copy_name(address: &str) -> String {
    let digest = Sha256::digest(address);
    format!("agents-{}.json", digits(digest.get(..16).unwrap_or_default()))
}

fn digits(bytes: &[u8]) -> String {
    let mut digits = String::new();
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

fn is_fresh(copy: &Path) -> bool {
    let modified = fs::metadata(copy).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age <= MAX_AGE))
}

fn stored<T>(copy: &Path, read: impl Fn(&str) -> Result<T, CatalogError>) -> Option<T> {
    read(&read_file(copy).ok()?).ok()
}

/// Replaces the copy at once, so that another program never reads a part of it.
fn store(copy: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = copy.parent() {
        fs::create_dir_all(folder)?;
    }
    let partial = copy.with_extension(format!("{}.part", std::process::id()));
    fs::write(&partial, text)?;
    fs::rename(&partial, copy)
}

/// Downloads a document.
fn download(url: Url) -> Result<String, DownloadError> {
    let bytes = on_thread(async {
        let client = client(Client::builder().timeout(REQUEST_TIME))?;
        let mut bytes = Vec::new();
        read_body(&client, url, MAX_DOCUMENT_BYTES, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })
        .await?;
        Ok(bytes)
    })?;
    String::from_utf8(bytes).map_err(|_| DownloadError::Text)
}

/// Returns the size of a file, if the server announces it.
pub(crate) fn size(url: Url) -> Result<Option<u64>, DownloadError> {
    on_thread(async {
        let client = client(Client::builder().timeout(REQUEST_TIME))?;
        // Some servers sign addresses for GET only. The body is not read.
        Ok(client.get(url).send().await?.error_for_status()?.content_length())
    })
}

/// Downloads a file, and returns its SHA-256 in hexadecimal digits.
pub(crate) fn fetch(url: Url, file: &mut File, limit: u64) -> Result<String, DownloadError> {
    on_thread(async {
        let builder = Client::builder().connect_timeout(REQUEST_TIME).read_timeout(STALL_TIME);
        let mut digest = Sha256::new();
        read_body(&client(builder)?, url, limit, |piece| {
            digest.update(piece);
            file.write_all(piece).map_err(DownloadError::Write)
        })
        .await?;
        Ok(digits(&digest.finalize()))
    })
}

/// Runs a request on a thread of its own, because the caller may be inside of a runtime.
fn on_thread<T: Send>(
    request: impl Future<Output = Result<T, DownloadError>> + Send,
) -> Result<T, DownloadError> {
    // The client panics without a default provider. A default of the program stays in place.
    let _ = default_provider().install_default();
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(DownloadError::Start)?.block_on(request)
    };
    thread::scope(|scope| {
        let worker = thread::Builder::new().spawn_scoped(scope, run);
        let worker = worker.map_err(DownloadError::Start)?;
        let stopped = || DownloadError::Start(io::Error::other("the request stopped"));
        worker.join().unwrap_or_else(|_| Err(stopped()))
    })
}

fn client(builder: ClientBuilder) -> Result<Client, DownloadError> {
    let policy = Policy::custom(|attempt| {
        if attempt.previous().len() > MAX_REDIRECTS || !is_permitted(attempt.url()) {
            attempt.stop()
        } else {
            attempt.follow()
        }
    });
    let agent = concat!("spanwire-agent-catalog/", env!("CARGO_PKG_VERSION"));
    Ok(builder.redirect(policy).user_agent(agent).build()?)
}

/// Gives the pieces of a response of limited size to `take`.
async fn read_body(
    client: &Client,
    url: Url,
    limit: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), DownloadError>,
) -> Result<(), DownloadError> {
    let mut response = client.get(url).send().await?.error_for_status()?;
    let mut count = 0;
    while let Some(piece) = response.chunk().await? {
        count += piece.len() as u64;
        if count > limit {
            return Err(DownloadError::Size(limit));
        }
        take(&piece)?;
    }
    Ok(())
}
