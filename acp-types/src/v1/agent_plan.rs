//! What the agent means to do.
//!
//! Spec: [Agent Plan](https://agentclientprotocol.com/protocol/v1/agent-plan)
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum};

object! {
    /// The plan as it is now, whole.
    ///
    /// Spec: [`Plan`](https://agentclientprotocol.com/protocol/v1/schema#plan)
    pub struct Plan {
        /// What is to be done, all of it.
        entries: Vec<PlanEntry> = "entries",
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
    /// How much an entry of a plan matters.
    ///
    /// Spec: [`PlanEntryPriority`](https://agentclientprotocol.com/protocol/v1/schema#planentrypriority)
    pub enum PlanEntryPriority {
        /// The goal depends on it.
        High = "high",
        /// It matters, and is not decisive.
        Medium = "medium",
        /// It would be nice.
        Low = "low",
    }
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
