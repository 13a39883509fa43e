//! Properties of runs of a model with tools, for any answers of model, tools and page.
use crate::chat_history::messages;
use crate::hybrid_tools::{drain, input, user};
use agui_bridge::CancelReason;
use agui_bridge::hybrid_tools::{
    BackendTool, HybridLoop, LoopOptions, ModelEvent, RunFailure, Step,
};
use agui_types::event::Event;
use agui_types::profile::Profile;
use agui_types::reduce::Reducer;
use agui_types::verify::Verifier;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

#[derive(Clone, Debug)]
enum ScriptStep {
    Say(ModelEvent),
    EndAnswer,
    /// The result of an open backend call, or of an unknown call.
    Result {
        which: usize,
        fails: bool,
    },
    Fail,
    Cancel,
    /// The page answers some pending calls and posts again.
    Ask {
        answers: u8,
    },
}

fn say() -> impl Strategy<Value = ModelEvent> {
    let ids = || select(vec!["c1", "c2", "msg-1", "", "call-1"]);
    let names = || select(vec!["ours", "page", "both", "made_up"]);
    prop_oneof![
        4 => "[a-c]{0,3}".prop_map(ModelEvent::Text),
        2 => "[a-c]{0,3}".prop_map(ModelEvent::Reasoning),
        3 => (ids(), names()).prop_map(|(id, name)| ModelEvent::ToolCallStart { id: id.into(), name: name.into() }),
        3 => (ids(), "[{}1]{0,2}").prop_map(|(id, delta)| ModelEvent::ToolCallArguments { id: id.into(), delta }),
        3 => (ids(), names()).prop_map(|(id, name)| ModelEvent::call(id, name, "{}")),
    ]
}

fn happening() -> impl Strategy<Value = ScriptStep> {
    prop_oneof![
        12 => say().prop_map(ScriptStep::Say),
        4 => Just(ScriptStep::EndAnswer),
        6 => (0..4usize, any::<bool>()).prop_map(|(which, fails)| ScriptStep::Result { which, fails }),
        1 => Just(ScriptStep::Fail),
        1 => Just(ScriptStep::Cancel),
        3 => any::<u8>().prop_map(|answers| ScriptStep::Ask { answers }),
    ]
}

proptest! {
    /// Every run of a conversation passes the strict verifier and ends once. Its text is the
    /// model's. Backend calls have results, page calls have none.
    #[test]
    fn every_run_is_valid(legacy in any::<bool>(), happenings in prop::collection::vec(happening(), 0..50)) {
        let profile = if legacy { Profile::Legacy } else { Profile::V1 };
        let backend = ["ours", "both"].map(|name| BackendTool::new(name, "d"));
        let mut asked = input(&user("Hi"), &["page", "both"]);
        asked.protocol_version = (!legacy).then(|| "1.0".into());
        let begin = |asked: &_| {
            (HybridLoop::begin(asked, &backend, LoopOptions::new()), Verifier::strict_for(asked), Reducer::for_input(asked).unwrap())
        };
        let (mut hybrid, mut verifier, mut reducer) = begin(&asked);
        let mut runs = 1;
        let mut said = String::new();
        let end = [ScriptStep::EndAnswer, ScriptStep::Cancel];
        for happening in happenings.into_iter().chain(end) {
            match happening {
                ScriptStep::Say(event) => {
                    if let (ModelEvent::Text(text), Step::AskModel) = (&event, hybrid.step()) {
                        said.push_str(text);
                    }
                    hybrid.handle_model(event);
                }
                ScriptStep::EndAnswer => hybrid.handle_model_end(),
                ScriptStep::Result { which, fails } => {
                    let open = match hybrid.step() {
                        Step::RunTools(open) => open,
                        _ => Vec::new(),
                    };
                    let id = open.get(which).map_or_else(|| "never".into(), |call| call.id.clone());
                    let result = if fails { Err("no".into()) } else { Ok("yes".into()) };
                    prop_assert_eq!(hybrid.handle_tool_result(&id, result), which < open.len());
                }
                ScriptStep::Fail => hybrid.handle_failure(RunFailure::new("X", "x")),
                ScriptStep::Cancel => hybrid.handle_cancel(CancelReason::User),
                ScriptStep::Ask { answers } if hybrid.step() == Step::Done => {
                    runs += 1;
                    let pending = hybrid.pending();
                    asked.run_id = format!("run-{runs}").into();
                    asked.messages = reducer.messages().to_vec();
                    for (number, id) in pending.iter().enumerate().filter(|(number, _)| answers >> (number % 8) & 1 == 1) {
                        let id = id.as_str();
                        asked.messages.extend(messages(&json!([
                            {"id": format!("page-{runs}-{number}"), "role": "tool", "toolCallId": id, "content": "done"}
                        ])));
                    }
                    asked.messages.extend(messages(&json!([{"id": format!("user-{runs}"), "role": "user", "content": "go on"}])));
                    (hybrid, verifier, reducer) = begin(&asked);
                    said.clear();
                }
                ScriptStep::Ask { .. } => {}
            }
            for event in drain(&mut verifier, || hybrid.poll_event(), profile) {
                prop_assert_eq!(reducer.handle(&event), None);
                if let Event::ToolCallResult(result) = &event {
                    prop_assert!(!hybrid.pending().contains(&result.tool_call_id));
                }
            }
            if hybrid.step() == Step::Done {
                verifier.finish().unwrap();
            }
        }
        let text: String = reducer.messages().iter().skip(asked.messages.len()).filter_map(|message| match message {
            agui_types::message::Message::Assistant(message) => message.content.clone(),
            _ => None,
        }).collect();
        prop_assert_eq!(text, said);
    }
}
