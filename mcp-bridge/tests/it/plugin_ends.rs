//! Sessions that end early, and access to sessions.
use crate::plugin::{
    World, answer, answer_as, asked, begin, book_flight, booked, booking, flight, seat, tipped,
    value,
};
use futures::executor::block_on;
use jsonrpc_core::wire::Raw;
use mcp_bridge::plugin::{
    MemoryStore, PluginHost, PluginSessionErrorCode, Resumption, SessionError, SessionStatus,
    StoreError, StoreLimits, SuspendPolicy,
};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn session_is_listed_until_it_is_aborted() {
    for policy in [SuspendPolicy::Park, SuspendPolicy::Replay] {
        let world = World::new();
        let host = world.host(policy, "a");
        let (state, _) = asked(begin(&host));
        let active = block_on(host.active()).expect("a store");
        assert_eq!(active.len(), 1);
        assert_eq!(active[0].status, SessionStatus::AwaitingElicit);
        assert!(matches!(block_on(host.abort("9c41", "eve", "")), Err(SessionError::NotFound)));
        block_on(host.abort("9c41", "ada", "changed my mind")).expect("aborted");
        block_on(host.abort("9c41", "ada", "again")).expect("aborted before");
        let error = answer(&host, &state, [flight()]).expect_err("aborted");
        assert_eq!(error.code(), PluginSessionErrorCode::SessionAborted);
        assert_eq!(world.record("9c41").reason.as_deref(), Some("changed my mind"));
        assert!(block_on(host.active()).expect("a store").is_empty());
    }
}

#[test]
fn session_expires_and_is_removed() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Replay, "a");
    let (state, _) = asked(begin(&host));
    world.time.pass(3599);
    let (state, _) = asked(answer(&host, &state, []));
    world.time.pass(3600);
    assert!(matches!(answer(&host, &state, [flight()]), Err(SessionError::Expired)));
    let record = world.record("9c41");
    assert_eq!(record.status, SessionStatus::Expired);
    assert_eq!(record.waited.as_secs(), 7199);
    assert_eq!(record.active.as_secs(), 0);
    world.time.pass(600);
    block_on(host.sweep()).expect("swept");
    assert!(matches!(answer(&host, &state, [flight()]), Err(SessionError::NotFound)));
    // A sweep ends sessions without an answer.
    let (_, _) = asked(begin(&host));
    world.time.pass(3600);
    block_on(host.sweep()).expect("swept");
    assert_eq!(world.record("9c41").status, SessionStatus::Expired);
}

#[test]
fn token_expires_and_is_used_once() {
    let world = World::new();
    let host = world.host(world.token(true), "a");
    let (state, _) = asked(begin(&host));
    asked(answer(&host, &state, [flight()]));
    assert!(matches!(answer(&host, &state, [flight()]), Err(SessionError::NotFound)));
    let world = World::new();
    let host = world.host(world.token(false), "a");
    let (state, _) = asked(begin(&host));
    let again =
        (asked(answer(&host, &state, [flight()])).1, asked(answer(&host, &state, [flight()])).1);
    assert_eq!(again.0, again.1);
    world.time.pass(3600);
    assert!(matches!(answer(&host, &state, [flight()]), Err(SessionError::Expired)));
    world.time.pass(3600);
    assert!(matches!(answer(&host, &state, [flight()]), Err(SessionError::NotFound)));
}

#[test]
fn other_principals_and_changed_code_are_rejected() {
    let world = World::new();
    for policy in [SuspendPolicy::Park, SuspendPolicy::Replay, world.token(false)] {
        let world = World::new();
        let host = world.host(policy.clone(), "a");
        let (state, _) = asked(begin(&host));
        assert!(matches!(answer_as(&host, &state, "eve", [flight()]), Err(SessionError::NotFound)));
        let newer = world.host_of(policy.clone(), "a", "2");
        let error = answer(&newer, &state, [flight()]).expect_err("other code");
        let is_token = matches!(policy, SuspendPolicy::Token { .. });
        let is_loud = matches!(error, SessionError::OtherCode { .. });
        assert!(is_loud || is_token && matches!(error, SessionError::NotFound), "{error:?}");
    }
}

#[test]
fn client_cannot_answer_a_step() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Replay, "a");
    let (state, _) = asked(begin(&host));
    asked(answer(&host, &state, [flight()]));
    asked(answer(&host, &state, [seat(), ("charge".into(), value(&json!(77)))]));
    assert_eq!(
        booked(answer(&host, &state, [("charge".into(), value(&json!(77))), tipped()])),
        booking()
    );
}

#[test]
fn full_store_is_an_error() {
    let store = Arc::new(MemoryStore::new(StoreLimits::new(0, 0)));
    let tool = book_flight("1", &Arc::default());
    let host =
        PluginHost::new([tool], SuspendPolicy::Replay, store, "a", Arc::new(|| Duration::ZERO));
    assert!(matches!(begin(&host), Err(SessionError::Store(StoreError::Full))));
}

#[test]
fn repeated_arguments_are_compared_as_values() {
    let world = World::new();
    for policy in [SuspendPolicy::Replay, world.token(false)] {
        let world = World::new();
        let host = world.host(policy, "a");
        let (state, _) = asked(begin(&host));
        let resume =
            |text: &str| {
                let arguments = Raw::from_text(text).expect("JSON");
                let answers = vec![flight()];
                let tool = "book_flight";
                let principal = "ada";
                let arguments = Some(&arguments);
                block_on(host.resume(
                    Resumption { state: &state, tool, arguments, principal, answers },
                    None,
                ))
            };
        let other = resume(r#"{"from":"NYC","destination":"SFO"}"#);
        assert!(matches!(other, Err(SessionError::OtherArguments)));
        asked(resume(r#"{ "destination": "LA\u0058", "from": "NYC" }"#));
    }
}
