//! Properties that hold for any input. Each function panics on a violation.
//!
//! `cargo test` replays the corpus on any toolchain; `fuzz/run` searches for new inputs, as
//! described in the README.
mod acp;
mod agui;
mod bridge;
mod codec;
mod conductor;
mod document;
mod framing;
mod mcp;
mod message;
mod peek;
mod peer;
mod strictness;
mod transcript;
mod value;
mod wire;
mod wire_modes;

pub use acp::{agent, client, convert};
pub use agui::{
    agui_client, agui_event, agui_produce, agui_proto, agui_run_log, agui_sse, agui_stream,
};
pub use bridge::{conversation, hub};
pub use codec::codec;
pub use conductor::conductor;
pub use document::document;
pub use framing::lines;
pub use mcp::{mcp_context, mcp_message, mcp_peers, mcp_schema};
pub use message::message;
pub use peek::peek;
pub use peer::peer;
pub use strictness::strictness;
pub use transcript::transcript;
pub use wire::wire;
pub use wire_modes::wire_modes;

/// Name and body of a target.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 27] = [
    ("message", message),
    ("strictness", strictness),
    ("document", document),
    ("peek", peek),
    ("wire", wire),
    ("wire_modes", wire_modes),
    ("lines", lines),
    ("codec", codec),
    ("transcript", transcript),
    ("conductor", conductor),
    ("peer", peer),
    ("client", client),
    ("agent", agent),
    ("convert", convert),
    ("agui_event", agui_event),
    ("agui_proto", agui_proto),
    ("agui_sse", agui_sse),
    ("agui_stream", agui_stream),
    ("agui_run_log", agui_run_log),
    ("agui_produce", agui_produce),
    ("agui_client", agui_client),
    ("mcp_message", mcp_message),
    ("mcp_context", mcp_context),
    ("mcp_schema", mcp_schema),
    ("mcp_peers", mcp_peers),
    ("conversation", conversation),
    ("hub", hub),
];
