//! The end of a sign-in in a browser of this machine: a loopback address that the page redirects
//! to.
use crate::sign_in::Browser;
use async_trait::async_trait;
use axum::Router;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Html;
use axum::routing::get;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio::task::AbortHandle;

/// Maximum number of unread redirects. Further ones are dropped.
const MAX_REDIRECTS: usize = 8;

/// The page at the end of a sign-in.
const END: &str = "<!doctype html><meta charset=utf-8><title>Signed in</title><p>You can close this page and return to the program.";

/// A [`Browser`] on this machine. Pages redirect to a loopback address with a free port.
///
/// Spec: [RFC 8252, section 7.3](https://www.rfc-editor.org/rfc/rfc8252.html#section-7.3)
pub struct Loopback {
    address: SocketAddr,
    show: Box<dyn Fn(&str) + Send + Sync>,
    redirects: Mutex<mpsc::Receiver<String>>,
    server: AbortHandle,
}

impl fmt::Debug for Loopback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loopback").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Loopback {
    /// Listens on a free port. `show` shows the user the URL of a page to open.
    ///
    /// # Errors
    /// Returns an error if no port is free.
    pub async fn bind(show: impl Fn(&str) + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (sender, redirects) = mpsc::channel(MAX_REDIRECTS);
        let app = Router::new().route("/callback", get(callback)).with_state(sender);
        let server = tokio::spawn(async move { axum::serve(listener, app).await }).abort_handle();
        Ok(Self { address, show: Box::new(show), redirects: Mutex::new(redirects), server })
    }

    /// Returns the URL that pages redirect to, for
    /// [`AuthOptions::redirect_uri`](mcp_bridge::client::auth::AuthOptions::redirect_uri).
    pub fn redirect_uri(&self) -> String {
        format!("http://{}/callback", self.address)
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn callback(State(sender): State<mpsc::Sender<String>>, uri: Uri) -> Html<&'static str> {
    // Only redirects that no sign-in waits for fill the queue.
    let _dropped = sender.try_send(uri.to_string());
    Html(END)
}

#[async_trait]
impl Browser for Loopback {
    async fn open(&self, url: &str) -> io::Result<()> {
        (self.show)(url);
        Ok(())
    }

    async fn redirect(&self) -> io::Result<String> {
        let redirect = self.redirects.lock().await.recv().await;
        redirect.ok_or_else(|| io::Error::other("the callback is closed"))
    }
}
