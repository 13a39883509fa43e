//! Trace context in `_meta`, as W3C defines it.
use crate::lines::{prompt, request};
use crate::spans::{A2C, C2A, Run};
use proptest::prelude::*;
use semconv_map::Policy;
use semconv_map::span::Parent;
use semconv_map::trace_context::{MAX_TRACESTATE_BYTES, MAX_TRACESTATE_MEMBERS, TraceContext};
use serde_json::json;

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Each form of `traceparent`, and whether it is valid according to W3C.
#[test]
fn traceparent_is_validated() {
    let rows = [
        (PARENT, true),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", true),
        ("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true),
        ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-adds", true),
        ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what", false),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", false),
        ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
        ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false),
        ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01", false),
        ("00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-001", false),
        ("00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0", false),
        (" 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
        ("", false),
    ];
    for (given, counts) in rows {
        assert_eq!(TraceContext::parse(given, None).is_some(), counts, "{given}");
    }
    let context = TraceContext::parse(PARENT, None).unwrap();
    assert_eq!(context.trace_id, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes());
    assert_eq!(context.span_id, 0x00f0_67aa_0ba9_02b7_u64.to_be_bytes());
    assert_eq!(context.flags, 1);
    assert!(context.is_sampled());
}

/// An invalid `tracestate` does not invalidate the parent.
#[test]
fn tracestate_is_validated() {
    let members =
        |count: usize| (0..count).map(|at| format!("k{at}=v")).collect::<Vec<_>>().join(",");
    let rows = [
        ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE".to_owned(), true),
        ("a=1, b=2,,c=3".to_owned(), true),
        ("tenant@system=x y".to_owned(), true),
        (members(MAX_TRACESTATE_MEMBERS), true),
        (members(MAX_TRACESTATE_MEMBERS + 1), false),
        ("a".to_owned(), false),
        ("A=1".to_owned(), false),
        ("a=1\n".to_owned() + "b", false),
        ("a=é".to_owned(), false),
        ("a=\x7f".to_owned(), false),
        (format!("a={}", "x".repeat(256)), true),
        (format!("a={}", "x".repeat(257)), false),
        ("a=1".to_owned() + &",".repeat(MAX_TRACESTATE_BYTES - 3), true),
        ("a=1".to_owned() + &",".repeat(MAX_TRACESTATE_BYTES - 2), false),
    ];
    for (state, counts) in rows {
        let context = TraceContext::parse(PARENT, Some(&state)).unwrap();
        assert_eq!(context.tracestate.as_deref(), counts.then_some(&*state), "{state}");
    }
}

#[test]
fn client_request_has_a_remote_parent() {
    let meta = json!({ "traceparent": PARENT, "tracestate": "a=1", "other": {} });
    let mut run = Run::new(Policy::default());
    run.line(
        C2A,
        &request(1, "session/prompt", json!({ "_meta": meta, "sessionId": "s", "prompt": [] })),
    );
    run.line(C2A, &request(2, "session/list", json!({ "_meta": meta })));
    let expected = Parent::Remote(TraceContext::parse(PARENT, Some("a=1")).unwrap().into());
    assert_eq!(run.span("invoke_agent").start.parent, expected);
    assert_eq!(run.span("session/list").start.parent, expected);
    run.line(
        A2C,
        &request(1, "fs/read_text_file", json!({ "_meta": meta, "sessionId": "s", "path": "/" })),
    );
    let turn = Parent::Span(run.span("invoke_agent").start.span);
    assert_eq!(run.span("fs/read_text_file").start.parent, turn, "the turn is nearer");
}

#[test]
fn invalid_parent_is_ignored() {
    for meta in [
        json!(null),
        json!(7),
        json!({}),
        json!({ "traceparent": 7 }),
        json!({ "traceparent": "x" }),
    ] {
        let mut run = Run::new(Policy::default());
        run.line(C2A, &request(1, "session/list", json!({ "_meta": meta })));
        assert_eq!(run.span("session/list").start.parent, Parent::Root, "{meta}");
    }
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    assert_eq!(run.span("invoke_agent").start.parent, Parent::Root);
}

proptest! {
    /// Formatting and parsing are inverse, and no text causes a panic.
    #[test]
    fn context_round_trips(trace in 1_u128.., span in 1_u64.., flags: u8, noise in ".{0,80}") {
        let context = TraceContext::parse(&format!("00-{trace:032x}-{span:016x}-{flags:02x}"), None).unwrap();
        prop_assert_eq!(u128::from_be_bytes(context.trace_id), trace);
        prop_assert_eq!(u64::from_be_bytes(context.span_id), span);
        prop_assert_eq!(context.flags, flags);
        let _ = TraceContext::parse(&noise, Some(&noise));
        let _ = TraceContext::from_meta(&noise);
    }
}
