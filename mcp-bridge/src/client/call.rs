//! Calls of tools.
use super::tasks::Polled;
use super::{CallError, CallParams, Client, ClientEvent, NotSent, Pending, State, UpstreamCall};
use crate::mcp::base::{Era, RequestMetaObject};
use crate::mcp::dispatch::ServerRequest;
use crate::mcp::mrtr::{InputRequest, InputRequiredResult};
use crate::mcp::tools::{CallToolOutcome, CallToolRequestParams, CallToolResult};
use crate::server::Needs;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId};
use serde_json::json;

/// A call without an end.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) params: CallParams,
    /// The request that it is now; nothing while it needs something, from 2026-07-28 on.
    pub(super) request: Option<RequestId>,
    /// How often it asked.
    rounds: u32,
    /// Requests of the server that wait for an answer, by key. Up to 2025-11-25.
    pub(super) asked: BTreeMap<String, RequestId>,
    /// How many the server sent.
    pub(super) questions: u64,
    /// The methods of what it needs, by key. From 2026-07-28 on.
    needed: Vec<(String, String)>,
    /// The task that it became. From 2026-07-28 on.
    pub(super) task: Option<Polled>,
}

impl Client {
    /// Calls a tool: [`ClientEvent::Done`] or [`ClientEvent::Failed`] follows, [`ClientEvent::Needs`] may come before.
    ///
    /// # Errors
    /// The call cannot be made now.
    pub fn call(&mut self, params: CallParams) -> Result<UpstreamCall, NotSent> {
        if self.calls.len() >= Self::MAX_CALLS {
            return Err(NotSent::Full);
        }
        let call = UpstreamCall(self.next_call);
        let request = self.send_call(call, &params)?;
        self.next_call += 1;
        let call_state = Call {
            params,
            request: Some(request),
            rounds: 0,
            asked: BTreeMap::new(),
            questions: 0,
            needed: Vec::new(),
            task: None,
        };
        self.calls.insert(call, call_state);
        Ok(call)
    }

    fn send_call(&mut self, call: UpstreamCall, params: &CallParams) -> Result<RequestId, NotSent> {
        let State::Ready { era, version } = &self.state else { return Err(NotSent::NotReady) };
        let mut sent = CallToolRequestParams::new(&*params.name);
        sent.arguments = Some(params.arguments.clone());
        let mut meta = RequestMetaObject::read(params.meta.as_ref()).unwrap_or_default();
        let token = i64::try_from(call.0).ok().filter(|_| params.wants_progress);
        meta.progress_token = token.map(RequestId::from);
        if *era == Era::Modern {
            sent.meta = Some(self.request_meta(version, Some(&meta.to_meta())));
            sent.request_state.clone_from(&params.request_state);
            let mut responses = Extra::new();
            for (key, response) in &params.responses {
                responses.insert(&**key, response.clone());
            }
            sent.input_responses = Some(responses).filter(|responses| !responses.is_empty());
        } else {
            // What belongs to the newer generation goes no further.
            (meta.protocol_version, meta.client_capabilities) = (None, None);
            (meta.client_info, meta.log_level) = (None, None);
            sent.meta = (meta != RequestMetaObject::new()).then(|| meta.to_meta());
        }
        let deadline = params.deadline;
        self.request(Pending::Call(call), "tools/call", &sent, deadline)
    }

    /// Lets a call go on with answers to what it needs, by key.
    ///
    /// A server up to 2025-11-25 gets each as a response, and those that are missing later. From 2026-07-28 on the call is
    /// made again, with the server's state; a task gets them, and those that are missing later. An error cannot be told there: a question is cancelled instead, and of other
    /// requests the answer is missing, so that the server may ask again.
    ///
    /// # Errors
    /// The call has ended, or cannot be made again.
    pub fn answer(
        &mut self,
        call: UpstreamCall,
        responses: Vec<(String, Result<Raw, ErrorObject>)>,
    ) -> Result<(), NotSent> {
        let open = self.calls.get_mut(&call).ok_or(NotSent::NotOpen)?;
        if open.request.is_some() {
            let asked = responses
                .into_iter()
                .filter_map(|(key, response)| Some((open.asked.remove(&key)?, response)));
            let asked: Vec<_> = asked.collect();
            for (id, response) in asked {
                self.respond(&id, response.as_ref().map_err(Clone::clone));
            }
            return Ok(());
        }
        if open.task.is_some() {
            return self.answer_task(call, responses);
        }
        let mut params = open.params.clone();
        let methods = core::mem::take(&mut open.needed);
        params.responses = responses
            .into_iter()
            .filter_map(|(key, response)| {
                let method = methods.iter().find(|(needed, _)| *needed == key);
                let method = method.map_or("", |(_, method)| method);
                let response = response.or_else(|error| without_error(method, error)).ok()?;
                Some((key, response))
            })
            .collect();
        match self.send_call(call, &params) {
            Ok(request) => {
                if let Some(open) = self.calls.get_mut(&call) {
                    open.request = Some(request);
                }
                Ok(())
            }
            Err(error) => {
                self.calls.remove(&call);
                Err(error)
            }
        }
    }

    /// Ends a call that nobody waits for any more, and tells the server. No event follows.
    ///
    /// # Errors
    /// The call has ended.
    pub fn cancel(&mut self, call: UpstreamCall) -> Result<(), NotSent> {
        self.cancel_task(call);
        let open = self.calls.remove(&call).ok_or(NotSent::NotOpen)?;
        // First, so that the server does not take the answers for what the call goes on with.
        if let Some(request) = open.request {
            if let Some(cancellation) = self.peer.cancel(&request) {
                self.send(cancellation.notification().into());
            }
            self.peer.forget(&request);
        }
        let cancelled = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled");
        open.asked.values().for_each(|id| self.respond(id, Err(cancelled.clone())));
        Ok(())
    }

    pub(super) fn fail(&mut self, call: UpstreamCall, error: CallError) {
        let Some(open) = self.calls.remove(&call) else { return };
        let cancelled = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "the call has ended");
        open.asked.values().for_each(|id| self.respond(id, Err(cancelled.clone())));
        self.events.push_back(ClientEvent::Failed { call, error });
    }

    pub(super) fn called(&mut self, call: UpstreamCall, outcome: Result<Raw, ErrorObject>) {
        let raw = match outcome {
            Ok(raw) => raw,
            Err(error) => return self.fail(call, CallError::Refused(error)),
        };
        // The older generation has no types of results.
        let outcome = if self.era() == Some(Era::Legacy) {
            raw.decode::<CallToolResult>().map(|it| CallToolOutcome::Complete(Box::new(it)))
        } else {
            raw.decode()
        };
        match outcome {
            Ok(CallToolOutcome::Complete(result)) => {
                self.calls.remove(&call);
                self.events.push_back(ClientEvent::Done { call, result });
            }
            Ok(CallToolOutcome::InputRequired(needed)) => self.needs(call, &needed, &raw),
            Ok(CallToolOutcome::Task(task)) => self.task_created(call, *task),
            Ok(other) => self.fail(call, CallError::ResultType(other.tag().into())),
            Err(error) => self.fail(call, CallError::Decode { error, raw }),
        }
    }

    /// A call ended with what it needs.
    fn needs(&mut self, call: UpstreamCall, needed: &InputRequiredResult, raw: &Raw) {
        let mut requests = Vec::new();
        for (key, request) in needed.input_requests.iter().flat_map(Extra::iter) {
            let request = request.decode::<InputRequest>().and_then(|request| request.read());
            match request {
                Ok(request) => requests.push((key.into(), request)),
                Err(error) => {
                    return self.fail(call, CallError::Decode { error, raw: raw.clone() });
                }
            }
        }
        let max_rounds = self.options.max_rounds;
        let Some(open) = self.calls.get_mut(&call) else { return };
        open.rounds += 1;
        if open.rounds > max_rounds {
            return self.fail(call, CallError::TooManyRounds);
        }
        open.request = None;
        open.params.request_state.clone_from(&needed.request_state);
        let methods = requests.iter().map(|(key, request): &(String, ServerRequest)| {
            (key.clone(), String::from(request.method()))
        });
        open.needed = methods.collect();
        let mut needs = Needs::new(requests);
        needs.request_state.clone_from(&needed.request_state);
        self.events.push_back(ClientEvent::Needs { call, needs });
    }
}

/// What stands for an error where none can be told.
pub(super) fn without_error(method: &str, error: ErrorObject) -> Result<Raw, ErrorObject> {
    let is_question = method == "elicitation/create";
    let cancelled = is_question.then(|| Raw::from_value(&json!({ "action": "cancel" })).ok());
    cancelled.flatten().ok_or(error)
}
