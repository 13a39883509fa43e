//! The printed difference of two versions of the official schema crate.
use oracles::acp::delta::{Inventory, delta};

const OLD: &str = r#"
pub(crate) const LOAD_METHOD_NAME: &str = "session/load";
pub(crate) const LENGTH: usize = 3;

#[cfg(feature = "unstable_cursor")]
#[derive(Debug)]
pub struct Cursor {
    /// Same in both.
    #[serde(default)]
    pub id: Option<CursorId>,
    #[serde(rename = "_meta", default)]
    pub meta: Option<Meta>,
    pub note: String,
    place: usize,
}

pub enum Update {
    #[cfg(feature = "unstable_cursor")]
    Cursor(Cursor),
    Other(String),
}

struct Private {
    pub id: String,
}

#[cfg(test)]
mod tests {
    pub struct Example;
}
"#;

const NEW: &str = r#"
pub(crate) const LOAD_METHOD_NAME: &str = "session/load";
#[cfg(feature = "unstable_fork")]
pub(crate) const FORK_METHOD_NAME: &str = "session/fork";

#[derive(Debug)]
pub struct Cursor {
    /// Described in other words.
    #[serde(default)]
    pub id: Option<CursorId>,
    #[serde(rename = "_meta", default)]
    pub meta: MaybeUndefined<
        Meta,
    >,
    #[cfg(all(feature = "unstable_cursor", feature = "unstable_fork"))]
    pub fork: Option<Vec<Fork>>,
}

pub enum Update {
    Cursor(Box<Cursor>),
    #[serde(rename = "fork_update")]
    Fork(Fork),
    Other(String),
    Removed { id: CursorId },
}
"#;

fn inventory(source: &str) -> Inventory {
    let mut inventory = Inventory::default();
    inventory.add_source("v1", source).unwrap();
    inventory
}

#[test]
fn each_item_that_came_went_or_changed_has_a_line() {
    let expected = [
        "> v1 CONST FORK_METHOD_NAME = session/fork",
        "< v1::Cursor struct ['unstable_cursor']",
        "> v1::Cursor struct []",
        "> v1::Cursor.fork: Option<Vec<Fork>> [] ['unstable_cursor', 'unstable_fork']",
        "< v1::Cursor.meta: Option<Meta> ['_meta'] []",
        "> v1::Cursor.meta: MaybeUndefined<Meta> ['_meta'] []",
        "< v1::Cursor.note: String [] []",
        "< v1::Update.Cursor(Cursor) [] ['unstable_cursor']",
        "> v1::Update.Cursor(Box<Cursor>) [] []",
        "> v1::Update.Fork(Fork) ['fork_update'] []",
        "> v1::Update.Removed [] []",
        "> v1::Update.Removed.id: CursorId [] []",
    ];
    assert_eq!(delta(&inventory(OLD), &inventory(NEW)), expected);
}

#[test]
fn one_version_has_no_delta_to_itself() {
    assert_eq!(delta(&inventory(OLD), &inventory(OLD)), [""; 0]);
}

#[test]
fn published_versions_have_the_delta_of_their_release_notes() {
    let old = Inventory::of_version("1.15.1").unwrap();
    let new = Inventory::of_version("1.20.0").unwrap();
    let lines = delta(&old, &new);
    let expected = [
        "> feature unstable_session_cursors",
        "< feature unstable_subagents",
        "> v1 CONST SESSION_OPTIONS_METHOD_NAME = session/options",
        "> v1::SessionUpdate.CursorUpdate(CursorUpdate) [] ['unstable_session_cursors']",
        "< v1::SessionUpdate.SubagentUpdate(SubagentUpdate) [] ['unstable_subagents']",
        "> v1::SessionUpdate.SubagentUpdate(SubagentUpdate) [] []",
        "< v1::PlanFile.uri: String [] []",
        "> v1::PlanMarkdown.path: Option<PathBuf> [] []",
        "> v2::ContentBlock.Skill(SkillReference) [] ['unstable_agent_skills']",
        "< v2::CompactionUpdate.status: CompactionStatus [] []",
        "> v2::CompactionUpdate.status: MaybeUndefined<CompactionStatus> [] []",
    ];
    for line in expected {
        assert!(lines.iter().any(|found| found == line), "{line}");
    }
}
