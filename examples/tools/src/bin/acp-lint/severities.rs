//! Severities by rule, from a file.

use acp_types::lint::{Rule, Severity};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Severities that differ from those of the rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Severities(BTreeMap<&'static str, Option<Severity>>);

impl Severities {
    /// Reads a TOML file with a table `rules`: the code of a rule, and `error`, `warning`, `info`
    /// or `off`.
    ///
    /// # Errors
    /// Returns a description of a file that cannot be read, of an unknown rule, or of an unknown
    /// severity.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let at = |error: String| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
        let file: toml::Table =
            text.parse().map_err(|error: toml::de::Error| at(error.to_string()))?;
        if let Some(name) = file.keys().find(|name| *name != "rules") {
            return Err(at(format!("expected a table `rules`, got `{name}`")));
        }
        let mut severities = BTreeMap::new();
        let rules = match file.get("rules") {
            Some(rules) => rules.as_table().ok_or_else(|| at("`rules` is not a table".into()))?,
            None => return Ok(Self::default()),
        };
        for (code, severity) in rules {
            let rule = Rule::find(code)
                .ok_or_else(|| at(format!("unknown rule `{code}`; --rules lists all rules")))?;
            let severity = match severity.as_str() {
                Some("error") => Some(Severity::Error),
                Some("warning") => Some(Severity::Warning),
                Some("info") => Some(Severity::Info),
                Some("off") => None,
                _ => {
                    let expected = "expected `error`, `warning`, `info` or `off`";
                    return Err(at(format!("{code}: {expected}, got {severity}")));
                }
            };
            severities.insert(rule.code, severity);
        }
        Ok(Self(severities))
    }

    /// Returns the severity of a rule, or `None` if it is off.
    pub(crate) fn of(&self, rule: &Rule) -> Option<Severity> {
        self.0.get(rule.code).copied().unwrap_or(Some(rule.severity))
    }
}
