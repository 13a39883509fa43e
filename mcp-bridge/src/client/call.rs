//! Tool calls of a client, and what other requests share with them.
use super::outcome::{read_result, without_error};
use super::tasks::PolledTask;
use super::{
    CallError, CallParams, Client, ClientEvent, ConnectionState, RequestPurpose, SendRequestError,
    UpstreamCall,
};
use crate::mcp::base::{Era, RequestMetaObject};
use crate::mcp::dispatch::ServerRequest;
use crate::mcp::mrtr::{InputRequest, InputRequiredResult};
use crate::mcp::tools::CallToolOutcome;
use crate::server::Needs;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::{Extra, Meta, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId};
use serde::Serialize;

/// The method of tool calls.
const TOOLS_CALL: &str = "tools/call";

/// A call or another request that has not ended.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) sent: CallRequest,
    /// The current request. `None` while the call waits for input, from 2026-07-28.
    pub(super) request: Option<RequestId>,
    /// Number of times that the call requested input.
    rounds: u32,
    /// Unanswered requests of the server, by key. Up to 2025-11-25.
    pub(super) server_requests: BTreeMap<String, RequestId>,
    /// Number of requests that the server sent.
    pub(super) server_request_count: u64,
    /// Methods of the requested input, by key. Since 2026-07-28.
    needed: Vec<(String, String)>,
    /// The task that the call became. Since 2026-07-28.
    pub(super) task: Option<PolledTask>,
}

/// A request that is sent, and sent again with each answer.
#[derive(Clone, Debug)]
pub(super) struct CallRequest {
    pub(super) method: String,
    /// The params, without the members that follow.
    pub(super) members: Extra,
    pub(super) meta: Option<Meta>,
    pub(super) wants_progress: bool,
    pub(super) deadline: Option<Duration>,
    pub(super) request_state: Option<String>,
    pub(super) responses: Vec<(String, Raw)>,
}

impl From<CallParams> for CallRequest {
    fn from(params: CallParams) -> Self {
        let mut members = Extra::new();
        members.insert("name", Raw::of(&params.name));
        members.insert("arguments", params.arguments);
        Self {
            method: TOOLS_CALL.into(),
            members,
            meta: params.meta,
            wants_progress: params.wants_progress,
            deadline: params.deadline,
            request_state: params.request_state,
            responses: params.responses,
        }
    }
}

fn insert<T: Serialize>(
    members: &mut Extra,
    name: &str,
    value: &T,
) -> Result<(), SendRequestError> {
    members.insert(name, Raw::from_value(value).map_err(|_| SendRequestError::NotReady)?);
    Ok(())
}

impl Client {
    /// Starts a tool call.
    ///
    /// [`ClientEvent::Done`] or [`ClientEvent::Failed`] reports the outcome, possibly after
    /// [`ClientEvent::Needs`].
    ///
    /// # Errors
    /// Returns an error if the client is not ready or has too many open calls.
    pub fn call(&mut self, params: CallParams) -> Result<UpstreamCall, SendRequestError> {
        self.open(params.into())
    }

    pub(super) fn open(&mut self, sent: CallRequest) -> Result<UpstreamCall, SendRequestError> {
        if self.calls.len() >= Self::MAX_CALLS {
            return Err(SendRequestError::Full);
        }
        let call = UpstreamCall(self.next_call);
        let request = self.send_call(call, &sent)?;
        self.next_call += 1;
        let open = OpenCall {
            sent,
            request: Some(request),
            rounds: 0,
            server_requests: BTreeMap::new(),
            server_request_count: 0,
            needed: Vec::new(),
            task: None,
        };
        self.calls.insert(call, open);
        Ok(call)
    }

    fn send_call(
        &mut self,
        call: UpstreamCall,
        sent: &CallRequest,
    ) -> Result<RequestId, SendRequestError> {
        let mut meta = RequestMetaObject::read(sent.meta.as_ref()).unwrap_or_default();
        let current = self.log_level.as_ref();
        if self.era() == Some(Era::Legacy)
            && self.has_logging
            && let Some(level) = &meta.log_level
            && current.is_none_or(|current| level < current)
        {
            self.set_log_level(level.clone())?;
        }
        let ConnectionState::Ready { era, version } = &self.state else {
            return Err(SendRequestError::NotReady);
        };
        let token = i64::try_from(call.0).ok().filter(|_| sent.wants_progress);
        meta.progress_token = token.map(RequestId::from);
        let mut params = sent.members.clone();
        let meta = if *era == Era::Modern {
            meta.log_level = meta.log_level.or_else(|| self.log_level.clone());
            if let Some(state) = &sent.request_state {
                insert(&mut params, "requestState", state)?;
            }
            if !sent.responses.is_empty() {
                let mut responses = Extra::new();
                for (key, response) in &sent.responses {
                    responses.insert(&**key, response.clone());
                }
                insert(&mut params, "inputResponses", &responses)?;
            }
            Some(self.request_meta(version, Some(&meta.to_meta())))
        } else {
            // These members belong to the newer generation.
            meta.protocol_version = None;
            meta.client_capabilities = None;
            meta.client_info = None;
            meta.log_level = None;
            (meta != RequestMetaObject::new()).then(|| meta.to_meta())
        };
        if let Some(meta) = meta {
            insert(&mut params, "_meta", &meta)?;
        }
        self.transmit(RequestPurpose::Call(call), &sent.method, &params, sent.deadline)
    }

    /// Continues a call with answers to the input that it needs, by key.
    ///
    /// A server up to 2025-11-25 receives each answer as a response; missing answers may follow
    /// later. From 2026-07-28 the call is sent again with the state of the server, and a task
    /// receives the answers as an update. That generation cannot transport an error: an elicitation
    /// is answered with `cancel`, and any other failed request is left out, so that the server may
    /// repeat it.
    ///
    /// # Errors
    /// Returns an error if the call has ended or cannot be sent again.
    pub fn answer(
        &mut self,
        call: UpstreamCall,
        responses: Vec<(String, Result<Raw, ErrorObject>)>,
    ) -> Result<(), SendRequestError> {
        let open = self.calls.get_mut(&call).ok_or(SendRequestError::NotOpen)?;
        if open.request.is_some() {
            let server_requests = responses
                .into_iter()
                .filter_map(|(key, response)| Some((open.server_requests.remove(&key)?, response)));
            let server_requests: Vec<_> = server_requests.collect();
            for (id, response) in server_requests {
                self.respond(&id, response.as_ref().map_err(Clone::clone));
            }
            return Ok(());
        }
        if open.task.is_some() {
            return self.answer_task(call, responses);
        }
        let mut sent = open.sent.clone();
        let methods = core::mem::take(&mut open.needed);
        sent.responses = responses
            .into_iter()
            .filter_map(|(key, response)| {
                let method = methods.iter().find(|(needed, _)| *needed == key);
                let method = method.map_or("", |(_, method)| method);
                let response = response.or_else(|error| without_error(method, error)).ok()?;
                Some((key, response))
            })
            .collect();
        match self.send_call(call, &sent) {
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

    /// Cancels a call and notifies the server. No event follows.
    ///
    /// # Errors
    /// Returns an error if the call has ended.
    pub fn cancel(&mut self, call: UpstreamCall) -> Result<(), SendRequestError> {
        self.cancel_task(call);
        let open = self.calls.remove(&call).ok_or(SendRequestError::NotOpen)?;
        // Cancel first. Otherwise the server would resume the call with the answers below.
        if let Some(request) = open.request {
            if let Some(cancellation) = self.peer.cancel(&request) {
                self.send(cancellation.notification().into());
            }
            self.peer.forget(&request);
        }
        let cancelled = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled");
        open.server_requests.values().for_each(|id| self.respond(id, Err(cancelled.clone())));
        Ok(())
    }

    pub(super) fn fail(&mut self, call: UpstreamCall, error: CallError) {
        let Some(open) = self.calls.remove(&call) else { return };
        let cancelled = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "the call has ended");
        open.server_requests.values().for_each(|id| self.respond(id, Err(cancelled.clone())));
        self.events.push_back(ClientEvent::Failed { call, error });
    }

    pub(super) fn handle_call(&mut self, call: UpstreamCall, outcome: Result<Raw, ErrorObject>) {
        let raw = match outcome {
            Ok(raw) => raw,
            Err(error) => return self.fail(call, CallError::Refused(error)),
        };
        if self.calls.get(&call).is_some_and(|open| open.sent.method != TOOLS_CALL) {
            return self.handle_answered(call, raw);
        }
        // The older generation has no `resultType`.
        let outcome = if self.era() == Some(Era::Legacy) {
            read_result(&raw).map(Into::into)
        } else {
            raw.decode().or_else(|error| read_result(&raw).map(Into::into).map_err(|_| error))
        };
        match outcome {
            Ok(CallToolOutcome::Complete(result)) => {
                self.calls.remove(&call);
                self.events.push_back(ClientEvent::Done { call, result });
            }
            Ok(CallToolOutcome::InputRequired(needed)) => self.needs(call, &needed, &raw),
            Ok(CallToolOutcome::Task(task)) => self.handle_task_created(call, *task),
            Ok(other) => self.fail(call, CallError::ResultType(other.tag().into())),
            Err(error) => self.fail(call, CallError::Decode { error, raw }),
        }
    }

    /// Handles a result that requests input.
    pub(super) fn needs(&mut self, call: UpstreamCall, needed: &InputRequiredResult, raw: &Raw) {
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
        open.sent.request_state.clone_from(&needed.request_state);
        let methods = requests.iter().map(|(key, request): &(String, ServerRequest)| {
            (key.clone(), String::from(request.method()))
        });
        open.needed = methods.collect();
        let mut needs = Needs::new(requests);
        needs.request_state.clone_from(&needed.request_state);
        self.events.push_back(ClientEvent::Needs { call, needs });
    }
}
