//! Names of threads, and the list of a user's conversations.
use serde::Serialize;

/// The name of a thread in a store: its user, its agent and its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ThreadName {
    /// The user that the thread belongs to.
    pub user: String,
    /// Name of the agent.
    pub agent: String,
    /// The `threadId` of AG-UI.
    pub id: String,
}

impl ThreadName {
    /// Returns the text for the methods of a store, unique for each thread.
    pub fn text(&self) -> String {
        serde_json::to_string(&[&self.user, &self.agent, &self.id]).unwrap_or_default()
    }

    /// Returns the user in the text of a name, of a thread or a run: its first part.
    pub(crate) fn user_of(text: &str) -> String {
        let parts: Vec<String> = serde_json::from_str(text).unwrap_or_default();
        parts.into_iter().next().unwrap_or_default()
    }

    /// Reads the text of a name.
    pub fn of_text(text: &str) -> Option<Self> {
        let [user, agent, id]: [String; 3] = serde_json::from_str(text).ok()?;
        Some(Self { user, agent, id })
    }
}

/// A conversation in the list of its user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadSummary {
    /// The `threadId` of AG-UI.
    pub id: String,
    /// Name of the agent.
    pub agent: String,
    /// The user's title, else the agent's, else the beginning of the first prompt.
    pub title: String,
    /// Time of the first run, in milliseconds since 1970.
    pub created_at: i64,
    /// Time of the last run, in milliseconds since 1970.
    pub updated_at: i64,
    /// The `runId` of the last run.
    pub run_id: Option<String>,
    /// Whether the last run has not ended.
    pub is_running: bool,
}

/// A part of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadPage {
    /// The most recently used conversations first.
    pub threads: Vec<ThreadSummary>,
    /// The position of the next part, if there is one.
    pub next: Option<String>,
    /// Number of the user's conversations in the trash.
    pub trashed: i64,
    /// Number of those that the user has not deleted: they made room, or were unused for the limit
    /// of age.
    pub evicted: i64,
}

/// Reason why a conversation is in the trash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TrashReason {
    /// The user deleted it.
    User,
    /// It made room for others of its user.
    Space,
    /// It was unused for the limit of age.
    Age,
}

/// A conversation in the trash of its user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrashedThread {
    /// Identifies the conversation in the trash, where several may have the same id.
    pub number: i64,
    /// The `threadId` of AG-UI.
    pub id: String,
    /// Name of the agent.
    pub agent: String,
    /// The title.
    pub title: String,
    /// Time of the last run, in milliseconds since 1970.
    pub updated_at: i64,
    /// Reason why it is there.
    pub reason: TrashReason,
    /// Number of days after which it is deleted.
    pub days_left: u64,
}

/// Outcome of a request to take a conversation out of the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restoration {
    /// It is in the list again.
    Restored(ThreadSummary),
    /// The list has another conversation with its id.
    Occupied,
    /// It is not in the trash of the user.
    Unknown,
}

/// Selects a part of the list.
#[derive(Clone, Debug, Default)]
pub struct ThreadQuery {
    /// Text of the title or of a message, in any case.
    pub search: Option<String>,
    /// [`ThreadPage::next`] of the previous part.
    pub after: Option<String>,
    /// Number of conversations, at most [`Self::MAX_LIMIT`].
    pub limit: Option<usize>,
}

impl ThreadQuery {
    /// Largest number of conversations in a part, and the default.
    pub const MAX_LIMIT: usize = 100;
}
