//! Tools that ask: `book_flight`, however it waits.
use futures::executor::block_on;
use jsonrpc_core::wire::{self, Raw};
use mcp_bridge::context::Carriers;
use mcp_bridge::elicitations;
use mcp_bridge::mcp::content::{ContentBlock, Role, TextContent};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::logging::LoggingLevel;
use mcp_bridge::mcp::sampling::{
    CreateMessageRequestParams, SamplingContent, SamplingMessage, SamplingMessageContentBlock,
};
use mcp_bridge::mcp::tools::CallToolResult;
use mcp_bridge::plugin::{
    Elicited, ForwardedResumption, ForwardedTurn, MemoryStore, NewCall, Notice, Outcome,
    PluginContext, PluginElicitRequestEvent, PluginError, PluginEvent, PluginHost, PluginInterrupt,
    PluginRequestExtensions, PluginSessionErrorCode, PluginTool, Question, Resumption,
    SessionError, SessionRecord, SessionStatus, SessionStore, StoreError, SuspendPolicy, Told,
    Turn, call_update,
};
use mcp_bridge::registry::{CollisionPolicy, Registry, SourceNames, ToolSource};
use mcp_bridge::relay::StateCodec;
use mcp_bridge::seal::{OpenError, SealedStates, StateKey};
use mcp_bridge::tool_events::{CallStatus, ToolEvents};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Flight {
    id: String,
    price: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FlightList {
    flights: Vec<Flight>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlightChoice {
    flight_id: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SeatMap {
    rows: u32,
    taken_seats: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SeatChoice {
    #[schemars(range(min = 1, max = 30))]
    row: u32,
    seat: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct Trip {
    from: String,
    destination: String,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Booking {
    ticket_number: u64,
    flight: String,
    seat: String,
    price: u32,
    tip: String,
}

elicitations! {
    /// What booking a flight asks.
    pub(crate) BookFlight handled by BookFlightHandlers {
        /// Which flight?
        pick_flight: PickFlight = "pickFlight" (FlightList => FlightChoice),
        /// Which seat?
        pick_seat: PickSeat = "pickSeat" (SeatMap => SeatChoice),
    }
}

fn tip(destination: &str) -> CreateMessageRequestParams {
    let text = TextContent::new(format!("A travel tip for {destination}, in a sentence."));
    let content = SamplingContent::One(SamplingMessageContentBlock::Text(text));
    CreateMessageRequestParams::new([SamplingMessage::new(Role::User, content)], 100)
}

/// Books a flight: `tickets` counts how often somebody was charged.
pub(crate) fn book_flight(version: &str, tickets: &Arc<AtomicU64>) -> PluginTool {
    let tickets = Arc::clone(tickets);
    PluginTool::builder("book_flight", version)
        .description("Books a flight for the user")
        .elicits::<BookFlight>()
        .execute(move |trip: Trip, ctx: PluginContext<BookFlight>| {
            book(trip, ctx, Arc::clone(&tickets))
        })
        .expect("forms")
}

async fn book(
    trip: Trip,
    ctx: PluginContext<BookFlight>,
    tickets: Arc<AtomicU64>,
) -> Result<Booking, PluginError> {
    let refused = || PluginError::failed("the user does not want to fly");
    let flights = [("SH-142", 299), ("CA-287", 349)];
    let flights = flights.map(|(id, price)| Flight { id: id.into(), price }).to_vec();
    let message = format!("Which flight from {} to {}?", trip.from, trip.destination);
    ctx.log(LoggingLevel::Info, Raw::from_value("searched").expect("text"));
    let list = FlightList { flights };
    let Elicited::Accept(choice) = ctx.elicit::<PickFlight>(&message, &list).await? else {
        return Err(refused());
    };
    let flight = list.flights.iter().find(|flight| flight.id == choice.flight_id);
    let flight = flight.ok_or_else(|| PluginError::failed("no such flight"))?;
    ctx.progress(1.0, Some(3.0), Some("flight"));
    let map = SeatMap { rows: 30, taken_seats: vec!["1A".into()] };
    let Elicited::Accept(seat) = ctx.elicit::<PickSeat>("Which seat?", &map).await? else {
        return Err(refused());
    };
    let ticket_number =
        ctx.step("charge", || async { tickets.fetch_add(1, Ordering::SeqCst) + 1 }).await?;
    let tip = ctx.sample("tip", tip(&trip.destination)).await?;
    let [SamplingMessageContentBlock::Text(tip)] = tip.content.blocks() else {
        return Err(PluginError::failed("no tip"));
    };
    let seat = format!("{}{}", seat.row, seat.seat);
    let (flight, price) = (flight.id.clone(), flight.price);
    Ok(Booking { ticket_number, flight, seat, price, tip: tip.text.clone() })
}

/// A clock that the test moves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Time(Arc<AtomicU64>);

impl Time {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst))
    }

    fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

/// What outlives a program: the store, the key, the time, and who was charged.
pub(crate) struct World {
    store: Arc<MemoryStore>,
    tickets: Arc<AtomicU64>,
    time: Time,
    nonces: Arc<AtomicU64>,
}

impl World {
    pub(crate) fn new() -> Self {
        let (store, nonces) = (Arc::new(MemoryStore::default()), Arc::default());
        Self { store, tickets: Arc::default(), time: Time::default(), nonces }
    }

    fn states(&self, key: StateKey) -> impl StateCodec + Send + Sync + use<> {
        sealed(key, self.time.clone(), Arc::clone(&self.nonces))
    }

    pub(crate) fn token(&self, is_single_use: bool) -> SuspendPolicy {
        let codec = Arc::new(self.states(StateKey::new(1, [7; 32])));
        SuspendPolicy::Token { codec, is_single_use }
    }

    /// A program that has begun.
    pub(crate) fn host(&self, policy: SuspendPolicy, owner: &str) -> PluginHost {
        self.host_of(policy, owner, "1")
    }

    fn host_of(&self, policy: SuspendPolicy, owner: &str, version: &str) -> PluginHost {
        let time = self.time.clone();
        let tool = book_flight(version, &self.tickets);
        let store = Arc::clone(&self.store) as Arc<dyn SessionStore>;
        PluginHost::new([tool], policy, store, owner, Arc::new(move || time.now()))
    }

    fn record(&self, id: &str) -> SessionRecord {
        block_on(self.store.load(id)).expect("a store").expect("a session")
    }
}

fn sealed(
    key: StateKey,
    time: Time,
    nonces: Arc<AtomicU64>,
) -> SealedStates<impl Fn() -> Duration, impl Fn(&mut [u8; 12])> {
    let random = move |nonce: &mut [u8; 12]| {
        nonce[..8].copy_from_slice(&nonces.fetch_add(1, Ordering::SeqCst).to_be_bytes());
    };
    SealedStates::new(key, Duration::from_secs(7200), move || time.now(), random)
}

pub(crate) fn value(value: &Value) -> Outcome {
    Outcome::Value(Raw::from_text(value.to_string()).expect("JSON"))
}

fn accept(content: &Value) -> Outcome {
    value(&json!({ "action": "accept", "content": content }))
}

fn flight() -> (String, Outcome) {
    ("pickFlight".into(), accept(&json!({ "flightId": "CA-287" })))
}

fn seat() -> (String, Outcome) {
    ("pickSeat".into(), accept(&json!({ "row": 12, "seat": "C" })))
}

fn tipped() -> (String, Outcome) {
    let text = json!({ "type": "text", "text": "Take the train." });
    ("tip".into(), value(&json!({ "role": "assistant", "content": text, "model": "m" })))
}

pub(crate) fn begin(host: &PluginHost) -> Result<Turn, SessionError> {
    let arguments = json!({ "from": "NYC", "destination": "LAX" }).to_string();
    block_on(host.call(NewCall {
        session_id: "9c41",
        call_id: "call_1",
        tool: "book_flight",
        arguments: Raw::from_text(arguments).expect("JSON"),
        principal: "ada",
    }))
}

fn answer(
    host: &PluginHost,
    state: &str,
    answers: impl IntoIterator<Item = (String, Outcome)>,
) -> Result<Turn, SessionError> {
    answer_as(host, state, "ada", answers)
}

fn answer_as(
    host: &PluginHost,
    state: &str,
    principal: &str,
    answers: impl IntoIterator<Item = (String, Outcome)>,
) -> Result<Turn, SessionError> {
    let answers = answers.into_iter().collect();
    let (tool, arguments) = ("book_flight", None);
    block_on(host.resume(Resumption { state, tool, arguments, principal, answers }))
}

/// What to come back with, and what is asked.
fn asked(turn: Result<Turn, SessionError>) -> (String, Vec<String>) {
    match turn {
        Ok(Turn::Asks { state, asks }) => (state, asks.into_iter().map(|ask| ask.key).collect()),
        other => panic!("no question: {other:?}"),
    }
}

fn done(turn: Result<Turn, SessionError>) -> CallToolResult {
    match turn {
        Ok(Turn::Done(result)) => result,
        other => panic!("not done: {other:?}"),
    }
}

fn booked(turn: Result<Turn, SessionError>) -> Value {
    serde_json::to_value(done(turn)).expect("JSON")["structuredContent"].clone()
}

fn failure(turn: Result<Turn, SessionError>) -> String {
    let result = done(turn);
    assert_eq!(result.is_error, Some(true));
    let [ContentBlock::Text(text)] = &result.content[..] else { panic!("one text") };
    text.text.clone()
}

fn booking() -> Value {
    json!({ "ticketNumber": 1, "flight": "CA-287", "seat": "12C", "price": 349, "tip": "Take the train." })
}

#[test]
fn a_flight_is_booked_however_the_tool_waits() {
    let world = World::new();
    for policy in [
        SuspendPolicy::Park,
        SuspendPolicy::ParkOrReplay,
        SuspendPolicy::Replay,
        world.token(false),
        world.token(true),
    ] {
        let world = World::new();
        let shown = format!("{policy:?}");
        let host = world.host(policy, "a");
        let (state, asks) = asked(begin(&host));
        assert_eq!(asks, ["pickFlight"], "{shown}");
        let (state, asks) = asked(answer(&host, &state, [flight()]));
        assert_eq!(asks, ["pickSeat"], "{shown}");
        let (state, asks) = asked(answer(&host, &state, [seat()]));
        assert_eq!(asks, ["tip"], "{shown}");
        assert_eq!(booked(answer(&host, &state, [tipped()])), booking(), "{shown}");
        assert_eq!(world.tickets.load(Ordering::SeqCst), 1, "{shown}");
    }
}

#[test]
fn an_answer_may_come_to_another_program() {
    let world = World::new();
    for policy in [SuspendPolicy::ParkOrReplay, SuspendPolicy::Replay, world.token(true)] {
        let world = World::new();
        let host = |owner| world.host(policy.clone(), owner);
        let (state, _) = asked(begin(&host("a")));
        let (state, _) = asked(answer(&host("b"), &state, [flight()]));
        let (state, _) = asked(answer(&host("c"), &state, [seat()]));
        assert_eq!(booked(answer(&host("d"), &state, [tipped()])), booking());
        assert_eq!(world.tickets.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn a_parked_tool_is_lost_with_its_program() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Park, "a");
    let (state, _) = asked(begin(&host));
    let other = world.host(SuspendPolicy::Park, "b");
    let error = answer(&other, &state, [flight()]).expect_err("elsewhere");
    assert!(matches!(&error, SessionError::Elsewhere { owner } if owner == "a"), "{error:?}");
    let restarted = world.host(SuspendPolicy::Park, "a");
    let error = answer(&restarted, &state, [flight()]).expect_err("lost");
    assert_eq!(error.code(), PluginSessionErrorCode::SessionNotFound);
    assert_eq!(world.record("9c41").status, SessionStatus::Lost);
}

#[test]
fn a_parked_tool_may_be_run_again_where_it_is_not() {
    let world = World::new();
    let host = |owner| world.host(SuspendPolicy::ParkOrReplay, owner);
    let (first, restarted) = (host("a"), host("b"));
    let (state, _) = asked(begin(&first));
    let (state, asks) = asked(answer(&first, &state, [flight()]));
    assert_eq!(asks, ["pickSeat"]);
    let (state, asks) = asked(answer(&restarted, &state, [seat()]));
    assert_eq!(asks, ["tip"]);
    // The first one's copy is behind, and is not gone on with.
    assert_eq!(booked(answer(&first, &state, [tipped()])), booking());
    assert_eq!(world.tickets.load(Ordering::SeqCst), 1);
    assert_eq!(world.record("9c41").owner, "a");

    block_on(first.sweep()).expect("a store");
    block_on(restarted.sweep()).expect("a store");
    let held = |host: &PluginHost| format!("{host:?}").contains("parked: 0");
    assert!(held(&first) && held(&restarted));
}

#[test]
fn a_session_of_a_program_that_has_ended_is_lost() {
    let world = World::new();
    let (state, _) = asked(begin(&world.host(SuspendPolicy::Park, "a")));
    let other = world.host(SuspendPolicy::Park, "b");
    assert!(matches!(answer(&other, &state, [flight()]), Err(SessionError::Elsewhere { .. })));
    assert!(matches!(block_on(other.lose(&state, "eve")), Err(SessionError::NotFound)));
    block_on(other.lose(&state, "ada")).expect("a session");
    assert_eq!(world.record("9c41").status, SessionStatus::Lost);
    assert!(matches!(answer(&other, &state, [flight()]), Err(SessionError::NotFound)));
}

#[test]
fn whoever_calls_is_told_and_then_whoever_answers() {
    let world = World::new();
    for policy in [SuspendPolicy::Park, SuspendPolicy::ParkOrReplay, world.token(true)] {
        let world = World::new();
        let host = world.host(policy, "a");
        let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
        let told = |who: &'static str| -> Option<Told> {
            let heard = Arc::clone(&heard);
            Some(Arc::new(move |notice| {
                let what = match notice {
                    Notice::Progress { .. } => "progress",
                    _ => "log",
                };
                heard.lock().expect("alive").push((who, what));
            }))
        };
        let arguments = json!({ "from": "NYC", "destination": "LAX" }).to_string();
        let arguments = Raw::from_text(arguments).expect("JSON");
        let (session_id, call_id, tool, principal) = ("9c41", "call_1", "book_flight", "ada");
        let call = NewCall { session_id, call_id, tool, arguments, principal };
        let (state, _) = asked(block_on(host.call_telling(call, told("caller"))));
        let (answers, arguments) = (vec![flight()], None);
        let resumption = Resumption { state: &state, tool, arguments, principal, answers };
        asked(block_on(host.resume_telling(resumption, told("answerer"))));
        let heard = heard.lock().expect("alive");
        assert_eq!(*heard, [("caller", "log"), ("answerer", "progress")]);
    }
}

#[test]
fn the_user_may_decline_or_turn_away() {
    for action in ["decline", "cancel", "postpone"] {
        let world = World::new();
        let host = world.host(SuspendPolicy::Replay, "a");
        let (state, _) = asked(begin(&host));
        let answered =
            answer(&host, &state, [("pickFlight".into(), value(&json!({ "action": action })))]);
        assert_eq!(failure(answered), "the user does not want to fly", "{action}");
        assert_eq!(world.record("9c41").status, SessionStatus::Failed);
    }
}

#[test]
fn an_answer_that_would_not_do_is_asked_for_again() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Replay, "a");
    let (state, _) = asked(begin(&host));
    let (state, _) = asked(answer(&host, &state, [flight()]));
    let wrong = ("pickSeat".into(), accept(&json!({ "row": 99, "seat": "C" })));
    let Ok(Turn::Asks { state, asks }) = answer(&host, &state, [wrong]) else {
        panic!("asked again")
    };
    assert_eq!(asks[0].key, "pickSeat#2");
    let ServerRequest::Elicit(params) = &asks[0].request else { panic!("a question") };
    assert_eq!(params.message(), Some("Which seat?\n- row: expected at most 30"));
    let (_, asks) = asked(answer(&host, &state, [("pickSeat#2".into(), seat().1)]));
    assert_eq!(asks, ["tip"]);
}

#[test]
fn an_error_of_the_client_fails_the_tool() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Replay, "a");
    let (state, _) = asked(begin(&host));
    let error = ("pickFlight".into(), Outcome::Error("no screen".into()));
    assert!(failure(answer(&host, &state, [error])).ends_with("with an error: no screen"));
}

#[test]
fn a_session_can_be_aborted_and_is_listed_until_then() {
    for policy in [SuspendPolicy::Park, SuspendPolicy::Replay] {
        let world = World::new();
        let host = world.host(policy, "a");
        let (state, _) = asked(begin(&host));
        let active = block_on(host.active()).expect("a store");
        assert_eq!((active.len(), active[0].status), (1, SessionStatus::AwaitingElicit));
        assert!(matches!(block_on(host.abort("9c41", "eve", "")), Err(SessionError::NotFound)));
        block_on(host.abort("9c41", "ada", "changed my mind")).expect("aborted");
        block_on(host.abort("9c41", "ada", "again")).expect("aborted before");
        let error = answer(&host, &state, [flight()]).expect_err("aborted");
        assert_eq!(error.code(), PluginSessionErrorCode::SessionAborted);
        assert_eq!(world.record("9c41").reason.as_deref(), Some("changed my mind"));
        assert!(block_on(host.active()).expect("a store").is_empty());
    }
}

#[test]
fn a_session_expires_and_is_forgotten() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Replay, "a");
    let (state, _) = asked(begin(&host));
    world.time.pass(3599);
    let (state, _) = asked(answer(&host, &state, []));
    world.time.pass(3600);
    assert!(matches!(answer(&host, &state, [flight()]), Err(SessionError::Expired)));
    let record = world.record("9c41");
    assert_eq!(
        (record.status, record.waited.as_secs(), record.active.as_secs()),
        (SessionStatus::Expired, 7199, 0)
    );
    world.time.pass(600);
    block_on(host.sweep()).expect("swept");
    assert!(matches!(answer(&host, &state, [flight()]), Err(SessionError::NotFound)));
    // A sweep ends those that nobody answers.
    let (_, _) = asked(begin(&host));
    world.time.pass(3600);
    block_on(host.sweep()).expect("swept");
    assert_eq!(world.record("9c41").status, SessionStatus::Expired);
}

#[test]
fn a_token_expires_and_is_used_once() {
    let world = World::new();
    let host = world.host(world.token(true), "a");
    let (state, _) = asked(begin(&host));
    asked(answer(&host, &state, [flight()]));
    assert!(matches!(answer(&host, &state, [flight()]), Err(SessionError::NotFound)));
    let world = World::new();
    let host = world.host(world.token(false), "a");
    let (state, _) = asked(begin(&host));
    let again =
        (asked(answer(&host, &state, [flight()])).1, asked(answer(&host, &state, [flight()])).1);
    assert_eq!(again.0, again.1);
    world.time.pass(3600);
    assert!(matches!(answer(&host, &state, [flight()]), Err(SessionError::Expired)));
    world.time.pass(3600);
    assert!(matches!(answer(&host, &state, [flight()]), Err(SessionError::NotFound)));
}

#[test]
fn nobody_else_is_let_in_and_no_other_code() {
    let world = World::new();
    for policy in [SuspendPolicy::Park, SuspendPolicy::Replay, world.token(false)] {
        let world = World::new();
        let host = world.host(policy.clone(), "a");
        let (state, _) = asked(begin(&host));
        assert!(matches!(answer_as(&host, &state, "eve", [flight()]), Err(SessionError::NotFound)));
        let newer = world.host_of(policy.clone(), "a", "2");
        let error = answer(&newer, &state, [flight()]).expect_err("other code");
        let is_token = matches!(policy, SuspendPolicy::Token { .. });
        let is_loud = matches!(error, SessionError::OtherCode { .. });
        assert!(is_loud || is_token && matches!(error, SessionError::NotFound), "{error:?}");
    }
}

#[test]
fn a_step_is_not_the_clients_to_answer() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Replay, "a");
    let (state, _) = asked(begin(&host));
    asked(answer(&host, &state, [flight()]));
    asked(answer(&host, &state, [seat(), ("charge".into(), value(&json!(77)))]));
    assert_eq!(
        booked(answer(&host, &state, [("charge".into(), value(&json!(77))), tipped()])),
        booking()
    );
}

#[test]
fn notices_are_told_once() {
    let world = World::new();
    let told = Arc::new(AtomicU64::new(0));
    let host = |owner| {
        let told = Arc::clone(&told);
        let host = world.host(SuspendPolicy::Replay, owner);
        host.with_notices(Arc::new(move |id, _| {
            assert_eq!(id, "9c41");
            told.fetch_add(1, Ordering::SeqCst);
        }))
    };
    let (state, _) = asked(begin(&host("a")));
    asked(answer(&host("b"), &state, [flight()]));
    asked(answer(&host("c"), &state, [seat()]));
    assert_eq!(told.load(Ordering::SeqCst), 2);
}

struct FirstOfAll;

impl BookFlightHandlers for FirstOfAll {
    async fn pick_flight(&self, question: Question<FlightList>) -> Elicited<FlightChoice> {
        assert_eq!(question.message, "Which flight from NYC to LAX?");
        let flight_id = question.context.flights[0].id.clone();
        Elicited::Accept(FlightChoice { flight_id })
    }

    async fn pick_seat(&self, _: Question<SeatMap>) -> Elicited<SeatChoice> {
        Elicited::Decline
    }
}

#[test]
fn handlers_answer_through_each_carrier() {
    for carriers in [Carriers::ALL, Carriers::META, Carriers::SCHEMA_AND_MESSAGE] {
        let world = World::new();
        let host = world.host(SuspendPolicy::Replay, "a");
        let mut turn = begin(&host);
        for _ in 0..2 {
            let Ok(Turn::Asks { state, asks }) = turn else { panic!("no question: {turn:?}") };
            let Ok(ServerRequest::Elicit(params)) = asks[0].to_request(carriers) else {
                panic!("a question")
            };
            let result =
                block_on(BookFlight::handle(&FirstOfAll, &asks[0].key, &params)).expect("handled");
            let answered = value(&serde_json::to_value(result).expect("JSON"));
            turn = answer(&host, &state, [(asks[0].key.clone(), answered)]);
        }
        assert_eq!(failure(turn), "the user does not want to fly");
    }
}

#[test]
fn a_question_is_an_event_and_an_interrupt() {
    let world = World::new();
    let Ok(Turn::Asks { asks, .. }) = begin(&world.host(SuspendPolicy::Replay, "a")) else {
        panic!("no question");
    };
    let event = PluginElicitRequestEvent::of(&asks[0], "9c41", "call_1", "book_flight");
    let event = serde_json::to_value(PluginEvent::ElicitRequest(event.expect("a question")));
    let schema = json!({ "type": "object", "properties": { "flightId": { "type": "string" } }, "required": ["flightId"] });
    let message = "Which flight from NYC to LAX?";
    let expected = json!({
        "type": "plugin_elicit_request", "sessionId": "9c41", "callId": "call_1", "toolName": "book_flight",
        "elicitId": "9c41:elicit:pickFlight", "key": "pickFlight", "message": message, "schema": schema,
    });
    assert_eq!(event.expect("JSON"), expected);
    let interrupt = PluginInterrupt::of(&asks[0], "9c41", "call_1").expect("a question");
    let flights =
        json!({ "flights": [{ "id": "SH-142", "price": 299 }, { "id": "CA-287", "price": 349 }] });
    let expected = json!({
        "id": "9c41:elicit:pickFlight", "reason": "input_required", "message": message, "toolCallId": "call_1",
        "responseSchema": schema, "metadata": { "x-model-context": flights },
    });
    assert_eq!(serde_json::to_value(interrupt).expect("JSON"), expected);

    let body = json!({
        "pluginElicitResponses": [{ "sessionId": "9c41", "callId": "call_1", "elicitId": "9c41:elicit:pickFlight", "result": { "action": "decline" } }],
        "pluginAbort": { "sessionId": "9c41", "reason": "enough" }, "model": "m",
    });
    let read: PluginRequestExtensions = wire::decode(&body.to_string()).expect("a body");
    let responses = read.plugin_elicit_responses.as_deref().expect("answers");
    assert_eq!(responses[0].key(), Some("pickFlight"));
    assert_eq!(serde_json::to_value(read).expect("JSON"), body);
}

#[test]
fn records_have_a_json_form() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Replay, "a");
    let (state, _) = asked(begin(&host));
    asked(answer(&host, &state, [flight()]));
    let record = world.record("9c41");
    let text = serde_json::to_string(&record).expect("JSON");
    assert!(text.contains(r#""status":"awaiting_elicit""#));
    assert_eq!(serde_json::from_str::<SessionRecord>(&text).expect("a record"), record);
}

#[test]
fn a_chat_page_hears_of_a_call_from_its_beginning_to_its_end() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Replay, "a");
    let mut registry = Registry::new(CollisionPolicy::Rename);
    let tool = book_flight("1", &Arc::default()).tool().clone();
    registry.register(tool, ToolSource::Local).expect("a name");
    let mut events = ToolEvents::new(SourceNames::default());
    let arguments = Raw::from_text(r#"{"from":"NYC"}"#).expect("JSON");
    let mut hear = |turn: &Result<Turn, SessionError>| {
        let update = call_update("call_1", "book_flight", Some(&arguments), turn);
        let sent = events.handle(&update, &registry, "2026-01-01T00:00:00Z");
        sent.iter().map(|sent| serde_json::to_value(sent).expect("JSON")).collect::<Vec<_>>()
    };
    let begun = begin(&host);
    let sent = hear(&begun);
    assert_eq!(sent.len(), 1);
    assert_eq!(
        (&sent[0]["type"], &sent[0]["tool_name"]),
        (&json!("tool_start"), &json!("book_flight"))
    );
    assert_eq!(
        (&sent[0]["tool_input"], &sent[0]["source"]),
        (&json!(arguments.as_str()), &json!("local"))
    );
    let (state, _) = asked(begun);
    assert!(hear(&Ok(Turn::Taken)).is_empty());
    let refused =
        answer(&host, &state, [("pickFlight".into(), value(&json!({ "action": "decline" })))]);
    let sent = hear(&refused);
    assert_eq!(sent[0]["type"], "tool_complete");
    assert_eq!(sent[0]["tool_result"], "the user does not want to fly");
    assert!(hear(&Err(SessionError::Expired)).is_empty(), "it has ended");

    let update = call_update("c", "t", None, &Err(SessionError::Expired));
    assert_eq!(update.status, CallStatus::Failed);
    assert_eq!(update.output.as_deref(), Some("the session has expired"));
}

/// What goes to another program comes out there as it was.
#[test]
fn turns_go_between_programs() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Replay, "a");
    let (state, tool, principal) = ("9c41", "book_flight", "ada");
    let forward = |turn: Result<Turn, SessionError>| {
        let text = serde_json::to_string(&ForwardedTurn::of(&turn)).expect("JSON");
        let read: ForwardedTurn = serde_json::from_str(&text).expect("a turn");
        match (turn, read.into_turn()) {
            (Ok(turn), Ok(read)) => assert_eq!(turn, read),
            (Err(error), Err(read)) => {
                assert_eq!(error.code(), read.code());
                assert!(read.to_string().ends_with(&error.to_string()), "{read}");
            }
            other => panic!("{other:?}"),
        }
    };
    forward(begin(&host));
    for given in [flight(), seat(), tipped()] {
        let arguments = Raw::from_text(r#"{"from":"NYC","destination":"LAX"}"#);
        let arguments = arguments.expect("JSON");
        let sent = Resumption {
            state,
            tool,
            arguments: Some(&arguments),
            principal,
            answers: vec![given],
        };
        let text = serde_json::to_string(&ForwardedResumption::from(&sent)).expect("JSON");
        let read: ForwardedResumption = serde_json::from_str(&text).expect("a resumption");
        assert_eq!(read, ForwardedResumption::from(&read.as_resumption()));
        forward(block_on(host.resume(read.as_resumption())));
    }
    forward(Ok(Turn::Taken));
    let owner = || "b".to_owned();
    for error in [
        SessionError::UnknownTool(owner()),
        SessionError::NotFound,
        SessionError::Elsewhere { owner: owner() },
        SessionError::Expired,
        SessionError::Aborted,
        SessionError::OtherCode { expected: "1".into(), actual: "2".into() },
        SessionError::OtherArguments,
        SessionError::Superseded,
        SessionError::Contended,
        SessionError::Failed(owner()),
        SessionError::Store(StoreError::Full),
        SessionError::Unwritable,
    ] {
        forward(Err(error));
    }
}

#[test]
fn a_full_store_says_so() {
    let store = Arc::new(MemoryStore::new(0));
    let tool = book_flight("1", &Arc::default());
    let host =
        PluginHost::new([tool], SuspendPolicy::Replay, store, "a", Arc::new(|| Duration::ZERO));
    assert!(matches!(begin(&host), Err(SessionError::Store(StoreError::Full))));
}

#[test]
fn keys_are_rotated_and_forgeries_seen() {
    let world = World::new();
    let key = |number| StateKey::new(number, [number; 32]);
    let states = |key| sealed(key, world.time.clone(), Arc::clone(&world.nonces));
    let old = states(key(1)).seal("x", "ada");
    assert_eq!(states(key(2)).try_open(&old, "ada"), Err(OpenError::UnknownKey(1)));
    let rotated = states(key(2)).with_earlier([key(1)]);
    assert_eq!(rotated.try_open(&old, "ada").as_deref(), Ok("x"));
    assert_eq!(rotated.try_open(&old, "eve"), Err(OpenError::Forged));
    assert_eq!(rotated.try_open("?", "ada"), Err(OpenError::Malformed));
    world.time.pass(7200);
    assert_eq!(rotated.try_open(&old, "ada"), Err(OpenError::Expired));
}

proptest! {
    /// A sealed state of which one bit was changed does not open.
    #[test]
    fn no_changed_state_opens(state in ".{0,64}", at in any::<prop::sample::Index>(), bit in 0..8u8) {
        use base64::Engine;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let states = sealed(StateKey::new(1, [7; 32]), Time::default(), Arc::default());
        let text = states.seal(&state, "ada");
        prop_assert_eq!(states.try_open(&text, "ada"), Ok(state));
        let mut bytes = URL_SAFE_NO_PAD.decode(text).expect("base64");
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(states.try_open(&URL_SAFE_NO_PAD.encode(bytes), "ada").is_err());
    }

    /// Whichever programs the answers come to, in whatever order and however often, somebody is charged once, and the
    /// booking is that of the first answers.
    #[test]
    fn a_session_ends_once(steps in prop::collection::vec((0..3usize, 0..5usize), 0..12)) {
        let world = World::new();
        let hosts = ["a", "b", "c"].map(|owner| world.host(SuspendPolicy::Replay, owner));
        let (state, _) = asked(begin(&hosts[0]));
        let late = ("pickFlight".into(), accept(&json!({ "flightId": "SH-142" })));
        let (mut flight_id, mut ended) = (None, Vec::new());
        let in_order = [(0, 0), (1, 1), (2, 2)];
        for (host, which) in steps.into_iter().chain(in_order) {
            let given = [flight(), seat(), tipped(), late.clone(), ("nobody".into(), seat().1)];
            match which {
                0 => _ = flight_id.get_or_insert("CA-287"),
                3 => _ = flight_id.get_or_insert("SH-142"),
                _ => {}
            }
            match answer(&hosts[host], &state, [given[which].clone()]) {
                Ok(Turn::Asks { .. }) => prop_assert!(ended.is_empty()),
                turn => ended.push(booked(turn)),
            }
        }
        prop_assert!(!ended.is_empty());
        prop_assert!(ended.iter().all(|booking| *booking == ended[0]));
        prop_assert_eq!(ended[0]["flight"].as_str(), flight_id);
        prop_assert_eq!(world.tickets.load(Ordering::SeqCst), 1);
    }

}

/// However many answer at the same time, one of them runs the tool.
#[test]
fn answers_at_the_same_time_are_run_once() {
    for _ in 0..20 {
        let world = World::new();
        let hosts = ["a", "b", "c", "d"].map(|owner| world.host(SuspendPolicy::Replay, owner));
        let (state, _) = asked(begin(&hosts[0]));
        asked(answer(&hosts[0], &state, [flight()]));
        let start = std::sync::Barrier::new(hosts.len());
        std::thread::scope(|scope| {
            for host in &hosts {
                scope.spawn(|| {
                    start.wait();
                    match answer(host, &state, [seat()]) {
                        Ok(Turn::Asks { .. } | Turn::Taken) => {}
                        other => panic!("neither asked nor taken: {other:?}"),
                    }
                });
            }
        });
        assert_eq!(world.tickets.load(Ordering::SeqCst), 1);
        assert_eq!(booked(answer(&hosts[3], &state, [tipped()])), booking());
    }
}

/// A store that lets others go first before it does anything.
struct Yielding(Arc<MemoryStore>);

async fn yield_once() {
    let mut has_yielded = false;
    std::future::poll_fn(|_| match std::mem::replace(&mut has_yielded, true) {
        true => std::task::Poll::Ready(()),
        false => std::task::Poll::Pending,
    })
    .await;
}

#[async_trait::async_trait]
impl SessionStore for Yielding {
    async fn create(&self, record: &SessionRecord) -> Result<(), StoreError> {
        yield_once().await;
        self.0.create(record).await
    }

    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        yield_once().await;
        self.0.load(id).await
    }

    async fn save(&self, record: &SessionRecord) -> Result<bool, StoreError> {
        yield_once().await;
        self.0.save(record).await
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.0.remove(id).await
    }

    async fn list(&self) -> Result<Vec<SessionRecord>, StoreError> {
        self.0.list().await
    }

    async fn use_once(
        &self,
        name: &str,
        until: Duration,
        now: Duration,
    ) -> Result<bool, StoreError> {
        self.0.use_once(name, until, now).await
    }
}

proptest! {
    /// However the steps of programs that answer at the same time fall between each other, one of them runs the tool.
    #[test]
    fn one_claim_wins(schedule in prop::collection::vec(0..3usize, 0..40)) {
        let world = World::new();
        let store: Arc<dyn SessionStore> = Arc::new(Yielding(Arc::clone(&world.store)));
        let (state, _) = asked(begin(&world.host(SuspendPolicy::Replay, "a")));
        asked(answer(&world.host(SuspendPolicy::Replay, "a"), &state, [flight()]));
        let hosts = ["a", "b", "c"].map(|owner| {
            let (time, tool) = (world.time.clone(), book_flight("1", &world.tickets));
            let store = Arc::clone(&store);
            PluginHost::new([tool], SuspendPolicy::Replay, store, owner, Arc::new(move || time.now()))
        });
        let mut racing: Vec<_> = hosts.iter().map(|host| {
            let (tool, arguments, principal) = ("book_flight", None, "ada");
            let answers = vec![seat()];
            Some(Box::pin(host.resume(Resumption { state: &state, tool, arguments, principal, answers })))
        }).collect();
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let to_the_end = (0..3).flat_map(|which| std::iter::repeat_n(which, 200));
        for which in schedule.into_iter().chain(to_the_end) {
            let Some(future) = &mut racing[which] else { continue };
            if let std::task::Poll::Ready(turn) = future.as_mut().poll(&mut cx) {
                prop_assert!(matches!(turn, Ok(Turn::Asks { .. } | Turn::Taken)), "{:?}", turn);
                racing[which] = None;
            }
        }
        prop_assert!(racing.iter().all(Option::is_none));
        prop_assert_eq!(world.tickets.load(Ordering::SeqCst), 1);
    }
}
