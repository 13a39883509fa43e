//! Paths.
//!
//! Spec: [`AbsolutePath`](https://agentclientprotocol.com/protocol/v2/schema#absolutepath)
use jsonrpc_core::string_id;

string_id! {
    /// An absolute path in the notation of its system. It is kept verbatim, and not validated.
    ///
    /// Spec: [`AbsolutePath`](https://agentclientprotocol.com/protocol/v2/schema#absolutepath)
    pub struct AbsolutePath;
}
