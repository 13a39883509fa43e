//! Tools that ask: `book_flight` under each suspend policy.
use futures::executor::block_on;
use jsonrpc_core::wire::Raw;
use mcp_bridge::elicitations;
use mcp_bridge::mcp::content::{ContentBlock, Role, TextContent};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::logging::LoggingLevel;
use mcp_bridge::mcp::sampling::{
    CreateMessageRequestParams, SamplingContent, SamplingMessage, SamplingMessageContentBlock,
};
use mcp_bridge::mcp::tools::{CallToolResult, TaskSupport};
use mcp_bridge::plugin::{
    ElicitResponse, MemoryStore, NewCall, Outcome, PluginContext, PluginError, PluginHost,
    PluginTool, Resumption, SessionError, SessionRecord, SessionStatus, SessionStore,
    SuspendPolicy, Turn,
};
use mcp_bridge::seal::{SealedStates, StateKey};
use mcp_bridge::server::StateCodec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

mod resumed;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Flight {
    pub(crate) id: String,
    pub(crate) price: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FlightList {
    pub(crate) flights: Vec<Flight>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlightChoice {
    pub(crate) flight_id: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SeatMap {
    pub(crate) rows: u32,
    pub(crate) taken_seats: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SeatChoice {
    #[schemars(range(min = 1, max = 30))]
    pub(crate) row: u32,
    pub(crate) seat: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct Trip {
    pub(crate) from: String,
    pub(crate) destination: String,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Booking {
    pub(crate) ticket_number: u64,
    pub(crate) flight: String,
    pub(crate) seat: String,
    pub(crate) price: u32,
    pub(crate) tip: String,
}

elicitations! {
    /// Questions of the tool `book_flight`.
    pub(crate) BookFlight handled by BookFlightHandlers {
        /// The flight.
        pick_flight: PickFlight = "pickFlight" (FlightList => FlightChoice),
        /// The seat.
        pick_seat: PickSeat = "pickSeat" (SeatMap => SeatChoice),
    }
}

pub(crate) fn tip(destination: &str) -> CreateMessageRequestParams {
    let text = TextContent::new(format!("A travel tip for {destination}, in a sentence."));
    let content = SamplingContent::One(SamplingMessageContentBlock::Text(text));
    CreateMessageRequestParams::new([SamplingMessage::new(Role::User, content)], 100)
}

/// A tool that books a flight. `tickets` counts the charges.
pub(crate) fn book_flight(version: &str, tickets: &Arc<AtomicU64>) -> PluginTool {
    book_flight_that_stalls(version, tickets, &Arc::default())
}

/// A tool that books a flight and does not complete a charge while `stalls` is set.
fn book_flight_that_stalls(
    version: &str,
    tickets: &Arc<AtomicU64>,
    stalls: &Arc<AtomicBool>,
) -> PluginTool {
    let tickets = Arc::clone(tickets);
    let stalls = Arc::clone(stalls);
    PluginTool::builder("book_flight", version)
        .description("Books a flight for the user")
        .task_support(TaskSupport::Optional)
        .elicits::<BookFlight>()
        .execute(move |trip: Trip, ctx: PluginContext<BookFlight>| {
            book(trip, ctx, Arc::clone(&tickets), Arc::clone(&stalls))
        })
        .expect("forms")
}

async fn book(
    trip: Trip,
    ctx: PluginContext<BookFlight>,
    tickets: Arc<AtomicU64>,
    stalls: Arc<AtomicBool>,
) -> Result<Booking, PluginError> {
    let refused = || PluginError::failed("the user declined");
    let flights = [("SH-142", 299), ("CA-287", 349)];
    let flights = flights.map(|(id, price)| Flight { id: id.into(), price }).to_vec();
    let message = format!("Which flight from {} to {}?", trip.from, trip.destination);
    ctx.log(LoggingLevel::Info, Some("flights"), Raw::from_value("searched").expect("text"));
    let list = FlightList { flights };
    let ElicitResponse::Accept(choice) = ctx.elicit::<PickFlight>(&message, &list).await? else {
        return Err(refused());
    };
    let flight = list.flights.iter().find(|flight| flight.id == choice.flight_id);
    let flight = flight.ok_or_else(|| PluginError::failed("no such flight"))?;
    ctx.progress(1.0, Some(3.0), Some("flight"));
    let map = SeatMap { rows: 30, taken_seats: vec!["1A".into()] };
    let ElicitResponse::Accept(seat) = ctx.elicit::<PickSeat>("Which seat?", &map).await? else {
        return Err(refused());
    };
    let charge = || async {
        std::future::poll_fn(|_| match stalls.load(Ordering::SeqCst) {
            true => std::task::Poll::Pending,
            false => std::task::Poll::Ready(()),
        })
        .await;
        tickets.fetch_add(1, Ordering::SeqCst) + 1
    };
    let ticket_number = ctx.step("charge", charge).await?;
    let tip = ctx.sample("tip", tip(&trip.destination)).await?;
    let [SamplingMessageContentBlock::Text(tip)] = tip.content.blocks() else {
        return Err(PluginError::failed("no tip"));
    };
    let seat = format!("{}{}", seat.row, seat.seat);
    let price = flight.price;
    let flight = flight.id.clone();
    Ok(Booking { ticket_number, flight, seat, price, tip: tip.text.clone() })
}

/// A clock that the test advances.
#[derive(Clone, Debug, Default)]
pub(crate) struct Time(Arc<AtomicU64>);

impl Time {
    pub(crate) fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst))
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

/// State that outlives a program: the store, the key, the time, and the charges.
pub(crate) struct World {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) tickets: Arc<AtomicU64>,
    pub(crate) time: Time,
    pub(crate) nonces: Arc<AtomicU64>,
    pub(crate) stalls: Arc<AtomicBool>,
}

impl World {
    pub(crate) fn new() -> Self {
        let store = Arc::new(MemoryStore::default());
        let nonces = Arc::default();
        Self {
            store,
            tickets: Arc::default(),
            time: Time::default(),
            nonces,
            stalls: Arc::default(),
        }
    }

    pub(crate) fn states(&self, key: StateKey) -> impl StateCodec + Send + Sync + use<> {
        sealed(key, self.time.clone(), Arc::clone(&self.nonces))
    }

    pub(crate) fn token(&self, is_single_use: bool) -> SuspendPolicy {
        let codec = Arc::new(self.states(StateKey::new(1, [7; 32])));
        SuspendPolicy::Token { codec, is_single_use }
    }

    /// Creates the host of a new program.
    pub(crate) fn host(&self, policy: SuspendPolicy, owner: &str) -> PluginHost {
        self.host_of(policy, owner, "1")
    }

    /// Creates the host of a program that completes no charge until `stalls` is cleared.
    pub(crate) fn host_that_stalls(&self, policy: SuspendPolicy, owner: &str) -> PluginHost {
        self.stalls.store(true, Ordering::SeqCst);
        self.host_of(policy, owner, "1")
    }

    pub(crate) fn host_of(&self, policy: SuspendPolicy, owner: &str, version: &str) -> PluginHost {
        let time = self.time.clone();
        let tool = book_flight_that_stalls(version, &self.tickets, &self.stalls);
        let store = Arc::clone(&self.store) as Arc<dyn SessionStore>;
        PluginHost::new([tool], policy, store, owner, Arc::new(move || time.now()))
    }

    pub(crate) fn record(&self, id: &str) -> SessionRecord {
        block_on(self.store.load(id)).expect("a store").expect("a session")
    }
}

pub(crate) fn sealed(
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

pub(crate) fn accept(content: &Value) -> Outcome {
    value(&json!({ "action": "accept", "content": content }))
}

pub(crate) fn flight() -> (String, Outcome) {
    ("pickFlight".into(), accept(&json!({ "flightId": "CA-287" })))
}

pub(crate) fn seat() -> (String, Outcome) {
    ("pickSeat".into(), accept(&json!({ "row": 12, "seat": "C" })))
}

pub(crate) fn tipped() -> (String, Outcome) {
    let text = json!({ "type": "text", "text": "Take the train." });
    ("tip".into(), value(&json!({ "role": "assistant", "content": text, "model": "m" })))
}

pub(crate) fn begin(host: &PluginHost) -> Result<Turn, SessionError> {
    let arguments = json!({ "from": "NYC", "destination": "LAX" }).to_string();
    let call = NewCall {
        session_id: "9c41",
        call_id: "call_1",
        tool: "book_flight",
        arguments: Raw::from_text(arguments).expect("JSON"),
        principal: "ada",
        meta: None,
    };
    block_on(host.call(call, None))
}

pub(crate) fn answer(
    host: &PluginHost,
    state: &str,
    answers: impl IntoIterator<Item = (String, Outcome)>,
) -> Result<Turn, SessionError> {
    answer_as(host, state, "ada", answers)
}

pub(crate) fn answer_as(
    host: &PluginHost,
    state: &str,
    principal: &str,
    answers: impl IntoIterator<Item = (String, Outcome)>,
) -> Result<Turn, SessionError> {
    let answers = answers.into_iter().collect();
    let tool = "book_flight";
    let arguments = None;
    block_on(host.resume(Resumption { state, tool, arguments, principal, answers }, None))
}

/// Returns the state and the keys of the open questions.
pub(crate) fn asked(turn: Result<Turn, SessionError>) -> (String, Vec<String>) {
    match turn {
        Ok(Turn::Asks { state, asks }) => (state, asks.into_iter().map(|ask| ask.key).collect()),
        other => panic!("no question: {other:?}"),
    }
}

pub(crate) fn done(turn: Result<Turn, SessionError>) -> CallToolResult {
    match turn {
        Ok(Turn::Done(result)) => result,
        other => panic!("not done: {other:?}"),
    }
}

pub(crate) fn booked(turn: Result<Turn, SessionError>) -> Value {
    serde_json::to_value(done(turn)).expect("JSON")["structuredContent"].clone()
}

pub(crate) fn failure(turn: Result<Turn, SessionError>) -> String {
    let result = done(turn);
    assert_eq!(result.is_error, Some(true));
    let [ContentBlock::Text(text)] = &result.content[..] else { panic!("one text") };
    text.text.clone()
}

pub(crate) fn booking() -> Value {
    json!({ "ticketNumber": 1, "flight": "CA-287", "seat": "12C", "price": 349, "tip": "Take the train." })
}

#[test]
fn flight_is_booked_under_each_policy() {
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
fn user_may_decline_or_cancel() {
    for action in ["decline", "cancel", "postpone"] {
        let world = World::new();
        let host = world.host(SuspendPolicy::Replay, "a");
        let (state, _) = asked(begin(&host));
        let answered =
            answer(&host, &state, [("pickFlight".into(), value(&json!({ "action": action })))]);
        assert_eq!(failure(answered), "the user declined", "{action}");
        assert_eq!(world.record("9c41").status, SessionStatus::Failed);
    }
}

#[test]
fn question_is_repeated_after_an_invalid_answer() {
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
fn error_response_fails_the_tool() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Replay, "a");
    let (state, _) = asked(begin(&host));
    let error = ("pickFlight".into(), Outcome::Error("no screen".into()));
    assert!(failure(answer(&host, &state, [error])).ends_with("with an error: no screen"));
}
