//! Forwarded properties, filtered by an allow-list.
use super::InputError;
use acp_types::v1::session_setup::SessionId;
use agui_types::id::ThreadId;
use agui_types::input::RunAgentInput;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::pointer::push_segment;
use jsonrpc_core::wire::{Extra, Raw, Wire};
use serde::{Deserialize, Serialize};

/// Largest size of a value of `forwardedProps.acp`, in bytes.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// The allowed members of `forwardedProps.acp`; none by default. Everything else in
/// `forwardedProps` is ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AllowedMembers {
    /// Allows `mode`.
    pub mode: bool,
    /// Allowed members of `config`.
    pub config: Vec<String>,
    /// Allows `sessionId`.
    pub session_id: bool,
    /// Allowed values of `agent`.
    pub agents: Vec<String>,
    /// Folders that `cwd` may be in: absolute paths.
    pub cwd_roots: Vec<String>,
    /// Allowed members of `meta`.
    pub meta: Vec<String>,
}

/// Requests of an input about the session, as far as [`AllowedMembers`] permits them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ForwardedMembers {
    /// Mode for `session/set_mode`.
    pub mode: Option<String>,
    /// Ids and values for `session/set_config_option`.
    pub config: Vec<(String, Raw)>,
    /// The session to continue with `session/resume` or `session/load`.
    pub session_id: Option<SessionId>,
    /// The agent to use.
    pub agent: Option<String>,
    /// The working directory of a new session.
    pub cwd: Option<String>,
    /// Members for the `_meta` of the prompt.
    pub meta: Extra,
    /// Members that are not allowed, as JSON pointers.
    pub left_out: Vec<String>,
}

impl AllowedMembers {
    /// Reads `forwardedProps`.
    ///
    /// | member of `acp` | allowed if |
    /// |---|---|
    /// | `mode`, a string | [`mode`](Self::mode) is set |
    /// | `config`, an object | by member: those in [`config`](Self::config) |
    /// | `sessionId`, a string | [`session_id`](Self::session_id) is set |
    /// | `agent`, a string | it is one of [`agents`](Self::agents) |
    /// | `cwd`, an absolute path without `..` | it is in one of [`cwd_roots`](Self::cwd_roots) |
    /// | `meta`, an object | by member: those in [`meta`](Self::meta) |
    /// | `follow` | always; [`follows`] reads it |
    /// | `branchOf` | always; [`branch_of`] reads it |
    /// | any other | never |
    ///
    /// # Errors
    /// An allowed member has a wrong type or is too large.
    pub fn read(&self, props: Option<&Raw>) -> Result<ForwardedMembers, InputError> {
        let mut forwarded = ForwardedMembers::default();
        let members = props.and_then(|props| props.decode::<Extra>().ok()).unwrap_or_default();
        let Some(acp) = members.get("acp") else { return Ok(forwarded) };
        let acp: Extra = read(acp, "/forwardedProps/acp", "an object")?;
        for (name, value) in acp.iter() {
            let mut pointer = "/forwardedProps/acp".to_owned();
            push_segment(&mut pointer, name);
            let text = |pointer: &str| read::<String>(value, pointer, "a string");
            match name {
                "follow" | "branchOf" => {}
                "mode" if self.mode => forwarded.mode = Some(text(&pointer)?),
                "sessionId" if self.session_id => {
                    forwarded.session_id = Some(text(&pointer)?.into());
                }
                "agent" if !self.agents.is_empty() => {
                    let agent = text(&pointer)?;
                    if self.agents.contains(&agent) {
                        forwarded.agent = Some(agent);
                    } else {
                        forwarded.left_out.push(pointer);
                    }
                }
                "cwd" if !self.cwd_roots.is_empty() => {
                    let cwd = text(&pointer)?;
                    if self.cwd_roots.iter().any(|root| is_within(&cwd, root)) {
                        forwarded.cwd = Some(cwd);
                    } else {
                        forwarded.left_out.push(pointer);
                    }
                }
                "config" if !self.config.is_empty() => {
                    let taken = pick(value, &pointer, &self.config, &mut forwarded.left_out)?;
                    forwarded.config = taken;
                }
                "meta" if !self.meta.is_empty() => {
                    for (name, value) in pick(value, &pointer, &self.meta, &mut forwarded.left_out)?
                    {
                        forwarded.meta.insert(name, value);
                    }
                }
                _ => forwarded.left_out.push(pointer),
            }
        }
        Ok(forwarded)
    }
}

/// Returns whether an input only follows the agent: `forwardedProps.acp.follow` is `true`.
///
/// Its run has no prompt. It shows what the agent does by itself.
pub fn follows(input: &RunAgentInput) -> bool {
    member_of_acp(input, "follow").is_some_and(|follow| follow.as_str() == "true")
}

/// Returns the thread that the thread of an input branches off from:
/// `forwardedProps.acp.branchOf`.
///
/// A program that has the [remembered session](crate::conversation::RememberedSession) of that
/// thread, and may use it for this user, begins the run with it as
/// [`branch_of`](crate::conversation::RunRequest::branch_of).
pub fn branch_of(input: &RunAgentInput) -> Option<ThreadId> {
    member_of_acp(input, "branchOf")?.decode().ok()
}

/// Returns a member of `forwardedProps.acp`.
fn member_of_acp(input: &RunAgentInput, name: &str) -> Option<Raw> {
    let member = |raw: &Raw, name: &str| raw.decode::<Extra>().ok()?.get(name).cloned();
    member(&member(input.forwarded_props.as_ref()?, "acp")?, name)
}

/// Returns the allowed members of an object.
fn pick(
    value: &Raw,
    pointer: &str,
    allowed: &[String],
    left_out: &mut Vec<String>,
) -> Result<Vec<(String, Raw)>, InputError> {
    let members: Extra = read(value, pointer, "an object")?;
    let mut taken = Vec::new();
    for (name, value) in members.iter() {
        if allowed.iter().any(|allowed| allowed == name) {
            taken.push((name.to_owned(), value.clone()));
        } else {
            let mut left = pointer.to_owned();
            push_segment(&mut left, name);
            left_out.push(left);
        }
    }
    Ok(taken)
}

fn read<T: Wire>(value: &Raw, pointer: &str, expected: &'static str) -> Result<T, InputError> {
    if value.as_str().len() > MAX_VALUE_BYTES {
        let limit = format!("{MAX_VALUE_BYTES} bytes");
        return Err(InputError::TooLarge { pointer: pointer.to_string(), limit });
    }
    value.decode().map_err(|_| InputError::Invalid {
        pointer: pointer.to_string(),
        expected: expected.into(),
    })
}

/// Returns whether an absolute path is a folder or within it. Only the text is examined: links are
/// not followed.
fn is_within(path: &str, root: &str) -> bool {
    let parts = |path: &str| {
        let parts = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
        parts.map(str::to_owned).collect::<Vec<_>>()
    };
    let is_absolute = path.starts_with('/') || path.get(1..3).is_some_and(|rest| rest == ":\\");
    let path = parts(path);
    let root = parts(root);
    is_absolute && !path.iter().any(|part| part == "..") && path.starts_with(&root)
}
