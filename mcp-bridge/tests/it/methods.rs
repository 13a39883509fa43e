//! The table of methods.
use mcp_bridge::mcp::base::ProtocolVersion;
use mcp_bridge::mcp::dispatch::{
    ClientNotification, ClientRequest, ClientResult, ServerNotification, ServerRequest,
    ServerResult,
};
use mcp_bridge::mcp::methods::{self, MethodKind, Receiver};
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// The messages of each version by receiver, as listed in its schema.
const LISTED: &[(ProtocolVersion, Receiver, &[&str])] = &[
    (
        ProtocolVersion::V20241105,
        Receiver::Server,
        &[
            "initialize",
            "ping",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "prompts/get",
            "tools/list",
            "tools/call",
            "logging/setLevel",
            "completion/complete",
            "notifications/cancelled",
            "notifications/initialized",
            "notifications/progress",
            "notifications/roots/list_changed",
        ],
    ),
    (
        ProtocolVersion::V20250618,
        Receiver::Client,
        &[
            "ping",
            "sampling/createMessage",
            "roots/list",
            "elicitation/create",
            "notifications/cancelled",
            "notifications/progress",
            "notifications/message",
            "notifications/resources/updated",
            "notifications/resources/list_changed",
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
        ],
    ),
    (
        ProtocolVersion::V20251125,
        Receiver::Server,
        &[
            "initialize",
            "ping",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "prompts/get",
            "tools/list",
            "tools/call",
            "logging/setLevel",
            "completion/complete",
            "tasks/get",
            "tasks/result",
            "tasks/cancel",
            "tasks/list",
            "notifications/cancelled",
            "notifications/initialized",
            "notifications/progress",
            "notifications/roots/list_changed",
            "notifications/tasks/status",
        ],
    ),
    (
        ProtocolVersion::V20251125,
        Receiver::Client,
        &[
            "ping",
            "sampling/createMessage",
            "roots/list",
            "elicitation/create",
            "tasks/get",
            "tasks/result",
            "tasks/cancel",
            "tasks/list",
            "notifications/cancelled",
            "notifications/progress",
            "notifications/message",
            "notifications/resources/updated",
            "notifications/resources/list_changed",
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/elicitation/complete",
            "notifications/tasks/status",
        ],
    ),
    (
        ProtocolVersion::V20260728,
        Receiver::Server,
        &[
            "server/discover",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "subscriptions/listen",
            "prompts/list",
            "prompts/get",
            "tools/list",
            "tools/call",
            "completion/complete",
            "notifications/cancelled",
            // Extension `tasks`.
            "tasks/get",
            "tasks/update",
            "tasks/cancel",
            // Extension `skills`.
            "skills/list",
            "skills/get",
            "resources/directory/read",
        ],
    ),
    (
        ProtocolVersion::V20260728,
        Receiver::Client,
        &[
            "notifications/cancelled",
            "notifications/progress",
            "notifications/message",
            "notifications/resources/updated",
            "notifications/resources/list_changed",
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/subscriptions/acknowledged",
            // Extension `tasks`.
            "notifications/tasks",
        ],
    ),
];

/// Each version has exactly the methods that its schema lists.
#[test]
fn rows_match_the_schemas() {
    for (version, receiver, expected) in LISTED {
        let sent =
            methods::all().filter(|row| row.is_sent_in(version) && row.receiver == *receiver);
        let sent: BTreeSet<_> = sent.map(|row| row.name).collect();
        assert_eq!(sent, expected.iter().copied().collect(), "{version} {receiver:?}");
    }
    let input = methods::all().filter(|row| row.is_input_request).map(|row| row.name);
    let input: BTreeSet<_> = input.collect();
    assert_eq!(
        input,
        BTreeSet::from(["elicitation/create", "sampling/createMessage", "roots/list"])
    );
}

/// Each method is decoded by name, and so is its result, only for its receiver.
#[test]
fn methods_are_decoded_only_for_their_receiver() {
    // No method has such params: a known method rejects them, and an unknown one keeps them.
    let odd: &RawValue = serde_json::from_str("[]").expect("JSON");
    for row in methods::all() {
        let name = row.name;
        let to_server = row.receiver == Receiver::Server;
        let read = match (row.kind, to_server) {
            (MethodKind::Request, true) => {
                assert!(ServerResult::decode(name, odd).is_err(), "{name}");
                ClientRequest::decode(name, Some(odd)).is_err()
            }
            (MethodKind::Request, false) => {
                assert!(ClientResult::decode(name, odd).is_err(), "{name}");
                ServerRequest::decode(name, Some(odd)).is_err()
            }
            (MethodKind::Notification, true) => {
                ClientNotification::decode(name, Some(odd)).is_err()
            }
            (MethodKind::Notification, false) => {
                ServerNotification::decode(name, Some(odd)).is_err()
            }
        };
        assert!(read, "{name}");
        assert_eq!(methods::find(row.receiver, name), Some(row));
        let shapes = &crate::shapes::SHAPES.0;
        assert!(shapes.contains_key(row.params), "{name}: {}", row.params);
        assert!(row.result.is_none_or(|it| it == "Extra" || shapes.contains_key(it)), "{name}");
    }
    let other = ClientRequest::decode("x/y", Some(odd)).expect("any params");
    assert_eq!(other.method(), "x/y");
    assert_eq!(other.to_params().expect("JSON"), Some(odd.into()));
}
