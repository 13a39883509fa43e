//! Events for chat pages, and serialized forms for other programs.
use crate::plugin::{
    BookFlight, BookFlightHandlers, FlightChoice, FlightList, SeatChoice, SeatMap, World, answer,
    asked, begin, failure, flight, seat, tipped, value,
};
use futures::executor::block_on;
use jsonrpc_core::wire::{self, Raw};
use mcp_bridge::context::Carriers;
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::plugin::{
    ElicitResponse, ForwardedResumption, ForwardedTurn, PluginElicitRequestEvent, PluginEvent,
    PluginInterrupt, PluginRequestExtensions, Question, Resumption, SessionError, SessionRecord,
    StoreError, SuspendPolicy, Turn,
};
use serde_json::json;

struct FirstChoice;

impl BookFlightHandlers for FirstChoice {
    async fn pick_flight(&self, question: Question<FlightList>) -> ElicitResponse<FlightChoice> {
        assert_eq!(question.message, "Which flight from NYC to LAX?");
        let flight_id = question.context.flights[0].id.clone();
        ElicitResponse::Accept(FlightChoice { flight_id })
    }

    async fn pick_seat(&self, _: Question<SeatMap>) -> ElicitResponse<SeatChoice> {
        ElicitResponse::Decline
    }
}

#[test]
fn handlers_read_each_carrier() {
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
                block_on(BookFlight::handle(&FirstChoice, &asks[0].key, &params)).expect("handled");
            let answered = value(&serde_json::to_value(result).expect("JSON"));
            turn = answer(&host, &state, [(asks[0].key.clone(), answered)]);
        }
        assert_eq!(failure(turn), "the user declined");
    }
}

#[test]
fn question_becomes_an_event_and_an_interrupt() {
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
fn records_round_trip_as_json() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Replay, "a");
    let (state, _) = asked(begin(&host));
    asked(answer(&host, &state, [flight()]));
    let record = world.record("9c41");
    let text = serde_json::to_string(&record).expect("JSON");
    assert!(text.contains(r#""status":"awaiting_elicit""#));
    assert_eq!(serde_json::from_str::<SessionRecord>(&text).expect("a record"), record);
}

/// Outcomes survive the transport between programs.
#[test]
fn turns_round_trip_between_programs() {
    let world = World::new();
    let host = world.host(SuspendPolicy::Replay, "a");
    let state = "9c41";
    let tool = "book_flight";
    let principal = "ada";
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
        forward(block_on(host.resume(read.as_resumption(), None)));
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
