//! A client and a server in one process: requests, a notification, an error and a deadline.
//!
//! `cargo run -p spanwire-jsonrpc-core --example calls`
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use core::time::Duration;
use jsonrpc_core::framing::Lines;
use jsonrpc_core::{
    CancelMethod, ErrorCode, ErrorObject, Message, Notification, Peer, PeerMessage, Request,
    RequestLimits,
};
use serde_json::value::{RawValue, to_raw_value};
use std::error::Error;

/// Adds numbers.
struct Server {
    peer: Peer<()>,
    lines: Lines,
}

impl Server {
    /// Handles received bytes, and returns the bytes to send.
    fn handle(&mut self, bytes: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
        let mut output = Vec::new();
        self.lines.push(bytes);
        while let Some(line) = self.lines.next() {
            match self.peer.handle_line(line) {
                PeerMessage::Request(request) => {
                    // A real server would answer this request later, or never.
                    if request.method == "sleep" {
                        continue;
                    }
                    let sum = match &*request.method {
                        "add" => add(request.params),
                        _ => Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "unknown method")),
                    };
                    let outcome = sum.as_deref().map_err(Clone::clone);
                    let response = self.peer.respond(&request.id, outcome)?;
                    Message::from(response).to_line(&mut output);
                }
                PeerMessage::Notification(notification) => {
                    println!("server: notification {}", notification.method);
                }
                PeerMessage::Refused { response, .. }
                | PeerMessage::Malformed { reply: Some(response), .. } => {
                    Message::from(response).to_line(&mut output);
                }
                _ => {}
            }
        }
        Ok(output)
    }
}

/// The sum of the numbers in `params`.
fn add(params: Option<&RawValue>) -> Result<Box<RawValue>, ErrorObject> {
    let invalid = || ErrorObject::new(ErrorCode::INVALID_PARAMS, "expected an array of numbers");
    let numbers: Vec<i64> =
        serde_json::from_str(params.ok_or_else(invalid)?.get()).map_err(|_| invalid())?;
    to_raw_value(&numbers.iter().sum::<i64>()).map_err(|_| invalid())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut server = Server {
        peer: Peer::new(CancelMethod::ACP, RequestLimits::default()),
        lines: Lines::default(),
    };
    // The token of a request is a string here. It is returned with the response.
    let mut client = Peer::<&str>::new(CancelMethod::ACP, RequestLimits::default());
    let mut lines = Lines::default();
    let mut output = Vec::new();
    let start = Duration::ZERO;
    let timeout = Duration::from_secs(30);

    let numbers = to_raw_value(&[1, 2, 3])?;
    let id = client.register("1 + 2 + 3", Some(start + timeout))?;
    Message::from(Request::new(id, "add", &*numbers)).to_line(&mut output);
    let id = client.register("an unknown method", None)?;
    Message::from(Request::new(id, "divide", &*numbers)).to_line(&mut output);
    let id = client.register("a request without an answer", Some(start + timeout))?;
    Message::from(Request::new(id, "sleep", None)).to_line(&mut output);
    Message::from(Notification::new("hello", None)).to_line(&mut output);

    // A transport may split the bytes anywhere.
    for bytes in output.chunks(7) {
        lines.push(&server.handle(bytes)?);
    }
    while let Some(line) = lines.next() {
        if let PeerMessage::Response { token, outcome, .. } = client.handle_line(line) {
            match outcome {
                Ok(result) => println!("client: {token} = {}", result.get()),
                Err(error) => println!("client: {token}: error {}", error.message),
            }
        }
    }

    // The caller has the clock. At the deadline the remaining request ends.
    let now = client.poll_timeout().unwrap_or(start);
    while let Some(ended) = client.poll_ended(now) {
        println!("client: {}: {:?}", ended.token, ended.reason);
    }
    Ok(())
}
