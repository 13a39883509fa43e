//! What messages have in common: versions, `_meta`, results and pages of them.
//!
//! Spec: [Overview](https://modelcontextprotocol.io/specification/2026-07-28/basic) (2026-07-28),
//! [the same](https://modelcontextprotocol.io/specification/2025-11-25/basic) (2025-11-25)
use super::capabilities::{ClientCapabilities, Implementation};
use super::logging::LoggingLevel;
use alloc::string::String;
use jsonrpc_core::wire::{self, DecodeError, Meta, Raw};
use jsonrpc_core::{RequestId, object, open_enum};

open_enum! {
    /// A revision of the specification, by its date.
    ///
    /// Spec: [Versioning](https://modelcontextprotocol.io/specification/versioning)
    ///
    /// ```
    /// use mcp_bridge::mcp::base::{Era, ProtocolVersion};
    ///
    /// assert_eq!(ProtocolVersion::from("2025-11-25").era(), Some(Era::Legacy));
    /// assert_eq!(ProtocolVersion::LATEST.era(), Some(Era::Modern));
    /// assert_eq!(ProtocolVersion::from("2031-01-01").era(), None);
    /// ```
    pub enum ProtocolVersion {
        /// The first.
        V20241105 = "2024-11-05",
        /// Tool annotations, audio.
        V20250326 = "2025-03-26",
        /// Elicitation, structured content, links to resources.
        V20250618 = "2025-06-18",
        /// Pages to go to, tools in sampling, tasks as an experiment; the last with a handshake.
        V20251125 = "2025-11-25",
        /// Stateless: no handshake, no requests of the server.
        V20260728 = "2026-07-28",
    }
}

impl ProtocolVersion {
    /// The newest.
    pub const LATEST: Self = Self::V20260728;

    /// The newest with a handshake.
    pub const LATEST_LEGACY: Self = Self::V20251125;

    /// Which generation it belongs to; nothing for one that this version does not know.
    pub fn era(&self) -> Option<Era> {
        match self {
            Self::V20260728 => Some(Era::Modern),
            Self::Unknown(_) => None,
            _ => Some(Era::Legacy),
        }
    }
}

/// The two generations of the protocol, which differ in who may ask whom.
///
/// Spec: [Key Changes](https://modelcontextprotocol.io/specification/2026-07-28/changelog)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// Up to 2025-11-25: `initialize`, sessions, requests of the server to the client.
    Legacy,
    /// From 2026-07-28 on: each request stands by itself; a server that needs something says so in its result.
    Modern,
}

open_enum! {
    /// What a result is. Absent means `complete`; a client must not use one that it does not know. From 2026-07-28 on.
    ///
    /// Spec: [`ResultType`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resulttype)
    pub enum ResultType {
        /// The request is done.
        Complete = "complete",
        /// The server needs something first.
        InputRequired = "input_required",
        /// It goes on as a task. Of the extension [`tasks`](super::tasks).
        Task = "task",
    }
}

open_enum! {
    /// Who may be given a result that was kept. From 2026-07-28 on.
    ///
    /// Spec: [`CacheableResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#cacheableresult)
    pub enum CacheScope {
        /// Anybody.
        Public = "public",
        /// Those who have the same authorization as the one that asked.
        Private = "private",
    }
}

object! {
    /// The `_meta` of a request: from 2026-07-28 on it says what a handshake said before.
    ///
    /// Spec: [`RequestMetaObject`](https://modelcontextprotocol.io/specification/2026-07-28/schema#requestmetaobject)
    ///
    /// ```
    /// use jsonrpc_core::wire;
    /// use mcp_bridge::mcp::base::{Era, RequestMetaObject};
    /// use mcp_bridge::mcp::tools::CallToolRequestParams;
    ///
    /// let params: CallToolRequestParams = wire::decode(
    ///     r#"{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":1}}"#,
    /// )?;
    /// let meta = RequestMetaObject::read(params.meta.as_ref())?;
    /// assert_eq!(meta.protocol_version.and_then(|version| version.era()), Some(Era::Modern));
    /// # Ok::<(), wire::DecodeError>(())
    /// ```
    pub struct RequestMetaObject {}
    optional {
        /// The version that the request is made in. Required from 2026-07-28 on.
        protocol_version: ProtocolVersion = "io.modelcontextprotocol/protocolVersion",
        /// What the client can do. Required from 2026-07-28 on.
        client_capabilities: ClientCapabilities = "io.modelcontextprotocol/clientCapabilities",
        /// Who the client is. From 2026-07-28 on.
        client_info: Implementation = "io.modelcontextprotocol/clientInfo",
        /// The least level of messages that are wanted about this request; absent means none. From 2026-07-28 on.
        log_level: LoggingLevel = "io.modelcontextprotocol/logLevel",
        /// Asks for [progress](super::progress) under this token: a string or an integer.
        progress_token: RequestId = "progressToken",
        /// Which trace the request belongs to, as [W3C Trace Context](https://www.w3.org/TR/trace-context/) has it.
        traceparent: String = "traceparent",
        /// More about the trace.
        tracestate: String = "tracestate",
    }
}

object! {
    /// The `_meta` of a result. From 2026-07-28 on.
    ///
    /// Spec: [`ResultMetaObject`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resultmetaobject)
    pub struct ResultMetaObject {}
    optional {
        /// Who the server is.
        server_info: Implementation = "io.modelcontextprotocol/serverInfo",
        /// The id of the `subscriptions/listen` that ends so.
        subscription_id: RequestId = "io.modelcontextprotocol/subscriptionId",
    }
}

object! {
    /// The `_meta` of a notification. From 2026-07-28 on.
    ///
    /// Spec: [`NotificationMetaObject`](https://modelcontextprotocol.io/specification/2026-07-28/schema#notificationmetaobject)
    pub struct NotificationMetaObject {}
    optional {
        /// The id of the `subscriptions/listen` that it is for.
        subscription_id: RequestId = "io.modelcontextprotocol/subscriptionId",
    }
}

macro_rules! meta_object {
    ($($Name:ident)+) => { $(
        impl $Name {
            /// Reads the members that this version knows, out of a `_meta`; an absent one, and one that is not an
            /// object, as empty.
            ///
            /// # Errors
            /// One of them is not what the specification says.
            pub fn read(meta: Option<&Meta>) -> Result<Self, DecodeError> {
                let object = meta.map(Meta::as_str).filter(|text| text.starts_with('{'));
                object.map_or_else(|| Ok(Self::new()), wire::decode)
            }

            /// Writes it.
            pub fn to_meta(&self) -> Meta {
                // Only maps with other keys than strings have no JSON text, and there are none in it.
                Raw::from_value(self).unwrap_or_else(|_| serde_json::value::RawValue::NULL.into()).into()
            }
        }
    )+ };
}

meta_object! { RequestMetaObject ResultMetaObject NotificationMetaObject }

object! {
    /// Params of which nothing is required.
    ///
    /// Spec: [`RequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#requestparams),
    /// [`NotificationParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#notificationparams)
    pub struct RequestParams {}
    and "_meta"
}

object! {
    /// The params of a request for a page of a list.
    ///
    /// Spec: [`PaginatedRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#paginatedrequestparams)
    pub struct PaginatedRequestParams {}
    optional {
        /// Where the page begins, as the page before it said; absent means the first.
        cursor: String = "cursor",
    }
    and "_meta"
}

object! {
    /// A result that says nothing but that the request is done.
    ///
    /// Spec: [`EmptyResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#emptyresult)
    pub struct EmptyResult {}
    optional {
        /// `complete`. Required from 2026-07-28 on.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}
