//! Folders and files that a client works in.
//!
//! Spec: [Roots](https://modelcontextprotocol.io/specification/2026-07-28/client/roots)
//! (2026-07-28, deprecated there)
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// The result of `roots/list`.
    ///
    /// Spec: [`ListRootsResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#listrootsresult)
    #[doc(alias = "roots/list")]
    pub struct ListRootsResult {
        /// The roots.
        roots: Vec<Root> = "roots",
    }
    and "_meta"
}

object! {
    /// A folder or file that a client works in.
    ///
    /// Spec: [`Root`](https://modelcontextprotocol.io/specification/2026-07-28/schema#root)
    pub struct Root {
        /// A `file:` URL.
        uri: String = "uri",
    }
    optional {
        /// Human-readable name.
        name: String = "name",
    }
    and "_meta"
}
