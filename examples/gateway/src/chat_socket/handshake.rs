//! The handshake of a WebSocket.
use crate::chat_socket::link::{Link, SocketLimits};
use crate::chat_socket::{Chat, ChatBackend};
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// Maximum number of bytes of a message.
const MAX_MESSAGE: usize = 1024 * 1024;

/// The subprotocol, for clients that ask for one.
const PROTOCOL: &str = "chat";

/// The request does not open a WebSocket; the text says why. The status is 426.
#[derive(Clone, Copy, Debug)]
pub struct NoWebSocket(pub &'static str);

/// Answers the handshake of a WebSocket, and serves its chat in a task.
///
/// # Errors
/// The request is no handshake, or its connection cannot be upgraded.
pub fn upgrade(
    mut request: Request<Body>,
    backend: impl ChatBackend,
    limits: SocketLimits,
) -> Result<Response, NoWebSocket> {
    let accept = accept_key(request.headers());
    let accept = accept.ok_or(NoWebSocket("expected a WebSocket, version 13"))?;
    let protocol = offers_protocol(request.headers());
    let upgrade = request.extensions_mut().remove::<OnUpgrade>();
    let upgrade = upgrade.ok_or(NoWebSocket("the connection cannot be upgraded"))?;
    tokio::spawn(async move {
        let upgraded = match upgrade.await {
            Ok(upgraded) => TokioIo::new(upgraded),
            Err(error) => return tracing::debug!(%error, "a WebSocket that did not open"),
        };
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE));
        let socket = WebSocketStream::from_raw_socket(upgraded, Role::Server, Some(config)).await;
        Chat::new(backend, Link::new(socket, limits)).serve().await;
    });
    let mut response = (
        StatusCode::SWITCHING_PROTOCOLS,
        [(header::CONNECTION, "upgrade"), (header::UPGRADE, "websocket")],
    )
        .into_response();
    response.headers_mut().insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    if protocol {
        let chosen = HeaderValue::from_static(PROTOCOL);
        response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, chosen);
    }
    Ok(response)
}

/// Returns the key that accepts a handshake.
fn accept_key(headers: &HeaderMap) -> Option<HeaderValue> {
    let has = |name: HeaderName, value: &str| has(headers, name, value);
    let is_handshake = has(header::UPGRADE, "websocket")
        && has(header::CONNECTION, "upgrade")
        && has(header::SEC_WEBSOCKET_VERSION, "13");
    let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| is_handshake)?;
    HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()
}

fn offers_protocol(headers: &HeaderMap) -> bool {
    has(headers, header::SEC_WEBSOCKET_PROTOCOL, PROTOCOL)
}

fn has(headers: &HeaderMap, name: HeaderName, value: &str) -> bool {
    let lists = headers.get_all(name).into_iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|item| item.trim().eq_ignore_ascii_case(value))
}
