//! What the agent means to do.
//!
//! Spec: [Agent Plan](https://agentclientprotocol.com/protocol/v1/agent-plan), [version 2](https://agentclientprotocol.com/protocol/v2/agent-plan)
use alloc::string::String;
use jsonrpc_core::{object, open_enum, string_id};

open_enum! {
    /// How much an entry of a plan matters.
    ///
    /// Spec: [`PlanEntryPriority`](https://agentclientprotocol.com/protocol/v1/schema#planentrypriority), [version 2](https://agentclientprotocol.com/protocol/v2/schema#planentrypriority)
    pub enum PlanEntryPriority {
        /// The goal depends on it.
        High = "high",
        /// It matters, and is not decisive.
        Medium = "medium",
        /// It would be nice.
        Low = "low",
    }
}

string_id! {
    /// Names a plan within its session. **Unstable** in version 1.
    ///
    /// Spec: [`PlanId`](https://agentclientprotocol.com/protocol/v1/draft/schema#planid), [version 2](https://agentclientprotocol.com/protocol/v2/schema#planid)
    pub struct PlanId;
}

object! {
    /// **Unstable.** A plan that is a file.
    ///
    /// Spec: [`PlanFile`](https://agentclientprotocol.com/protocol/v1/draft/schema#planfile), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#planfile)
    pub struct PlanFile {
        /// Which plan.
        plan_id: PlanId = "planId",
        /// Where the file is.
        uri: String = "uri",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A plan that is a text.
    ///
    /// Spec: [`PlanMarkdown`](https://agentclientprotocol.com/protocol/v1/draft/schema#planmarkdown), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#planmarkdown)
    pub struct PlanMarkdown {
        /// Which plan.
        plan_id: PlanId = "planId",
        /// The text, Markdown.
        content: String = "content",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A plan is gone.
    ///
    /// Spec: [`PlanRemoved`](https://agentclientprotocol.com/protocol/v1/draft/schema#planremoved), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#planremoved)
    pub struct PlanRemoved {
        /// Which one.
        plan_id: PlanId = "planId",
    }
    and "_meta"
}
