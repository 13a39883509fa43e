//! What a user chooses for a session: its model, its mode, and whatever the agent offers.
//!
//! Spec: [Session Config Options](https://agentclientprotocol.com/protocol/v2/session-config-options)
pub use crate::shared::session_config_options::{
    SessionConfigBoolean, SessionConfigGroupId, SessionConfigId, SessionConfigOptionBoolean,
    SessionConfigOptionCategory, SessionConfigOptionValueId, SessionConfigSelectOption,
    SessionConfigValueId,
};
use crate::shared::session_setup::SessionId;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Fault, ValueReader, View, Wire};
use jsonrpc_core::{__json_schema, object, open_union};

object! {
    /// An option of a session, and what it stands at.
    ///
    /// Spec: [`SessionConfigOption`](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigoption)
    pub struct SessionConfigOption {
        /// Names it.
        config_id: SessionConfigId = "configId",
        /// What to call it before the user.
        name: String = "name",
    }
    optional {
        /// More about it, for the user.
        description: String = "description" [default_on_error],
        /// What it is for; only a hint for how to show it.
        category: SessionConfigOptionCategory = "category" [default_on_error],
    }
    rest {
        /// What kind of choice it is.
        kind: SessionConfigKind,
    }
    and "_meta"
}

open_union! {
    /// What kind of choice an option is.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigoption)
    pub enum SessionConfigKind by "type" {
        /// One value out of several.
        Select(SessionConfigSelect) = "select",
        /// On or off.
        Boolean(SessionConfigBoolean) = "boolean",
    }
}

object! {
    /// One value out of several.
    ///
    /// Spec: [`SessionConfigSelect`](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigselect)
    pub struct SessionConfigSelect {
        /// The value it stands at.
        current_value: SessionConfigValueId = "currentValue",
        /// The values there are.
        options: SessionConfigSelectOptions = "options",
    }
}

/// The values of an option, in groups or not.
///
/// Spec: [`SessionConfigSelectOptions`](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigselectoptions)
///
/// Which it is, the first entry says: an option has `value`, a group has `groupId`. A list that mixes both is an error.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionConfigSelectOptions {
    /// Values one after the other; an empty list is one of these.
    Ungrouped(Vec<SessionConfigSelectOption>),
    /// Values in groups.
    Grouped(Vec<SessionConfigSelectGroup>),
}

impl Wire for SessionConfigSelectOptions {
    fn blank() -> Self {
        Self::Ungrouped(Vec::new())
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        if reader.is_first_item(|item| item.has_member("groupId") && !item.has_member("value")) {
            let mut groups = Vec::blank();
            groups.read(reader)?;
            *self = Self::Grouped(groups);
        } else {
            let mut options = Vec::blank();
            options.read(reader)?;
            *self = Self::Ungrouped(options);
        }
        Ok(())
    }

    fn view(&self) -> View<'_> {
        match self {
            Self::Ungrouped(options) => options.view(),
            Self::Grouped(groups) => groups.view(),
        }
    }
}

object! { @serde SessionConfigSelectOptions }

__json_schema! { SessionConfigSelectOptions, generator => jsonrpc_core::wire::schema::schemars::json_schema!({ "anyOf": [
    object!(@schema Vec<SessionConfigSelectOption>, generator),
    object!(@schema Vec<SessionConfigSelectGroup>, generator),
] }) }

object! {
    /// Values that belong together.
    ///
    /// Spec: [`SessionConfigSelectGroup`](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigselectgroup)
    pub struct SessionConfigSelectGroup {
        /// Names the group.
        group_id: SessionConfigGroupId = "groupId",
        /// What to call it before the user.
        name: String = "name",
        /// Its values; at least one.
        options: Vec<SessionConfigSelectOption> = "options" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// The client chooses a value for an option.
    ///
    /// Method `session/set_config_option`. Spec: [`SetSessionConfigOptionRequest`](https://agentclientprotocol.com/protocol/v2/schema#setsessionconfigoptionrequest)
    #[doc(alias = "session/set_config_option")]
    pub struct SetSessionConfigOptionRequest {
        /// Which session.
        session_id: SessionId = "sessionId",
        /// Which option.
        config_id: SessionConfigId = "configId",
    }
    rest {
        /// What it shall stand at.
        value: SessionConfigOptionValue,
    }
    and "_meta"
}

open_union! {
    /// What an option shall stand at. An agent refuses one that it does not know.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema#setsessionconfigoptionrequest)
    pub enum SessionConfigOptionValue by "type" {
        /// One value out of several.
        Id(SessionConfigOptionValueId) = "id",
        /// On or off.
        Boolean(SessionConfigOptionBoolean) = "boolean",
    }
}

object! {
    /// The option is set; others may have changed with it.
    ///
    /// Method `session/set_config_option`. Spec: [`SetSessionConfigOptionResponse`](https://agentclientprotocol.com/protocol/v2/schema#setsessionconfigoptionresponse)
    pub struct SetSessionConfigOptionResponse {
        /// All options as they stand now.
        config_options: Vec<SessionConfigOption> = "configOptions" [skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// Options of the session have changed.
    ///
    /// Spec: [`ConfigOptionUpdate`](https://agentclientprotocol.com/protocol/v2/schema#configoptionupdate)
    pub struct ConfigOptionUpdate {
        /// All options as they stand now.
        config_options: Vec<SessionConfigOption> = "configOptions" [skip_invalid_items] or "[]",
    }
    and "_meta"
}
