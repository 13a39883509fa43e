//! What a user chooses for a session: its model, its mode, and whatever the agent offers.
//!
//! Spec: [Session Config Options](https://agentclientprotocol.com/protocol/v1/session-config-options), [version 2](https://agentclientprotocol.com/protocol/v2/session-config-options)
use alloc::string::String;
use jsonrpc_core::{object, open_enum, string_id};

string_id! {
    /// Names an option.
    ///
    /// Spec: [`SessionConfigId`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigid), [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigid)
    pub struct SessionConfigId;
}

string_id! {
    /// Names a value of an option.
    ///
    /// Spec: [`SessionConfigValueId`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigvalueid), [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigvalueid)
    pub struct SessionConfigValueId;
}

string_id! {
    /// Names a group of values.
    ///
    /// Spec: [`SessionConfigGroupId`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfiggroupid), [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessionconfiggroupid)
    pub struct SessionConfigGroupId;
}

open_enum! {
    /// What an option is for; only a hint for how to show it. Names that begin with `_` are free to use.
    ///
    /// Spec: [`SessionConfigOptionCategory`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigoptioncategory), [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigoptioncategory)
    pub enum SessionConfigOptionCategory {
        /// The session's mode.
        Mode = "mode",
        /// Which model answers.
        Model = "model",
        /// A parameter of the model.
        ModelConfig = "model_config",
        /// How much the model reasons.
        ThoughtLevel = "thought_level",
    }
}

object! {
    /// On or off.
    ///
    /// Spec: [`SessionConfigBoolean`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigboolean), [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigboolean)
    pub struct SessionConfigBoolean {
        /// Whether it is on.
        current_value: bool = "currentValue",
    }
}

object! {
    /// A value of an option.
    ///
    /// Spec: [`SessionConfigSelectOption`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigselectoption), [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessionconfigselectoption)
    pub struct SessionConfigSelectOption {
        /// Names it.
        value: SessionConfigValueId = "value",
        /// What to call it before the user.
        name: String = "name",
    }
    optional {
        /// More about it, for the user.
        description: String = "description" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Whether an option shall be on.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#setsessionconfigoptionrequest), [version 2](https://agentclientprotocol.com/protocol/v2/schema#setsessionconfigoptionrequest)
    pub struct SessionConfigOptionBoolean {
        /// Whether it shall be on.
        value: bool = "value",
    }
}

object! {
    /// The value that an option shall stand at.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#setsessionconfigoptionrequest), [version 2](https://agentclientprotocol.com/protocol/v2/schema#setsessionconfigoptionrequest)
    pub struct SessionConfigOptionValueId {
        /// One of its values.
        value: SessionConfigValueId = "value",
    }
}
