//! Calls that belong to the work of a session.
use super::{Call, CallError};
use crate::endpoint::{session_id, string};
use crate::shared::permissions::{PermissionOption, PermissionOptionId};
use crate::v1::session_setup::SessionId;
use alloc::vec::Vec;
use jsonrpc_core::find_member;
use jsonrpc_core::wire::{DecodedValue, Mode, decode_with};
use serde_json::value::RawValue;

/// A call that belongs to the work of a session, until its end.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) session: SessionId,
    /// The options of a permission request.
    options: Option<Vec<PermissionOptionId>>,
}

impl Question {
    /// Returns the question of a call; `None` for a call of no session.
    pub(super) fn new(call: &Call) -> Option<Self> {
        let params = call.params.as_ref();
        let session = SessionId::from(&*session_id(Some(params))?);
        let is_permission = call.method == "session/request_permission";
        let options = is_permission.then(|| offered(params)).flatten();
        Some(Self { session, options })
    }

    /// Checks that the response to a permission request selects one of its options, or none.
    ///
    /// Spec: [Requesting Permission](https://agentclientprotocol.com/protocol/v2/tool-calls#requesting-permission)
    pub(super) fn check<'a>(&self, result: &'a RawValue) -> Result<&'a RawValue, CallError> {
        let Some(options) = &self.options else { return Ok(result) };
        let member = |name: &str| string(result.get(), &["outcome", name]);
        let chosen =
            member("optionId").filter(|_| member("outcome").as_deref() == Some("selected"));
        match chosen {
            Some(id) if options.iter().all(|option| option.as_str() != id) => {
                Err(CallError::NotOffered(PermissionOptionId::from(&*id)))
            }
            _ => Ok(result),
        }
    }
}

/// Returns the options of a permission request.
fn offered(params: &RawValue) -> Option<Vec<PermissionOptionId>> {
    let options = find_member(params.get(), &["options"])?;
    let DecodedValue { value, .. } =
        decode_with::<Vec<PermissionOption>>(options, Mode::SpecLenient).ok()?;
    Some(value.into_iter().map(|option| option.option_id).collect())
}
