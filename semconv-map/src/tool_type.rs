//! Types of tools, according to the GenAI conventions.
//!
//! `gen_ai.tool.type` describes where a tool runs, but the `kind` of ACP describes what it does, so
//! no type is recorded by default. [`ToolTypePolicy::ByExecution`] uses the observed place of
//! execution: `function` if the agent requested files or terminals of the client, else `extension`.
//! [`ToolTypePolicy::ByKind`] uses this table:
//!
//! | ACP `kind` | `gen_ai.tool.type` |
//! |---|---|
//! | `read`, `search`, `fetch` | `datastore` |
//! | `edit`, `delete`, `move`, `execute`, `think`, `switch_mode`, `other` | `extension` |
//! | any other | `extension` |
//!
//! Spec: [`gen_ai.tool.type`,
//! v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/gen-ai.md),
//! [`ToolKind`](https://agentclientprotocol.com/protocol/v1/schema#toolkind)
use crate::policy::ToolTypePolicy;
use acp_types::v1::tool_calls::ToolKind;

/// Returns the tool type for a kind and a place of execution, if the policy selects one.
///
/// ```
/// use acp_types::v1::tool_calls::ToolKind;
/// use semconv_map::{policy::ToolTypePolicy, tool_type::tool_type};
///
/// assert_eq!(tool_type(&ToolKind::Read, true, ToolTypePolicy::ByKind), Some("datastore"));
/// assert_eq!(tool_type(&ToolKind::Read, true, ToolTypePolicy::ByExecution), Some("function"));
/// assert_eq!(tool_type(&ToolKind::Read, true, ToolTypePolicy::Omit), None);
/// ```
pub fn tool_type(kind: &ToolKind, by_client: bool, policy: ToolTypePolicy) -> Option<&'static str> {
    match (policy, kind) {
        (ToolTypePolicy::Omit, _) => None,
        (ToolTypePolicy::ByExecution, _) if by_client => Some("function"),
        (ToolTypePolicy::ByKind, ToolKind::Read | ToolKind::Search | ToolKind::Fetch) => {
            Some("datastore")
        }
        _ => Some("extension"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_type() {
        let table = [
            ("read", "datastore"),
            ("edit", "extension"),
            ("delete", "extension"),
            ("move", "extension"),
            ("search", "datastore"),
            ("execute", "extension"),
            ("think", "extension"),
            ("fetch", "datastore"),
            ("switch_mode", "extension"),
            ("other", "extension"),
        ];
        assert!(table.iter().map(|row| row.0).eq(ToolKind::NAMES.iter().copied()));
        for (given, expected) in table.into_iter().chain([("newer", "extension")]) {
            let kind = ToolKind::from(given);
            for (by_client, by_execution) in [(true, "function"), (false, "extension")] {
                let with = |policy| tool_type(&kind, by_client, policy);
                assert_eq!(with(ToolTypePolicy::ByKind), Some(expected), "{given}");
                assert_eq!(with(ToolTypePolicy::ByExecution), Some(by_execution), "{given}");
                assert_eq!(with(ToolTypePolicy::Omit), None, "{given}");
            }
        }
    }
}
