//! An oversized message reports its id, at any place of the message.
use crate::json;
use jsonrpc_core::framing::{FrameError, Lines};
use jsonrpc_core::{CancelMethod, Kind, Message, Peer, PeerMessage, RequestId, RequestLimits};
use proptest::prelude::*;

type Recovery = (Option<Kind>, Option<RequestId>);

fn recovered(error: &FrameError) -> Recovery {
    assert!(matches!(error, FrameError::TooLong { .. }), "{error:?}");
    (error.kind(), error.id().cloned())
}

/// Returns the reported parts of a line that arrives in pieces, and the number of bytes at that
/// time.
fn told(line: &str, limit: usize, size: usize) -> (Recovery, usize) {
    let mut lines = Lines::new(limit);
    let mut came = 0;
    for piece in line.as_bytes().chunks(size).chain([&b"\n"[..]]) {
        lines.push(piece);
        came += piece.len();
        if let Some(line) = lines.next() {
            return (recovered(&line.expect_err("too long")), came);
        }
    }
    panic!("not told: {line}");
}

#[test]
fn id_may_be_at_any_place() {
    let response = |id| (Some(Kind::Response), Some(RequestId::from(id)));
    let long = "a".repeat(100);
    let table = [
        (format!(r#"{{"jsonrpc":"2.0","result":{{"a":"{long}"}},"id":7}}"#), response(7)),
        (format!(r#"{{"result":["{long}\"]}}",{{"id":8}}] , "i\u0064" : 7.0 }}"#), response(7)),
        (format!(r#"{{"error":{{"data":"{long}"}},"id":7}}"#), response(7)),
        (format!(r#"{{"error":null,"result":"{long}","id":7}}"#), response(7)),
        (
            format!(r#"{{"method":"m","params":["{long}"],"id":"q"}}"#),
            (Some(Kind::Request), Some("q".into())),
        ),
        (format!(r#"{{"method":"m","params":["{long}"]}}"#), (Some(Kind::Notification), None)),
        // These are ambiguous.
        (format!(r#"{{"method":"m","params":["{long}"],"id":[7]}}"#), (None, None)),
        (format!(r#"{{"params":["{long}"],"id":7}}"#), (None, None)),
        (format!(r#"{{"method":"m","params":["{long}"}},"id":7}}"#), (None, None)),
        (format!(r#"{{"method":"m","params":["{long}"#), (None, None)),
        (format!(r#"[{{"method":"m","params":["{long}"],"id":7}}]"#), (None, None)),
        (format!(r#"{{"method":"m","params":{}"#, "[".repeat(2000)), (None, None)),
        (long.clone(), (None, None)),
    ];
    for (line, expected) in &table {
        for size in [1, 7, 5000] {
            assert_eq!(told(line, 40, size).0, *expected, "{line}");
        }
    }
}

#[test]
fn error_is_reported_as_soon_as_it_is_final() {
    let came = |line: &str| told(line, 40, 1).1;
    let x = "x".repeat(41);
    let long = "a".repeat(500);
    assert_eq!(came(&x), 41);
    assert_eq!(came(&format!("{{\"id\":1,\"result\":\"{long}")), 41);
    assert_eq!(came(&format!("{{\"result\":\"{x}\",\"id\":1,\"a\":\"{long}")), 61);
    assert_eq!(came(&format!("{{\"result\":[{{\"a\":\"{x}\"]{long}")), 60);
}

#[test]
fn oversized_response_ends_its_request_at_once() -> Result<(), Box<dyn std::error::Error>> {
    let mut peer = Peer::new(CancelMethod::ACP, RequestLimits::default());
    let id = peer.register("read", None)?;
    let mut lines = Lines::new(64);
    lines.push(
        format!("{{\"result\":{{\"content\":\"{}\"}},\"id\":1}}\n", "a".repeat(99)).as_bytes(),
    );
    let PeerMessage::Malformed { ended, reply: None, .. } =
        peer.handle_line(lines.next().ok_or("not told")?)
    else {
        panic!("not malformed");
    };
    assert_eq!(ended, Some((id, "read")));
    Ok(())
}

proptest! {
    /// The reported kind and id of an oversized message are those of the message, for any split.
    #[test]
    fn reported_parts_are_correct(
        text in prop_oneof![json::envelope(), json::damaged(json::envelope())],
        limit in any::<prop::sample::Index>(),
        size in 1..40_usize,
    ) {
        let text = text.replace(['\n', '\r'], " ");
        prop_assume!(!text.trim().is_empty());
        let limit = limit.index(text.len());
        let (told, _) = told(&text, limit, size);
        prop_assert_eq!(&told, &self::told(&text, limit, usize::MAX).0);
        if let Ok(message) = Message::decode(&text) {
            prop_assert_eq!(told.0, Some(message.kind()));
            // An error may have no id.
            prop_assert!(told.1.as_ref() == message.id() || message.id() == Some(&RequestId::NULL));
        }
    }
}
