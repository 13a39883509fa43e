//! What a server is and can do, from 2026-07-28 on.
//!
//! Spec: [Discovery](https://modelcontextprotocol.io/specification/2026-07-28/server/discover)
use super::base::{CacheScope, ProtocolVersion, ResultType};
use super::capabilities::ServerCapabilities;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;
use serde_json::Number;

object! {
    /// The answer to `server/discover`.
    ///
    /// Spec: [`DiscoverResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#discoverresult)
    pub struct DiscoverResult {
        /// The versions that the server speaks.
        supported_versions: Vec<ProtocolVersion> = "supportedVersions",
        /// What it can do.
        capabilities: ServerCapabilities = "capabilities",
    }
    optional {
        /// How to use it, for the model.
        instructions: String = "instructions",
        /// How long the answer may be kept, in milliseconds. Required.
        ttl_ms: Number = "ttlMs",
        /// Who may be given it meanwhile. Required.
        cache_scope: CacheScope = "cacheScope",
        /// `complete`. Required.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}
