//! Calls that continue as tasks, by the extension `io.modelcontextprotocol/tasks`.
//!
//! The client polls the task until it ends. Input requests and results are reported as for any
//! other call.
use super::outcome::{read_result, without_error};
use super::{
    CallError, Client, ClientEvent, ConnectionState, RequestPurpose, SendRequestError, UpstreamCall,
};
use crate::mcp::dispatch::ServerRequest;
use crate::mcp::mrtr::InputRequest;
use crate::mcp::tasks::{
    Task, TaskRequestParams, TaskStatus, UpdateTaskRequestParams, is_declared,
};
use crate::server::Needs;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::{Extra, Meta, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};

/// The state of a task as last polled.
#[derive(Debug)]
pub(super) struct PolledTask {
    id: String,
    interval: Duration,
    next: NextPoll,
    /// Methods of the requested input, by key. A key is used once in a task.
    requested: BTreeMap<String, String>,
}

/// Time of the next poll.
#[derive(Clone, Copy, Debug)]
enum NextPoll {
    /// One interval after the next call of `handle_timeout`.
    Later,
    /// At this time.
    At(Duration),
    /// A poll is in progress.
    Pending,
}

impl Client {
    /// Default interval between two polls of a task.
    pub const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(1);

    /// Minimum interval between two polls, whatever the server requests.
    pub const MIN_POLL_INTERVAL: Duration = Duration::from_millis(20);

    /// Maximum interval between two polls, whatever the server requests.
    pub const MAX_POLL_INTERVAL: Duration = Duration::from_secs(60);

    /// Maximum number of input requests of one task.
    pub const MAX_TASK_QUESTIONS: usize = 256;

    /// Handles the creation of a task for a call.
    pub(super) fn handle_task_created(&mut self, call: UpstreamCall, task: Task) {
        let Some(open) = self.calls.get_mut(&call) else { return };
        if !is_declared(self.options.capabilities.extensions.as_ref()) {
            return self.fail(call, CallError::ResultType("task".into()));
        }
        open.request = None;
        open.task = Some(PolledTask {
            id: task.task_id.clone(),
            interval: Self::DEFAULT_POLL_INTERVAL,
            next: NextPoll::Later,
            requested: BTreeMap::new(),
        });
        self.task_stands(call, task);
    }

    /// Handles the response to a poll.
    pub(super) fn handle_task(&mut self, call: UpstreamCall, outcome: Result<Raw, ErrorObject>) {
        match outcome.map(|raw| (raw.decode::<Task>(), raw)) {
            Ok((Ok(task), _)) => self.task_stands(call, task),
            Ok((Err(error), raw)) => self.fail(call, CallError::Decode { error, raw }),
            Err(error) => self.fail(call, CallError::Refused(error)),
        }
    }

    /// Handles the response to an update. An error means that the server has ended the task.
    pub(super) fn handle_task_update(
        &mut self,
        call: UpstreamCall,
        outcome: Result<Raw, ErrorObject>,
    ) {
        if let Err(error) = outcome {
            self.fail(call, CallError::Refused(error));
        }
    }

    fn task_stands(&mut self, call: UpstreamCall, task: Task) {
        let Some(polled) = self.calls.get_mut(&call).and_then(|open| open.task.as_mut()) else {
            return;
        };
        polled.next = NextPoll::Later;
        if let Some(interval) = task.poll_interval_ms.as_ref().and_then(serde_json::Number::as_u64)
        {
            let interval = Duration::from_millis(interval);
            polled.interval = interval.clamp(Self::MIN_POLL_INTERVAL, Self::MAX_POLL_INTERVAL);
        }
        match task.status {
            TaskStatus::Completed => return self.task_done(call, task),
            TaskStatus::Failed => {
                let unknown = || ErrorObject::new(ErrorCode::INTERNAL_ERROR, "the task failed");
                return self.fail(call, CallError::Refused(task.error.unwrap_or_else(unknown)));
            }
            TaskStatus::Cancelled => return self.fail(call, CallError::Cancelled),
            _ => {}
        }
        let needed = task.input_requests.clone();
        self.events.push_back(ClientEvent::Task { call, task: Box::new(task) });
        if let Some(needed) = needed {
            self.task_needs(call, &needed);
        }
    }

    fn task_done(&mut self, call: UpstreamCall, task: Task) {
        // A missing result is decoded as `null`, which is an invalid tool result.
        let raw = task.result.or_else(|| Raw::from_text("null").ok());
        let Some(raw) = raw else { return };
        match read_result(&raw) {
            Ok(result) => {
                self.calls.remove(&call);
                self.events.push_back(ClientEvent::Done { call, result: Box::new(result) });
            }
            Err(error) => self.fail(call, CallError::Decode { error, raw }),
        }
    }

    /// Reports input requests that were not reported before.
    fn task_needs(&mut self, call: UpstreamCall, needed: &Extra) {
        let Some(polled) = self.calls.get_mut(&call).and_then(|open| open.task.as_mut()) else {
            return;
        };
        let mut requests: Vec<(String, ServerRequest)> = Vec::new();
        for (key, raw) in needed.iter().filter(|(key, _)| !polled.requested.contains_key(*key)) {
            if polled.requested.len() + requests.len() >= Self::MAX_TASK_QUESTIONS {
                return self.end_task(call, CallError::TooManyRounds);
            }
            match raw.decode::<InputRequest>().and_then(|request| request.read()) {
                Ok(request) => requests.push((key.into(), request)),
                Err(error) => {
                    let error = CallError::Decode { error, raw: raw.clone() };
                    return self.end_task(call, error);
                }
            }
        }
        let methods = requests.iter().map(|(key, it)| (key.clone(), String::from(it.method())));
        polled.requested.extend(methods);
        if !requests.is_empty() {
            self.events.push_back(ClientEvent::Needs { call, needs: Needs::new(requests) });
        }
    }

    /// Cancels a task that cannot continue.
    fn end_task(&mut self, call: UpstreamCall, error: CallError) {
        self.cancel_task(call);
        self.fail(call, error);
    }

    /// Asks the server to cancel a task.
    pub(super) fn cancel_task(&mut self, call: UpstreamCall) {
        let Some(id) = self.task_id(call) else { return };
        let mut params = TaskRequestParams::new(id);
        params.meta = self.task_meta();
        // If the request cannot be sent, the task continues without a reader.
        let _untold = self.transmit(RequestPurpose::CancelTask, "tasks/cancel", &params, None);
    }

    /// Sends answers to a task.
    pub(super) fn answer_task(
        &mut self,
        call: UpstreamCall,
        responses: Vec<(String, Result<Raw, ErrorObject>)>,
    ) -> Result<(), SendRequestError> {
        let open = self.calls.get(&call).ok_or(SendRequestError::NotOpen)?;
        let Some(polled) = &open.task else { return Err(SendRequestError::NotOpen) };
        let mut answers = Extra::new();
        for (key, response) in responses {
            let Some(method) = polled.requested.get(&key) else { continue };
            if let Ok(response) = response.or_else(|error| without_error(method, error)) {
                answers.insert(key, response);
            }
        }
        let mut params = UpdateTaskRequestParams::new(&*polled.id, answers);
        params.meta = self.task_meta();
        self.transmit(RequestPurpose::UpdateTask(call), "tasks/update", &params, None).map(|_| ())
    }

    /// Returns the time of the next poll.
    pub(super) fn poll_task_timeout(&self) -> Option<Duration> {
        let tasks = self.calls.values().filter_map(|open| Some((open.task.as_ref()?, open)));
        let due = tasks.filter_map(|(polled, open)| match polled.next {
            // At the next call of `handle_timeout`.
            NextPoll::Later => Some(Duration::ZERO),
            NextPoll::At(due) => Some(open.sent.deadline.map_or(due, |deadline| due.min(deadline))),
            NextPoll::Pending => open.sent.deadline,
        });
        due.min()
    }

    /// Polls the tasks that are due.
    pub(super) fn poll_due_tasks(&mut self, now: Duration) {
        let mut due = Vec::new();
        let mut late = Vec::new();
        for (call, open) in &mut self.calls {
            let Some(polled) = &mut open.task else { continue };
            if open.sent.deadline.is_some_and(|deadline| deadline <= now) {
                late.push(*call);
                continue;
            }
            match polled.next {
                NextPoll::Later => polled.next = NextPoll::At(now.saturating_add(polled.interval)),
                NextPoll::At(at) if at <= now => {
                    polled.next = NextPoll::Pending;
                    due.push(*call);
                }
                _ => {}
            }
        }
        late.into_iter().for_each(|call| self.end_task(call, CallError::Silent));
        for call in due {
            let Some(id) = self.task_id(call) else { continue };
            let mut params = TaskRequestParams::new(id);
            params.meta = self.task_meta();
            if self.transmit(RequestPurpose::Task(call), "tasks/get", &params, None).is_err()
                && let Some(polled) = self.calls.get_mut(&call).and_then(|open| open.task.as_mut())
            {
                polled.next = NextPoll::Later;
            }
        }
    }

    fn task_id(&self, call: UpstreamCall) -> Option<String> {
        self.calls.get(&call)?.task.as_ref().map(|polled| polled.id.clone())
    }

    fn task_meta(&self) -> Option<Meta> {
        let ConnectionState::Ready { version, .. } = &self.state else { return None };
        Some(self.request_meta(version, None))
    }
}
