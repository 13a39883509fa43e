//! Requests for input: elicitation, sampling and roots.
use super::{CallId, ClosedCall, Server, ServerEvent};
use crate::mcp::base::Era;
use crate::mcp::cancellation::CancelledNotificationParams;
use crate::mcp::capabilities::{
    ClientCapabilities, ElicitationCapability, ListChangedCapability, SamplingCapability,
};
use crate::mcp::dispatch::ServerRequest;
use crate::mcp::elicitation::ElicitRequestParams;
use crate::mcp::error::{MISSING_REQUIRED_CLIENT_CAPABILITY, MissingRequiredClientCapabilityData};
use crate::mcp::mrtr::{InputRequest, InputRequiredResult};
use crate::mcp::tools::CallToolOutcome;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{ErrorObject, Request, RequestId};

/// The input that a tool needs. At least one of the two members is present.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Needs {
    /// Requests to the user, to the model, or for the roots, by unique key.
    pub requests: Vec<(String, ServerRequest)>,
    /// State to return with the answers. Clients since 2026-07-28 receive it and may modify it.
    pub request_state: Option<String>,
}

impl Needs {
    /// Creates a request for these inputs.
    pub fn new<K: Into<String>>(requests: impl IntoIterator<Item = (K, ServerRequest)>) -> Self {
        let requests = requests.into_iter().map(|(key, request)| (key.into(), request));
        Self { requests: requests.collect(), request_state: None }
    }
}

/// An error requesting input. The call is still open.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The call has ended.
    #[error(transparent)]
    NotOpen(#[from] ClosedCall),
    /// There are no requests and no state.
    #[error("expected requests or a state, got neither")]
    Nothing,
    /// A key is not unique.
    #[error("duplicate key `{0}`")]
    Duplicate(String),
    /// A request is not one that clients receive.
    #[error("`{0}` is not a request for input")]
    NotInput(String),
    /// The client did not declare a required capability. See [`error_object`](Self::error_object).
    #[error("the client did not declare the capabilities that `{key}` requires")]
    Capability {
        /// Key of the request.
        key: String,
        /// The required capabilities.
        required: Box<ClientCapabilities>,
    },
    /// The call requested input more often than
    /// [`ServerOptions::max_rounds`](super::ServerOptions::max_rounds) permits.
    #[error("the call requested input too often")]
    TooManyRounds,
    /// Too many requests to the client are open, or the connection is closed.
    #[error("no further requests can be sent")]
    Full,
}

impl AskError {
    /// Returns the error to end the call with, if the specification requires one.
    pub fn error_object(&self) -> Option<ErrorObject> {
        let Self::Capability { required, .. } = self else { return None };
        Some(missing_capability_error(required))
    }
}

/// Returns the error for a missing capability. Its message names the capabilities.
pub fn missing_capability_error(required: &ClientCapabilities) -> ErrorObject {
    let text = format!("the client did not declare {}", names(required).join(", "));
    let mut error = ErrorObject::new(MISSING_REQUIRED_CLIENT_CAPABILITY, text);
    let data = MissingRequiredClientCapabilityData::new(required.clone());
    error.data = Raw::from_value(&data).ok();
    error
}

/// Returns the paths of declared capabilities, such as `elicitation.form`. A capability with
/// members is represented by its members.
fn names(capabilities: &ClientCapabilities) -> Vec<String> {
    let all = Raw::from_value(capabilities).ok().and_then(|all| all.decode::<Extra>().ok());
    let mut names = Vec::new();
    for (name, value) in all.unwrap_or_default().iter() {
        let members = value.decode::<Extra>().unwrap_or_default();
        match members.iter().next() {
            None => names.push(format!("`{name}`")),
            Some(_) => names.extend(members.iter().map(|(member, _)| format!("`{name}.{member}`"))),
        }
    }
    names
}

/// Call and key of a request to the client.
#[derive(Debug)]
pub(super) struct OpenQuestion {
    pub(super) call: CallId,
    key: String,
}

impl Server {
    /// Requests the input that a call needs. The tool is [called](ServerEvent::Call) again with the
    /// answers.
    ///
    /// Up to 2025-11-25 the requests are sent to the client and expire at `deadline`; the call
    /// stays open and keeps its id. Since 2026-07-28 the call ends with `input_required`.
    ///
    /// # Errors
    /// Returns an error if the client cannot be asked. No message was sent and the call is
    /// unchanged.
    pub fn ask(
        &mut self,
        call: CallId,
        needs: Needs,
        deadline: Option<Duration>,
    ) -> Result<(), AskError> {
        let open = self.calls.get(&call).ok_or(ClosedCall)?;
        check(&needs, &open.call.capabilities)?;
        if open.call.version.era() != Some(Era::Legacy) {
            let request = open.request.clone();
            self.calls.remove(&call);
            self.answer_with(&request, &CallToolOutcome::InputRequired(Box::new(result(needs))));
            return Ok(());
        }
        if open.rounds >= self.options.max_rounds {
            return Err(AskError::TooManyRounds);
        }
        self.push(call, needs, deadline)
    }

    /// Sends the requests to the client.
    fn push(
        &mut self,
        call: CallId,
        needs: Needs,
        deadline: Option<Duration>,
    ) -> Result<(), AskError> {
        let mut registered = Vec::new();
        for (key, _) in &needs.requests {
            match self.peer.register(OpenQuestion { call, key: key.clone() }, deadline) {
                Ok(id) => registered.push(id),
                Err(_) => {
                    registered.iter().for_each(|id| {
                        self.peer.forget(id);
                    });
                    return Err(AskError::Full);
                }
            }
        }
        let Some(open) = self.calls.get_mut(&call) else { return Err(ClosedCall.into()) };
        open.rounds += 1;
        open.call.request_state = needs.request_state;
        open.answers = needs.requests.iter().map(|(key, _)| (key.clone(), None)).collect();
        let related = open.request.clone();
        let keys = needs.requests.iter().map(|(key, _)| key.clone());
        open.waiting = registered.iter().cloned().zip(keys).collect();
        for (id, (_, request)) in registered.into_iter().zip(needs.requests) {
            let request = for_legacy(request, &id);
            let params = request.to_params().ok().flatten();
            let params = params.as_ref().map(AsRef::as_ref);
            self.send(Request::new(id, request.method(), params).into(), Some(related.clone()));
        }
        self.call_again_if_answered(call);
        Ok(())
    }

    /// Handles the response to a request.
    pub(super) fn handle_answer(
        &mut self,
        id: &RequestId,
        question: OpenQuestion,
        outcome: Result<Raw, ErrorObject>,
    ) {
        let Some(open) = self.calls.get_mut(&question.call) else { return };
        if open.waiting.remove(id).is_none() {
            return;
        }
        let answer = open.answers.iter_mut().find(|(key, _)| *key == question.key);
        if let Some((_, answer)) = answer {
            *answer = Some(outcome);
        }
        self.call_again_if_answered(question.call);
    }

    fn call_again_if_answered(&mut self, id: CallId) {
        let Some(open) = self.calls.get_mut(&id).filter(|open| open.waiting.is_empty()) else {
            return;
        };
        let mut call = open.call.clone();
        let answers = core::mem::take(&mut open.answers).into_iter();
        call.responses = answers.filter_map(|(key, answer)| Some((key, answer?))).collect();
        self.events.push_back(ServerEvent::Call(Box::new(call)));
    }

    /// Cancels the unanswered requests of a call.
    pub(super) fn withdraw_questions(&mut self, call: CallId) {
        let Some(open) = self.calls.get_mut(&call) else { return };
        let waiting = core::mem::take(&mut open.waiting);
        for id in waiting.keys() {
            if let Some(cancellation) = self.peer.cancel(id) {
                let related = self.calls.get(&call).map(|open| open.request.clone());
                self.send(cancellation.notification().into(), related);
            }
            self.peer.forget(id);
        }
    }

    /// Notifies the client of a cancelled request.
    pub(super) fn notify_cancelled(&mut self, id: &RequestId, call: CallId) {
        let mut params = CancelledNotificationParams::new();
        params.request_id = Some(id.clone());
        let related = self.calls.get(&call).map(|open| open.request.clone());
        self.notify("notifications/cancelled", &params, related);
    }
}

fn check(needs: &Needs, capabilities: &ClientCapabilities) -> Result<(), AskError> {
    if needs.requests.is_empty() && needs.request_state.is_none() {
        return Err(AskError::Nothing);
    }
    for (index, (key, request)) in needs.requests.iter().enumerate() {
        if needs.requests.iter().take(index).any(|(other, _)| other == key) {
            return Err(AskError::Duplicate(key.clone()));
        }
        let is_input = matches!(
            request,
            ServerRequest::Elicit(_)
                | ServerRequest::CreateMessage(_)
                | ServerRequest::ListRoots(_)
        );
        if !is_input {
            return Err(AskError::NotInput(request.method().into()));
        }
        if let Some(required) = missing_capability(capabilities, request) {
            return Err(AskError::Capability { key: key.clone(), required: Box::new(required) });
        }
    }
    Ok(())
}

/// Returns the capabilities that a request requires and the client did not declare, if any.
pub fn missing_capability(
    capabilities: &ClientCapabilities,
    request: &ServerRequest,
) -> Option<ClientCapabilities> {
    let mut required = ClientCapabilities::new();
    let is_declared = match request {
        ServerRequest::Elicit(params) => {
            let mut modes = ElicitationCapability::new();
            let is_declared = match **params {
                ElicitRequestParams::Form(_) => {
                    modes.form = Some(Extra::new());
                    capabilities.takes_forms()
                }
                ElicitRequestParams::Url(_) => {
                    modes.url = Some(Extra::new());
                    capabilities.takes_urls()
                }
                ElicitRequestParams::Unknown(_) => false,
            };
            required.elicitation = Some(modes);
            is_declared
        }
        ServerRequest::CreateMessage(params) => {
            let needs_tools = params.raw_tools.is_some() || params.tool_choice.is_some();
            let mut sampling = SamplingCapability::new();
            sampling.tools = needs_tools.then(Extra::new);
            required.sampling = Some(sampling);
            let declared = capabilities.sampling.as_ref();
            declared.is_some_and(|declared| !needs_tools || declared.tools.is_some())
        }
        ServerRequest::ListRoots(_) => {
            required.roots = Some(ListChangedCapability::new());
            capabilities.roots.is_some()
        }
        _ => true,
    };
    (!is_declared).then_some(required)
}

/// Returns the `input_required` result, since 2026-07-28.
fn result(needs: Needs) -> InputRequiredResult {
    let mut result = InputRequiredResult::new();
    result.request_state = needs.request_state;
    let requests = input_requests(needs.requests);
    result.input_requests = Some(requests).filter(|requests| !requests.is_empty());
    result
}

/// Converts requests to the form inside a result, since 2026-07-28.
pub(crate) fn input_requests(needed: Vec<(String, ServerRequest)>) -> Extra {
    let mut requests = Extra::new();
    for (key, request) in needed {
        let request = for_modern(request);
        let mut input = InputRequest::new(request.method());
        // The params of `roots/list` are not significant.
        let params = request.to_params().ok().flatten();
        input.params = params.filter(|params| params.as_str() != "{}");
        if let Ok(input) = Raw::from_value(&input) {
            requests.insert(key, input);
        }
    }
    requests
}

/// Adapts a request to 2026-07-28: without an elicitation id and without a task.
fn for_modern(mut request: ServerRequest) -> ServerRequest {
    match &mut request {
        ServerRequest::Elicit(params) => match &mut **params {
            ElicitRequestParams::Form(form) => form.task = None,
            ElicitRequestParams::Url(url) => (url.task, url.elicitation_id) = (None, None),
            ElicitRequestParams::Unknown(_) => {}
        },
        ServerRequest::CreateMessage(params) => params.task = None,
        _ => {}
    }
    request
}

/// Adapts a request to versions up to 2025-11-25: an elicitation by URL requires an id.
fn for_legacy(mut request: ServerRequest, id: &RequestId) -> ServerRequest {
    if let ServerRequest::Elicit(params) = &mut request
        && let ElicitRequestParams::Url(url) = &mut **params
    {
        url.elicitation_id.get_or_insert_with(|| format!("elicitation-{id}"));
    }
    request
}
