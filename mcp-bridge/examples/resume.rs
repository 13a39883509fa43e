//! A tool that asks the user. The call waits in a store, and a second host resumes it with the
//! answer.
//!
//! ```text
//! cargo run -p mcp-bridge --features plugin --example resume
//! ```
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use mcp_bridge::jsonrpc_core::wire::Raw;
use mcp_bridge::plugin::{
    ElicitResponse, MemoryStore, NewCall, Outcome, PluginContext, PluginError, PluginHost,
    PluginTool, Resumption, SuspendPolicy, Turn,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Deserialize, JsonSchema)]
struct Trip {
    destination: String,
}

/// The data that a rich form displays with the question.
#[derive(Serialize, Deserialize, JsonSchema)]
struct FreeSeats {
    seats: Vec<String>,
}

/// The answer. Its JSON Schema becomes the form.
#[derive(Serialize, Deserialize, JsonSchema)]
struct SeatChoice {
    /// The seat to book.
    seat: String,
}

mcp_bridge::elicitations! {
    /// Questions of the tool `book_flight`.
    BookFlight handled by BookFlightHandlers {
        /// The seat.
        pick_seat: PickSeat = "pickSeat" (FreeSeats => SeatChoice),
    }
}

async fn book_flight(trip: Trip, ctx: PluginContext<BookFlight>) -> Result<String, PluginError> {
    let seats = FreeSeats { seats: vec!["12A".to_owned(), "12C".to_owned()] };
    let message = format!("Which seat to {}?", trip.destination);
    match ctx.elicit::<PickSeat>(&message, &seats).await? {
        ElicitResponse::Accept(choice) => {
            Ok(format!("Booked {} to {}.", choice.seat, trip.destination))
        }
        ElicitResponse::Decline | ElicitResponse::Cancel => Ok("No flight was booked.".to_owned()),
    }
}

/// Creates a host. All hosts share the store, as programs share a database.
fn host(store: &Arc<MemoryStore>, owner: &str) -> Result<PluginHost, Box<dyn Error>> {
    let tool = PluginTool::builder("book_flight", "1")
        .description("Books a flight")
        .elicits::<BookFlight>()
        .execute(book_flight)?;
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Ok(PluginHost::new([tool], SuspendPolicy::Replay, store.clone(), owner, Arc::new(clock)))
}

fn main() -> Result<(), Box<dyn Error>> {
    futures::executor::block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let store = Arc::new(MemoryStore::default());
    let tool = "book_flight";
    let principal = "ada";

    let call = NewCall {
        // A server uses at least 128 random bits.
        session_id: "session-1",
        call_id: "call-1",
        tool,
        arguments: Raw::from_text(r#"{"destination":"Oslo"}"#)?,
        principal,
        meta: None,
    };
    let Turn::Asks { state, asks } = host(&store, "program-1")?.call(call, None).await? else {
        return Err("the tool did not ask".into());
    };
    for ask in &asks {
        println!("question `{}`: {:?}", ask.key, ask.request.to_params()?);
        println!("context: {:?}", ask.context.as_ref().map(|context| context.as_str()));
    }

    let answer = Raw::from_text(r#"{"action":"accept","content":{"seat":"12C"}}"#)?;
    let question = asks.first().ok_or("the tool asked no question")?;
    let answers = vec![(question.key.clone(), Outcome::Value(answer))];
    let resumption = Resumption { state: &state, tool, arguments: None, principal, answers };
    match host(&store, "program-2")?.resume(resumption, None).await? {
        Turn::Done(result) => println!("result: {}", result.to_text()),
        turn => return Err(format!("unexpected outcome: {turn:?}").into()),
    }
    Ok(())
}
