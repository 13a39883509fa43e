//! The table of methods.
use crate::shapes::{Presence, Shape};
use crate::stored::assert_is_stored;
use crate::wire_types::VERSIONS;
use acp_types::methods::{self, Method, MethodKind, Receiver, Stability};
use acp_types::{v1, v2};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The sides that support a method: an agent, a client, a proxy.
type Sides = (bool, bool, bool);

/// Returns whether decoding supports the method. An error also means support, since only the
/// parameters can be invalid.
fn known<T, E>(decoded: Result<T, E>, is_other: impl Fn(&T) -> bool) -> bool {
    !decoded.as_ref().is_ok_and(is_other)
}

macro_rules! sides {
    ($version:ident: $($what:ident)::+ ($agent:ident, $client:ident, $proxy:ident)) => {
        |method: &str| {
            (
                sides!(@knows $version $($what)::+ $agent method),
                sides!(@knows $version $($what)::+ $client method),
                sides!(@knows $version $($what)::+ $proxy method),
            )
        }
    };
    (@knows $version:ident params $Type:ident $method:ident) => {
        known($version::dispatch::$Type::decode($method, None), |read| {
            matches!(read, $version::dispatch::$Type::Other { .. })
        })
    };
    (@knows $version:ident result $Type:ident $method:ident) => {
        known($version::dispatch::$Type::decode($method, serde_json::value::RawValue::NULL), |read| {
            matches!(read, $version::dispatch::$Type::Other { .. })
        })
    };
}

/// Decodes a message by its method.
type Reader = fn(&str) -> Sides;

/// The decoders of each version: parameters of requests, parameters of notifications, results.
const READERS: [[Reader; 3]; 2] = [
    [
        sides!(v1: params (ClientRequest, AgentRequest, ProxyRequest)),
        sides!(v1: params (ClientNotification, AgentNotification, ProxyNotification)),
        sides!(v1: result (AgentResponse, ClientResponse, ProxyResponse)),
    ],
    [
        sides!(v2: params (ClientRequest, AgentRequest, ProxyRequest)),
        sides!(v2: params (ClientNotification, AgentNotification, ProxyNotification)),
        sides!(v2: result (AgentResponse, ClientResponse, ProxyResponse)),
    ],
];

/// Each row is a method that only its receiver decodes by that name, and so is its result.
#[test]
fn each_method_is_decoded_by_its_receiver() {
    for (version, [request, notification, result]) in VERSIONS.iter().zip(READERS) {
        for method in version.methods {
            let expected = match method.receiver {
                Receiver::Agent => (true, false, false),
                Receiver::Client => (false, true, false),
                Receiver::Either => (true, true, false),
                Receiver::Proxy | Receiver::ProxyOrConductor => (false, false, true),
                other => panic!("no decoder for {other:?}"),
            };
            let readers = match method.kind {
                MethodKind::Request => vec![request, result],
                MethodKind::Notification => vec![notification],
            };
            for reader in readers {
                assert_eq!(reader(method.name), expected, "{}: {}", version.name, method.name);
            }
            let found = methods::find(version.methods, method.receiver, method.name);
            let found = found.map(|found| (found.name, found.receiver));
            assert_eq!(found, Some((method.name, method.receiver)));
        }
    }
}

/// Type names and session scopes agree with the shapes.
#[test]
fn rows_agree_with_the_shapes() {
    for version in VERSIONS {
        for Method { name, params, result, session_scoped, .. } in version.methods {
            let Some(Shape::Object(members)) = version.shapes.0.get(params) else {
                panic!("{name}: {params}")
            };
            let has_session = members.iter().any(|member| {
                member.name == Some("sessionId") && member.presence == Presence::Required
            });
            assert_eq!(*session_scoped, has_session, "{name}");
            assert!(
                result.is_none_or(|it| version.shapes.0.contains_key(it)),
                "{name}: {result:?}"
            );
        }
        let rows = version.methods.iter();
        let rows: BTreeSet<_> = rows.map(|row| (row.name, row.result.is_some())).collect();
        assert_eq!(rows.len(), version.methods.len(), "a method is there twice");
    }
}

/// The methods are those of the specification, stable and unstable.
#[test]
fn rows_match_the_specification() {
    let count = |table: &[Method], stability| {
        let names: BTreeSet<_> = table
            .iter()
            .filter(|method| method.stability == stability)
            .map(|method| (method.name, method.receiver == Receiver::Client))
            .collect();
        names.len()
    };
    let v1 = [Stability::Stable, Stability::Preview, Stability::Unstable]
        .map(|stability| count(methods::V1, stability));
    let v2 = [Stability::Stable, Stability::Preview, Stability::Unstable]
        .map(|stability| count(methods::V2, stability));
    // Methods of the agent, the client, both, and proxies, counted as in the schema's list of
    // methods.
    assert_eq!(v1, [13 + 11 + 1, 0, 11 + 2 + 2]);
    assert_eq!(v2, [0, 13 + 4 + 1, 11 + 2 + 2]);
}

/// `METHODS.md` equals the table.
#[test]
fn page_equals_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("METHODS.md");
    let written = fs::read_to_string(&path).expect("the page");
    let (introduction, _) = written.split_once("## ").expect("a heading");
    let mut page = introduction.to_owned();
    for (version, title) in VERSIONS.iter().zip(["Version 1", "Version 2, a preview"]) {
        let head = "| method | to | kind | parameters | result | of a session | gate | stability |";
        writeln!(page, "## {title}\n\n{head}\n|---|---|---|---|---|---|---|---|").expect("a line");
        for method in version.methods {
            writeln!(page, "{}", row(method)).expect("a line");
        }
        page.push('\n');
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    assert_is_stored(&page, &path);
}

fn row(method: &Method) -> String {
    let to = match method.receiver {
        Receiver::Agent => "agent",
        Receiver::Client => "client",
        Receiver::Either => "either",
        Receiver::Proxy => "proxy",
        Receiver::ProxyOrConductor => "proxy or conductor",
        other => panic!("no name for {other:?}"),
    };
    let kind = match method.kind {
        MethodKind::Request => "request",
        MethodKind::Notification => "notification",
    };
    let code = |text: &str| format!("`{text}`");
    format!(
        "| {} | {to} | {kind} | {} | {} | {} | {} | {} |",
        code(method.name),
        code(method.params),
        method.result.map(code).unwrap_or_default(),
        if method.session_scoped { "yes" } else { "" },
        method.gate.unwrap_or_default(),
        method.stability,
    )
}
