//! Properties of the translator, for any input in any order.
use crate::generated::{PAGE_CALL, cases, options, steps, update, update_v2};
use crate::script::{Step, events};
use acp_types::v1::prompt_turn::SessionUpdate;
use acp_types::v2::prompt_lifecycle::SessionUpdate as SessionUpdateV2;
use agui_bridge::CancelReason;
use agui_bridge::{Options, Translator};
use agui_types::event::{Event, RunFinishedOutcome};
use agui_types::profile::Profile;
use agui_types::reduce::Reducer;
use agui_types::sse;
use agui_types::verify::Verifier;
use jsonrpc_core::RequestId;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::collections::BTreeSet;

mod content;

struct PlayedRun {
    events: Vec<Event>,
    answered: Vec<RequestId>,
}

fn play(translator: &mut Translator, steps: &[Step]) -> PlayedRun {
    let mut played = PlayedRun { events: Vec::new(), answered: Vec::new() };
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
    let mut verifier = Verifier::strict();
    let mut reducer = Reducer::new();
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

proptest! {
    #![proptest_config(cases())]

    /// Each stream passes the strict verifier, and has no event on which a client of its profile
    /// fails.
    #[test]
    fn streams_are_valid(options in options(), steps in steps()) {
        let events = stream(&options, &steps);
        verify(options.profile.unwrap_or(Profile::V1), &events)?;
    }

    /// Each run begins with one `RUN_STARTED` and ends with one `RUN_FINISHED` or `RUN_ERROR`; no
    /// event is between runs.
    #[test]
    fn runs_begin_and_end_once(options in options(), steps in steps()) {
        let mut running = false;
        for event in stream(&options, &steps) {
            prop_assert_eq!(matches!(event, Event::RunStarted(_)), !running, "{:?}", event);
            running = !is_end(&event);
        }
        prop_assert!(!running);
    }

    /// A client refuses to begin a run that does not answer its pending interrupts. A run that
    /// cancels all of them leaves none pending, however that run and earlier ones end.
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

    /// Each call that starts has one result, between its end and the end of the run; page calls
    /// have none.
    #[test]
    fn calls_have_one_result(options in options(), steps in steps()) {
        let mut started = BTreeSet::new();
        let mut ended = BTreeSet::new();
        let mut results = BTreeSet::new();
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
        let mut ids = BTreeSet::new();
        let mut activities = BTreeSet::new();
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

    /// Each speaker has at most one open text or thought, and none while a tool call starts or an
    /// activity is shown.
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

    /// Server-sent events preserve text: one `data` line for each event, no carriage return, and
    /// the same events for any split of the body.
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
        let mut decoder = sse::Decoder::default();
        let mut read = Vec::new();
        for piece in [first, second] {
            decoder.push(piece);
            while let Some(frame) = decoder.next_frame() {
                read.push(frame?.decode::<Event>()?);
            }
        }
        prop_assert_eq!(read, events);
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

    /// Cancelling a run at any point answers its questions at once, and the run ends when the agent
    /// is stopped.
    #[test]
    fn cancelled_run_ends(options in options(), steps in steps(), cut in any::<proptest::sample::Index>()) {
        let mut translator = Translator::new(options);
        let (before, _) = steps.split_at(cut.index(steps.len()));
        let asked = before.iter().filter(|step| matches!(step, Step::Ask(..) | Step::Ask2(..) | Step::Elicit(..))).count();
        let mut answered = play(&mut translator, before).answered.len();
        translator.handle_cancel(CancelReason::User);
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

    /// Translation is deterministic, also when the translator is serialized and restored on the
    /// way.
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
