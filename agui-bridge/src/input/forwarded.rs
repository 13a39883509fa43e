use super::InputError;
use acp_types::v1::session_setup::SessionId;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::Wire;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};

/// Bytes of a value of `forwardedProps.acp`.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// What of `forwardedProps.acp` is taken; nothing unless it is set. All else of `forwardedProps` is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Allowed {
    /// `mode`.
    pub mode: bool,
    /// Members of `config`.
    pub config: Vec<String>,
    /// `sessionId`.
    pub session_id: bool,
    /// Values of `agent`.
    pub agents: Vec<String>,
    /// Folders in which, or below which, `cwd` may be: absolute paths.
    pub cwd_roots: Vec<String>,
    /// Members of `meta`.
    pub meta: Vec<String>,
}

/// What an input asks of the session beside its messages: what [`Allowed`] lets through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Forwarded {
    /// For `session/set_mode`.
    pub mode: Option<String>,
    /// For `session/set_config_option`: ids and values.
    pub config: Vec<(String, Raw)>,
    /// The session to go on with: `session/resume`, or `session/load`.
    pub session_id: Option<SessionId>,
    /// The agent to ask.
    pub agent: Option<String>,
    /// The folder of a session that begins.
    pub cwd: Option<String>,
    /// For the `_meta` of the prompt.
    pub meta: Extra,
    /// What was left out, as JSON pointers.
    pub left_out: Vec<String>,
}

impl Allowed {
    /// Reads `forwardedProps`.
    ///
    /// | member of `acp` | is taken |
    /// |---|---|
    /// | `mode`, a string | when [`mode`](Self::mode) is set |
    /// | `config`, an object | those of its members that are in [`config`](Self::config) |
    /// | `sessionId`, a string | when [`session_id`](Self::session_id) is set |
    /// | `agent`, a string | when it is one of [`agents`](Self::agents) |
    /// | `cwd`, an absolute path without `..` | when it is in one of [`cwd_roots`](Self::cwd_roots) |
    /// | `meta`, an object | those of its members that are in [`meta`](Self::meta) |
    /// | anything else | never |
    ///
    /// # Errors
    /// A member that is taken is of another kind, or too large.
    pub fn read(&self, props: Option<&Raw>) -> Result<Forwarded, InputError> {
        let mut forwarded = Forwarded::default();
        let members = props.and_then(|props| props.decode::<Extra>().ok()).unwrap_or_default();
        let Some(acp) = members.get("acp") else { return Ok(forwarded) };
        let acp: Extra = read(acp, "/forwardedProps/acp", "an object")?;
        for (name, value) in acp.iter() {
            let pointer = format!("/forwardedProps/acp/{}", escape(name));
            let text = |pointer: &str| read::<String>(value, pointer, "a string");
            match name {
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

/// The members of an object that are allowed.
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
            left_out.push(format!("{pointer}/{}", escape(name)));
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

/// A member's name in a JSON pointer.
///
/// Spec: [Syntax, RFC 6901](https://www.rfc-editor.org/rfc/rfc6901#section-3)
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Whether an absolute path is a folder's, or below it, as far as its text tells: links are not followed.
fn is_within(path: &str, root: &str) -> bool {
    let parts = |path: &str| {
        let parts = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
        parts.map(str::to_owned).collect::<Vec<_>>()
    };
    let is_absolute = path.starts_with('/') || path.get(1..3).is_some_and(|rest| rest == ":\\");
    let (path, root) = (parts(path), parts(root));
    is_absolute && !path.iter().any(|part| part == "..") && path.starts_with(&root)
}
