//! Tools of a page for one turn, announced in `_meta` and called by an extension method.
//!
//! A page sends with each run the tools that make sense where its user is. They go to the agent in the `_meta` of
//! `session/new`; the agent calls them with a request of an extension method, which is acknowledged at once: the page
//! does what the call says when it sees it in the stream, and sends nothing back. This is the wire of the trace UI
//! [Jaeger](https://www.jaegertracing.io) and its sidecars; the three names on it can be others, see [`Wire`].
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
//! | an entry of the store that is skipped | not heard of again | given back, with why |
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

/// The key of `_meta` that tools are announced under, unless another is set.
pub const META_KEY: &str = "jaegertracing.io/contextual-tools";
/// The method that tools are called by, unless another is set. Libraries that put the `_` of extension methods in front
/// by themselves are given the rest of it.
pub const METHOD: &str = "_meta/jaegertracing.io/tools/call";
/// What the names of announced tools begin with, unless something else is set.
pub const PREFIX: &str = "ui_";

/// How many tools a session has at most.
pub const MAX_TOOLS: usize = 128;
/// How many bytes the JSON text of a tool has at most.
pub const MAX_TOOL_BYTES: usize = 64 << 10;
/// How many bytes the JSON texts of a session's tools have at most together.
pub const MAX_SESSION_BYTES: usize = 1 << 20;
/// How many bytes the name of a tool has at most.
pub const MAX_NAME_BYTES: usize = 256;
/// How many sessions have tools at most at the same time.
pub const MAX_SESSIONS: usize = 1024;

/// The names on the wire; Jaeger's by default.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wire {
    /// The key of `_meta` that tools are announced under: [`META_KEY`] unless it is set.
    pub meta_key: String,
    /// The method that tools are called by: [`METHOD`] unless it is set.
    pub method: String,
    /// What the names of announced tools begin with, so that they are not those of the agent's own: [`PREFIX`] unless it
    /// is set. It may be empty.
    pub prefix: String,
}

impl Default for Wire {
    fn default() -> Self {
        Self { meta_key: META_KEY.to_owned(), method: METHOD.to_owned(), prefix: PREFIX.to_owned() }
    }
}

impl Wire {
    /// The `_meta` of a `session/new` that announces `tools`, beside what `meta` has; `meta` as it is where there are
    /// none. Of tools with the same name the first is announced, of more than [`MAX_TOOLS`] the first ones.
    ///
    /// [`check_names`] them first: an agent may refuse all tools for one without a name.
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

    /// The tools that the `_meta` of a `session/new` announces, as they are there: the agent's side of
    /// [`announce`](Self::announce). Entries that are not tools are left out.
    ///
    /// # Errors
    /// There is something under the key, and it is not an object with a list of `tools`.
    pub fn announced(&self, meta: &Meta) -> Result<Vec<Tool>, DecodeError> {
        let Some(value) = meta.get(&self.meta_key) else { return Ok(Vec::new()) };
        let announcement: Announcement = value.decode()?;
        Ok(announcement.tools.iter().filter_map(|tool| tool.decode().ok()).collect())
    }

    /// The name under which a tool of the page is announced.
    pub fn prefixed(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The page's name for a tool that the agent names: without the prefix, once. A name without it, or with nothing
    /// behind it, stays as it is.
    ///
    /// ```
    /// let wire = agui_bridge::contextual_tools::Wire::default();
    /// let names = ["ui_render_chart", "search_traces", "ui_", "ui_ui_x"].map(|name| wire.strip(name));
    /// assert_eq!(names, ["render_chart", "search_traces", "ui_", "ui_x"]);
    /// ```
    pub fn strip<'a>(&self, name: &'a str) -> &'a str {
        name.strip_prefix(&*self.prefix).filter(|rest| !rest.is_empty()).unwrap_or(name)
    }

    /// Takes a request of [`method`](Self::method).
    ///
    /// | the request | result |
    /// |---|---|
    /// | is no object with texts `sessionId` and `name`, or one of these is empty | `-32602` |
    /// | names nothing but the prefix | `-32602` |
    /// | is for a session without tools, or one without this tool | `-32602` |
    /// | names a tool without the prefix | taken, [`Dispatch::has_prefix`] is false: a warning for the log |
    /// | anything else | taken |
    ///
    /// What is taken was acknowledged whether or not anyone still reads the stream.
    ///
    /// # Errors
    /// What to answer the agent with, always of the code `-32602` (invalid params). It names no values of the agent's.
    pub fn dispatch(
        &self,
        store: &ContextualToolsStore,
        params: Option<&RawValue>,
    ) -> Result<Dispatch, ErrorObject> {
        let params = params.ok_or_else(|| invalid("expected params, got none"))?;
        let request: ToolsCallRequest =
            decode(params.get()).map_err(|error| invalid(&format!("{error}")))?;
        if request.session_id.as_str().is_empty() {
            return Err(invalid("at /sessionId: expected a session, got an empty text"));
        }
        if request.name.is_empty() {
            return Err(invalid("at /name: expected a tool, got an empty text"));
        }
        if !self.prefix.is_empty() && request.name == self.prefix {
            return Err(invalid("at /name: expected a tool, got the prefix alone"));
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

/// A call that was taken: what the page is to do, and what the agent is told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dispatch {
    /// The session that it was made in.
    pub session_id: SessionId,
    /// The tool, by the page's name.
    pub name: String,
    /// The tool, by the name that the agent used; for the log.
    pub requested_name: String,
    /// Whether the agent used the prefix. Agents older than the prefix do not: worth a warning.
    pub has_prefix: bool,
    /// The arguments, as they came; `{}` where there were none. They belong in a log at most at debug level.
    pub arguments: Raw,
    /// What to answer at once.
    pub response: ToolsCallResponse,
}

/// Checks that each tool has a name.
///
/// # Errors
/// The first one that has none, or one that is too long. The page's request is answered with 400.
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

/// A tool cannot be offered under its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadToolName {
    /// There is nothing in it.
    #[error("tools[{index}].name is empty or whitespace")]
    Blank {
        /// Which tool, counted from zero.
        index: usize,
    },
    /// It has more bytes than [`MAX_NAME_BYTES`].
    #[error("tools[{index}].name has more than {MAX_NAME_BYTES} bytes")]
    TooLong {
        /// Which tool, counted from zero.
        index: usize,
    },
}

object! {
    /// The value under the key of `_meta`.
    pub struct Announcement {
        /// Tools under their announced names.
        tools: Vec<Raw> = "tools",
    }
}

object! {
    /// The params of a call.
    pub struct ToolsCallRequest {
        /// The session that the tool was announced in.
        session_id: SessionId = "sessionId",
        /// The tool's announced name.
        name: String = "name",
    }
    optional {
        /// Its arguments.
        args: Raw = "args",
    }
}

object! {
    /// The result of a call.
    pub struct ToolsCallResponse {
        /// What came of it: that it was heard.
        result: Acknowledgement = "result",
    }
    optional {
        /// Whether it failed.
        is_error: bool = "isError",
    }
}

object! {
    /// That a call was heard, and is up to the page.
    pub struct Acknowledgement {
        /// True.
        acknowledged: bool = "acknowledged",
    }
}

impl ToolsCallResponse {
    /// The answer to every call that was taken.
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
