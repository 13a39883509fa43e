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
    /// Identifies a plan within its session. **Unstable** in version 1.
    ///
    /// Spec: [`PlanId`](https://agentclientprotocol.com/protocol/v1/draft/schema#planid), [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#planid)
    pub struct PlanId;
}

object! {
    /// **Unstable.** A plan in a file.
    ///
    /// Spec: [`PlanFile`](https://agentclientprotocol.com/protocol/v1/draft/schema#planfile),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#planfile)
    pub struct PlanFile {
        /// Identifier of the plan.
        plan_id: PlanId = "planId",
        /// URI of the file.
        uri: String = "uri",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A plan as Markdown text.
    ///
    /// Spec: [`PlanMarkdown`](https://agentclientprotocol.com/protocol/v1/draft/schema#planmarkdown),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#planmarkdown)
    pub struct PlanMarkdown {
        /// Identifier of the plan.
        plan_id: PlanId = "planId",
        /// The Markdown text.
        content: String = "content",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A plan was removed.
    ///
    /// Spec: [`PlanRemoved`](https://agentclientprotocol.com/protocol/v1/draft/schema#planremoved),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#planremoved)
    pub struct PlanRemoved {
        /// Identifier of the plan.
        plan_id: PlanId = "planId",
    }
    and "_meta"
}
