//! Links from a turn to turns of its past.
use crate::lines::{prompt, request, result, stop};
use crate::spans::{A2C, C2A, Run, Span};
use semconv_map::{Attribute, Policy};
use serde_json::{Value, json};

fn turn(run: &mut Run, id: i64, session: &str) {
    run.line(C2A, &prompt(id, session));
    run.line(A2C, &stop(id, "end_turn"));
}

fn turns(run: &Run) -> Vec<&Span> {
    run.spans.all.values().filter(|span| span.name() == "invoke_agent").collect()
}

fn linked(span: &Span, before: &Span, reason: &'static str) {
    let [link] = &span.start.links[..] else { panic!("links: {:?}", span.start.links) };
    assert_eq!(link.to, before.start.span);
    assert_eq!(link.attributes, [Attribute::new("acp.link.reason", reason)]);
}

fn ask(run: &mut Run, method: &str, params: Value, answer: Value) {
    run.line(C2A, &request(100, method, params));
    run.line(A2C, &result(100, answer));
}

/// The first turn after it was loaded or resumed links to the last before; turns that follow each
/// other do not.
#[test]
fn turn_links_to_the_resumed_turn() {
    for method in ["session/load", "session/resume"] {
        let mut run = Run::new(Policy::default());
        turn(&mut run, 1, "s");
        turn(&mut run, 2, "s");
        ask(&mut run, method, json!({ "sessionId": "s", "cwd": "/", "mcpServers": [] }), json!({}));
        turn(&mut run, 3, "s");
        turn(&mut run, 4, "s");
        let turns = turns(&run);
        assert!([0, 1, 3].iter().all(|&at| turns[at].start.links.is_empty()), "{method}");
        linked(turns[2], turns[1], "resume");
    }
}

#[test]
fn turn_links_to_the_forked_turn() {
    let mut run = Run::new(Policy::default());
    turn(&mut run, 1, "s");
    let params = json!({ "sessionId": "s", "cwd": "/", "mcpServers": [] });
    ask(&mut run, "session/fork", params, json!({ "sessionId": "fork" }));
    turn(&mut run, 2, "s");
    turn(&mut run, 3, "fork");
    turn(&mut run, 4, "fork");
    let turns = turns(&run);
    assert!([0, 1, 3].iter().all(|&at| turns[at].start.links.is_empty()));
    linked(turns[2], turns[0], "fork");
}

/// There is nothing to link to: the session was not seen before, or the agent could not load it.
#[test]
fn unobserved_turns_are_not_linked() {
    let mut run = Run::new(Policy::default());
    let params = json!({ "sessionId": "s", "cwd": "/", "mcpServers": [] });
    ask(&mut run, "session/load", params.clone(), json!({}));
    turn(&mut run, 1, "s");
    run.line(C2A, &request(100, "session/load", params));
    run.line(A2C, &crate::lines::error(100, -32002, "no such session"));
    turn(&mut run, 2, "s");
    assert!(turns(&run).iter().all(|turn| turn.start.links.is_empty()));
}
