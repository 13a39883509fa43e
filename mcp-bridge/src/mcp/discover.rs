//! Discovery of a server, since 2026-07-28.
//!
//! Spec: [Discovery](https://modelcontextprotocol.io/specification/2026-07-28/server/discover)
use super::base::{CacheScope, ProtocolVersion, ResultType};
use super::capabilities::ServerCapabilities;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;
use serde_json::Number;

object! {
    /// The result of `server/discover`.
    ///
    /// Spec: [`DiscoverResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#discoverresult)
    #[doc(alias = "server/discover")]
    pub struct DiscoverResult {
        /// The protocol versions that the server supports.
        supported_versions: Vec<ProtocolVersion> = "supportedVersions",
        /// The capabilities of the server.
        capabilities: ServerCapabilities = "capabilities",
    }
    optional {
        /// Usage instructions for the model.
        instructions: String = "instructions",
        /// How long the result may be cached, in milliseconds. Required.
        ttl_ms: Number = "ttlMs",
        /// Scope in which the result may be cached. Required.
        cache_scope: CacheScope = "cacheScope",
        /// `complete`. Required.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}
