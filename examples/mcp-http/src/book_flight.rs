//! A tool that books a flight: it asks which one and which seat, asks the model for a tip, and confirms.
//!
//! No airline knows of it. What is on offer follows from the cities, so that it is the same each time.
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
use mcp_bridge::plugin::{Elicited, PluginContext, PluginError, PluginTool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plugins::Sampler;
use crate::random::random_bytes;

/// The name of the tool.
pub const NAME: &str = "book_flight";

/// The version of its code: another one for other questions, or another order of them.
const VERSION: &str = "1";

/// How often somebody may choose a seat that is taken.
const SEAT_ATTEMPTS: usize = 3;

/// Rows of the aircraft.
const ROWS: u32 = 12;

/// Seats of a row.
const SEATS: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// The arguments: from where to where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trip {
    /// Where the journey begins.
    pub from: String,
    /// Where it leads.
    pub destination: String,
}

/// A flight on offer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Flight {
    /// Names it.
    pub id: String,
    /// Who flies.
    pub airline: String,
    /// When it leaves, local time.
    pub departure: String,
    /// When it arrives, local time.
    pub arrival: String,
    /// What it costs, in dollars.
    pub price: u32,
}

/// What the question for a flight shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlightList {
    /// The flights on offer.
    pub flights: Vec<Flight>,
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlightChoice {
    /// Which flight.
    pub flight_id: String,
}

/// What the question for a seat shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeatMap {
    /// The flight.
    pub flight_id: String,
    /// How many rows there are, from 1 on.
    pub rows: u32,
    /// The seats of a row.
    pub seats: Vec<String>,
    /// Those that are taken, such as `12C`.
    pub taken_seats: Vec<String>,
}

/// The answer to it.
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
#[expect(missing_docs, reason = "they are letters")]
pub enum Seat {
    A,
    B,
    C,
    D,
    E,
    F,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Booking {
    /// The flight is booked.
    Booked(Ticket),
    /// The user does not want to fly.
    Declined,
    /// The user turned away.
    Cancelled,
}

/// The confirmation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ticket {
    /// Its number.
    pub ticket_number: String,
    /// The flight.
    pub flight: Flight,
    /// The seat, such as `12C`.
    pub seat: String,
    /// What it costs, in dollars.
    pub price: u32,
    /// What the model says of the destination; nothing if it says nothing.
    pub tip: Option<String>,
}

elicitations! {
    /// What booking a flight asks.
    pub BookFlight handled by BookFlightHandlers {
        /// Which flight?
        pick_flight: PickFlight = "pickFlight" (FlightList => FlightChoice),
        /// Which seat?
        pick_seat: PickSeat = "pickSeat" (SeatMap => SeatChoice),
    }
}

/// The tool.
///
/// # Errors
/// An answer has no form, which none of these do.
pub fn tool() -> Result<PluginTool, DefinitionError> {
    PluginTool::builder(NAME, VERSION)
        .description("Book a flight for the user, who chooses the flight and the seat")
        .task_support(TaskSupport::Optional)
        .elicits::<BookFlight>()
        .execute(book)
}

/// The flights on offer between two cities.
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

/// The seats of a flight.
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
        Elicited::Accept(choice) => choice,
        Elicited::Decline => return Ok(Booking::Declined),
        Elicited::Cancel => return Ok(Booking::Cancelled),
    };
    let flight = list.flights.into_iter().find(|flight| flight.id == choice.flight_id);
    let flight = flight.ok_or_else(|| PluginError::failed("there is no such flight"))?;
    ctx.progress(1.0, Some(3.0), Some("flight chosen"));

    let map = seat_map(&flight);
    let question = seat_question(&map);
    let mut message = question.clone();
    let mut seat = None;
    for _ in 0..SEAT_ATTEMPTS {
        let choice = match ctx.elicit::<PickSeat>(&message, &map).await? {
            Elicited::Accept(choice) => choice,
            Elicited::Decline => return Ok(Booking::Declined),
            Elicited::Cancel => return Ok(Booking::Cancelled),
        };
        let chosen = format!("{}{:?}", choice.row, choice.seat);
        if !map.taken_seats.contains(&chosen) {
            seat = Some(chosen);
            break;
        }
        message = format!("{chosen} is taken. {question}");
    }
    let seat = seat.ok_or_else(|| PluginError::failed("only taken seats were chosen"))?;
    ctx.progress(2.0, Some(3.0), Some("seat chosen"));

    let tip = match ctx.sample("tip", tip_request(&trip.destination)).await {
        Ok(answer) => text_of(answer.content.blocks()),
        // The flight can be booked without.
        Err(PluginError::Client { .. }) => None,
        Err(error) => return Err(error),
    };
    let number = ctx.step("ticket", || async { random_bytes::<4>().map(u32::from_be_bytes).ok() });
    let number = number.await?.ok_or_else(|| PluginError::failed("no ticket number"))?;
    ctx.progress(3.0, Some(3.0), Some("booked"));
    let (ticket_number, price) = (format!("TKT-{number:08X}"), flight.price);
    Ok(Booking::Booked(Ticket { ticket_number, flight, seat, price, tip }))
}

/// The question for a flight, with the choices in words for clients that show no more than a message and a form.
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

/// A model that has one answer to everything, for demonstrations.
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
