//! Properties of the translator, for any input in any order.
use crate::generated::{
    MESSAGES, PAGE_CALL, block, cases, chunk, number_runs, options, raw, steps, tool_update,
    update, update_v2, upsert,
};
use crate::script::{Step, events, in_stream, interrupting};
use acp_types::v1::prompt_turn::SessionUpdate;
use acp_types::v2::prompt_lifecycle::SessionUpdate as SessionUpdateV2;
use agui_bridge::{Options, Translator};
use agui_types::compact::compact;
use agui_types::event::{Event, RunFinishedOutcome, TextMessageRole};
use agui_types::profile::Profile;
use agui_types::reduce::Reducer;
use agui_types::sse;
use agui_types::verify::Verifier;
use jsonrpc_core::RequestId;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

struct Played {
    events: Vec<Event>,
    answered: Vec<RequestId>,
}

fn play(translator: &mut Translator, steps: &[Step]) -> Played {
    let mut played = Played { events: Vec::new(), answered: Vec::new() };
    for step in steps {
        let _ = step.apply(translator);
        played.events.extend(events(translator));
        played.answered.extend(
            std::iter::from_fn(|| translator.poll_response()).map(|answer| answer.request_id),
        );
    }
    played
}

fn stream(options: &Options, steps: &[Step]) -> Vec<Event> {
    play(&mut Translator::new(options.clone()), steps).events
}

fn verify(profile: Profile, events: &[Event]) -> Result<(), TestCaseError> {
    let (mut verifier, mut reducer) = (Verifier::strict(), Reducer::new());
    for event in events {
        verifier.handle(event).map_err(|violation| TestCaseError::fail(violation.to_string()))?;
        prop_assert_eq!(profile.refuses(event), None, "{:?}", event);
        prop_assert_eq!(reducer.handle(event), None, "{:?}", event);
        prop_assert!(event.is_known());
        let text = serde_json::to_string(event)?;
        prop_assert_eq!(&serde_json::from_str::<Event>(&text)?, event);
    }
    verifier.finish().map_err(|violation| TestCaseError::fail(violation.to_string()))
}

/// Returns the conversation and the state of a stream.
fn reduced(events: &[Event]) -> (Value, Value) {
    let mut reducer = Reducer::new();
    for event in events {
        let _ = reducer.handle(event);
    }
    (serde_json::to_value(reducer.messages()).unwrap(), reducer.state().clone())
}

/// Returns the pending interrupts of the first-party client after a stream.
fn pending_after(events: &[Event], mut pending: Vec<String>) -> Vec<String> {
    for event in events {
        let Event::RunFinished(finished) = event else { continue };
        pending = match &finished.outcome {
            Some(RunFinishedOutcome::Interrupt(outcome)) => {
                outcome.interrupts.iter().map(|interrupt| interrupt.id.to_string()).collect()
            }
            _ => Vec::new(),
        };
    }
    pending
}

fn is_end(event: &Event) -> bool {
    matches!(event, Event::RunFinished(_) | Event::RunError(_))
}

/// Returns whether the agent's turn ended with the run: it was neither interrupted nor refused.
fn is_end_of_turn(event: &Event) -> bool {
    // The turn continues after answers that match no open question.
    let is_refusal = |code: &str| code.starts_with("RESUME") || code.starts_with("INTERRUPT");
    match event {
        Event::RunFinished(finished) => {
            let result = finished.result.as_ref().and_then(|it| it.decode::<Value>().ok());
            let code = result.as_ref().and_then(|result| result["error"]["code"].as_str());
            !matches!(finished.outcome, Some(RunFinishedOutcome::Interrupt(_)))
                && !code.is_some_and(is_refusal)
        }
        Event::RunError(error) => !error.code.as_deref().is_some_and(is_refusal),
        _ => false,
    }
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

    /// Each stream passes the strict verifier, and has no event on which a client of its profile fails.
    #[test]
    fn streams_are_valid(options in options(), steps in steps()) {
        let events = stream(&options, &steps);
        verify(options.profile.unwrap_or(Profile::V1), &events)?;
    }

    /// Each run begins with one `RUN_STARTED` and ends with one `RUN_FINISHED` or `RUN_ERROR`; no event is between
    /// runs.
    #[test]
    fn runs_begin_and_end_once(options in options(), steps in steps()) {
        let mut running = false;
        for event in stream(&options, &steps) {
            prop_assert_eq!(matches!(event, Event::RunStarted(_)), !running, "{:?}", event);
            running = !is_end(&event);
        }
        prop_assert!(!running);
    }

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

    /// The sent arguments are the last ones before the call began to run, or without any the first ones after that.
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

    /// A client refuses to begin a run that does not answer its pending interrupts. A run that cancels all of them
    /// leaves none pending, however that run and earlier ones end.
    #[test]
    fn clients_recover_from_pending_interrupts(options in options(), steps in steps(), fails in any::<bool>()) {
        let mut translator = Translator::new(options);
        let mut pending = pending_after(&play(&mut translator, &steps).events, Vec::new());
        for run in 0..2 {
            let resume: Vec<_> = pending
                .iter()
                .map(|id| json!({"interruptId": id, "status": "cancelled"}))
                .collect();
            let end = if fails { json!({"exit": "gone"}) } else { json!({"result": {"stopReason": "end_turn"}}) };
            let last = [json!({"run": format!("last {run}"), "resume": resume}), end];
            let last: Vec<Step> = last.iter().map(Step::read).collect();
            pending = pending_after(&play(&mut translator, &last).events, pending);
        }
        prop_assert_eq!(pending, Vec::<String>::new());
    }

    /// Each call that starts has one result, between its end and the end of the run; page calls have none.
    #[test]
    fn calls_have_one_result(options in options(), steps in steps()) {
        let (mut started, mut ended, mut results) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for event in stream(&options, &steps) {
            match &event {
                Event::ToolCallStart(start) if start.tool_call_id.as_str().starts_with(PAGE_CALL) => {}
                Event::ToolCallStart(start) => prop_assert!(started.insert(start.tool_call_id.clone())),
                Event::ToolCallEnd(end) => prop_assert!(ended.insert(end.tool_call_id.clone())),
                Event::ToolCallResult(result) => {
                    prop_assert!(ended.contains(&result.tool_call_id));
                    prop_assert!(results.insert(result.tool_call_id.clone()));
                }
                _ => {}
            }
            if is_end_of_turn(&event) {
                prop_assert_eq!(&started, &results);
            }
        }
    }

    /// Identifiers are unique.
    #[test]
    fn ids_are_unique(options in options(), steps in steps()) {
        let (mut ids, mut activities) = (BTreeSet::new(), BTreeSet::new());
        for event in stream(&options, &steps) {
            let id = match event {
                Event::TextMessageStart(event) => event.message_id.to_string(),
                Event::ReasoningStart(event) => event.message_id.to_string(),
                Event::ReasoningMessageStart(event) => event.message_id.to_string(),
                Event::ToolCallStart(event) => event.tool_call_id.to_string(),
                Event::ToolCallResult(event) => event.message_id.to_string(),
                Event::ActivitySnapshot(event) => {
                    activities.insert(event.message_id.to_string());
                    continue;
                }
                _ => continue,
            };
            prop_assert!(ids.insert(id.clone()), "{} is used twice", id);
        }
        prop_assert!(ids.is_disjoint(&activities));
    }

    /// All items are closed before their run ends, for each kind of end.
    #[test]
    fn all_items_are_closed(options in options(), steps in steps()) {
        let mut open = BTreeSet::new();
        for event in stream(&options, &steps) {
            match &event {
                Event::TextMessageStart(event) => open.insert(event.message_id.to_string()),
                Event::TextMessageEnd(event) => open.remove(event.message_id.as_str()),
                Event::ReasoningStart(event) => open.insert(event.message_id.to_string()),
                Event::ReasoningEnd(event) => open.remove(event.message_id.as_str()),
                Event::ReasoningMessageStart(event) => open.insert(event.message_id.to_string()),
                Event::ReasoningMessageEnd(event) => open.remove(event.message_id.as_str()),
                Event::ToolCallStart(event) => open.insert(event.tool_call_id.to_string()),
                Event::ToolCallEnd(event) => open.remove(event.tool_call_id.as_str()),
                _ => true,
            };
            prop_assert!(!is_end(&event) || open.is_empty(), "{:?}", open);
        }
    }

    /// Each speaker has at most one open text or thought, and none while a tool call starts or an activity is shown.
    #[test]
    fn texts_are_closed_before_other_items(mut options in options(), steps in steps()) {
        // Other profiles do not distinguish subagents.
        options.profile = Some(Profile::V1);
        let mut open = BTreeSet::new();
        for event in stream(&options, &steps) {
            let owner = event.subagent_run_id().cloned();
            match event {
                Event::TextMessageStart(_) | Event::ReasoningStart(_) => prop_assert!(open.insert(owner)),
                Event::TextMessageEnd(_) | Event::ReasoningEnd(_) => prop_assert!(open.remove(&owner)),
                Event::ToolCallStart(_) | Event::ActivitySnapshot(_) => prop_assert!(!open.contains(&owner)),
                _ => {}
            }
        }
    }

    /// Server-sent events preserve text: one `data` line for each event, no carriage return, and the same events for
    /// any split of the body.
    #[test]
    fn bodies_can_be_split_anywhere(options in options(), steps in steps(), cut in any::<proptest::sample::Index>()) {
        let events = stream(&options, &steps);
        let mut body = Vec::new();
        for event in &events {
            let before = body.len();
            sse::write_event(&mut body, event)?;
            let frame = std::str::from_utf8(&body[before..])?;
            prop_assert!(frame.starts_with("data: ") && frame.ends_with("\n\n") && frame.lines().count() == 2);
        }
        prop_assert!(!body.contains(&b'\r'));
        let (first, second) = body.split_at(cut.index(body.len() + 1));
        let (mut decoder, mut read) = (sse::Decoder::default(), Vec::new());
        for piece in [first, second] {
            decoder.push(piece);
            while let Some(frame) = decoder.next_frame() {
                read.push(frame?.decode::<Event>()?);
            }
        }
        prop_assert_eq!(read, events);
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
        (options.state, options.profile) = (true, Some(Profile::V1));
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

    /// The length of a stream is bounded by that of its input.
    #[test]
    fn stream_length_is_bounded_by_the_input(mut options in options(), steps in steps()) {
        // A conversation is restated as a whole.
        options.history = false;
        let steps: Vec<_> = steps.into_iter().filter(|step| !matches!(step, Step::Load(_))).collect();
        let taken: usize = steps.iter().map(|step| format!("{step:?}").len()).sum();
        let mut body = Vec::new();
        for event in stream(&options, &steps) {
            sse::write_event(&mut body, &event)?;
        }
        // A step may close items of several others, each of which adds some hundred bytes.
        prop_assert!(body.len() <= 8 * taken + 2000 * (steps.len() + 1), "{} from {}", body.len(), taken);
    }

    /// Cancelling a run at any point answers its questions at once, and the run ends when the agent is stopped.
    #[test]
    fn cancelled_run_ends(options in options(), steps in steps(), cut in any::<proptest::sample::Index>()) {
        let mut translator = Translator::new(options);
        let (before, _) = steps.split_at(cut.index(steps.len()));
        let asked = before.iter().filter(|step| matches!(step, Step::Ask(..) | Step::Ask2(..) | Step::Elicit(..))).count();
        let mut answered = play(&mut translator, before).answered.len();
        translator.handle_cancel();
        answered += std::iter::from_fn(|| translator.poll_response()).count();
        if translator.is_running() || translator.is_interrupted() {
            prop_assert_eq!(answered, asked);
        }
        let running = translator.is_running();
        let _ = events(&mut translator);
        translator.handle_stopped();
        let last = events(&mut translator).pop();
        prop_assert!(!running || last.is_some_and(|last| is_end(&last)));
        prop_assert!(!translator.is_running());
    }

    /// An interrupted and resumed turn has the same messages as one with questions in its stream, except for arguments
    /// that the interruption ended early.
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
        let (together, apart) = (play_as(false), play_as(true));
        verify(Profile::V1, &apart)?;
        let messages = |events: &[Event]| {
            let messages = reduced(events).0.as_array().cloned().unwrap_or_default();
            messages.into_iter().filter(|message| message["role"] != "activity").collect::<Vec<_>>()
        };
        prop_assert_eq!(messages(&apart), messages(&together));
    }

    /// Each permission request has one answer.
    #[test]
    fn permissions_are_answered_once(options in options(), steps in steps()) {
        let mut asked: Vec<RequestId> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Ask(id, _) | Step::Ask2(id, _) | Step::Elicit(id, _) => Some(id.clone()),
                _ => None,
            })
            .collect();
        let mut answered = play(&mut Translator::new(options), &steps).answered;
        asked.sort_unstable();
        answered.sort_unstable();
        prop_assert_eq!(answered, asked);
    }

    /// Translation is deterministic, also when the translator is serialized and restored on the way.
    #[test]
    fn translation_is_deterministic(options in options(), steps in steps(), cut in any::<proptest::sample::Index>()) {
        let whole = stream(&options, &steps);
        let (before, after) = steps.split_at(cut.index(steps.len()));
        let mut translator = Translator::new(options);
        let mut events = play(&mut translator, before).events;
        let mut copy: Translator = serde_json::from_str(&serde_json::to_string(&translator)?)?;
        events.extend(play(&mut copy, after).events);
        prop_assert_eq!(events, whole);
    }

    /// Repeating a whole value has no effect.
    #[test]
    fn repetition_is_harmless(options in options(), updates in proptest::collection::vec(
        (prop_oneof![2 => upsert(), 1 => chunk(block())], 1..3usize), 0..30)) {
        let script = |repeats: bool| {
            let mut script = vec![json!({"run": "r"})];
            for (update, times) in &updates {
                let is_chunk = update.get("content").is_some() && update.get("toolCallId").is_none()
                    || update.pointer("/_meta/terminal_output_delta").is_some();
                let times = if repeats && !is_chunk { *times } else { 1 };
                script.extend(std::iter::repeat_n(json!({"update": update}), times));
            }
            script.push(json!({"result": {"stopReason": "end_turn"}}));
            script.iter().map(Step::read).collect::<Vec<_>>()
        };
        prop_assert_eq!(stream(&options, &script(true)), stream(&options, &script(false)));
    }

    /// Text and the first event of each tool call keep the order of arrival.
    #[test]
    fn order_is_kept(options in options(), updates in proptest::collection::vec(
        prop_oneof![chunk("[a-c]{1,3}".prop_map(|text| json!({"type": "text", "text": text}))), tool_update()], 0..40)) {
        let mut script = vec![json!({"run": "r"})];
        script.extend(updates.iter().map(|update| json!({"update": update})));
        script.push(json!({"exit": ""}));
        let (mut came, mut seen) = (String::new(), BTreeSet::new());
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

    /// Tiny limits lose content, but keep the order valid.
    #[test]
    fn small_limits_keep_order(options in options(), steps in steps(), limit in 0..5usize) {
        let mut options = options;
        let limits = &mut options.limits;
        for limited in [&mut limits.delta, &mut limits.result, &mut limits.arguments, &mut limits.value, &mut limits.progress,
            &mut limits.message, &mut limits.tool_calls, &mut limits.tool_call_bytes, &mut limits.terminals, &mut limits.state, &mut limits.waiting_updates, &mut limits.permissions,
            &mut limits.ids] {
            *limited = limit;
        }
        let played = play(&mut Translator::new(options.clone()), &steps);
        verify(options.profile.unwrap_or(Profile::V1), &played.events)?;
        let asked = steps.iter().filter(|step| matches!(step, Step::Ask(..) | Step::Ask2(..) | Step::Elicit(..))).count();
        prop_assert_eq!(played.answered.len(), asked);
    }
}

/// The generator produces every kind of update of either version, and an unknown one of each.
#[test]
fn each_kind_of_update_is_generated() {
    fn kinds(updates: impl Strategy<Value = Value>) -> BTreeSet<String> {
        let mut runner = TestRunner::deterministic();
        let kinds = (0..4000).map(|_| updates.new_tree(&mut runner).unwrap().current());
        kinds.map(|update| update["sessionUpdate"].as_str().unwrap().to_owned()).collect()
    }
    let known = |names: &[&str]| {
        names.iter().copied().chain(["newer_update"]).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert_eq!(kinds(update()), known(SessionUpdate::NAMES));
    assert_eq!(kinds(update_v2()), known(SessionUpdateV2::NAMES));
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
