//! Answers to a permission request.
//!
//! Spec: [Tool
//! Calls](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission), [version
//! 2](https://agentclientprotocol.com/protocol/v2/tool-calls)
use alloc::string::String;
use jsonrpc_core::{object, open_enum, string_id};

string_id! {
    /// Identifies an option of a permission request.
    ///
    /// Spec: [`PermissionOptionId`](https://agentclientprotocol.com/protocol/v1/schema#permissionoptionid),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#permissionoptionid)
    pub struct PermissionOptionId;
}

object! {
    /// An option of a permission request.
    ///
    /// Spec: [`PermissionOption`](https://agentclientprotocol.com/protocol/v1/schema#permissionoption),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#permissionoption)
    pub struct PermissionOption {
        /// Identifier of the option.
        option_id: PermissionOptionId = "optionId",
        /// Human-readable name.
        name: String = "name",
        /// Meaning of the option, for example for icons.
        kind: PermissionOptionKind = "kind",
    }
    and "_meta"
}

open_enum! {
    /// Meaning of a permission option. An unknown kind grants no permission.
    ///
    /// Spec: [`PermissionOptionKind`](https://agentclientprotocol.com/protocol/v1/schema#permissionoptionkind),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#permissionoptionkind)
    pub enum PermissionOptionKind {
        /// Allow this time.
        AllowOnce = "allow_once",
        /// Allow from now on.
        AllowAlways = "allow_always",
        /// Reject this time.
        RejectOnce = "reject_once",
        /// Reject from now on.
        RejectAlways = "reject_always",
    }
}

impl PermissionOptionKind {
    /// Returns whether the option grants permission. An unknown kind does not.
    pub fn is_permission(&self) -> bool {
        matches!(self, Self::AllowOnce | Self::AllowAlways)
    }
}

object! {
    /// The user selected an option.
    ///
    /// Spec: [`SelectedPermissionOutcome`](https://agentclientprotocol.com/protocol/v1/schema#selectedpermissionoutcome),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#selectedpermissionoutcome)
    pub struct SelectedPermissionOutcome {
        /// Identifier of the option.
        option_id: PermissionOptionId = "optionId",
    }
    and "_meta"
}
