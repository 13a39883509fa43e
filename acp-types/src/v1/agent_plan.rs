//! Plans of an agent.
//!
//! Spec: [Agent Plan](https://agentclientprotocol.com/protocol/v1/agent-plan)
pub use crate::shared::agent_plan::{PlanEntryPriority, PlanFile, PlanId, PlanRemoved};
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum, open_union};

object! {
    /// The complete current plan.
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
        /// All entries of the plan.
        entries: Vec<PlanEntry> = "entries" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// An entry of a plan.
    ///
    /// Spec: [`PlanEntry`](https://agentclientprotocol.com/protocol/v1/schema#planentry)
    pub struct PlanEntry {
        /// Human-readable description.
        content: String = "content",
        /// Priority of the entry.
        priority: PlanEntryPriority = "priority",
        /// Current status.
        status: PlanEntryStatus = "status",
    }
    and "_meta"
}

open_enum! {
    /// Status of a plan entry.
    ///
    /// Spec: [`PlanEntryStatus`](https://agentclientprotocol.com/protocol/v1/schema#planentrystatus)
    pub enum PlanEntryStatus {
        /// Not begun.
        Pending = "pending",
        /// In progress.
        InProgress = "in_progress",
        /// Completed.
        Completed = "completed",
    }
}

object! {
    /// The complete current state of one of several plans.
    ///
    /// Spec: [`PlanUpdate`](https://agentclientprotocol.com/protocol/v1/schema#planupdate)
    pub struct PlanUpdate {
        /// The plan.
        plan: PlanUpdateContent = "plan",
    }
    and "_meta"
}

open_union! {
    /// A plan. A plan of an unknown kind replaces the plan with the same `planId`.
    ///
    /// Spec: [`PlanUpdateContent`](https://agentclientprotocol.com/protocol/v1/schema#planupdatecontent)
    pub enum PlanUpdateContent by "type" {
        /// A list of entries, in order.
        Items(PlanItems) = "items",
        /// A plan in a file.
        File(PlanFile) = "file",
        /// A plan as Markdown text.
        Markdown(PlanMarkdown) = "markdown",
    }
}

impl PlanUpdateContent {
    /// Returns the id of the plan that it replaces, also for an unknown kind.
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
    /// A plan as a list of entries.
    ///
    /// Spec: [`PlanItems`](https://agentclientprotocol.com/protocol/v1/schema#planitems)
    pub struct PlanItems {
        /// Identifier of the plan.
        plan_id: PlanId = "planId",
        /// All entries of the plan.
        entries: Vec<PlanEntry> = "entries" [default_on_error, skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// A plan as Markdown text.
    ///
    /// Spec: [`PlanMarkdown`](https://agentclientprotocol.com/protocol/v1/schema#planmarkdown)
    pub struct PlanMarkdown {
        /// Identifier of the plan.
        plan_id: PlanId = "planId",
        /// The complete Markdown text.
        content: String = "content",
    }
    optional {
        /// Absolute path of the file that holds the plan.
        path: String = "path" [default_on_error],
    }
    and "_meta"
}
