//! Answers to a permission request.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission), [version 2](https://agentclientprotocol.com/protocol/v2/tool-calls)
use alloc::string::String;
use jsonrpc_core::{object, open_enum, string_id};

string_id! {
    /// Names an answer that the user may choose.
    ///
    /// Spec: [`PermissionOptionId`](https://agentclientprotocol.com/protocol/v1/schema#permissionoptionid), [version 2](https://agentclientprotocol.com/protocol/v2/schema#permissionoptionid)
    pub struct PermissionOptionId;
}

object! {
    /// An answer that the user may choose.
    ///
    /// Spec: [`PermissionOption`](https://agentclientprotocol.com/protocol/v1/schema#permissionoption), [version 2](https://agentclientprotocol.com/protocol/v2/schema#permissionoption)
    pub struct PermissionOption {
        /// Names it.
        option_id: PermissionOptionId = "optionId",
        /// What to call it before the user.
        name: String = "name",
        /// What it means; for icons and the like.
        kind: PermissionOptionKind = "kind",
    }
    and "_meta"
}

open_enum! {
    /// What an answer means. An unknown kind grants no permission.
    ///
    /// Spec: [`PermissionOptionKind`](https://agentclientprotocol.com/protocol/v1/schema#permissionoptionkind), [version 2](https://agentclientprotocol.com/protocol/v2/schema#permissionoptionkind)
    pub enum PermissionOptionKind {
        /// Yes, this time.
        AllowOnce = "allow_once",
        /// Yes, from now on.
        AllowAlways = "allow_always",
        /// No, this time.
        RejectOnce = "reject_once",
        /// No, from now on.
        RejectAlways = "reject_always",
    }
}

impl PermissionOptionKind {
    /// Whether the answer is yes. One that is unknown is not.
    pub fn is_permission(&self) -> bool {
        matches!(self, Self::AllowOnce | Self::AllowAlways)
    }
}

object! {
    /// The user chose an answer.
    ///
    /// Spec: [`SelectedPermissionOutcome`](https://agentclientprotocol.com/protocol/v1/schema#selectedpermissionoutcome), [version 2](https://agentclientprotocol.com/protocol/v2/schema#selectedpermissionoutcome)
    pub struct SelectedPermissionOutcome {
        /// Which one.
        option_id: PermissionOptionId = "optionId",
    }
    and "_meta"
}
