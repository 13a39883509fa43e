//! Scripted turns: one JSON value for each step, in wire form.
use acp_types::v1::content::ContentBlock;
use acp_types::v1::elicitation::{
    CompleteElicitationNotification, CreateElicitationRequest, ElicitationAction,
};
use acp_types::v1::prompt_turn::{PromptResponse, SessionNotification};
use acp_types::v1::tool_calls::RequestPermissionRequest;
use acp_types::v2::permissions::RequestPermissionRequest as RequestPermissionRequestV2;
use acp_types::v2::prompt_lifecycle::{
    PromptResponse as PromptAccepted, UpdateSessionNotification,
};
use agui_bridge::CancelReason;
use agui_bridge::{
    AnswerError, ElicitationMode, Failure, Options, PermissionAnswer, PermissionMode, RunOpen,
    Translator,
};
use agui_types::event::Event;
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use agui_types::profile::Profile;
use agui_types::reduce::Reducer;
use agui_types::verify::Verifier;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorObject, RequestId, wire};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// A step of a script.
///
/// | member | value |
/// |---|---|
/// | `run` | the `runId` of a new run; with `prompt`, content blocks, and `messages` and `resume` of the input |
/// | `update` | a session update |
/// | `update2` | a session update of v2; with `session` if it differs |
/// | `accepted` | the `messageId` of an accepted v2 prompt |
/// | `ask2` | the id of a v2 permission request; with `request`, its parameters |
/// | `ask` | the id of a permission request; with `toolCall` and `options` |
/// | `elicit` | the id of an elicitation; with `request`, its parameters |
/// | `complete` | the `elicitationId` of a visited URL |
/// | `withdraw` | the id of a withdrawn request |
/// | `answer` | an interrupt id; with `optionId` or `action`, unless the answer is `cancelled` |
/// | `result` | the prompt's result |
/// | `error` | the prompt's error |
/// | `extension` | the method of an extension notification; with `params` |
/// | `load` | whether `session/load` begins, or is answered |
/// | `refused` | any: the agent refuses to load |
/// | `frontend` | the id of a page call; with `name` and `arguments` |
/// | `parked` | any: only page calls remain |
/// | `cancel` | any |
/// | `stop` | any: the agent does not stop |
/// | `exit` | the reason for which the agent is gone |
/// | `handle_timeout` | the time in milliseconds |
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Run(RunAgentInput, Vec<ContentBlock>),
    Update(SessionNotification),
    Update2(UpdateSessionNotification),
    Accepted(PromptAccepted),
    Ask2(RequestId, RequestPermissionRequestV2),
    Ask(RequestId, RequestPermissionRequest),
    Elicit(RequestId, CreateElicitationRequest),
    Complete(CompleteElicitationNotification),
    Withdraw(RequestId),
    Answer(String, PermissionAnswer),
    Act(String, ElicitationAction),
    Respond(Result<PromptResponse, ErrorObject>),
    Load(bool),
    Frontend(ToolCallId, String, Raw),
    Parked,
    Extension(String, Option<Raw>),
    Cancel,
    Stop,
    Exit(String),
    Tick(Duration),
}

/// An error of a step.
#[derive(Debug, PartialEq)]
pub(crate) enum StepError {
    Run(RunOpen),
    Answer(AnswerError),
}

impl Step {
    pub(crate) fn read(step: &Value) -> Self {
        fn get<T: wire::Wire>(value: Value) -> T {
            let text = value.to_string();
            wire::decode(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
        }
        let member = |name: &str| step.get(name).cloned();
        if let Some(run) = member("run") {
            let messages = member("messages").unwrap_or_else(|| json!([]));
            let mut input = json!({"threadId": "thread", "runId": run, "messages": messages});
            for name in ["resume", "state", "tools"] {
                if let Some(value) = member(name) {
                    input[name] = value;
                }
            }
            return Self::Run(get(input), get(member("prompt").unwrap_or_else(|| json!([]))));
        }
        let session = member("session").unwrap_or_else(|| json!("session"));
        if let Some(update) = member("update") {
            return Self::Update(get(json!({"sessionId": session, "update": update})));
        }
        if let Some(update) = member("update2") {
            return Self::Update2(get(json!({"sessionId": session, "update": update})));
        }
        if let Some(id) = member("ask2") {
            return Self::Ask2(get(id), get(step["request"].clone()));
        }
        if let Some(id) = member("ask") {
            let request = json!({"sessionId": "session", "toolCall": step["toolCall"], "options": step["options"]});
            return Self::Ask(get(id), get(request));
        }
        if let Some(id) = member("elicit") {
            return Self::Elicit(get(id), get(step["request"].clone()));
        }
        if let (Some(id), Some(action)) = (member("answer"), member("action")) {
            return Self::Act(get(id), get(action));
        }
        if let Some(id) = member("answer") {
            let answer = match step.get("optionId").and_then(Value::as_str) {
                Some(option) => PermissionAnswer::Selected(option.into()),
                None => PermissionAnswer::Cancelled,
            };
            return Self::Answer(get(id), answer);
        }
        if let Some(method) = member("extension") {
            return Self::Extension(get(method), member("params").map(get));
        }
        if let Some(id) = member("frontend") {
            return Self::Frontend(
                get(id),
                get(step["name"].clone()),
                get(step["arguments"].clone()),
            );
        }
        match step
            .as_object()
            .and_then(|members| members.iter().next())
            .map(|(name, value)| (&**name, value))
        {
            Some(("result", result)) => Self::Respond(Ok(get(result.clone()))),
            Some(("error", error)) => Self::Respond(Err(get(error.clone()))),
            Some(("cancel", _)) => Self::Cancel,
            Some(("stop", _)) => Self::Stop,
            Some(("parked", _)) => Self::Parked,
            Some(("load", begins)) => Self::Load(get(begins.clone())),
            Some(("accepted", id)) => Self::Accepted(get(json!({"messageId": id}))),
            Some(("withdraw", id)) => Self::Withdraw(get(id.clone())),
            Some(("complete", id)) => Self::Complete(get(json!({"elicitationId": id}))),
            Some(("tick", time)) => Self::Tick(Duration::from_millis(get(time.clone()))),
            Some(("exit", why)) => Self::Exit(get(why.clone())),
            _ => panic!("not a step: {step}"),
        }
    }

    /// Applies the step to `translator`.
    pub(crate) fn apply(&self, translator: &mut Translator) -> Result<(), StepError> {
        match self.clone() {
            Self::Run(input, prompt) => {
                let _ = translator.begin_run(&input, &prompt).map_err(StepError::Run)?;
            }
            Self::Update(notification) => translator.handle_notification(notification),
            Self::Update2(notification) => translator.handle_notification_v2(notification),
            Self::Accepted(response) => translator.handle_prompt_accepted(&response),
            Self::Ask2(id, request) => translator.handle_permission_request_v2(id, request),
            Self::Ask(id, request) => translator.handle_permission_request(id, request),
            Self::Elicit(id, request) => translator.handle_elicitation_request(id, request),
            Self::Complete(complete) => translator.handle_elicitation_complete(&complete),
            Self::Withdraw(id) => translator.handle_request_withdrawn(&id),
            Self::Act(id, action) => {
                translator.answer_elicitation(&id, action).map_err(StepError::Answer)?;
            }
            Self::Answer(id, answer) => {
                translator.answer_permission(&id, answer).map_err(StepError::Answer)?;
            }
            Self::Respond(response) => translator.handle_prompt_response(response),
            Self::Cancel => translator.handle_cancel(CancelReason::User),
            Self::Frontend(id, name, arguments) => {
                translator.handle_frontend_call(&id, &name, &arguments);
            }
            Self::Parked => translator.handle_parked(),
            Self::Extension(method, params) => translator.handle_extension(&method, params),
            Self::Load(true) => translator.begin_replay(),
            Self::Load(false) => translator.end_replay(),
            Self::Stop => translator.handle_stopped(),
            Self::Tick(now) => {
                let _ = translator.handle_timeout(now);
            }
            Self::Exit(why) => translator.handle_failure(Failure::AgentExited, &why),
        }
        Ok(())
    }
}

/// Options for one profile, with permissions in the stream.
pub(crate) fn in_stream(profile: Profile) -> Options {
    let mut options = Options::new();
    options.profile = Some(profile);
    options.permission = PermissionMode::InStream;
    options.elicitation = ElicitationMode::InStream;
    options
}

/// Options for a 1.0 client, with immediate interrupts.
pub(crate) fn interrupting() -> Options {
    let mut options = in_stream(Profile::V1);
    options.permission = PermissionMode::Interrupt;
    options.elicitation = ElicitationMode::Interrupt;
    options.times.collect = Duration::ZERO;
    options
}

/// Takes all due events.
pub(crate) fn events(translator: &mut Translator) -> Vec<Event> {
    std::iter::from_fn(|| translator.poll_event()).collect()
}

/// Plays a script, and returns its output: events, and responses to the agent as `{"toAgent":…}`.
pub(crate) fn play(options: Options, steps: &[Value]) -> Vec<Value> {
    let lines = play_lines(options, steps);
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// [`play`], as text.
pub(crate) fn play_lines(options: Options, steps: &[Value]) -> Vec<String> {
    let mut translator = Translator::new(options);
    let mut out = Vec::new();
    for step in steps {
        Step::read(step)
            .apply(&mut translator)
            .unwrap_or_else(|refused| panic!("{refused:?}: {step}"));
        out.extend(
            events(&mut translator).iter().map(|event| serde_json::to_string(event).unwrap()),
        );
        while let Some(answer) = translator.poll_response() {
            let id = serde_json::to_string(&answer.request_id).unwrap();
            let result = serde_json::to_string(&answer.result).unwrap();
            out.push(format!(r#"{{"toAgent":{{"id":{id},"result":{result}}}}}"#));
        }
    }
    out
}

/// Plays the updates of one successful turn for a 1.0 client, and returns the body of its run.
pub(crate) fn turn(updates: &[Value]) -> Vec<Value> {
    turn_for(Profile::V1, updates)
}

/// [`turn`], for a client of this profile.
pub(crate) fn turn_for(profile: Profile, updates: &[Value]) -> Vec<Value> {
    let mut steps = vec![json!({"run": "r"})];
    steps.extend(updates.iter().map(|update| json!({"update": update})));
    steps.push(json!({"result": {"stopReason": "end_turn"}}));
    let mut out = play(in_stream(profile), &steps);
    verify(profile, &out);
    out.pop();
    out.remove(0);
    out
}

/// Verifies a stream strictly, checks it against the profile, and checks that the reducer applies
/// all of it.
pub(crate) fn verify(profile: Profile, stream: &[Value]) {
    let mut verifier = Verifier::strict();
    let mut reducer = Reducer::new();
    for value in stream.iter().filter(|value| value.get("toAgent").is_none()) {
        let event: Event = serde_json::from_value(value.clone())
            .or_else(|_| serde_json::from_str(&value.to_string()))
            .unwrap_or_else(|error| panic!("{error}: {value}"));
        verifier.handle(&event).unwrap_or_else(|violation| panic!("{violation}: {value}"));
        assert_eq!(profile.refuses(&event), None, "{value}");
        assert_eq!(reducer.handle(&event), None, "{value}");
    }
    verifier.finish().unwrap_or_else(|violation| panic!("{violation}"));
}

/// The events of these types.
pub(crate) fn of_type<'a>(stream: &'a [Value], kind: &str) -> Vec<&'a Value> {
    stream.iter().filter(|event| event["type"] == kind).collect()
}

/// Removes members that most assertions do not concern.
pub(crate) fn brief(event: &Value) -> Value {
    let mut event: Map<String, Value> = event.as_object().cloned().unwrap_or_default();
    event.remove("metadata");
    Value::Object(event)
}
