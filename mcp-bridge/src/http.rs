//! Message-dependent headers of the Streamable HTTP transport.
//!
//! From 2026-07-28, the headers of a request repeat parts of its body, so that intermediaries can
//! route it without parsing the body: the version, the method, the name of its subject, and the
//! tool arguments that the schema marks with `x-mcp-header`. A client [writes](headers_of) them and
//! a server [compares](check) them with the body.
//!
//! Spec: [Request
//! Metadata](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata)
//! (2026-07-28)
//!
//! ```
//! use jsonrpc_core::{Message, wire};
//! use mcp_bridge::http::{check, headers_of};
//! use mcp_bridge::mcp::tools::Tool;
//! use mcp_bridge::server::ReceivedMessage;
//!
//! let tool: Tool = wire::decode(
//!     r#"{"name":"query","inputSchema":{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"City"}}}}"#,
//! )?;
//! let message = Message::decode(
//!     r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query","arguments":{"city":"Zürich"},
//!         "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
//! )?;
//! let Message::Request(request) = &message else { return Err("a request".into()) };
//! let headers = headers_of(request, Some(&tool))?;
//! assert_eq!(headers[3], ("Mcp-Param-City".into(), "=?base64?WsO8cmljaA==?=".into()));
//!
//! let find = |name: &str| headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str());
//! let received = ReceivedMessage::from(message);
//! assert!(check(&received, Some(&tool), find).is_ok());
//! assert!(check(&received, Some(&tool), |name| find(name).filter(|_| name != "Mcp-Name")).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::mcp::dispatch::ClientRequest;
use crate::mcp::error::HEADER_MISMATCH;
use crate::mcp::tools::Tool;
use crate::server::{ReadParams, ReceivedMessage};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonrpc_core::pointer::push_segment;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{ErrorObject, Message, Request};
use serde_json::Value;

/// Protocol version of a request.
pub const PROTOCOL_VERSION: &str = "MCP-Protocol-Version";

/// Method of a request. Since 2026-07-28.
pub const METHOD: &str = "Mcp-Method";

/// Name of the tool or prompt, or URI of the resource, that a request is about. Since 2026-07-28.
pub const NAME: &str = "Mcp-Name";

/// Session id. Up to 2025-11-25.
///
/// Spec: [Session
/// Management](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management)
pub const SESSION_ID: &str = "Mcp-Session-Id";

/// Prefix of the header names given by `x-mcp-header`. Since 2026-07-28.
pub const PARAM_PREFIX: &str = "Mcp-Param-";

/// The keyword that marks an argument.
const KEYWORD: &str = "x-mcp-header";

const SENTINEL: (&str, &str) = ("=?base64?", "?=");

/// Encodes a header value: unchanged if it is a valid header value, otherwise as base64 between
/// markers.
///
/// Spec: [Value
/// Encoding](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding)
///
/// ```
/// use mcp_bridge::http::{decode_value, encode_value};
///
/// assert_eq!(encode_value("us-west1"), "us-west1");
/// assert_eq!(encode_value(" padded "), "=?base64?IHBhZGRlZCA=?=");
/// assert_eq!(decode_value("=?base64?IHBhZGRlZCA=?=").as_deref(), Some(" padded "));
/// ```
pub fn encode_value(value: &str) -> Cow<'_, str> {
    let is_plain = value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
    let is_padded = value.trim_matches([' ', '\t']) != value;
    if is_plain && !is_padded && encoded(value).is_none() {
        return value.into();
    }
    format!("{}{}{}", SENTINEL.0, STANDARD.encode(value), SENTINEL.1).into()
}

/// Decodes a header value. Returns `None` if the text between the markers is not base64 of UTF-8.
pub fn decode_value(value: &str) -> Option<Cow<'_, str>> {
    let value = value.trim_matches([' ', '\t']);
    match encoded(value) {
        Some(encoded) => {
            let bytes = STANDARD.decode(encoded).ok()?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }
        None => Some(value.into()),
    }
}

fn encoded(value: &str) -> Option<&str> {
    value.strip_prefix(SENTINEL.0)?.strip_suffix(SENTINEL.1)
}

/// A tool argument that is repeated in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamHeader {
    /// Name of the header, without [`PARAM_PREFIX`].
    pub name: String,
    /// Path of the argument: member names, outermost first.
    pub path: Vec<String>,
}

/// A tool has an invalid `x-mcp-header` keyword. Clients over HTTP leave the tool out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {pointer}: expected {expected}")]
#[non_exhaustive]
pub struct BadParamHeader {
    /// Location in the schema, a JSON pointer.
    pub pointer: String,
    /// What is permitted there.
    pub expected: &'static str,
}

/// Returns the arguments of a tool that are repeated in headers, in schema order.
///
/// Spec: [Schema
/// Extension](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#schema-extension)
///
/// # Errors
/// Returns an error if an `x-mcp-header` keyword is invalid.
pub fn param_headers(tool: &Tool) -> Result<Vec<ParamHeader>, BadParamHeader> {
    // Avoids parsing the schema of most tools.
    if !tool.input_schema.as_str().contains(KEYWORD) {
        return Ok(Vec::new());
    }
    let schema = tool.input_schema.decode::<Value>();
    let schema = schema.map_err(|_| bad(&[], "a JSON Schema with fewer levels"))?;
    let mut found = Vec::new();
    find(&schema, Some(&mut Vec::new()), &mut Vec::new(), &mut found)?;
    Ok(found)
}

/// Finds the marked arguments. `path` is the path of the argument, if it is reachable through
/// `properties` only.
fn find(
    schema: &Value,
    mut path: Option<&mut Vec<String>>,
    place: &mut Vec<String>,
    found: &mut Vec<ParamHeader>,
) -> Result<(), BadParamHeader> {
    let Value::Object(schema) = schema else { return Ok(()) };
    if let Some(name) = schema.get(KEYWORD) {
        let kind = schema.get("type").and_then(Value::as_str);
        let header = mark(name, kind, path.as_deref(), found).map_err(|text| bad(place, text))?;
        found.push(header);
    }
    for (keyword, value) in schema {
        place.push(keyword.clone());
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    place.push(name.clone());
                    match path.as_deref_mut() {
                        Some(path) => {
                            path.push(name.clone());
                            find(property, Some(path), place, found)?;
                            path.pop();
                        }
                        None => find(property, None, place, found)?,
                    }
                    place.pop();
                }
            }
            // These members contain data, not schemas.
            ("default" | "const" | "enum" | "examples", _) => {}
            ("patternProperties" | "dependentSchemas" | "$defs" | "definitions", map) => {
                let schemas = map.as_object().into_iter().flatten();
                find_unreachable(schemas.map(|(name, value)| (name.clone(), value)), place, found)?;
            }
            (_, Value::Array(items)) => {
                let items = items.iter().enumerate().map(|(index, item)| (index.to_string(), item));
                find_unreachable(items, place, found)?;
            }
            (_, value) => find(value, None, place, found)?,
        }
        place.pop();
    }
    Ok(())
}

fn find_unreachable<'a>(
    schemas: impl Iterator<Item = (String, &'a Value)>,
    place: &mut Vec<String>,
    found: &mut Vec<ParamHeader>,
) -> Result<(), BadParamHeader> {
    for (name, schema) in schemas {
        place.push(name);
        find(schema, None, place, found)?;
        place.pop();
    }
    Ok(())
}

/// Returns the header of a keyword, or the expectation that it violates.
fn mark(
    name: &Value,
    kind: Option<&str>,
    path: Option<&Vec<String>>,
    found: &[ParamHeader],
) -> Result<ParamHeader, &'static str> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let name = name.as_str().filter(|name| !name.is_empty() && name.bytes().all(is_token));
    let name = name.ok_or("x-mcp-header to be the name of a header")?;
    if found.iter().any(|header| header.name.eq_ignore_ascii_case(name)) {
        return Err("x-mcp-header to be given once");
    }
    if !matches!(kind, Some("string" | "integer" | "boolean")) {
        return Err("x-mcp-header at a string, an integer or a boolean only");
    }
    let path = path.filter(|path| !path.is_empty());
    let path = path.ok_or("x-mcp-header where `properties` alone lead to")?;
    Ok(ParamHeader { name: name.into(), path: path.clone() })
}

fn bad(place: &[String], expected: &'static str) -> BadParamHeader {
    let mut pointer = String::new();
    for name in place {
        push_segment(&mut pointer, name);
    }
    BadParamHeader { pointer, expected }
}

/// Returns the MCP headers of a request. `tool` is the tool that it calls.
///
/// # Errors
/// Returns an error if an `x-mcp-header` keyword of the tool is invalid.
pub fn headers_of(
    request: &Request<'_>,
    tool: Option<&Tool>,
) -> Result<Vec<(Cow<'static, str>, String)>, BadParamHeader> {
    let mut headers = Vec::new();
    let params = ReadParams::of(request).ok();
    let params = params.as_ref();
    if let Some(version) = params.and_then(ReadParams::version) {
        headers.push((PROTOCOL_VERSION.into(), version.into()));
    }
    headers.push((METHOD.into(), encode_value(&request.method).into_owned()));
    if let Some(name) = params.and_then(ReadParams::name) {
        headers.push((NAME.into(), encode_value(&name).into_owned()));
    }
    for header in tool.map(param_headers).transpose()?.unwrap_or_default() {
        if let Some(value) = argument(params, &header.path) {
            let name = format!("{PARAM_PREFIX}{}", header.name);
            headers.push((name.into(), encode_value(&text_of(&value)).into_owned()));
        }
    }
    Ok(headers)
}

/// Compares the headers of a request from 2026-07-28 with its body.
///
/// `tool` is the tool that the request calls. `header` returns the value of a header by its
/// case-insensitive name.
///
/// The version is compared only if the body contains one. A request without a version is rejected
/// by the [server](crate::server::Server).
///
/// # Errors
/// Returns the error to respond with, with HTTP status 400: a header is missing, invalid or
/// different from the body.
pub fn check<'a>(
    received: &ReceivedMessage<'_>,
    tool: Option<&Tool>,
    header: impl Fn(&str) -> Option<&'a str>,
) -> Result<(), ErrorObject> {
    let Message::Request(request) = received.message() else { return Ok(()) };
    let params = received.params();
    let given = header(PROTOCOL_VERSION).ok_or_else(|| missing(PROTOCOL_VERSION))?;
    if params.and_then(ReadParams::version).is_some_and(|version| version != given) {
        return Err(mismatch(PROTOCOL_VERSION));
    }
    let method = header(METHOD).ok_or_else(|| missing(METHOD))?;
    if method.trim_matches([' ', '\t']) != request.method {
        return Err(mismatch(METHOD));
    }
    if let Some(name) = params.and_then(ReadParams::name) {
        let given = header(NAME).ok_or_else(|| missing(NAME))?;
        if decode_value(given).ok_or_else(|| mismatch(NAME))? != name {
            return Err(mismatch(NAME));
        }
    }
    // A tool of this server with an invalid keyword has no parameter headers.
    for param in tool.and_then(|tool| param_headers(tool).ok()).unwrap_or_default() {
        let key = format!("{PARAM_PREFIX}{}", param.name);
        match (header(&key), argument(params, &param.path)) {
            (Some(given), Some(value)) => {
                let given = decode_value(given).ok_or_else(|| mismatch(&key))?;
                if !is_same(&given, &value) {
                    return Err(mismatch(&key));
                }
            }
            (None, Some(_)) => return Err(missing(&key)),
            (Some(_), None) => return Err(mismatch(&key)),
            (None, None) => {}
        }
    }
    Ok(())
}

/// Returns the argument at a path, or `None` if it is absent or null.
fn argument(params: Option<&ReadParams>, path: &[String]) -> Option<Value> {
    let ClientRequest::CallTool(call) = params?.request()? else { return None };
    let mut value: Raw = call.arguments.clone()?;
    for member in path {
        value = value.decode::<Extra>().ok()?.get(member)?.clone();
    }
    value.decode().ok().filter(|value| !matches!(value, Value::Null))
}

fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        other => other.to_string().into(),
    }
}

fn is_same(given: &str, value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            given == number.to_string() || given.parse::<f64>().ok() == number.as_f64()
        }
        value => given == text_of(value),
    }
}

fn missing(header: &str) -> ErrorObject {
    ErrorObject::new(HEADER_MISMATCH, format!("missing header {header}"))
}

fn mismatch(header: &str) -> ErrorObject {
    let problem = format!("header {header} differs from the body");
    ErrorObject::new(HEADER_MISMATCH, problem)
}
