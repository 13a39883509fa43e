//! Negotiation of the generation with a server.
use super::*;
use mcp_bridge::client::ConnectError;

/// Outcome of each response to `server/discover`, and the messages that follow.
#[test]
fn generation_is_negotiated() {
    let unsupported = |supported: Value| json!({ "error": { "code": -32022, "message": "no", "data": { "supported": supported, "requested": "2026-07-28" } } });
    let discovered = |versions: Value| json!({ "result": { "supportedVersions": versions, "capabilities": {} } });
    let table = [
        (discovered(json!(["2026-07-28", "2025-11-25"])), "ready"),
        (discovered(json!(["2025-11-25"])), "initialize"),
        (discovered(json!(["2031-01-01"])), "unusable"),
        (unsupported(json!(["2025-11-25"])), "initialize"),
        (unsupported(json!(["2031-01-01"])), "unusable"),
        (json!({ "error": { "code": -32601, "message": "unknown method" } }), "initialize"),
        (json!({ "error": { "code": -32600, "message": "not initialized" } }), "initialize"),
        (json!({ "result": { "tools": [] } }), "initialize"),
        (json!({ "result": 7 }), "initialize"),
    ];
    for (answer, expected) in table {
        for era in [None, Some(Era::Modern)] {
            let mut server = Server::new(era);
            server.client.start(Duration::ZERO);
            let probe = server.take();
            let meta = &probe["params"]["_meta"];
            assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
            assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], ALL());
            let mut line = answer.clone();
            (line["jsonrpc"], line["id"]) = ("2.0".into(), probe["id"].clone());
            server.line(&line);
            let got = match (server.client.poll_event(), server.client.poll_outgoing()) {
                (Some(ClientEvent::Ready(_)), None) => "ready",
                (Some(ClientEvent::Unusable(_)), None) => "unusable",
                (None, Some(sent)) => {
                    assert_eq!(
                        sent.as_message().id().map(ToString::to_string).as_deref(),
                        Some("2")
                    );
                    "initialize"
                }
                other => panic!("{other:?}"),
            };
            // With a given generation there is no fallback.
            let expected =
                if era.is_some() && expected == "initialize" { "unusable" } else { expected };
            assert_eq!(got, expected, "{answer}");
        }
    }
    let mut unsure = Server::new(None);
    unsure.client.start(Duration::ZERO);
    for attempt in 1..=2 {
        let probe = unsure.take();
        assert_eq!(&probe["method"], &json!("server/discover"));
        assert_eq!(&probe["id"], &json!(attempt));
        assert_eq!(unsure.client.poll_timeout(), Some(Duration::from_secs(5)));
        let mut refusal = unsupported(json!(["2026-07-28"]));
        (refusal["jsonrpc"], refusal["id"]) = ("2.0".into(), probe["id"].clone());
        unsure.line(&refusal);
    }
    let event = unsure.client.poll_event();
    assert!(matches!(event, Some(ClientEvent::Unusable(ConnectError::Version))), "{event:?}");

    let mut silent = Server::new(None);
    silent.client.start(Duration::from_secs(1));
    silent.take();
    assert_eq!(silent.client.poll_timeout(), Some(Duration::from_secs(6)));
    silent.client.handle_timeout(Duration::from_secs(6));
    let begun = silent.take();
    assert_eq!(&begun["method"], &json!("initialize"));
    assert_eq!(&begun["params"]["protocolVersion"], &json!("2025-11-25"));
    silent.result(&begun, json!({ "protocolVersion": "2026-07-28", "capabilities": {}, "serverInfo": { "name": "s", "version": "1" } }));
    let event = silent.client.poll_event();
    assert!(matches!(event, Some(ClientEvent::Unusable(ConnectError::Version))), "{event:?}");
    assert_eq!(
        silent.client.call(CallParams::new("t", wire_raw(&json!({})))),
        Err(SendRequestError::NotReady)
    );
}

/// A modern server that starts slowly reads the probe after the client has given it up, and refuses
/// `initialize`. The client probes once more.
#[test]
fn slow_server_of_the_newer_generation_is_ready() {
    let refusal = |request: &Value| json!({ "jsonrpc": "2.0", "id": request["id"], "error": { "code": -32022, "message": "no" } });
    for (era, is_ready) in [(None, true), (None, false), (Some(Era::Legacy), false)] {
        let mut slow = Server::new(era);
        slow.client.start(Duration::ZERO);
        if era.is_none() {
            let probe = slow.take();
            slow.client.handle_timeout(Duration::from_secs(5));
            let discovered = json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} });
            let refused = slow.take();
            slow.result(&probe, discovered.clone());
            slow.line(&refusal(&refused));
            let probe = slow.take();
            assert_eq!(probe["method"], "server/discover");
            if is_ready {
                slow.result(&probe, discovered);
            } else {
                slow.line(&refusal(&probe));
            }
        } else {
            let refused = slow.take();
            slow.line(&refusal(&refused));
        }
        match slow.client.poll_event() {
            Some(ClientEvent::Ready(_)) if is_ready => {}
            Some(ClientEvent::Unusable(_)) if !is_ready => {}
            other => panic!("{era:?}: {other:?}"),
        }
        assert!(slow.client.poll_outgoing().is_none());
    }
}
