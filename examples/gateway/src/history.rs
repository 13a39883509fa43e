//! The conversations of a server's users over HTTP.
//!
//! | module | contents |
//! |---|---|
//! | `conversations` | conversations of the file, and the events of one |
//! | `routes` | requests and responses |
//! | `parked` | suspended calls of tools |
//! | `place` | where the conversations are kept |
//! | `error` | responses to refused requests |
//!
//! [`router`] adds the routes to a server that sets the [`Principal`](host::http::Principal) of
//! each request. The server reports its active runs as [`LiveThreads`].
mod conversations;
mod error;
mod parked;
mod place;
mod routes;

pub use conversations::{History, LiveThreads};
pub use parked::{CallLimits, ParkedCalls, open_calls};
pub use place::{OpenStore, PlaceError, PlaceOptions, StorePlace, open};
pub use routes::{chat_path, event_stream, router};
