//! Properties of frontend calls, for any events in any order.
use crate::frontend_tool::{Thread, at, page, raw, update};
use agui_bridge::CancelReason;
use agui_bridge::frontend_tool::{
    Action, Completion, Expiry, FrontendToolOptions, FrontendTools, NewCall, Outcome, ToolResult,
};
use agui_types::event::Event;
use agui_types::id::ToolCallId;
use agui_types::profile::Profile;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use std::collections::BTreeMap;

/// An event of the calls of a thread.
#[derive(Clone, Debug)]
enum Step {
    Begin,
    Resume,
    Call {
        tool: &'static str,
        id: Option<&'static str>,
        args: u8,
    },
    Report {
        tool: &'static str,
        id: &'static str,
        args: u8,
        status: &'static str,
        announces: bool,
    },
    /// A result of an earlier call, or of an unknown one.
    Complete(usize),
    Withdraw(usize),
    Cancel,
    Disconnect,
    EndTurn,
    Wait(u64),
    WaitUntilDue,
    /// Serializes the machine and restores it elsewhere.
    Move,
}

fn step() -> impl Strategy<Value = Step> {
    let tools = || select(vec!["ack", "park", "sync"]);
    let ids = || select(vec!["t1", "t2", "t3", "call-2", ""]);
    let statuses = select(vec!["pending", "in_progress", "completed", "failed"]);
    let reported = select(vec!["mcp__ui__park", "mcp__ui__ack", "ui_sync", "Bash"]);
    prop_oneof![
        2 => Just(Step::Begin),
        2 => Just(Step::Resume),
        8 => (tools(), prop::option::of(ids()), 0..2u8)
            .prop_map(|(tool, id, args)| Step::Call { tool, id, args }),
        6 => (reported, ids(), 0..2u8, statuses, any::<bool>())
            .prop_map(|(tool, id, args, status, announces)| Step::Report { tool, id, args, status, announces }),
        6 => (0..12usize).prop_map(Step::Complete),
        1 => (0..12usize).prop_map(Step::Withdraw),
        1 => Just(Step::Cancel),
        1 => Just(Step::Disconnect),
        1 => Just(Step::EndTurn),
        3 => select(vec![1, 99, 100, 10_000, 31_000, 60_000]).prop_map(Step::Wait),
        4 => Just(Step::WaitUntilDue),
        1 => Just(Step::Move),
    ]
}

fn options() -> impl Strategy<Value = FrontendToolOptions> {
    let expiries = select(vec![Expiry::Pending, Expiry::TimedOut]);
    (expiries, 1..4usize, 2..6usize).prop_map(|(expiry, max_parked, max_calls)| {
        let mut options = FrontendToolOptions::new();
        options.expiry = expiry;
        options.max_parked = max_parked;
        options.max_calls = max_calls;
        options
    })
}

/// The history of one call.
#[derive(Debug, Default)]
struct Fate {
    begun: u32,
    answers: Vec<Outcome>,
    told: u32,
    delivered: u32,
    withdrawn: bool,
}

#[derive(Debug)]
struct Model {
    tools: FrontendTools,
    now: u64,
    run_is_open: bool,
    made: Vec<ToolCallId>,
    fates: BTreeMap<ToolCallId, Fate>,
}

impl Model {
    fn new(options: FrontendToolOptions) -> Self {
        let tools = FrontendTools::new(options);
        Self { tools, now: 0, run_is_open: false, made: Vec::new(), fates: BTreeMap::new() }
    }

    fn nth(&self, number: usize) -> ToolCallId {
        self.made.get(number).cloned().unwrap_or_else(|| "never".into())
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Begin => {
                self.tools.begin_turn(&page(), at(self.now));
                self.run_is_open = true;
            }
            Step::Resume => {
                self.tools.resume_turn(&page(), at(self.now));
                self.run_is_open = true;
            }
            Step::Call { tool, id, args } => self.call(tool, *id, *args),
            Step::Report { tool, id, args, status, announces } => {
                self.tools
                    .handle_update(&report(tool, id, *args, status, *announces), at(self.now));
            }
            Step::Complete(number) => {
                let id = self.nth(*number);
                let result = ToolResult::text("r");
                if self.tools.complete(&id, result, at(self.now)) == Completion::Delivered {
                    self.fates.get_mut(&id).expect("a call").delivered += 1;
                }
            }
            Step::Withdraw(number) => {
                let id = self.nth(*number);
                self.tools.handle_withdrawn(&id);
                if let Some(fate) = self.fates.get_mut(&id).filter(|fate| fate.answers.is_empty()) {
                    fate.withdrawn = true;
                }
            }
            Step::Cancel => self.tools.handle_cancel(),
            Step::Disconnect => self.tools.handle_disconnect(at(self.now)),
            Step::EndTurn => {
                self.tools.handle_turn_end();
                self.run_is_open = false;
            }
            Step::Wait(time) => self.wait_until(self.now + time),
            Step::WaitUntilDue => {
                let due = self.tools.poll_timeout().map(|due| due.as_millis() as u64);
                self.wait_until(due.unwrap_or(self.now).max(self.now));
            }
            Step::Move => {
                let text = serde_json::to_string(&self.tools).unwrap();
                let moved: FrontendTools = serde_json::from_str(&text).unwrap();
                assert_eq!(moved, self.tools);
                self.tools = moved;
            }
        }
        self.take_actions();
    }

    fn call(&mut self, tool: &str, id: Option<&str>, args: u8) {
        let mut call = NewCall::new(tool, raw(&json!({"n": args})));
        call.agent_id = id.map(Into::into);
        if let Ok(id) = self.tools.handle_call(call, at(self.now)) {
            // A forgotten call's id may be reused.
            if let Some(fate) = self.fates.remove(&id) {
                fate.check(&id);
            }
            self.fates.insert(id.clone(), Fate::default());
            self.made.push(id);
        }
    }

    /// Checks that actions occur exactly when they are due.
    fn wait_until(&mut self, now: u64) {
        let due = self.tools.poll_timeout().is_some_and(|due| due <= at(now));
        let before = self.tools.clone();
        self.now = now;
        self.tools.handle_timeout(at(now));
        assert_eq!(due, self.tools != before, "due: {due}");
        assert!(self.tools.poll_timeout().is_none_or(|due| due > at(now)));
    }

    fn take_actions(&mut self) {
        while let Some(action) = self.tools.poll_action() {
            match action {
                Action::Begin(call) => {
                    assert!(self.run_is_open);
                    self.fates.get_mut(&call.call_id).expect("a call").begun += 1;
                }
                Action::Answer { call_id, outcome } => {
                    self.fates.get_mut(&call_id).expect("a call").answers.push(outcome);
                }
                Action::EndRun { parked } => {
                    assert!(self.run_is_open && !parked.is_empty());
                    self.run_is_open = false;
                }
                Action::PrefixPrompt { call_id, .. } => {
                    self.fates.get_mut(&call_id).expect("a call").told += 1;
                }
                Action::KeepAlive { call_id } => {
                    assert!(self.fates[&call_id].answers.is_empty());
                }
                Action::Show(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

impl Fate {
    /// Checks for one end, at most one result and at most one begin.
    fn check(&self, id: &ToolCallId) {
        let ends = self.answers.len() + usize::from(self.withdrawn);
        assert_eq!(ends, 1, "{id}: {self:?}");
        let results =
            self.answers.iter().filter(|outcome| matches!(outcome, Outcome::Result(_))).count();
        assert_eq!(results as u32 + self.told, self.delivered, "{id}: {self:?}");
        assert!(self.delivered <= 1 && self.begun <= 1, "{id}: {self:?}");
    }
}

fn report(
    tool: &str,
    id: &str,
    args: u8,
    status: &str,
    announces: bool,
) -> acp_types::v1::prompt_turn::SessionNotification {
    let kind = if announces { "tool_call" } else { "tool_call_update" };
    update(json!({
        "sessionUpdate": kind, "toolCallId": id, "title": tool, "name": tool, "status": status, "rawInput": {"n": args}
    }))
}

proptest! {
    /// Each accepted call ends once, has its result at most once, and is shown at most once.
    #[test]
    fn each_call_ends_once(options in options(), steps in prop::collection::vec(step(), 0..60)) {
        let mut model = Model::new(options);
        for step in [Step::Begin].iter().chain(&steps).chain([&Step::EndTurn]) {
            model.apply(step);
        }
        prop_assert!(!model.tools.is_waiting());
        prop_assert_eq!(model.tools.poll_timeout(), None);
        for (id, fate) in &model.fates {
            fate.check(id);
        }
    }

    /// The page's stream passes the strict verifier, each begun call is in it once, and each call
    /// is answered once.
    #[test]
    fn stream_is_valid(
        legacy in any::<bool>(),
        options in options(),
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let profile = if legacy { Profile::Legacy } else { Profile::V1 };
        let mut thread = Thread::new(profile, options);
        let mut now = 0;
        let mut made = Vec::new();
        for step in steps {
            match step {
                Step::Begin if !thread.translator.is_running() => thread.begin(false, now),
                Step::Resume if !thread.translator.is_running() => thread.begin(true, now),
                Step::Begin | Step::Resume | Step::Move => {}
                Step::Call { tool, id, args } => {
                    let mut call = NewCall::new(tool, raw(&json!({"n": args})));
                    call.agent_id = id.map(Into::into);
                    made.extend(thread.tools.handle_call(call, at(now)).ok());
                }
                Step::Report { tool, id, args, status, announces } => {
                    thread.update(report(tool, id, args, status, announces), now);
                }
                Step::Complete(number) => {
                    let id = made.get(number).cloned().unwrap_or_else(|| "never".into());
                    thread.tools.complete(&id, ToolResult::text("r"), at(now));
                }
                Step::Withdraw(number) => {
                    made.get(number).into_iter().for_each(|id| thread.tools.handle_withdrawn(id));
                }
                Step::Cancel => {
                    thread.tools.handle_cancel();
                    thread.translator.handle_cancel(CancelReason::User);
                }
                Step::Disconnect => thread.tools.handle_disconnect(at(now)),
                Step::EndTurn => thread.end_turn(),
                Step::Wait(time) => {
                    now += time;
                    thread.tools.handle_timeout(at(now));
                }
                Step::WaitUntilDue => {
                    now = thread.tools.poll_timeout().map_or(now, |due| due.as_millis() as u64).max(now);
                    thread.tools.handle_timeout(at(now));
                }
            }
            thread.drive();
        }
        thread.end_turn();
        let starts = thread.stream.iter().filter_map(|event| match event {
            Event::ToolCallStart(start) => Some(start.tool_call_id.as_str()),
            _ => None,
        });
        let mut starts: Vec<_> = starts.collect();
        let shown = starts.len();
        starts.sort_unstable();
        starts.dedup();
        prop_assert_eq!(starts.len(), shown);
        prop_assert!(thread.binding.answers.len() <= made.len());
    }
}
