//! Calls that another program resumes, or that end with their program.
use super::*;
use mcp_bridge::plugin::{Notice, NoticeSink, PluginSessionErrorCode};

#[test]
fn another_program_can_resume_a_call() {
    let world = World::new();
    for policy in [SuspendPolicy::ParkOrReplay, SuspendPolicy::Replay, world.token(true)] {
        let world = World::new();
        let host = |owner| world.host(policy.clone(), owner);
        let (state, _) = asked(begin(&host("a")));
        let (state, _) = asked(answer(&host("b"), &state, [flight()]));
        let (state, _) = asked(answer(&host("c"), &state, [seat()]));
        assert_eq!(booked(answer(&host("d"), &state, [tipped()])), booking());
        assert_eq!(world.tickets.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn parked_tool_is_lost_with_its_program() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Park, "a");
    let (state, _) = asked(begin(&host));
    let other = world.host(SuspendPolicy::Park, "b");
    let error = answer(&other, &state, [flight()]).expect_err("elsewhere");
    assert!(matches!(&error, SessionError::Elsewhere { owner } if owner == "a"), "{error:?}");
    let restarted = world.host(SuspendPolicy::Park, "a");
    let error = answer(&restarted, &state, [flight()]).expect_err("lost");
    assert_eq!(error.code(), PluginSessionErrorCode::SessionNotFound);
    assert_eq!(world.record("9c41").status, SessionStatus::Lost);
}

#[test]
fn parked_tool_is_replayed_in_another_program() {
    let world = World::new();
    let host = |owner| world.host(SuspendPolicy::ParkOrReplay, owner);
    let first = host("a");
    let restarted = host("b");
    let (state, _) = asked(begin(&first));
    let (state, asks) = asked(answer(&first, &state, [flight()]));
    assert_eq!(asks, ["pickSeat"]);
    let (state, asks) = asked(answer(&restarted, &state, [seat()]));
    assert_eq!(asks, ["tip"]);
    // The copy of the first program is outdated and must not continue.
    assert_eq!(booked(answer(&first, &state, [tipped()])), booking());
    assert_eq!(world.tickets.load(Ordering::SeqCst), 1);
    assert_eq!(world.record("9c41").owner, "a");

    block_on(first.sweep()).expect("a store");
    block_on(restarted.sweep()).expect("a store");
    let held = |host: &PluginHost| format!("{host:?}").contains("parked: 0");
    assert!(held(&first) && held(&restarted));
}

#[test]
fn session_of_an_ended_program_is_lost() {
    let world = World::new();
    let (state, _) = asked(begin(&world.host(SuspendPolicy::Park, "a")));
    let other = world.host(SuspendPolicy::Park, "b");
    assert!(matches!(answer(&other, &state, [flight()]), Err(SessionError::Elsewhere { .. })));
    assert!(matches!(block_on(other.lose(&state, "eve")), Err(SessionError::NotFound)));
    block_on(other.lose(&state, "ada")).expect("a session");
    assert_eq!(world.record("9c41").status, SessionStatus::Lost);
    assert!(matches!(answer(&other, &state, [flight()]), Err(SessionError::NotFound)));
}

#[test]
fn notices_reach_the_caller_and_then_the_resumer() {
    let world = World::new();
    for policy in [SuspendPolicy::Park, SuspendPolicy::ParkOrReplay, world.token(true)] {
        let world = World::new();
        let host = world.host(policy, "a");
        let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
        let told = |who: &'static str| -> Option<NoticeSink> {
            let heard = Arc::clone(&heard);
            Some(Arc::new(move |notice| {
                let what = match notice {
                    Notice::Progress { .. } => "progress",
                    Notice::Log { logger, .. } if logger.as_deref() == Some("flights") => "log",
                    other => panic!("{other:?}"),
                };
                heard.lock().expect("alive").push((who, what));
            }))
        };
        let arguments = json!({ "from": "NYC", "destination": "LAX" }).to_string();
        let arguments = Raw::from_text(arguments).expect("JSON");
        let session_id = "9c41";
        let call_id = "call_1";
        let tool = "book_flight";
        let principal = "ada";
        let call = NewCall { session_id, call_id, tool, arguments, principal, meta: None };
        let (state, _) = asked(block_on(host.call(call, told("caller"))));
        let answers = vec![flight()];
        let arguments = None;
        let resumption = Resumption { state: &state, tool, arguments, principal, answers };
        asked(block_on(host.resume(resumption, told("answerer"))));
        let heard = heard.lock().expect("alive");
        assert_eq!(*heard, [("caller", "log"), ("answerer", "progress")]);
    }
}

#[test]
fn replayed_tool_reports_each_notice_once() {
    let world = World::new();
    let count = Arc::new(AtomicU64::new(0));
    let sink = || -> Option<NoticeSink> {
        let count = Arc::clone(&count);
        Some(Arc::new(move |_| _ = count.fetch_add(1, Ordering::SeqCst)))
    };
    let host = |owner| world.host(SuspendPolicy::Replay, owner);
    let arguments = Raw::from_text(r#"{"from":"NYC","destination":"LAX"}"#).expect("JSON");
    let session_id = "9c41";
    let call_id = "call_1";
    let tool = "book_flight";
    let principal = "ada";
    let call = NewCall { session_id, call_id, tool, arguments, principal, meta: None };
    let (state, _) = asked(block_on(host("a").call(call, sink())));
    for answers in [vec![flight()], vec![seat()]] {
        let resumption = Resumption { state: &state, tool, arguments: None, principal, answers };
        asked(block_on(host("b").resume(resumption, sink())));
    }
    assert_eq!(count.load(Ordering::SeqCst), 2);
}
