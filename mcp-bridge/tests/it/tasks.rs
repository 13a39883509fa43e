//! Calls as tasks, in the store.
use crate::plugin::{World, accept, booking, flight, seat, tipped, value};
use crate::plugin_session::{self as session, Left, Right, Two};
use futures::executor::block_on;
use futures::future;
use jsonrpc_core::wire::{Extra, Presence, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::context::Carriers;
use mcp_bridge::mcp::tasks::{Task, TaskStatus};
use mcp_bridge::mcp::tools::TaskSupport;
use mcp_bridge::plugin::{
    ElicitResponse, MemoryStore, NewCall, NoElicitations, Outcome, PluginContext, PluginError,
    PluginHost, PluginTool, SessionError, SessionStatus, SessionStore, SuspendPolicy, Turn,
};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const ID: &str = "9c41";

/// Starts the booking as a task and runs it until it waits. Returns its first status.
fn start(host: &PluginHost) -> Task {
    let arguments = json!({ "from": "NYC", "destination": "LAX" }).to_string();
    let arguments = Raw::from_text(arguments).expect("JSON");
    let tool = "book_flight";
    let principal = "ada";
    let call = NewCall { session_id: ID, call_id: ID, tool, arguments, principal, meta: None };
    let started = block_on(host.start_task(call)).expect("a task");
    let first = started.task.clone();
    let turn = block_on(host.run_task(started, None));
    assert!(matches!(turn, Ok(Turn::Asks { .. })), "{turn:?}");
    first
}

fn view(host: &PluginHost) -> Task {
    block_on(host.task(ID, "ada", Carriers::NONE)).expect("a task").task
}

fn answer(host: &PluginHost, answers: &[(String, Outcome)]) -> bool {
    block_on(host.answer_task(ID, "ada", answers)).expect("a task")
}

fn go_on(host: &PluginHost) -> Result<Turn, SessionError> {
    block_on(host.resume(PluginHost::task_resumption(ID, "book_flight", "ada"), None))
}

/// Keys of the input that a task needs.
fn needed(task: &Task) -> Vec<&str> {
    task.input_requests.iter().flat_map(Extra::iter).map(|(key, _)| key).collect()
}

#[test]
fn flight_is_booked_as_a_task() {
    for policy in [SuspendPolicy::Park, SuspendPolicy::ParkOrReplay, SuspendPolicy::Replay] {
        let world = World::new();
        let host = world.host(policy, "a");
        let first = start(&host);
        assert_eq!(first.status, TaskStatus::Working);
        assert_eq!(first.result_type, None);
        assert_eq!(first.created_at, "1970-01-01T00:00:00.000Z");
        world.time.pass(5);
        for (next, given) in [("pickFlight", flight()), ("pickSeat", seat()), ("tip", tipped())] {
            let task = view(&host);
            assert_eq!(task.status, TaskStatus::InputRequired);
            assert_eq!(needed(&task), [next]);
            assert!(!answer(&host, &[("nobody".into(), given.1.clone())]));
            assert_eq!(needed(&view(&host)), [next], "an unsolicited answer has no effect");
            assert!(answer(&host, std::slice::from_ref(&given)));
            let seen = block_on(host.task(ID, "ada", Carriers::NONE)).expect("a task");
            assert_eq!(seen.task.status, TaskStatus::Working);
            assert!(seen.is_idle);
            go_on(&host).expect("resumed");
        }
        let done = view(&host);
        assert_eq!(&done.status, &TaskStatus::Completed);
        assert_eq!(&done.last_updated_at[..], "1970-01-01T00:00:05.000Z");
        let result: Value = done.result.expect("a result").decode().expect("JSON");
        assert_eq!(&result["structuredContent"], &booking());
        assert_eq!(&result["resultType"], &json!("complete"));
        assert_eq!(world.tickets.load(Ordering::SeqCst), 1);
        // Retained for ten minutes after its end, which is five seconds after its start.
        assert_eq!(done.ttl_ms, Presence::Value(605_000.into()));
        assert!(!answer(&host, &[flight()]), "it is over");
    }
}

#[test]
fn any_program_resumes_a_task() {
    let world = World::new();
    let program = |owner| world.host(SuspendPolicy::Replay, owner);
    start(&program("a"));
    assert!(answer(&program("b"), &[flight()]));
    go_on(&program("c")).expect("resumed");
    assert_eq!(needed(&view(&program("d"))), ["pickSeat"]);

    // After its lease, a running task may be resumed by other programs.
    assert!(answer(&program("b"), &[seat()]));
    let mut record = world.record(ID);
    record.status = SessionStatus::Running;
    record.revision += 1;
    record.owner = "e".into();
    record.deadline = Duration::from_secs(60);

    assert!(block_on(world.store.save(&record)).expect("a store"));
    let is_idle =
        |owner| block_on(program(owner).task(ID, "ada", Carriers::NONE)).expect("a task").is_idle;
    assert!(!is_idle("a"));
    world.time.pass(60);
    assert!(is_idle("a") && !is_idle("e"));
    go_on(&program("a")).expect("resumed");
    assert_eq!(needed(&view(&program("e"))), ["tip"]);
}

#[test]
fn task_ends_early() {
    let cancelled = |host: &PluginHost, _: &World| {
        block_on(host.cancel_task(ID, "ada")).expect("a task");
    };
    let failed = |host: &PluginHost, _: &World| {
        let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "no more");
        block_on(host.fail_task(ID, "ada", error)).expect("a task");
    };
    let expired = |_: &PluginHost, world: &World| world.time.pass(60 * 60);
    let lost = |host: &PluginHost, _: &World| block_on(host.lose(ID, "ada")).expect("a task");
    type End = dyn Fn(&PluginHost, &World);
    let table: [(&End, TaskStatus, Option<&str>); 4] = [
        (&cancelled, TaskStatus::Cancelled, None),
        (&failed, TaskStatus::Failed, Some("no more")),
        (&expired, TaskStatus::Failed, Some("no answer in time")),
        (&lost, TaskStatus::Failed, Some("the program that parked the call has ended")),
    ];
    for (end, status, message) in table {
        let world = World::new();
        let host = world.host(SuspendPolicy::Replay, "a");
        start(&host);
        end(&host, &world);
        for _ in 0..2 {
            let task = view(&host);
            assert_eq!(task.status, status);
            assert_eq!(task.error.map(|error| error.message).as_deref(), message);
            assert!(!answer(&host, &[flight()]));
            block_on(host.sweep()).expect("a store");
        }
        // Cancelling again has no further effect.
        block_on(host.cancel_task(ID, "ada")).expect("a task");
        assert_eq!(view(&host).status, status);
        world.time.pass(24 * 60 * 60);
        block_on(host.sweep()).expect("a store");
        let gone = block_on(host.task(ID, "ada", Carriers::NONE));
        assert!(matches!(gone, Err(SessionError::NotFound)), "{gone:?}");
    }
}

#[test]
fn tasks_are_private_and_need_support() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Replay, "a");
    start(&host);
    let is_unknown = |id, principal| {
        let seen = block_on(host.task(id, principal, Carriers::NONE));
        let ended = block_on(host.cancel_task(id, principal));
        let answered = block_on(host.answer_task(id, principal, &[flight()]));
        [seen.err(), ended.err(), answered.err()]
            .iter()
            .all(|error| matches!(error, Some(SessionError::NotFound)))
    };
    assert!(is_unknown(ID, "eve") && is_unknown("other", "ada"));

    // A waiting session is not a task.
    let plain = World::new();
    let host = plain.host(SuspendPolicy::Replay, "a");
    crate::plugin::begin(&host).expect("it asks");
    let seen = block_on(host.task(ID, "ada", Carriers::NONE));
    assert!(matches!(seen, Err(SessionError::NotFound)), "{seen:?}");

    // A token leaves nothing in the store.
    let host = world.host(world.token(true), "a");
    assert_eq!(host.task_support("book_flight"), TaskSupport::Forbidden);
    assert_eq!(host.task_support("nobody"), TaskSupport::Forbidden);
    let arguments = Raw::from_text("{}").expect("JSON");
    let call = NewCall {
        session_id: "b",
        call_id: "b",
        tool: "book_flight",
        arguments,
        principal: "ada",
        meta: None,
    };
    assert!(matches!(block_on(host.start_task(call)), Err(SessionError::NoTask(_))));
}

#[derive(Deserialize, JsonSchema)]
struct NoArguments {}

#[test]
fn tool_may_end_with_a_protocol_error() {
    let tool = PluginTool::builder("broken", "1").task_support(TaskSupport::Required);
    let tool = tool.elicits::<NoElicitations>().execute(|_: NoArguments, _| async {
        let error = ErrorObject::new(ErrorCode::from(-32_000), "no fuel");
        Err::<(), _>(PluginError::Protocol(error))
    });
    let store = Arc::new(MemoryStore::default());
    let clock = Arc::new(|| Duration::ZERO);
    let host = PluginHost::new([tool.expect("forms")], SuspendPolicy::Replay, store, "a", clock);
    let arguments = Raw::from_text("{}").expect("JSON");
    let call = NewCall {
        session_id: ID,
        call_id: ID,
        tool: "broken",
        arguments,
        principal: "ada",
        meta: None,
    };
    let turn = block_on(host.run_task(block_on(host.start_task(call)).expect("a task"), None));
    let Err(SessionError::Protocol(error)) = turn else { panic!("{turn:?}") };
    assert_eq!(error.message, "no fuel");
    let task = view(&host);
    assert_eq!(task.status, TaskStatus::Failed);
    assert_eq!(task.result, None);
    assert_eq!(task.error, Some(error));
}

#[test]
fn task_waits_for_all_answers() {
    let tool = PluginTool::builder("ask", "1").task_support(TaskSupport::Optional);
    let tool =
        tool.elicits::<Two>().execute(|_: NoArguments, ctx: PluginContext<Two>| async move {
            let left = ctx.elicit::<Left>("left?", &session::NoArguments {});
            let right = ctx.elicit::<Right>("right?", &session::NoArguments {});
            let (left, right) = future::join(left, right).await;
            let is_declined = |answer| matches!(answer, ElicitResponse::<session::Text>::Decline);
            Ok((is_declined(left?), is_declined(right?)))
        });
    let tool = tool.expect("forms");
    for policy in [SuspendPolicy::Park, SuspendPolicy::Replay] {
        let store = Arc::new(MemoryStore::default());
        let clock = Arc::new(|| Duration::ZERO);
        let host = PluginHost::new([tool.clone()], policy, store, "a", clock);
        let arguments = Raw::from_text("{}").expect("JSON");
        let call = NewCall {
            session_id: ID,
            call_id: ID,
            tool: "ask",
            arguments,
            principal: "ada",
            meta: None,
        };
        let started = block_on(host.start_task(call)).expect("a task");
        block_on(host.run_task(started, None)).expect("it asks");
        assert_eq!(needed(&view(&host)), ["left", "right"]);
        let no = value(&json!({ "action": "decline" }));
        assert!(!answer(&host, &[("right".into(), no.clone())]));
        let task = view(&host);
        assert_eq!(&task.status, &TaskStatus::InputRequired);
        assert_eq!(needed(&task), vec!["left"]);
        assert!(answer(&host, &[("right".into(), no.clone()), ("left".into(), no)]));
        block_on(host.resume(PluginHost::task_resumption(ID, "ask", "ada"), None))
            .expect("completed");
        let result: Value = view(&host).result.expect("a result").decode().expect("JSON");
        assert_eq!(result["structuredContent"], json!([true, true]));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Ask(usize),
    Answer(usize, usize),
    GoOn(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..3usize).prop_map(Step::Ask),
        (0..3usize, 0..4usize).prop_map(|(host, which)| Step::Answer(host, which)),
        (0..3usize).prop_map(Step::GoOn),
    ]
}

proptest! {
    /// For any polls and answers through any programs, the status of a task follows the table, is
    /// final once it has ended, and the task books once, with the first answers.
    #[test]
    fn task_ends_once(steps in prop::collection::vec(step(), 0..16)) {
        let world = World::new();
        let hosts = ["a", "b", "c"].map(|owner| world.host(SuspendPolicy::Replay, owner));
        start(&hosts[0]);
        let late = ("pickFlight".to_owned(), accept(&json!({ "flightId": "SH-142" })));
        let given = [flight(), seat(), tipped(), late];
        let to_the_end = (0..3).flat_map(|which| [Step::Answer(0, which), Step::GoOn(0)]);
        let mut flight_id = None;
        let mut is_over = false;
        for step in steps.into_iter().chain(to_the_end) {
            match step {
                Step::Ask(host) => {
                    let task = view(&hosts[host]);
                    prop_assert_eq!(task.input_requests.is_some(), task.status == TaskStatus::InputRequired);
                    prop_assert_eq!(task.result.is_some(), task.status == TaskStatus::Completed);
                    prop_assert!(!is_over || task.status == TaskStatus::Completed);
                    is_over = task.status.is_terminal();
                }
                Step::Answer(host, which) => {
                    let first = match which { 0 => Some("CA-287"), 3 => Some("SH-142"), _ => None };
                    flight_id = flight_id.or(first);
                    answer(&hosts[host], &given[which..=which]);
                }
                Step::GoOn(host) => drop(go_on(&hosts[host])),
            }
        }
        let task = view(&hosts[1]);
        prop_assert_eq!(task.status, TaskStatus::Completed);
        let result: Value = task.result.expect("a result").decode().expect("JSON");
        prop_assert_eq!(result["structuredContent"]["flight"].as_str(), flight_id);
        prop_assert_eq!(world.tickets.load(Ordering::SeqCst), 1);
    }
}
