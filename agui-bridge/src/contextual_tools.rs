//! Tools of a page for one turn, announced in `_meta` and called by an extension method.
//!
//! A page sends with each run the tools that fit the user's current view. They are announced to the
//! agent in the `_meta` of `session/new`. The agent calls them with a request of an extension
//! method, which is acknowledged at once: the page executes the call when it reads it in the
//! stream, and returns no result. This is the protocol of the trace UI
//! [Jaeger](https://www.jaegertracing.io) and its sidecars. [`Wire`] changes the three names of the
//! protocol.
//!
//! ```
//! use agui_bridge::contextual_tools::{ContextualToolsStore, Wire};
//! use agui_types::tool::Tool;
//! use jsonrpc_core::wire::Raw;
//!
//! let (wire, mut store) = (Wire::default(), ContextualToolsStore::new());
//! let tools = [Tool::new("show_flamegraph", "Opens the flame graph of a trace.")];
//!
//! let meta = wire.announce(None, &tools).ok_or("no tools")?; // the `_meta` of session/new
//! assert_eq!(
//!     meta.as_str(),
//!     r#"{"jaegertracing.io/contextual-tools":{"tools":[{"name":"ui_show_flamegraph","description":"Opens the flame graph of a trace."}]}}"#
//! );
//! let skipped = store.set("sess-42", tools.iter().filter_map(|tool| Raw::from_value(tool).ok())); // it answered
//! assert!(skipped.is_empty());
//!
//! // The agent sends a request of the method `_meta/jaegertracing.io/tools/call`:
//! let params = Raw::from_text(r#"{"sessionId":"sess-42","name":"ui_show_flamegraph","args":{"trace_id":"abc123"}}"#)?;
//! let call = wire.dispatch(&store, Some(params.as_ref()))?;
//! assert_eq!((call.name.as_str(), call.arguments.as_str()), ("show_flamegraph", r#"{"trace_id":"abc123"}"#));
//! assert_eq!(serde_json::to_string(&call.response)?, r#"{"result":{"acknowledged":true},"isError":false}"#);
//!
//! store.delete("sess-42"); // the turn ended
//! assert!(wire.dispatch(&store, Some(params.as_ref())).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where it differs from Jaeger on purpose
//!
//! | | Jaeger | here |
//! |---|---|---|
//! | `isError` of an acknowledgement | left out by its code, `false` in its design | `false` |
//! | a tool that is offered twice | announced twice | the first is announced |
//! | a call's `args` that are left out | handed on as nothing | `{}` |
//! | a tool's name | anything but blank | the same, at most [`MAX_NAME_BYTES`] bytes |
//! | sizes | no limit | [`MAX_TOOLS`], [`MAX_TOOL_BYTES`], [`MAX_SESSION_BYTES`], [`MAX_SESSIONS`] |
//! | an entry of the store that is skipped | dropped silently | given back, with why |
use acp_types::v1::session_setup::SessionId;
use agui_types::tool::Tool;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;
use jsonrpc_core::wire::{DecodeError, Extra, Meta, Raw, decode};
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde_json::value::RawValue;

mod store;

pub use store::{ContextualToolsStore, SkipReason, SkippedTool, ToolText};

/// Default key of `_meta` with the announced tools.
pub const META_KEY: &str = "jaegertracing.io/contextual-tools";
/// Default method of tool calls. Libraries that add the `_` of extension methods themselves need
/// the rest of the name.
pub const METHOD: &str = "_meta/jaegertracing.io/tools/call";
/// Default prefix of announced tool names.
pub const PREFIX: &str = "ui_";

/// Largest number of tools of a session.
pub const MAX_TOOLS: usize = 128;
/// Largest size of a tool's JSON text, in bytes.
pub const MAX_TOOL_BYTES: usize = 64 << 10;
/// Largest size of the JSON texts of all tools of a session, in bytes.
pub const MAX_SESSION_BYTES: usize = 1 << 20;
/// Largest length of a tool's name, in bytes.
pub const MAX_NAME_BYTES: usize = 256;
/// Largest number of sessions with tools.
pub const MAX_SESSIONS: usize = 1024;

/// Names of the protocol; Jaeger's by default.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wire {
    /// The key of `_meta` with the announced tools; [`META_KEY`] by default.
    pub meta_key: String,
    /// The method of tool calls; [`METHOD`] by default.
    pub method: String,
    /// The prefix of announced names, which separates them from the agent's own tools; [`PREFIX`]
    /// by default. May be empty.
    pub prefix: String,
}

impl Default for Wire {
    fn default() -> Self {
        Self { meta_key: META_KEY.to_owned(), method: METHOD.to_owned(), prefix: PREFIX.to_owned() }
    }
}

impl Wire {
    /// Returns the `_meta` of a `session/new` that announces `tools`, with the members of `meta`.
    /// Without tools, `meta` is returned unchanged. Of tools with the same name the first is
    /// announced, and of more than [`MAX_TOOLS`] the first ones.
    ///
    /// Call [`check_names`] first: an agent may refuse all tools if one has no name.
    pub fn announce(&self, meta: Option<Meta>, tools: &[Tool]) -> Option<Meta> {
        let mut names = BTreeSet::new();
        let tools: Vec<Tool> = tools
            .iter()
            .filter(|tool| names.insert(tool.name.as_str()))
            .take(MAX_TOOLS)
            .map(|tool| {
                let mut tool = tool.clone();
                tool.name = self.prefixed(&tool.name);
                tool
            })
            .collect();
        let Some(announced) = announcement(&tools) else { return meta };
        // A `_meta` that is not an object counts as absent.
        let members = meta.and_then(|meta| decode::<Extra>(meta.as_str()).ok());
        let mut members = members.unwrap_or_default();
        members.insert(self.meta_key.as_str(), announced);
        Raw::from_value(&members).ok().map(Meta::from)
    }

    /// Returns the tools that the `_meta` of a `session/new` announces, under their announced
    /// names. Entries that are not tools are left out. This is the agent's counterpart of
    /// [`announce`](Self::announce).
    ///
    /// # Errors
    /// The value of the key is not an object with a list of `tools`.
    pub fn announced(&self, meta: &Meta) -> Result<Vec<Tool>, DecodeError> {
        let Some(value) = meta.get(&self.meta_key) else { return Ok(Vec::new()) };
        let announcement: Announcement = value.decode()?;
        Ok(announcement.tools.iter().filter_map(|tool| tool.decode().ok()).collect())
    }

    /// Returns the announced name of a page's tool.
    pub fn prefixed(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Removes the prefix from an announced name, once. A name without the prefix, or without any
    /// text after it, is returned unchanged.
    ///
    /// ```
    /// let wire = agui_bridge::contextual_tools::Wire::default();
    /// let names = ["ui_render_chart", "search_traces", "ui_", "ui_ui_x"].map(|name| wire.strip(name));
    /// assert_eq!(names, ["render_chart", "search_traces", "ui_", "ui_x"]);
    /// ```
    pub fn strip<'a>(&self, name: &'a str) -> &'a str {
        name.strip_prefix(&*self.prefix).filter(|rest| !rest.is_empty()).unwrap_or(name)
    }

    /// Handles a request of [`method`](Self::method).
    ///
    /// | the request | result |
    /// |---|---|
    /// | is not an object with strings `sessionId` and `name`, or one of them is empty | `-32602` |
    /// | has the prefix as its name | `-32602` |
    /// | is for a session without tools, or without this tool | `-32602` |
    /// | names a tool without the prefix | accepted, [`Dispatch::has_prefix`] is false: log a warning |
    /// | any other | accepted |
    ///
    /// A request is accepted regardless of whether the stream still has a reader.
    ///
    /// # Errors
    /// The error response, always with the code `-32602` (invalid params). It contains no values of
    /// the agent.
    pub fn dispatch(
        &self,
        store: &ContextualToolsStore,
        params: Option<&RawValue>,
    ) -> Result<Dispatch, ErrorObject> {
        let params = params.ok_or_else(|| invalid("expected params, got none"))?;
        let request: ToolsCallRequest =
            decode(params.get()).map_err(|error| invalid(&format!("{error}")))?;
        if request.session_id.as_str().is_empty() {
            return Err(invalid("at /sessionId: expected a session, got an empty string"));
        }
        if request.name.is_empty() {
            return Err(invalid("at /name: expected a tool, got an empty string"));
        }
        if !self.prefix.is_empty() && request.name == self.prefix {
            return Err(invalid("at /name: expected a tool, got only the prefix"));
        }
        let name = self.strip(&request.name);
        if !store.has(request.session_id.as_str(), name) {
            return Err(invalid("at /name: the session has no tool of this name"));
        }
        Ok(Dispatch {
            name: name.to_owned(),
            has_prefix: self.prefix.is_empty() || name.len() != request.name.len(),
            session_id: request.session_id,
            requested_name: request.name,
            arguments: request.args.unwrap_or_else(|| crate::json::raw(&Extra::new())),
            response: ToolsCallResponse::acknowledged(),
        })
    }
}

/// An accepted call: its task for the page, and the response to the agent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dispatch {
    /// The session of the call.
    pub session_id: SessionId,
    /// The tool, by the page's name.
    pub name: String,
    /// The tool, by the name in the request; for the log.
    pub requested_name: String,
    /// Whether the request used the prefix. Older agents do not; log a warning.
    pub has_prefix: bool,
    /// The arguments, unchanged; `{}` if absent. Log them at debug level at most.
    pub arguments: Raw,
    /// The response, to be sent at once.
    pub response: ToolsCallResponse,
}

/// Checks the name of each tool.
///
/// # Errors
/// The name of a tool is missing or too long; the error has the first such tool. Answer the page's
/// request with 400.
pub fn check_names(tools: &[Tool]) -> Result<(), BadToolName> {
    for (index, tool) in tools.iter().enumerate() {
        if tool.name.trim().is_empty() {
            return Err(BadToolName::Blank { index });
        }
        if tool.name.len() > MAX_NAME_BYTES {
            return Err(BadToolName::TooLong { index });
        }
    }
    Ok(())
}

/// An error checking a tool's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadToolName {
    /// The name is empty or white space.
    #[error("tools[{index}].name is empty or whitespace")]
    Blank {
        /// Index of the tool, from zero.
        index: usize,
    },
    /// The name is longer than [`MAX_NAME_BYTES`].
    #[error("tools[{index}].name has more than {MAX_NAME_BYTES} bytes")]
    TooLong {
        /// Index of the tool, from zero.
        index: usize,
    },
}

object! {
    /// The value under the key of `_meta`.
    pub struct Announcement {
        /// Tools, under their announced names.
        tools: Vec<Raw> = "tools",
    }
}

object! {
    /// The params of a call.
    pub struct ToolsCallRequest {
        /// The session in which the tool was announced.
        session_id: SessionId = "sessionId",
        /// The tool's announced name.
        name: String = "name",
    }
    optional {
        /// The arguments.
        args: Raw = "args",
    }
}

object! {
    /// The result of a call.
    pub struct ToolsCallResponse {
        /// The result: an acknowledgement.
        result: Acknowledgement = "result",
    }
    optional {
        /// Whether it failed.
        is_error: bool = "isError",
    }
}

object! {
    /// Acknowledgement of a call that the page executes.
    pub struct Acknowledgement {
        /// Always true.
        acknowledged: bool = "acknowledged",
    }
}

impl ToolsCallResponse {
    /// Returns the response to an accepted call.
    pub fn acknowledged() -> Self {
        Self { is_error: Some(false), ..Self::new(Acknowledgement::new(true)) }
    }
}

fn announcement(tools: &[Tool]) -> Option<Raw> {
    let tools: Vec<Raw> = tools.iter().filter_map(|tool| Raw::from_value(tool).ok()).collect();
    if tools.is_empty() { None } else { Raw::from_value(&Announcement::new(tools)).ok() }
}

fn invalid(why: &str) -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_PARAMS, why)
}
