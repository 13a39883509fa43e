//! Calls that go on as tasks, by the extension `io.modelcontextprotocol/tasks`.
//!
//! The server is asked how the task stands until it is over. What it needs and what it gives come as of any other call.
use super::call::without_error;
use super::{CallError, Client, ClientEvent, NotSent, Pending, State, UpstreamCall};
use crate::mcp::dispatch::ServerRequest;
use crate::mcp::mrtr::InputRequest;
use crate::mcp::tasks::{
    Task, TaskRequestParams, TaskStatus, UpdateTaskRequestParams, is_declared,
};
use crate::mcp::tools::CallToolResult;
use crate::server::Needs;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::{Extra, Meta, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};

/// A task, as far as it is known.
#[derive(Debug)]
pub(super) struct Polled {
    id: String,
    interval: Duration,
    next: Next,
    /// The methods of what it asked, by key; a key comes once in a task.
    asked: BTreeMap<String, String>,
}

/// When the server is asked again.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// After the interval, from when the time is told on.
    Later,
    /// Then.
    At(Duration),
    /// It was asked.
    Asked,
}

impl Client {
    /// How long to wait before a server is asked again how a task stands, unless it says so.
    pub const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(1);

    /// No server is asked more often than this, whatever it says.
    pub const MIN_POLL_INTERVAL: Duration = Duration::from_millis(20);

    /// Nor less often than this.
    pub const MAX_POLL_INTERVAL: Duration = Duration::from_secs(60);

    /// The most that one task may ask.
    pub const MAX_TASK_QUESTIONS: usize = 256;

    /// A call became a task.
    pub(super) fn task_created(&mut self, call: UpstreamCall, task: Task) {
        let Some(open) = self.calls.get_mut(&call) else { return };
        if !is_declared(self.options.capabilities.extensions.as_ref()) {
            return self.fail(call, CallError::ResultType("task".into()));
        }
        open.request = None;
        open.task = Some(Polled {
            id: task.task_id.clone(),
            interval: Self::DEFAULT_POLL_INTERVAL,
            next: Next::Later,
            asked: BTreeMap::new(),
        });
        self.task_stands(call, task);
    }

    /// What a server answers about a task.
    pub(super) fn task_answered(&mut self, call: UpstreamCall, outcome: Result<Raw, ErrorObject>) {
        match outcome.map(|raw| (raw.decode::<Task>(), raw)) {
            Ok((Ok(task), _)) => self.task_stands(call, task),
            Ok((Err(error), raw)) => self.fail(call, CallError::Decode { error, raw }),
            Err(error) => self.fail(call, CallError::Refused(error)),
        }
    }

    /// What a server answers to answers; those that it refuses have ended the task.
    pub(super) fn task_updated(&mut self, call: UpstreamCall, outcome: Result<Raw, ErrorObject>) {
        if let Err(error) = outcome {
            self.fail(call, CallError::Refused(error));
        }
    }

    fn task_stands(&mut self, call: UpstreamCall, task: Task) {
        let Some(polled) = self.calls.get_mut(&call).and_then(|open| open.task.as_mut()) else {
            return;
        };
        polled.next = Next::Later;
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
        // Nothing is no result of a tool.
        let raw = task.result.or_else(|| Raw::from_text("null").ok());
        let Some(raw) = raw else { return };
        match raw.decode::<CallToolResult>() {
            Ok(result) => {
                self.calls.remove(&call);
                self.events.push_back(ClientEvent::Done { call, result: Box::new(result) });
            }
            Err(error) => self.fail(call, CallError::Decode { error, raw }),
        }
    }

    /// Asks for what the task did not ask before.
    fn task_needs(&mut self, call: UpstreamCall, needed: &Extra) {
        let Some(polled) = self.calls.get_mut(&call).and_then(|open| open.task.as_mut()) else {
            return;
        };
        let mut requests: Vec<(String, ServerRequest)> = Vec::new();
        for (key, raw) in needed.iter().filter(|(key, _)| !polled.asked.contains_key(*key)) {
            if polled.asked.len() + requests.len() >= Self::MAX_TASK_QUESTIONS {
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
        polled.asked.extend(methods);
        if !requests.is_empty() {
            self.events.push_back(ClientEvent::Needs { call, needs: Needs::new(requests) });
        }
    }

    /// Cancels a task that cannot be gone on with.
    fn end_task(&mut self, call: UpstreamCall, error: CallError) {
        self.cancel_task(call);
        self.fail(call, error);
    }

    /// Tells the server that nobody waits for a task any more.
    pub(super) fn cancel_task(&mut self, call: UpstreamCall) {
        let Some(id) = self.task_id(call) else { return };
        let mut params = TaskRequestParams::new(id);
        params.meta = self.task_meta();
        // A server that cannot be told goes on for nobody.
        let _untold = self.request(Pending::CancelTask, "tasks/cancel", &params, None);
    }

    /// Brings answers to a task.
    pub(super) fn answer_task(
        &mut self,
        call: UpstreamCall,
        responses: Vec<(String, Result<Raw, ErrorObject>)>,
    ) -> Result<(), NotSent> {
        let open = self.calls.get(&call).ok_or(NotSent::NotOpen)?;
        let Some(polled) = &open.task else { return Err(NotSent::NotOpen) };
        let mut answers = Extra::new();
        for (key, response) in responses {
            let Some(method) = polled.asked.get(&key) else { continue };
            if let Ok(response) = response.or_else(|error| without_error(method, error)) {
                answers.insert(key, response);
            }
        }
        let mut params = UpdateTaskRequestParams::new(&*polled.id, answers);
        params.meta = self.task_meta();
        self.request(Pending::UpdateTask(call), "tasks/update", &params, None).map(|_| ())
    }

    /// When a task is to be asked about.
    pub(super) fn poll_task_timeout(&self) -> Option<Duration> {
        let tasks = self.calls.values().filter_map(|open| Some((open.task.as_ref()?, open)));
        let due = tasks.filter_map(|(polled, open)| match polled.next {
            // As soon as the time is told.
            Next::Later => Some(Duration::ZERO),
            Next::At(due) => Some(open.params.deadline.map_or(due, |deadline| due.min(deadline))),
            Next::Asked => open.params.deadline,
        });
        due.min()
    }

    /// Asks about the tasks that are due.
    pub(super) fn ask_about_tasks(&mut self, now: Duration) {
        let (mut due, mut late) = (Vec::new(), Vec::new());
        for (call, open) in &mut self.calls {
            let Some(polled) = &mut open.task else { continue };
            if open.params.deadline.is_some_and(|deadline| deadline <= now) {
                late.push(*call);
                continue;
            }
            match polled.next {
                Next::Later => polled.next = Next::At(now.saturating_add(polled.interval)),
                Next::At(at) if at <= now => {
                    polled.next = Next::Asked;
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
            if self.request(Pending::Task(call), "tasks/get", &params, None).is_err()
                && let Some(polled) = self.calls.get_mut(&call).and_then(|open| open.task.as_mut())
            {
                polled.next = Next::Later;
            }
        }
    }

    fn task_id(&self, call: UpstreamCall) -> Option<String> {
        self.calls.get(&call)?.task.as_ref().map(|polled| polled.id.clone())
    }

    fn task_meta(&self) -> Option<Meta> {
        let State::Ready { version, .. } = &self.state else { return None };
        Some(self.request_meta(version, None))
    }
}
