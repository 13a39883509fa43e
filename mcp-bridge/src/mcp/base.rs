//! Common parts of messages: versions, `_meta`, results and pagination.
//!
//! Spec: [Overview](https://modelcontextprotocol.io/specification/2026-07-28/basic) (2026-07-28),
//! [the same](https://modelcontextprotocol.io/specification/2025-11-25/basic) (2025-11-25)
use super::capabilities::{ClientCapabilities, Implementation};
use super::logging::LoggingLevel;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::{self, DecodeError, Fault, Meta, Raw, ValueReader, View, Wire};
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId, array_items, object, open_enum};

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
        /// The first revision.
        V20241105 = "2024-11-05",
        /// Adds tool annotations and audio content.
        V20250326 = "2025-03-26",
        /// Adds elicitation, structured content and resource links.
        V20250618 = "2025-06-18",
        /// Adds elicitation by URL, tools in sampling, and experimental tasks. The last revision
        /// with a handshake.
        V20251125 = "2025-11-25",
        /// Stateless: no handshake and no requests from the server.
        V20260728 = "2026-07-28",
    }
}

impl ProtocolVersion {
    /// The latest revision.
    pub const LATEST: Self = Self::V20260728;

    /// The latest revision with a handshake.
    pub const LATEST_LEGACY: Self = Self::V20251125;

    /// Returns the generation of the revision, or `None` if this crate does not know it.
    pub fn era(&self) -> Option<Era> {
        match self {
            Self::V20260728 => Some(Era::Modern),
            Self::Unknown(_) => None,
            _ => Some(Era::Legacy),
        }
    }
}

/// The two generations of the protocol. They differ in how a server requests input from the client.
///
/// Spec: [Key Changes](https://modelcontextprotocol.io/specification/2026-07-28/changelog)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Era {
    /// Up to 2025-11-25: `initialize`, sessions, and requests from the server to the client.
    Legacy,
    /// Since 2026-07-28: each request is independent, and a server requests input in a result.
    Modern,
}

open_enum! {
    /// Kind of a result. If absent, it is `complete`; a client must not use a result of an unknown
    /// type. Since 2026-07-28.
    ///
    /// Spec: [`ResultType`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resulttype)
    pub enum ResultType {
        /// The request is complete.
        Complete = "complete",
        /// The server requires input first.
        InputRequired = "input_required",
        /// The request continues as a task. Defined by the extension [`tasks`](super::tasks).
        Task = "task",
    }
}

open_enum! {
    /// Scope in which a result may be cached. Since 2026-07-28.
    ///
    /// Spec: [`CacheableResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#cacheableresult)
    pub enum CacheScope {
        /// The cached result may be served to any user.
        Public = "public",
        /// The cached result may be served only to requests with the same authorization.
        Private = "private",
    }
}

object! {
    /// The `_meta` of a request. Since 2026-07-28 it carries what the handshake negotiated before.
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
    #[doc(alias = "_meta")]
    pub struct RequestMetaObject {}
    optional {
        /// The protocol version of the request. Required since 2026-07-28.
        protocol_version: ProtocolVersion = "io.modelcontextprotocol/protocolVersion",
        /// The capabilities of the client. Required since 2026-07-28.
        client_capabilities: ClientCapabilities = "io.modelcontextprotocol/clientCapabilities",
        /// Name and version of the client. Since 2026-07-28.
        client_info: Implementation = "io.modelcontextprotocol/clientInfo",
        /// The minimum level of log messages for this request. If absent, none are sent. Since
        /// 2026-07-28.
        log_level: LoggingLevel = "io.modelcontextprotocol/logLevel",
        /// Requests [progress](super::progress) notifications with this token, a string or an
        /// integer.
        progress_token: RequestId = "progressToken",
        /// Trace that the request belongs to, see [W3C Trace
        /// Context](https://www.w3.org/TR/trace-context/).
        traceparent: String = "traceparent",
        /// Vendor-specific trace data, see [W3C Trace
        /// Context](https://www.w3.org/TR/trace-context/#tracestate-header).
        tracestate: String = "tracestate",
    }
}

object! {
    /// The `_meta` of a result. Since 2026-07-28.
    ///
    /// Spec: [`ResultMetaObject`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resultmetaobject)
    pub struct ResultMetaObject {}
    optional {
        /// Name and version of the server.
        server_info: Implementation = "io.modelcontextprotocol/serverInfo",
        /// The id of the `subscriptions/listen` request that this result ends.
        subscription_id: RequestId = "io.modelcontextprotocol/subscriptionId",
    }
}

object! {
    /// The `_meta` of a notification. Since 2026-07-28.
    ///
    /// Spec: [`NotificationMetaObject`](https://modelcontextprotocol.io/specification/2026-07-28/schema#notificationmetaobject)
    pub struct NotificationMetaObject {}
    optional {
        /// The id of the `subscriptions/listen` request that the notification belongs to.
        subscription_id: RequestId = "io.modelcontextprotocol/subscriptionId",
    }
}

macro_rules! meta_object {
    ($($Name:ident)+) => { $(
        impl $Name {
            /// Decodes the known members of a `_meta`. An absent value, and a value that is not an
            /// object, decode as empty.
            ///
            /// # Errors
            /// Returns an error if a known member does not match the specification.
            pub fn read(meta: Option<&Meta>) -> Result<Self, DecodeError> {
                let object = meta.map(Meta::as_str).filter(|text| text.starts_with('{'));
                object.map_or_else(|| Ok(Self::new()), wire::decode)
            }

            /// Encodes the members as `_meta`.
            pub fn to_meta(&self) -> Meta {
                // Serialization fails only for maps with keys that are not strings, which this type
                // does not contain.
                Raw::from_value(self).unwrap_or_else(|_| serde_json::value::RawValue::NULL.into()).into()
            }
        }
    )+ };
}

meta_object! { RequestMetaObject ResultMetaObject NotificationMetaObject }

object! {
    /// Params without required members.
    ///
    /// Spec: [`RequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#requestparams),
    /// [`NotificationParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#notificationparams)
    pub struct RequestParams {}
    and "_meta"
}

object! {
    /// Params of a request for one page of a list.
    ///
    /// Spec: [`PaginatedRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#paginatedrequestparams)
    pub struct PaginatedRequestParams {}
    optional {
        /// Cursor returned with the previous page. If absent, the first page is returned.
        cursor: String = "cursor",
    }
    and "_meta"
}

/// Returns one page of `items`, of at most `size`, and the cursor of the next page.
///
/// # Errors
/// Returns an error for a cursor that was not returned with a page.
pub(crate) fn page<'a, T>(
    items: &'a [T],
    cursor: Option<&str>,
    size: Option<usize>,
) -> Result<(&'a [T], Option<String>), ErrorObject> {
    let start = cursor.map_or(Some(0), |cursor| cursor.parse().ok());
    let left = start.and_then(|start: usize| Some((start, items.get(start..)?)));
    let (start, left) = left.ok_or_else(|| {
        let problem = "at /cursor: expected a cursor of this server";
        ErrorObject::new(ErrorCode::INVALID_PARAMS, problem)
    })?;
    let size = size.map_or(left.len(), |size| size.max(1));
    let page = left.get(..size).unwrap_or(left);
    let next = start + page.len();
    Ok((page, (next < items.len()).then(|| next.to_string())))
}

/// The items of one page of a list, kept as the text of an array, so that an invalid item does not
/// affect the others.
///
/// ```
/// use mcp_bridge::mcp::base::RawItems;
///
/// let items = RawItems::from(vec![1, 300]);
/// assert_eq!(items.texts().collect::<Vec<_>>(), ["1", "300"]);
/// let valid: Vec<_> = items.decode::<u8>().filter_map(|(_, item)| item.ok()).collect();
/// assert_eq!(valid, [1]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawItems(Raw);

impl RawItems {
    /// Returns the JSON text of each item.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        array_items(self.0.as_str())
    }

    /// Decodes each item separately and yields it with its index in the list.
    pub fn decode<T: Wire>(&self) -> impl Iterator<Item = (usize, Result<T, DecodeError>)> {
        let text = self.0.as_str();
        let (valid, others) = match wire::decode::<ValidItems<T>>(text) {
            Ok(ValidItems(valid)) => (valid, ""),
            Err(_) => (Vec::new(), text),
        };
        valid.into_iter().flatten().map(Ok).chain(array_items(others).map(wire::decode)).enumerate()
    }
}

/// Encodes the items.
impl<T: Wire> From<Vec<T>> for RawItems {
    fn from(items: Vec<T>) -> Self {
        Self(Raw::of(&items))
    }
}

impl Wire for RawItems {
    fn blank() -> Self {
        Self(Raw::blank())
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        if reader.next_byte() != b'[' {
            return Err(reader.expected("a sequence"));
        }
        self.0.read(reader)
    }

    fn view(&self) -> View<'_> {
        self.0.view()
    }
}

object! { @serde RawItems }

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for RawItems {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "RawItems".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<Raw>::json_schema(generator)
    }
}

/// Items that are all valid, and decoded in one pass. They are kept in chunks, which are not copied
/// as the list grows.
struct ValidItems<T>(Vec<Vec<T>>);

const CHUNK: usize = 16;

/// Maximum number of items that are decoded at once. Those of a longer list are decoded one by one,
/// which bounds the memory.
const MAX_AT_ONCE: usize = 256 * CHUNK;

impl<T: Wire> Wire for ValidItems<T> {
    fn blank() -> Self {
        Self(Vec::new())
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        reader.items(&mut |reader| {
            if self.0.last().is_none_or(|chunk| chunk.len() == CHUNK) {
                if self.0.len() == MAX_AT_ONCE / CHUNK {
                    return Err(reader.invalid("a shorter list"));
                }
                self.0.push(Vec::with_capacity(CHUNK));
            }
            let mut item = T::blank();
            item.read(reader)?;
            if let Some(chunk) = self.0.last_mut() {
                chunk.push(item);
            }
            Ok(())
        })
    }

    fn view(&self) -> View<'_> {
        View::List(&self.0)
    }
}

/// Declares the result of a request for one page of a list.
macro_rules! list_result {
    (
        $(#[$attr:meta])*
        pub struct $Name:ident { $raw:ident = $wire:literal, $items:ident: $Item:ident }
    ) => {
        jsonrpc_core::object! {
            $(#[$attr])*
            pub struct $Name {
                #[doc = concat!("The items, as received. [`", stringify!($items), "`](Self::", stringify!($items),
                    ") decodes them.")]
                $raw: crate::mcp::base::RawItems = $wire,
            }
            optional {
                /// Cursor of the next page. Absent on the last page.
                next_cursor: alloc::string::String = "nextCursor",
                /// How long the result may be cached, in milliseconds. Required since 2026-07-28.
                ttl_ms: serde_json::Number = "ttlMs",
                /// Scope in which the result may be cached. Required since 2026-07-28.
                cache_scope: crate::mcp::base::CacheScope = "cacheScope",
                /// `complete`. Required since 2026-07-28.
                result_type: crate::mcp::base::ResultType = "resultType",
            }
            and "_meta"
        }

        impl $Name {
            /// Decodes each item separately and yields it with its index in the list.
            pub fn $items(
                &self,
            ) -> impl Iterator<Item = (usize, Result<$Item, jsonrpc_core::wire::DecodeError>)> {
                self.$raw.decode()
            }
        }
    };
}
pub(crate) use list_result;

object! {
    /// A result without content.
    ///
    /// Spec: [`EmptyResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#emptyresult)
    pub struct EmptyResult {}
    optional {
        /// `complete`. Required since 2026-07-28.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items keep their places in a list of any length, with and without an invalid item.
    #[test]
    fn items_keep_their_places() {
        for count in [0, 1, MAX_AT_ONCE, MAX_AT_ONCE + 1] {
            let valid: Vec<_> = (0..count).collect();
            for items in [valid.clone(), [valid, Vec::from([usize::MAX])].concat()] {
                let decoded: Vec<_> = RawItems::from(items.clone()).decode::<u32>().collect();
                assert_eq!(decoded.len(), items.len());
                for (place, item) in decoded {
                    let expected = items.get(place).and_then(|item| u32::try_from(*item).ok());
                    assert_eq!(item.ok(), expected, "item {place} of {count}");
                }
            }
        }
    }
}
