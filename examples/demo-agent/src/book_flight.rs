//! A tool that books a flight: it asks for the flight and the seat, requests a tip from the model,
//! and returns a ticket.
//!
//! The offers are derived from the cities, so that they are the same each time. No airline is
//! involved.
use async_trait::async_trait;
use jsonrpc_core::ErrorObject;
use mcp_bridge::elicitations;
use mcp_bridge::mcp::content::{Role, TextContent};
use mcp_bridge::mcp::sampling::{
    CreateMessageRequestParams, CreateMessageResult, SamplingContent, SamplingMessage,
    SamplingMessageContentBlock,
};
use mcp_bridge::mcp::tools::TaskSupport;
use mcp_bridge::plugin::DefinitionError;
use mcp_bridge::plugin::{ElicitResponse, PluginContext, PluginError, PluginTool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mcp_bridge_http::{Sampler, random_bytes};

/// Name of the tool.
pub const NAME: &str = "book_flight";

/// Version of the code. Change it with the questions or their order.
const VERSION: &str = "1";

/// Maximum number of attempts to choose a free seat.
const SEAT_ATTEMPTS: usize = 3;

/// Number of rows of the aircraft.
const ROWS: u32 = 12;

/// Seats of a row.
const SEATS: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// Arguments of the tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trip {
    /// City of departure.
    pub from: String,
    /// City of arrival.
    pub destination: String,
}

/// A flight on offer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Flight {
    /// Id of the flight.
    pub id: String,
    /// Name of the airline.
    pub airline: String,
    /// Time of departure, local time.
    pub departure: String,
    /// Time of arrival, local time.
    pub arrival: String,
    /// Price in dollars.
    pub price: u32,
}

/// Context of the question for a flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlightList {
    /// The flights on offer.
    pub flights: Vec<Flight>,
}

/// Answer to the question for a flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlightChoice {
    /// Id of the flight.
    pub flight_id: String,
}

/// Context of the question for a seat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeatMap {
    /// Id of the flight.
    pub flight_id: String,
    /// Number of rows, starting with 1.
    pub rows: u32,
    /// Seats of a row.
    pub seats: Vec<String>,
    /// Taken seats, such as `12C`.
    pub taken_seats: Vec<String>,
}

/// Answer to the question for a seat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeatChoice {
    /// The row.
    #[schemars(range(min = 1, max = 12))]
    pub row: u32,
    /// The seat in the row.
    pub seat: Seat,
}

/// A seat in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the variants are letters")]
pub enum Seat {
    A,
    B,
    C,
    D,
    E,
    F,
}

/// Outcome of the tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Booking {
    /// The flight is booked.
    Booked(Ticket),
    /// The user declined.
    Declined,
    /// The user cancelled.
    Cancelled,
}

/// Confirmation of a booking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ticket {
    /// Number of the ticket.
    pub ticket_number: String,
    /// The flight.
    pub flight: Flight,
    /// The seat, such as `12C`.
    pub seat: String,
    /// Price in dollars.
    pub price: u32,
    /// The model's tip for the destination, if any.
    pub tip: Option<String>,
}

elicitations! {
    /// Questions of the tool `book_flight`.
    pub BookFlight handled by BookFlightHandlers {
        /// The flight.
        pick_flight: PickFlight = "pickFlight" (FlightList => FlightChoice),
        /// The seat.
        pick_seat: PickSeat = "pickSeat" (SeatMap => SeatChoice),
    }
}

/// Creates the tool.
///
/// # Errors
/// Returns an error if an answer type has no form, which is not the case.
pub fn tool() -> Result<PluginTool, DefinitionError> {
    PluginTool::builder(NAME, VERSION)
        .description("Book a flight. The user chooses the flight and the seat")
        .task_support(TaskSupport::Optional)
        .elicits::<BookFlight>()
        .execute(book)
}

/// Returns the flights on offer between two cities.
pub fn flights(trip: &Trip) -> Vec<Flight> {
    let seed = trip
        .from
        .bytes()
        .chain(trip.destination.bytes())
        .fold(7_u32, |seed, byte| seed.wrapping_mul(31).wrapping_add(u32::from(byte)));
    let offers = [
        ("SH", "SkyHigh Airways", "08:15", "11:40"),
        ("CA", "Cloud Air", "13:05", "16:20"),
        ("NJ", "Nightjar", "21:30", "00:55"),
    ];
    let flight = |(index, (code, airline, departure, arrival)): (u32, (&str, &str, &str, &str))| {
        let number = 100 + (seed.wrapping_add(index * 211)) % 800;
        Flight {
            id: format!("{code}-{number}"),
            airline: airline.into(),
            departure: departure.into(),
            arrival: arrival.into(),
            price: 180 + (seed.wrapping_add(index * 97)) % 240,
        }
    };
    (0..).zip(offers).map(flight).collect()
}

/// Returns the seats of a flight.
pub fn seat_map(flight: &Flight) -> SeatMap {
    let is_taken = |row: u32, column: u32| (row * 7 + column * 5 + flight.price).is_multiple_of(3);
    let taken = (1..=ROWS).flat_map(|row| {
        let taken = (0..).zip(SEATS).filter(move |(column, _)| is_taken(row, *column));
        taken.map(move |(_, seat)| format!("{row}{seat}"))
    });
    SeatMap {
        flight_id: flight.id.clone(),
        rows: ROWS,
        seats: SEATS.map(Into::into).to_vec(),
        taken_seats: taken.collect(),
    }
}

async fn book(trip: Trip, ctx: PluginContext<BookFlight>) -> Result<Booking, PluginError> {
    let list = FlightList { flights: flights(&trip) };
    ctx.progress(0.0, Some(3.0), Some("flights found"));
    let message = flight_question(&trip, &list.flights);
    let choice = match ctx.elicit::<PickFlight>(&message, &list).await? {
        ElicitResponse::Accept(choice) => choice,
        ElicitResponse::Decline => return Ok(Booking::Declined),
        ElicitResponse::Cancel => return Ok(Booking::Cancelled),
    };
    let flight = list.flights.into_iter().find(|flight| flight.id == choice.flight_id);
    let flight = flight.ok_or_else(|| PluginError::failed("unknown flight"))?;
    ctx.progress(1.0, Some(3.0), Some("flight chosen"));

    let map = seat_map(&flight);
    let question = seat_question(&map);
    let mut message = question.clone();
    let mut seat = None;
    for _ in 0..SEAT_ATTEMPTS {
        let choice = match ctx.elicit::<PickSeat>(&message, &map).await? {
            ElicitResponse::Accept(choice) => choice,
            ElicitResponse::Decline => return Ok(Booking::Declined),
            ElicitResponse::Cancel => return Ok(Booking::Cancelled),
        };
        let chosen = format!("{}{:?}", choice.row, choice.seat);
        if !map.taken_seats.contains(&chosen) {
            seat = Some(chosen);
            break;
        }
        message = format!("{chosen} is taken. {question}");
    }
    let seat = seat.ok_or_else(|| PluginError::failed("all chosen seats are taken"))?;
    ctx.progress(2.0, Some(3.0), Some("seat chosen"));

    let tip = match ctx.sample("tip", tip_request(&trip.destination)).await {
        Ok(answer) => text_of(answer.content.blocks()),
        // The tip is optional.
        Err(PluginError::Client { .. }) => None,
        Err(error) => return Err(error),
    };
    let number = ctx.step("ticket", || async { random_bytes::<4>().map(u32::from_be_bytes).ok() });
    let number = number.await?.ok_or_else(|| PluginError::failed("no ticket number"))?;
    ctx.progress(3.0, Some(3.0), Some("booked"));
    let ticket_number = format!("TKT-{number:08X}");
    let price = flight.price;
    Ok(Booking::Booked(Ticket { ticket_number, flight, seat, price, tip }))
}

/// Returns the question for a flight, with the choices as text for clients that show only a message
/// and a form.
fn flight_question(trip: &Trip, flights: &[Flight]) -> String {
    let mut text = format!("Which flight from {} to {}?\n", trip.from, trip.destination);
    for (number, flight) in (1..).zip(flights) {
        let Flight { id, airline, departure, arrival, price } = flight;
        text.push_str(&format!("\n{number}. {id}: {airline}, {departure} to {arrival}, ${price}"));
    }
    text
}

/// The question for a seat, with the seats that are free.
fn seat_question(map: &SeatMap) -> String {
    let mut text = format!("Which seat on {}?\n", map.flight_id);
    for row in 1..=map.rows {
        let names = map.seats.iter().map(|seat| format!("{row}{seat}"));
        let free: Vec<_> = names.filter(|name| !map.taken_seats.contains(name)).collect();
        if !free.is_empty() {
            text.push_str(&format!("\nRow {row}: {}", free.join(", ")));
        }
    }
    text
}

fn tip_request(destination: &str) -> CreateMessageRequestParams {
    let text = format!("A travel tip for the airport of {destination}, in one sentence.");
    let text = SamplingMessageContentBlock::Text(TextContent::new(text));
    let message = SamplingMessage::new(Role::User, SamplingContent::One(text));
    CreateMessageRequestParams::new([message], 100)
}

fn text_of(blocks: &[SamplingMessageContentBlock]) -> Option<String> {
    blocks.iter().find_map(|block| match block {
        SamplingMessageContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    })
}

/// A model with a constant answer, for demonstrations.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedTip;

#[async_trait]
impl Sampler for FixedTip {
    async fn sample(
        &self,
        _params: &CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, ErrorObject> {
        let text = TextContent::new("Take the train into the city: it is faster than a taxi.");
        let content = SamplingContent::One(SamplingMessageContentBlock::Text(text));
        Ok(CreateMessageResult::new(Role::Assistant, content, "fixed-tip"))
    }
}
