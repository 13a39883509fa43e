//! Turns as scripts: a JSON value a step, in the words of the wire.
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

/// Something that happens to a translator.
///
/// | member | is |
/// |---|---|
/// | `run` | the `runId` of a run that begins; beside it `prompt`, content blocks, and `messages` and `resume` of the input |
/// | `update` | a session update |
/// | `update2` | a session update of v2; beside it `session`, where it is another |
/// | `accepted` | the `messageId` of a v2 prompt that the agent has |
/// | `ask2` | the id of a v2 permission request; beside it `request`, its parameters |
/// | `ask` | the id of a permission request; beside it `toolCall` and `options` |
/// | `elicit` | the id of an elicitation; beside it `request`, its parameters |
/// | `complete` | the `elicitationId` of what a page has done |
/// | `withdraw` | the id of a request that the agent takes back |
/// | `answer` | an interrupt id; beside it `optionId` or `action`, unless the answer is `cancelled` |
/// | `result` | the prompt's result |
/// | `error` | the prompt's error |
/// | `extension` | the method of a notification beside the protocol; beside it `params` |
/// | `load` | whether `session/load` begins, or is answered |
/// | `refused` | anything: the agent refuses to load |
/// | `frontend` | the id of a call of the page's; beside it `name` and `arguments` |
/// | `parked` | anything: all that goes on is the page's |
/// | `cancel` | anything |
/// | `stop` | anything: the agent does not stop |
/// | `exit` | why the agent is gone |
/// | `tick` | the time in milliseconds |
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
    LoadRefused,
    Frontend(ToolCallId, String, Raw),
    Parked,
    Extension(String, Option<Raw>),
    Cancel,
    Stop,
    Exit(String),
    Tick(Duration),
}

/// What a step that was told to do something may refuse.
#[derive(Debug, PartialEq)]
pub(crate) enum Refused {
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
            Some(("refused", _)) => Self::LoadRefused,
            Some(("load", begins)) => Self::Load(get(begins.clone())),
            Some(("accepted", id)) => Self::Accepted(get(json!({"messageId": id}))),
            Some(("withdraw", id)) => Self::Withdraw(get(id.clone())),
            Some(("complete", id)) => Self::Complete(get(json!({"elicitationId": id}))),
            Some(("tick", time)) => Self::Tick(Duration::from_millis(get(time.clone()))),
            Some(("exit", why)) => Self::Exit(get(why.clone())),
            _ => panic!("not a step: {step}"),
        }
    }

    /// Does it to `translator`.
    pub(crate) fn apply(&self, translator: &mut Translator) -> Result<(), Refused> {
        match self.clone() {
            Self::Run(input, prompt) => {
                let _ = translator.begin_run(&input, &prompt).map_err(Refused::Run)?;
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
                translator.answer_elicitation(&id, action).map_err(Refused::Answer)?;
            }
            Self::Answer(id, answer) => {
                translator.answer_permission(&id, answer).map_err(Refused::Answer)?;
            }
            Self::Respond(response) => translator.handle_prompt_response(response),
            Self::Cancel => translator.handle_cancel(),
            Self::Frontend(id, name, arguments) => {
                translator.handle_frontend_call(&id, &name, &arguments);
            }
            Self::Parked => translator.handle_parked(),
            Self::Extension(method, params) => translator.handle_extension(&method, params),
            Self::Load(true) => translator.begin_replay(),
            Self::Load(false) => translator.end_replay(),
            Self::LoadRefused => translator.drop_replay(),
            Self::Stop => translator.handle_stopped(),
            Self::Tick(now) => {
                let _ = translator.tick(now);
            }
            Self::Exit(why) => translator.handle_failure(Failure::AgentExited, &why),
        }
        Ok(())
    }
}

/// Options for one profile and permissions in the stream.
pub(crate) fn in_stream(profile: Profile) -> Options {
    let mut options = Options::new();
    options.profile = Some(profile);
    options.permission = PermissionMode::InStream;
    options.elicitation = ElicitationMode::InStream;
    options
}

/// Options for a 1.0 client, where questions interrupt the run at once.
pub(crate) fn interrupting() -> Options {
    let mut options = in_stream(Profile::V1);
    options.permission = PermissionMode::Interrupt;
    options.elicitation = ElicitationMode::Interrupt;
    options.times.collect = Duration::ZERO;
    options
}

/// Takes all events that are due.
pub(crate) fn events(translator: &mut Translator) -> Vec<Event> {
    std::iter::from_fn(|| translator.poll_event()).collect()
}

/// Plays a script, and gives what came out: events, and responses to the agent as `{"toAgent":…}`.
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

/// Plays the updates of one turn that ends well, for a 1.0 client, and gives the body of its run.
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

/// Holds a stream against the strictest rules, against what a client of this profile can take, and sees that a client
/// can do all that it says.
pub(crate) fn verify(profile: Profile, stream: &[Value]) {
    let (mut verifier, mut reducer) = (Verifier::strict(), Reducer::new());
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

/// An event without the members that most assertions are not about.
pub(crate) fn brief(event: &Value) -> Value {
    let mut event: Map<String, Value> = event.as_object().cloned().unwrap_or_default();
    event.remove("metadata");
    Value::Object(event)
}
