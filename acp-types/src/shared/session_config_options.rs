//! Configuration options of a session: model, mode, and others of the agent.
//!
//! Spec: [Session Config
//! Options](https://agentclientprotocol.com/protocol/v1/session-config-options), [version
//! 2](https://agentclientprotocol.com/protocol/v2/session-config-options)
use alloc::string::String;
use jsonrpc_core::{object, open_enum, string_id};

string_id! {
    /// Identifies a configuration option.
    ///
    /// Spec: [`SessionConfigId`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigid),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigid)
    pub struct SessionConfigId;
}

string_id! {
    /// Identifies a value of an option.
    ///
    /// Spec: [`SessionConfigValueId`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigvalueid),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigvalueid)
    pub struct SessionConfigValueId;
}

string_id! {
    /// Identifies a group of values.
    ///
    /// Spec: [`SessionConfigGroupId`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfiggroupid),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessionconfiggroupid)
    pub struct SessionConfigGroupId;
}

open_enum! {
    /// Category of an option, a hint for display. Names that begin with `_` are free for use.
    ///
    /// Spec: [`SessionConfigOptionCategory`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigoptioncategory),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigoptioncategory)
    pub enum SessionConfigOptionCategory {
        /// The session's mode.
        Mode = "mode",
        /// The model.
        Model = "model",
        /// A parameter of the model.
        ModelConfig = "model_config",
        /// **Unstable.** Speed of the responses.
        Speed = "speed",
        /// Amount of reasoning.
        ThoughtLevel = "thought_level",
    }
}

object! {
    /// A boolean option.
    ///
    /// Spec: [`SessionConfigBoolean`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigboolean),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigboolean)
    pub struct SessionConfigBoolean {
        /// Current value.
        current_value: bool = "currentValue",
    }
}

object! {
    /// A value of an option.
    ///
    /// Spec: [`SessionConfigSelectOption`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigselectoption),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigselectoption)
    pub struct SessionConfigSelectOption {
        /// Identifier of the value.
        value: SessionConfigValueId = "value",
        /// Human-readable name.
        name: String = "name",
    }
    optional {
        /// Human-readable description.
        description: String = "description" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The new value of a boolean option.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#setsessionconfigoptionrequest),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#setsessionconfigoptionrequest)
    pub struct SessionConfigOptionBoolean {
        /// The value to set.
        value: bool = "value",
    }
}

object! {
    /// The new value of a selection.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#setsessionconfigoptionrequest),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#setsessionconfigoptionrequest)
    pub struct SessionConfigOptionValueId {
        /// Identifier of the value.
        value: SessionConfigValueId = "value",
    }
}
