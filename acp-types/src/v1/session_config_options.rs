//! What a user chooses for a session: its model, its mode, and whatever the agent offers.
//!
//! Spec: [Session Config Options](https://agentclientprotocol.com/protocol/v1/session-config-options)
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
    /// Spec: [`SessionConfigOption`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigoption)
    ///
    /// ```
    /// use acp_types::v1::session_config_options::{SessionConfigKind, SessionConfigOption};
    ///
    /// let option: SessionConfigOption = serde_json::from_str(
    ///     r#"{"id":"model","name":"Model","category":"model","type":"select","currentValue":"fast",
    ///         "options":[{"value":"fast","name":"Fast"},{"value":"deep","name":"Deep"}]}"#,
    /// )?;
    /// let SessionConfigKind::Select(select) = &option.kind else { panic!("another kind") };
    /// assert_eq!(select.current_value.as_str(), "fast");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct SessionConfigOption {
        /// Names it.
        id: SessionConfigId = "id",
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
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigoption)
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
    /// Spec: [`SessionConfigSelect`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigselect)
    pub struct SessionConfigSelect {
        /// The value it stands at.
        current_value: SessionConfigValueId = "currentValue",
        /// The values there are.
        options: SessionConfigSelectOptions = "options",
    }
}

/// The values of an option, in groups or not.
///
/// Spec: [`SessionConfigSelectOptions`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigselectoptions)
///
/// Which it is, the first entry says: an option has `value`, a group has `group`. A list that mixes both is an error.
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
        if reader.is_first_item(|item| item.has_member("group") && !item.has_member("value")) {
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
    /// Spec: [`SessionConfigSelectGroup`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigselectgroup)
    pub struct SessionConfigSelectGroup {
        /// Names the group.
        group: SessionConfigGroupId = "group",
        /// What to call it before the user.
        name: String = "name",
        /// Its values.
        options: Vec<SessionConfigSelectOption> = "options" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// The client chooses a value for an option.
    ///
    /// Method `session/set_config_option`. Spec: [`SetSessionConfigOptionRequest`](https://agentclientprotocol.com/protocol/v1/schema#setsessionconfigoptionrequest)
    ///
    /// ```
    /// use acp_types::v1::session_config_options::{
    ///     SessionConfigOptionValue, SessionConfigOptionValueId, SetSessionConfigOptionRequest,
    /// };
    ///
    /// let value = SessionConfigOptionValue::ValueId(SessionConfigOptionValueId::new("deep"));
    /// let request = SetSessionConfigOptionRequest::new("sess-1", "model", value);
    /// assert_eq!(
    ///     serde_json::to_string(&request)?,
    ///     r#"{"sessionId":"sess-1","configId":"model","value":"deep"}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
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
    /// What an option shall stand at.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#setsessionconfigoptionrequest)
    pub enum SessionConfigOptionValue by "type" {
        /// On or off.
        Boolean(SessionConfigOptionBoolean) = "boolean",
    }
    untagged {
        /// One value out of several; meant when there is no tag.
        ValueId(SessionConfigOptionValueId),
    }
}

object! {
    /// The option is set; others may have changed with it.
    ///
    /// Method `session/set_config_option`. Spec: [`SetSessionConfigOptionResponse`](https://agentclientprotocol.com/protocol/v1/schema#setsessionconfigoptionresponse)
    pub struct SetSessionConfigOptionResponse {
        /// All options as they stand now.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// Options of the session have changed.
    ///
    /// Spec: [`ConfigOptionUpdate`](https://agentclientprotocol.com/protocol/v1/schema#configoptionupdate)
    pub struct ConfigOptionUpdate {
        /// All options as they stand now.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}
