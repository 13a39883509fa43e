//! Plans of an agent.
//!
//! Spec: [Agent Plan](https://agentclientprotocol.com/protocol/v1/agent-plan), [version
//! 2](https://agentclientprotocol.com/protocol/v2/agent-plan)
use alloc::string::String;
use jsonrpc_core::{object, open_enum, string_id};

open_enum! {
    /// Priority of a plan entry.
    ///
    /// Spec: [`PlanEntryPriority`](https://agentclientprotocol.com/protocol/v1/schema#planentrypriority),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#planentrypriority)
    pub enum PlanEntryPriority {
        /// Critical to the goal.
        High = "high",
        /// Important, but not critical.
        Medium = "medium",
        /// Optional.
        Low = "low",
    }
}

string_id! {
    /// Identifies a plan within its session.
    ///
    /// Spec: [`PlanId`](https://agentclientprotocol.com/protocol/v1/schema#planid), [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#planid)
    pub struct PlanId;
}

object! {
    /// **Removed.** A plan in a file. Agents of schema 1.15 and earlier send it; its successor is
    /// the path of a Markdown plan.
    ///
    /// Spec: [Agent Plan](https://agentclientprotocol.com/protocol/v1/agent-plan), [version
    /// 2](https://agentclientprotocol.com/protocol/v2/agent-plan)
    pub struct PlanFile {
        /// Identifier of the plan.
        plan_id: PlanId = "planId",
        /// URI of the file.
        uri: String = "uri",
    }
    and "_meta"
}

object! {
    /// A plan was removed. A client ignores an unknown plan.
    ///
    /// Spec: [`PlanRemoved`](https://agentclientprotocol.com/protocol/v1/schema#planremoved),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#planremoved)
    pub struct PlanRemoved {
        /// Identifier of the plan.
        plan_id: PlanId = "planId",
    }
    and "_meta"
}
