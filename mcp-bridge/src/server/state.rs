//! Protection of states that pass through a client.
use alloc::string::String;

/// Seals a state that passes through a client, so that it cannot be modified or used for another
/// purpose.
///
/// An implementation should also bind the state to the user if several users share a server, and
/// let it expire.
///
/// Spec: [Server
/// Requirements](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow)
/// (2026-07-28)
///
/// ```
/// use mcp_bridge::server::StateCodec;
///
/// /// For trusted clients only. Other clients require at least a signature.
/// struct Plain;
///
/// impl StateCodec for Plain {
///     fn seal(&self, state: &str, bound_to: &str) -> String {
///         format!("{state}\n{bound_to}")
///     }
///
///     fn open(&self, sealed: &str, bound_to: &str) -> Option<String> {
///         let (state, bound) = sealed.rsplit_once('\n')?;
///         (bound == bound_to).then(|| state.to_owned())
///     }
/// }
///
/// let sealed = Plain.seal("2 of 3", "book_flight");
/// assert_eq!(Plain.open(&sealed, "book_flight").as_deref(), Some("2 of 3"));
/// assert_eq!(Plain.open(&sealed, "cancel_flight"), None);
/// ```
pub trait StateCodec {
    /// Seals a state for use with `bound_to` only.
    fn seal(&self, state: &str, bound_to: &str) -> String;

    /// Opens a state. Returns `None` if it was modified, bound to something else, or has expired.
    fn open(&self, sealed: &str, bound_to: &str) -> Option<String>;
}
