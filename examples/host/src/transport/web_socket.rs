//! Messages to and from an agent behind a WebSocket.
use super::remote::{DIAL_TIME, MAX_FRAME, Remote, redacted};
use super::{ConnectError, Transport, Writer, queue};
use bytes::Bytes;
use futures::{SinkExt, StreamExt, TryStreamExt};
use reqwest::header::AUTHORIZATION;
use rustls::ClientConfig;
use rustls::crypto::ring::default_provider;
use rustls_platform_verifier::BuilderVerifierExt;
use std::io;
use std::sync::Arc;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{Connector, connect_async_tls_with_config};

impl Remote {
    /// Opens the WebSocket.
    pub(super) async fn dial_web_socket(&self) -> Result<Transport, ConnectError> {
        match timeout(DIAL_TIME, dial(self)).await {
            Ok(dialled) => dialled.map_err(|error| self.refusal(error)),
            Err(_) => {
                let seconds = DIAL_TIME.as_secs();
                Err(ConnectError::Silent { url: redacted(&self.url), seconds })
            }
        }
    }

    fn refusal(&self, error: Error) -> ConnectError {
        let denied = match &error {
            Error::Http(response) => self.denied(response.status(), ""),
            _ => None,
        };
        denied.map_or_else(
            || ConnectError::Dial { url: redacted(&self.url), error: Box::new(error) },
            ConnectError::Denied,
        )
    }
}

async fn dial(remote: &Remote) -> Result<Transport, Error> {
    let url = remote.url.as_str();
    let mut request = url.into_client_request()?;
    if let Some(authorization) = &remote.authorization {
        request.headers_mut().insert(AUTHORIZATION, authorization.clone());
    }
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_FRAME))
        .max_frame_size(Some(MAX_FRAME));
    let connector =
        if url.starts_with("wss:") { Connector::Rustls(tls()?) } else { Connector::Plain };
    let (socket, _) =
        connect_async_tls_with_config(request, Some(config), true, Some(connector)).await?;
    let (mut sink, stream) = socket.split();
    let (outgoing, mut queue) = queue();
    let writer = tokio::spawn(async move {
        while let Some(line) = queue.next().await {
            let text = match String::from_utf8(line) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            };
            if let Err(error) = sink.send(Message::text(text)).await {
                tracing::debug!(%error, "the agent's socket does not take messages");
                return;
            }
        }
        if let Err(error) = sink.close().await {
            tracing::debug!(%error, "the agent's socket did not close");
        }
    });
    let incoming = stream
        .map_err(io::Error::other)
        // Nothing follows a close frame, even if the socket stays open.
        .try_take_while(|message| std::future::ready(Ok(!message.is_close())))
        .try_filter_map(|message| async move {
            Ok(match message {
                Message::Text(text) => Some(line(text.into())),
                Message::Binary(bytes) => Some(line(bytes)),
                _ => None,
            })
        })
        .boxed();
    Ok(Transport { incoming, outgoing, writer: Writer::new(writer), process: None })
}

/// Returns TLS settings as the HTTP client has them: the system's certificates, read anew for each
/// connection.
fn tls() -> Result<Arc<ClientConfig>, Error> {
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(io::Error::other)?;
    Ok(Arc::new(config.with_no_client_auth()))
}

/// Ends a message with a line feed, unless it has one.
fn line(message: Bytes) -> Bytes {
    if message.ends_with(b"\n") { message } else { [&message[..], b"\n"].concat().into() }
}
