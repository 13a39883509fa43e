//! Spans of subagents.
use crate::lines::{notification, prompt, request, result, stop, text, tool, tool_status, update};
use crate::spans::{A2C, C2A, Run, Span};
use semconv_map::content::{Capture, Gate};
use semconv_map::span::{Parent, SpanKind};
use semconv_map::{ClosedBy, Policy, Profile};
use serde_json::{Value, json};

fn subagent(owner: &str, session: &str, more: Value) -> String {
    let mut update = json!({ "sessionUpdate": "subagent_update", "sessionId": session });
    update.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    crate::lines::update(owner, update)
}

fn state(owner: &str, session: &str, state: &str) -> String {
    subagent(owner, session, json!({ "state": { "state": state } }))
}

fn of<'a>(run: &'a Run, session: &str) -> Vec<&'a Span> {
    let is_one = |span: &&Span| {
        span.str("gen_ai.conversation.id") == Some(session)
            && span.str("gen_ai.operation.name") == Some("invoke_agent")
    };
    run.spans.all.values().filter(is_one).collect()
}

/// A turn with a nested subagent.
pub(crate) fn nested(policy: Policy) -> Run {
    let mut run = Run::new(policy);
    let agent = json!({ "name": "coder", "version": "1" });
    run.line(C2A, &request(0, "initialize", json!({ "protocolVersion": 1 })));
    run.line(A2C, &result(0, json!({ "protocolVersion": 1, "agentInfo": agent })));
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &tool("s", "task", "other", "in_progress"));
    run.line(A2C, &state("s", "child", "running"));
    run.line(A2C, &tool("child", "t", "read", "in_progress"));
    run.line(A2C, &state("child", "grandchild", "running"));
    run.line(A2C, &tool("grandchild", "t", "edit", "completed"));
    run.line(A2C, &state("child", "grandchild", "idle"));
    run.line(A2C, &tool_status("child", "t", "completed"));
    let usage = json!({ "totalTokens": 3, "inputTokens": 1, "outputTokens": 2 });
    let idle = json!({ "state": "idle", "stopReason": "max_tokens", "usage": usage });
    run.line(A2C, &subagent("s", "child", json!({ "state": idle })));
    run.line(A2C, &tool_status("s", "task", "completed"));
    run.line(A2C, &stop(1, "end_turn"));
    run
}

/// The work of a subagent is a span within the turn, and the updates of its session are within that
/// span.
#[test]
fn subagent_is_nested() {
    let run = nested(Policy::default());
    let [turn, child, grandchild] = ["s", "child", "grandchild"].map(|id| of(&run, id)[0]);
    assert_eq!(child.start.parent, Parent::Span(turn.start.span));
    assert_eq!(grandchild.start.parent, Parent::Span(child.start.span));
    for span in [child, grandchild] {
        assert_eq!(span.name(), "invoke_agent coder");
        assert_eq!(span.start.kind, SpanKind::Internal);
        assert_eq!(span.get("acp.prompt.time_to_first_update"), None);
        assert!(span.start.links.is_empty());
    }
    assert_eq!(child.str("acp.session.parent.id"), Some("s"));
    assert_eq!(grandchild.str("acp.session.parent.id"), Some("child"));
    assert_eq!(child.finish_reasons(), Some(vec!["length"]));
    assert_eq!(child.i64("gen_ai.usage.output_tokens"), Some(2));
    let parent_of = |name: &str| run.span(name).start.parent.clone();
    assert_eq!(parent_of("execute_tool read"), Parent::Span(child.start.span));
    assert_eq!(parent_of("execute_tool edit"), Parent::Span(grandchild.start.span));
    assert_eq!(parent_of("execute_tool other"), Parent::Span(turn.start.span));
}

/// Each state in an update, before and during the work of the subagent.
#[test]
fn subagent_works_until_it_is_idle() {
    let rows = [
        // A subagent that is announced without a state works. Later updates without a state have no
        // effect.
        (json!({}), true, true),
        (json!({ "state": { "state": "running" } }), true, true),
        (json!({ "state": { "state": "requires_action" } }), true, true),
        (json!({ "state": { "state": "newer" } }), true, true),
        (json!({ "state": { "state": "unknown" } }), false, true),
        (json!({ "state": null }), false, true),
        (json!({ "state": { "state": "idle" } }), false, false),
    ];
    for (report, starts, stays) in rows {
        let mut run = Run::new(Policy::default());
        run.line(C2A, &prompt(1, "s"));
        run.line(A2C, &subagent("s", "child", report.clone()));
        assert_eq!(of(&run, "child").len(), usize::from(starts), "{report}");
        run.line(A2C, &state("s", "child", "running"));
        run.line(A2C, &subagent("s", "child", report.clone()));
        assert_eq!(of(&run, "child")[0].end.is_none(), stays, "{report}");
    }
}

/// A subagent that resumes work has a link to its previous span. A subagent that outlives the turn
/// ends with it.
#[test]
fn resumed_subagent_links_to_its_previous_span() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &state("s", "child", "running"));
    run.line(A2C, &state("s", "child", "idle"));
    // A new title does not imply work.
    run.line(A2C, &subagent("s", "child", json!({ "title": "x" })));
    assert_eq!(of(&run, "child").len(), 1);
    run.line(A2C, &state("s", "child", "running"));
    run.line(A2C, &state("child", "grandchild", "running"));
    run.line(A2C, &tool("grandchild", "t", "read", "in_progress"));
    run.line(A2C, &stop(1, "end_turn"));
    run.line(A2C, &state("s", "child", "running"));
    run.close(ClosedBy::Agent);

    let [first, second, third] = of(&run, "child")[..] else { panic!("not three") };
    for (span, before) in [(second, first), (third, second)] {
        let [link] = &span.start.links[..] else { panic!("no link") };
        assert_eq!(link.to, before.start.span);
        assert_eq!(link.attributes, [semconv_map::Attribute::new("acp.link.reason", "subagent")]);
    }
    for span in [second, of(&run, "grandchild")[0]] {
        assert_eq!(span.str("acp.request.end"), Some("parent_end"));
        assert!(!span.is_error());
    }
    assert_eq!(third.start.parent, Parent::Root);
    assert_eq!(third.str("error.type"), Some("agent_exited"));
    assert_eq!(run.span("execute_tool read").str("acp.tool.end"), Some("turn_end"));
}

/// When the connection is lost, the innermost span ends first, each with the same reason.
#[test]
fn subagents_end_with_the_connection() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &state("s", "z", "running"));
    run.line(A2C, &state("z", "a", "running"));
    run.close(ClosedBy::Client);
    for session in ["s", "z", "a"] {
        assert_eq!(of(&run, session)[0].str("error.type"), Some("client_closed"), "{session}");
    }
}

/// Subagent updates replayed by `session/load` describe the past.
#[test]
fn replayed_subagent_is_not_a_span() {
    let mut run = Run::new(Policy::default());
    let load = json!({ "sessionId": "s", "cwd": "/", "mcpServers": [] });
    run.line(C2A, &request(1, "session/load", load));
    run.line(A2C, &state("s", "child", "idle"));
    run.line(A2C, &state("s", "child", "running"));
    run.line(A2C, &result(1, json!({})));
    assert_eq!(run.spans.names(), ["session/load"]);
    assert_eq!(run.span("session/load").i64("acp.session.replayed_updates"), Some(2));
}

#[test]
fn provider_of_a_subagent_depends_on_the_profile() {
    for (profile, provider) in
        [(Profile::V1_39, Some("acp")), (Profile::V1_41, Some("acp")), (Profile::GENAI_DEV, None)]
    {
        let mut policy = Policy::default();
        policy.profile = profile;
        let mut run = Run::new(policy);
        run.line(A2C, &state("s", "child", "running"));
        assert_eq!(of(&run, "child")[0].str("gen_ai.provider.name"), provider);
    }
}

#[test]
fn subagent_without_a_session_is_counted() {
    let mut run = Run::new(Policy::default());
    run.line(A2C, &update("s", json!({ "sessionUpdate": "subagent_update", "title": "x" })));
    assert_eq!(run.tracker.counters().undecodable, 1);
    assert!(run.spans.all.is_empty());
}

/// The output of a subagent is recorded on its own span, and its title is subject to the policy for
/// titles.
#[test]
fn subagent_has_its_own_content() {
    let mut policy = Policy::default();
    policy.content = Capture::Span;
    policy.titles = Gate::Never;
    let mut run = Run::new(policy);
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &subagent("s", "child", json!({ "title": "Look around" })));
    run.line(A2C, &text("child", "found it"));
    run.line(A2C, &state("s", "child", "idle"));
    run.line(A2C, &notification("session/cancel", json!({ "sessionId": "child" })));
    run.line(A2C, &stop(1, "end_turn"));
    let child = of(&run, "child")[0];
    let expected = r#"[{"finish_reason":"incomplete","parts":[{"content":"found it","type":"text"}],"role":"assistant"}]"#;
    assert_eq!(child.str("gen_ai.output.messages"), Some(expected));
    assert_eq!(child.get("acp.subagent.title"), None);
    assert!(!of(&run, "s")[0].str("gen_ai.output.messages").unwrap().contains("found"));
}
