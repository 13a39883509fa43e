//! Finds messages in a stream of bytes, without reading or writing any.
//!
//! Spec: [stdio](https://agentclientprotocol.com/protocol/v1/transports#stdio) (ACP v1),
//! [stdio](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio) (MCP 2025-11-25)
mod lines;

pub use lines::{FrameError, Lines};
