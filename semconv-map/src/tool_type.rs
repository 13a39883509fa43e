//! Where a tool runs, guessed from what kind of tool it is.
//!
//! The conventions' `gen_ai.tool.type` says where a tool runs, ACP's `kind` what it does, so by default no type is
//! recorded. [`ToolTypePolicy::ByKind`] selects this table:
//!
//! | ACP `kind` | `gen_ai.tool.type` |
//! |---|---|
//! | `read`, `search`, `fetch` | `datastore` |
//! | `edit`, `delete`, `move`, `execute`, `think`, `switch_mode`, `other` | `extension` |
//! | any other | `extension` |
//!
//! Spec: [`gen_ai.tool.type`, v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/registry/attributes/gen-ai.md),
//! [`ToolKind`](https://agentclientprotocol.com/protocol/v1/schema#toolkind)
use crate::policy::ToolTypePolicy;
use acp_types::v1::tool_calls::ToolKind;

/// The tool type for a kind, if the policy wants one.
///
/// ```
/// use acp_types::v1::tool_calls::ToolKind;
/// use semconv_map::{policy::ToolTypePolicy, tool_type::tool_type};
///
/// assert_eq!(tool_type(&ToolKind::Read, ToolTypePolicy::ByKind), Some("datastore"));
/// assert_eq!(tool_type(&ToolKind::Read, ToolTypePolicy::Omit), None);
/// ```
pub fn tool_type(kind: &ToolKind, policy: ToolTypePolicy) -> Option<&'static str> {
    let by_kind = match kind {
        ToolKind::Read | ToolKind::Search | ToolKind::Fetch => "datastore",
        _ => "extension",
    };
    (policy == ToolTypePolicy::ByKind).then_some(by_kind)
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
            assert_eq!(tool_type(&kind, ToolTypePolicy::ByKind), Some(expected), "{given}");
            assert_eq!(tool_type(&kind, ToolTypePolicy::Omit), None, "{given}");
        }
    }
}
