//! What the agent means to do.
//!
//! Spec: [Agent Plan](https://agentclientprotocol.com/protocol/v1/agent-plan)
pub use crate::shared::agent_plan::{
    PlanEntryPriority, PlanFile, PlanId, PlanMarkdown, PlanRemoved,
};
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum, open_union};

object! {
    /// The plan as it is now, whole.
    ///
    /// Spec: [`Plan`](https://agentclientprotocol.com/protocol/v1/schema#plan)
    ///
    /// ```
    /// use acp_types::v1::agent_plan::{Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus};
    ///
    /// let entry = PlanEntry::new("Read main.rs", PlanEntryPriority::High, PlanEntryStatus::Pending);
    /// assert_eq!(
    ///     serde_json::to_string(&Plan::new(vec![entry]))?,
    ///     r#"{"entries":[{"content":"Read main.rs","priority":"high","status":"pending"}]}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct Plan {
        /// What is to be done, all of it.
        entries: Vec<PlanEntry> = "entries" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// Something that is to be done.
    ///
    /// Spec: [`PlanEntry`](https://agentclientprotocol.com/protocol/v1/schema#planentry)
    pub struct PlanEntry {
        /// What it is, for people to read.
        content: String = "content",
        /// How much it matters.
        priority: PlanEntryPriority = "priority",
        /// How it stands.
        status: PlanEntryStatus = "status",
    }
    and "_meta"
}

open_enum! {
    /// How an entry of a plan stands.
    ///
    /// Spec: [`PlanEntryStatus`](https://agentclientprotocol.com/protocol/v1/schema#planentrystatus)
    pub enum PlanEntryStatus {
        /// It has not begun.
        Pending = "pending",
        /// The agent is at it.
        InProgress = "in_progress",
        /// It is done.
        Completed = "completed",
    }
}

object! {
    /// **Unstable.** A plan of several as it is now, whole.
    ///
    /// Spec: [`PlanUpdate`](https://agentclientprotocol.com/protocol/v1/draft/schema#planupdate)
    pub struct PlanUpdate {
        /// The plan.
        plan: PlanUpdateContent = "plan",
    }
    and "_meta"
}

open_union! {
    /// **Unstable.** A plan. One that is unknown takes the place of the plan whose `planId` it has.
    ///
    /// Spec: [`PlanUpdateContent`](https://agentclientprotocol.com/protocol/v1/draft/schema#planupdatecontent)
    pub enum PlanUpdateContent by "type" {
        /// What is to be done, one after the other.
        Items(PlanItems) = "items",
        /// A file.
        File(PlanFile) = "file",
        /// A text.
        Markdown(PlanMarkdown) = "markdown",
    }
}

impl PlanUpdateContent {
    /// The plan whose place it takes. One that is unknown takes that of the plan it names, too.
    pub fn plan_id(&self) -> Option<PlanId> {
        match self {
            Self::Items(plan) => Some(plan.plan_id.clone()),
            Self::File(plan) => Some(plan.plan_id.clone()),
            Self::Markdown(plan) => Some(plan.plan_id.clone()),
            Self::Unknown(plan) => plan.members().get("planId")?.decode().ok(),
        }
    }
}

object! {
    /// **Unstable.** A plan that is a list.
    ///
    /// Spec: [`PlanItems`](https://agentclientprotocol.com/protocol/v1/draft/schema#planitems)
    pub struct PlanItems {
        /// Which plan.
        plan_id: PlanId = "planId",
        /// What is to be done, all of it.
        entries: Vec<PlanEntry> = "entries" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}
