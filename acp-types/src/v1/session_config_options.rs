//! Configuration options of a session: model, mode, and others of the agent.
//!
//! Spec: [Session Config
//! Options](https://agentclientprotocol.com/protocol/v1/session-config-options)
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
    /// A configuration option of a session, with its current value.
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
        /// Identifier.
        id: SessionConfigId = "id",
        /// Human-readable name.
        name: String = "name",
    }
    optional {
        /// Human-readable description.
        description: String = "description" [default_on_error],
        /// Category of the option, a hint for display.
        category: SessionConfigOptionCategory = "category" [default_on_error],
    }
    rest {
        /// Kind of the option.
        kind: SessionConfigKind,
    }
    and "_meta"
}

open_union! {
    /// The kind of a configuration option.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigoption)
    pub enum SessionConfigKind by "type" {
        /// A selection from several values.
        Select(SessionConfigSelect) = "select",
        /// A boolean.
        Boolean(SessionConfigBoolean) = "boolean",
    }
}

object! {
    /// A selection from several values.
    ///
    /// Spec: [`SessionConfigSelect`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigselect)
    pub struct SessionConfigSelect {
        /// Current value.
        current_value: SessionConfigValueId = "currentValue",
        /// The available values.
        options: SessionConfigSelectOptions = "options",
    }
}

/// The values of an option, grouped or ungrouped.
///
/// Spec: [`SessionConfigSelectOptions`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigselectoptions)
///
/// The first entry decides: an option has `value`, a group has `group`. A list that mixes both is
/// an error.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionConfigSelectOptions {
    /// A plain list of values. An empty list is ungrouped.
    Ungrouped(Vec<SessionConfigSelectOption>),
    /// Values in groups.
    Grouped(Vec<SessionConfigSelectGroup>),
}

impl Wire for SessionConfigSelectOptions {
    fn blank() -> Self {
        Self::Ungrouped(Vec::new())
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        if reader.first_item_has("group") && !reader.first_item_has("value") {
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
    /// A group of values.
    ///
    /// Spec: [`SessionConfigSelectGroup`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigselectgroup)
    pub struct SessionConfigSelectGroup {
        /// Identifier of the group.
        group: SessionConfigGroupId = "group",
        /// Human-readable name.
        name: String = "name",
        /// Values of the group.
        options: Vec<SessionConfigSelectOption> = "options" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// A request to set a configuration option.
    ///
    /// Method `session/set_config_option`.
    /// Spec: [`SetSessionConfigOptionRequest`](https://agentclientprotocol.com/protocol/v1/schema#setsessionconfigoptionrequest)
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
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Identifier of the option.
        config_id: SessionConfigId = "configId",
    }
    rest {
        /// The value to set.
        value: SessionConfigOptionValue,
    }
    and "_meta"
}

open_union! {
    /// The new value of an option.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#setsessionconfigoptionrequest)
    pub enum SessionConfigOptionValue by "type" {
        /// A boolean.
        Boolean(SessionConfigOptionBoolean) = "boolean",
    }
    untagged {
        /// One of the option's values; the variant without a tag.
        ValueId(SessionConfigOptionValueId),
    }
}

object! {
    /// **Unstable.** The initial value of an option, for session setup. An agent ignores an unknown
    /// option, and a value that the option does not permit.
    ///
    /// Spec: [`InitialSessionConfigOption`](https://agentclientprotocol.com/protocol/v1/draft/schema#initialsessionconfigoption)
    pub struct InitialSessionConfigOption {
        /// Identifier of the option.
        config_id: SessionConfigId = "configId",
    }
    rest {
        /// The value to set.
        value: SessionConfigOptionValue,
    }
    and "_meta"
}

object! {
    /// The option is set. Other options may have changed as well.
    ///
    /// Method `session/set_config_option`.
    /// Spec: [`SetSessionConfigOptionResponse`](https://agentclientprotocol.com/protocol/v1/schema#setsessionconfigoptionresponse)
    pub struct SetSessionConfigOptionResponse {
        /// All options with their current values.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// Configuration options of the session have changed.
    ///
    /// Spec: [`ConfigOptionUpdate`](https://agentclientprotocol.com/protocol/v1/schema#configoptionupdate)
    pub struct ConfigOptionUpdate {
        /// All options with their current values.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}
