//! What a stream keeps: texts, arguments, their order, and the state.
use super::*;
use crate::generated::{MESSAGES, block, chunk, number_runs, raw, tool_update, upsert};
use crate::script::{in_stream, interrupting};
use agui_types::compact::compact;
use agui_types::event::TextMessageRole;
use proptest::sample::select;
use std::collections::BTreeMap;

/// Returns the conversation and the state of a stream.
fn reduced(events: &[Event]) -> (Value, Value) {
    let mut reducer = Reducer::new();
    for event in events {
        let _ = reducer.handle(event);
    }
    (serde_json::to_value(reducer.messages()).unwrap(), reducer.state().clone())
}

/// The kinds of chunks, and the role of the resulting messages; a thought has none.
const VOICES: [(&str, Option<TextMessageRole>); 3] = [
    ("agent_message_chunk", Some(TextMessageRole::Assistant)),
    ("user_message_chunk", Some(TextMessageRole::User)),
    ("agent_thought_chunk", None),
];

/// Text chunks of these messages, and of messages without an id if `nameless`.
fn chunks(ids: &'static [&'static str], nameless: bool) -> impl Strategy<Value = Vec<Value>> {
    let text = "[a-c]{0,3}".prop_map(|text| json!({"type": "text", "text": text}));
    let chunk = (chunk(text), select(ids)).prop_map(move |(mut chunk, id)| {
        if !nameless || chunk.get("messageId").is_some() {
            chunk["messageId"] = json!(id);
        }
        chunk
    });
    proptest::collection::vec(chunk, 0..30)
}

/// Updates in runs of this size, with one update between two runs.
fn in_runs_of(updates: usize, all: &[Value]) -> Vec<Step> {
    let mut script = Vec::new();
    for (number, update) in all.iter().enumerate() {
        if number % (updates + 1) == 0 {
            script.push(json!({"run": ""}));
        }
        if number % (updates + 1) == updates {
            script.push(json!({"error": {"code": 1, "message": ""}}));
        }
        script.push(json!({"update": update}));
    }
    script.extend([json!({"exit": ""}), json!({"run": ""}), json!({"exit": ""})]);
    number_runs(&mut script);
    script.iter().map(Step::read).collect()
}

/// Returns the chunks of a kind: message ids and text.
fn said(steps: &[Step], kind: &str) -> Vec<(String, String)> {
    let mut said = Vec::new();
    for step in steps {
        let Step::Update(notification) = step else { continue };
        let update = serde_json::to_value(&notification.update).unwrap();
        if update["sessionUpdate"] == kind {
            let member = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            said.push((member(&update["messageId"]), member(&update["content"]["text"])));
        }
    }
    said
}

proptest! {
    #![proptest_config(cases())]

    /// Text in chunks is preserved in order, across runs.
    #[test]
    fn text_is_kept(options in options(), chunks in chunks(&MESSAGES, true), end_after in 1..9usize) {
        let steps = in_runs_of(end_after, &chunks);
        let events = stream(&options, &steps);
        for (kind, role) in VOICES {
            let whole: String = said(&steps, kind).into_iter().map(|(_, text)| text).collect();
            let heard: String = spoken(&events, role.as_ref()).into_iter().map(|(_, text)| text).collect();
            prop_assert_eq!(heard, whole);
        }
    }

    /// The segments of a message have the text of exactly that message.
    #[test]
    fn messages_keep_their_text(options in options(), chunks in chunks(&["A", "B"], false), end_after in 1..9usize) {
        let steps = in_runs_of(end_after, &chunks);
        let events = stream(&options, &steps);
        for (kind, role) in VOICES {
            for key in ["A", "B"] {
                let text = |said: Vec<(String, String)>, is_key: &dyn Fn(&str) -> bool| -> String {
                    said.into_iter().filter(|(id, _)| is_key(id)).map(|(_, text)| text).collect()
                };
                let said = text(said(&steps, kind), &|id| id == key);
                let segment = format!("{key}.");
                let heard = text(spoken(&events, role.as_ref()), &|id| id == key || id.starts_with(&segment));
                prop_assert_eq!(heard, said);
            }
        }
    }

    /// The arguments of each call are one JSON object.
    #[test]
    fn arguments_are_json(options in options(), steps in steps()) {
        let mut arguments: BTreeMap<String, String> = BTreeMap::new();
        for event in stream(&options, &steps) {
            match event {
                Event::ToolCallStart(start) => {
                    arguments.insert(start.tool_call_id.to_string(), String::new());
                }
                Event::ToolCallArgs(args) => {
                    arguments.entry(args.tool_call_id.to_string()).or_default().push_str(&args.delta);
                }
                _ => {}
            }
        }
        for (id, arguments) in arguments {
            let value: Value = serde_json::from_str(&arguments)
                .map_err(|error| TestCaseError::fail(format!("{id}: {error}: {arguments}")))?;
            prop_assert!(value.is_object());
        }
    }

    /// The sent arguments are the last ones before the call began to run, or without any the first
    /// ones after that.
    #[test]
    fn arguments_are_the_last(inputs in proptest::collection::vec(raw(), 0..4), late in proptest::option::of(raw())) {
        let mut script = vec![json!({"run": "r"})];
        let call = |input: &Value| json!({"update":
            {"sessionUpdate": "tool_call_update", "toolCallId": "t", "rawInput": input}});
        script.extend(inputs.iter().map(call));
        script.push(json!({"update":
            {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress"}}));
        script.extend(late.iter().map(call));
        script.push(json!({"exit": ""}));
        let steps: Vec<Step> = script.iter().map(Step::read).collect();
        let expected = match inputs.last().or(late.as_ref()) {
            None => json!({}),
            Some(input) if input.is_object() => input.clone(),
            Some(input) => json!({"value": input}),
        };
        let sent = stream(&in_stream(Profile::V1), &steps).into_iter().find_map(|event| match event {
            Event::ToolCallArgs(args) => Some(args.delta),
            _ => None,
        });
        prop_assert_eq!(serde_json::from_str::<Value>(&sent.unwrap_or_default())?, expected);
    }

    /// The result of a stream is the same when its deltas are joined or split.
    #[test]
    fn result_does_not_depend_on_the_split(mut options in options(), steps in steps(), delta in 1..4usize) {
        let events = stream(&options, &steps);
        let whole = reduced(&events);
        prop_assert_eq!(&reduced(&compact(events)?), &whole);
        options.limits.delta = delta;
        prop_assert_eq!(reduced(&stream(&options, &steps)), whole);
    }

    /// `/acp` of the client's state has the latest values of the session.
    #[test]
    fn state_has_the_latest_values(mut options in options(), steps in steps()) {
        options.state = true;
        options.profile = Some(Profile::V1);
        let mut told = BTreeMap::new();
        for step in &steps {
            let Step::Update(notification) = step else { continue };
            let update = serde_json::to_value(&notification.update)?;
            let place = match update["sessionUpdate"].as_str() {
                Some("current_mode_update") => ("mode", update["currentModeId"].clone()),
                Some("available_commands_update") => ("commands", update["availableCommands"].clone()),
                Some("plan") => ("plan", json!({"entries": update["entries"]})),
                _ => continue,
            };
            told.insert((notification.session_id.to_string(), place.0), place.1);
        }
        // Values of several sessions overwrite one another, which is not modelled here.
        let told: Vec<_> = told.into_iter().collect();
        let alone = |name: &str| told.iter().filter(|((_, other), _)| *other == name).count() == 1;
        let events = stream(&options, &steps);
        let (_, state) = reduced(&events);
        for ((_, name), value) in told.iter().filter(|((_, name), _)| alone(name) && *name != "plan") {
            prop_assert_eq!(&state["acp"][*name], value, "{}", name);
        }
    }

    /// An interrupted and resumed turn has the same messages as one with questions in its stream,
    /// except for arguments that the interruption ended early.
    #[test]
    fn interruptions_change_no_message(updates in proptest::collection::vec(update(), 0..20), asks in
        proptest::collection::vec((any::<proptest::sample::Index>(), any::<bool>()), 0..3)) {
        let mut script: Vec<Value> = updates
            .into_iter()
            .map(|mut update| {
                update.as_object_mut().map(|members| members.remove("rawInput"));
                json!({"update": update})
            })
            .collect();
        let options = json!([
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]);
        for (number, (at, _)) in asks.iter().enumerate() {
            let call = format!("asked {number}");
            let ask = json!({"ask": number, "toolCall": {"toolCallId": call, "title": "Do"}, "options": options});
            script.insert(at.index(script.len() + 1), ask);
        }
        script.push(json!({"result": {"stopReason": "end_turn"}}));
        let play_as = |interrupt: bool| {
            let mut steps = vec![json!({"run": "run 0"})];
            let mut asked = 0;
            for step in &script {
                steps.push(step.clone());
                if step.get("ask").is_none() {
                    continue;
                }
                let approved = asks[asked].1;
                asked += 1;
                let id = format!("int-{asked}");
                steps.push(if interrupt {
                    let answer = json!({"interruptId": id, "status": "resolved", "payload": approved});
                    json!({"run": format!("run {asked}"), "resume": [answer]})
                } else {
                    json!({"answer": id, "optionId": if approved { "yes" } else { "no" }})
                });
            }
            let options = if interrupt { interrupting() } else { in_stream(Profile::V1) };
            stream(&options, &steps.iter().map(Step::read).collect::<Vec<_>>())
        };
        let together = play_as(false);
        let apart = play_as(true);
        verify(Profile::V1, &apart)?;
        let messages = |events: &[Event]| {
            let messages = reduced(events).0.as_array().cloned().unwrap_or_default();
            messages.into_iter().filter(|message| message["role"] != "activity").collect::<Vec<_>>()
        };
        prop_assert_eq!(messages(&apart), messages(&together));
    }

    /// Repeating a whole value has no effect, except for the announcement of a call that has ended:
    /// the first one may describe that call, and the next one begins another call with its id.
    #[test]
    fn repetition_is_harmless(options in options(), updates in proptest::collection::vec(
        (prop_oneof![2 => upsert(), 1 => chunk(block())], 1..3usize), 0..30)) {
        let script = |repeats: bool| {
            let mut script = vec![json!({"run": "r"})];
            let mut ended = BTreeSet::new();
            for (update, times) in &updates {
                let is_chunk = update.get("content").is_some() && update.get("toolCallId").is_none()
                    || update.pointer("/_meta/terminal_output_delta").is_some();
                let announces_ended = announces_ended_call(&mut ended, update);
                let times = if repeats && !is_chunk && !announces_ended { *times } else { 1 };
                script.extend(std::iter::repeat_n(json!({"update": update}), times));
            }
            script.push(json!({"result": {"stopReason": "end_turn"}}));
            script.iter().map(Step::read).collect::<Vec<_>>()
        };
        prop_assert_eq!(stream(&options, &script(true)), stream(&options, &script(false)));
    }

    /// Text and the first event of each tool call keep the order of arrival. No call ends, since
    /// its id would be that of another call then.
    #[test]
    fn order_is_kept(options in options(), mut updates in proptest::collection::vec(
        prop_oneof![chunk("[a-c]{1,3}".prop_map(|text| json!({"type": "text", "text": text}))), tool_update()], 0..40)) {
        for update in &mut updates {
            if is_end(&update["status"]) {
                update["status"] = json!("in_progress");
            }
        }
        let mut script = vec![json!({"run": "r"})];
        script.extend(updates.iter().map(|update| json!({"update": update})));
        script.push(json!({"exit": ""}));
        let mut came = String::new();
        let mut seen = BTreeSet::new();
        for update in &updates {
            match update.get("toolCallId") {
                None => came.push_str(update["content"]["text"].as_str().unwrap_or_default()),
                Some(id) => came.push_str(if seen.insert(id.to_string()) { "!" } else { "" }),
            }
        }
        let mut went = String::new();
        for event in stream(&options, &script.iter().map(Step::read).collect::<Vec<_>>()) {
            match event {
                Event::TextMessageContent(content) => went.push_str(&content.delta),
                Event::ReasoningMessageContent(content) => went.push_str(&content.delta),
                Event::ToolCallStart(_) => went.push('!'),
                _ => {}
            }
        }
        prop_assert_eq!(went, came);
    }
}

/// Returns whether an update announces a call that it ends, or that an earlier one has ended. Keeps
/// the ids of ended calls.
fn announces_ended_call(ended: &mut BTreeSet<String>, update: &Value) -> bool {
    let Some(id) = update["toolCallId"].as_str() else { return false };
    let announces = update["sessionUpdate"] == "tool_call";
    let was_ended = ended.contains(id);
    if is_end(&update["status"]) {
        ended.insert(id.to_owned());
        return announces;
    }
    let describes = ["title", "name", "kind", "rawInput"].iter().any(|it| update.get(it).is_some());
    if announces || describes && update.get("status").is_some() {
        // The call with this id is an open one, or its next announcement begins one.
        ended.remove(id);
    }
    announces && was_ended
}

fn is_end(status: &Value) -> bool {
    matches!(status.as_str(), Some("completed" | "failed" | "cancelled"))
}

/// Returns the messages of a role, or the thoughts: ids without `msg-` or `rsn-`, and their text.
fn spoken(events: &[Event], role: Option<&TextMessageRole>) -> Vec<(String, String)> {
    let mut heard: Vec<(String, String)> = Vec::new();
    let mut open = BTreeSet::new();
    for event in events {
        let (id, delta) = match event {
            Event::TextMessageStart(start) if role.is_some() && start.role.as_ref() == role => {
                open.insert(start.message_id.to_string());
                continue;
            }
            Event::TextMessageContent(content) if open.contains(content.message_id.as_str()) => {
                (content.message_id.as_str(), &content.delta)
            }
            Event::ReasoningMessageContent(content) if role.is_none() => {
                (content.message_id.as_str(), &content.delta)
            }
            _ => continue,
        };
        heard.push((id.split_once('-').map_or(id, |(_, key)| key).into(), delta.clone()));
    }
    heard
}
