//! The places of cursors that are used.
use super::*;

#[test]
fn cursor_is_used_only_at_the_beginning_of_the_turn() {
    let hello = || message("m1", "Hello.");
    let echo = |text| {
        let content = json!({"type": "text", "text": text});
        json!({"sessionUpdate": "user_message_chunk", "messageId": "u1", "content": content})
    };
    let thought = |id| {
        let content = json!({"type": "text", "text": "Hm."});
        json!({"sessionUpdate": "agent_thought_chunk", "messageId": id, "content": content})
    };
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Read"});
    let done =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"});
    let compaction =
        json!({"sessionUpdate": "compaction_update", "compactionId": "z", "status": "completed"});
    let after = |kind, anchor| cursor("c1", kind, anchor, "after");
    let unable = json!({"sessionUpdate": "cursor_update", "cursorId": "c1", "capabilities": null});
    let able =
        json!({"sessionUpdate": "cursor_update", "cursorId": "c1", "capabilities": {"fork": {}}});
    let unnamed = json!({"sessionUpdate": "agent_thought_chunk",
        "content": {"type": "text", "text": "Hm."}});
    let mut newer = after("agent_message", "m1");
    newer["anchor"]["position"] = json!("within");
    let mut moved = after("agent_message", "m1");
    moved["anchor"]["position"] = json!("before");
    let table: Vec<(&str, Vec<Value>, bool)> = vec![
        ("the answer", vec![hello(), after("agent_message", "m1")], true),
        ("its beginning", vec![hello(), cursor("c1", "agent_message", "m1", "before")], false),
        ("an earlier entry", vec![thought("h"), after("agent_thought", "h"), hello()], false),
        ("a later thought", vec![hello(), thought("h"), after("agent_thought", "h")], true),
        ("another kind", vec![hello(), after("agent_thought", "m1")], false),
        ("a call", vec![hello(), call.clone(), after("tool_call", "t1"), done.clone()], true),
        ("a call with a later end", vec![call, hello(), done, after("agent_message", "m1")], true),
        ("a compaction", vec![hello(), compaction, after("compaction", "z")], true),
        ("an unnamed entry", vec![hello(), unnamed, after("agent_message", "m1")], false),
        ("a new position", vec![hello(), newer], false),
        ("announced before its place", vec![after("agent_message", "m1"), hello()], true),
        ("clears", vec![hello(), after("agent_message", "m1"), unable.clone()], false),
        ("offers again", vec![hello(), after("agent_message", "m1"), unable, able.clone()], true),
        ("never begins", vec![hello(), able], false),
        ("keeps its place", vec![hello(), after("agent_message", "m1"), moved], true),
        ("the message before", vec![echo("Hi"), after("user_message", "u1"), hello()], false),
        (
            "before all",
            vec![echo("Hi"), cursor("c1", "user_message", "u1", "before"), hello()],
            false,
        ),
    ];
    for (name, updates, is_used) in table {
        let mut rig = with_two_turns(&updates);
        edit(&mut rig, "3", "And now?");
        let expected = if is_used { at("c1") } else { SessionOrigin::New };
        assert_eq!(rig.opening().origin, expected, "{name}");
    }
}

#[test]
fn cursor_before_the_message_of_the_prompt_is_used() {
    let mut rig = Rig::new(options());
    rig.connect(forks());
    turn(&mut rig, "1", "Hi", &[message("m1", "Hello.")]);
    let chunk = |text: &str| {
        json!({"sessionUpdate": "user_message_chunk", "messageId": "u2",
            "content": {"type": "text", "text": text}})
    };
    let before = cursor("c2", "user_message", "u2", "before");
    turn(
        &mut rig,
        "2",
        "And you?",
        &[chunk("And "), chunk("you?"), before, message("m2", "Well.")],
    );
    edit(&mut rig, "3", "And now?");
    assert_eq!(rig.opening().origin, at("c2"));
}

#[test]
fn message_that_the_agent_adds_is_not_that_of_the_prompt() {
    let mut rig = Rig::new(options());
    rig.connect(forks());
    turn(&mut rig, "1", "Hi", &[message("m1", "Hello.")]);
    let added = json!({"sessionUpdate": "user_message_chunk", "messageId": "added",
        "content": {"type": "text", "text": "Be brief."}});
    let before = cursor("c2", "user_message", "added", "before");
    turn(&mut rig, "2", "And you?", &[added, before, message("m2", "Well.")]);
    edit(&mut rig, "3", "And now?");
    assert_eq!(rig.opening().origin, SessionOrigin::New);
}
