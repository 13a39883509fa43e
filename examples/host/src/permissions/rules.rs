//! The rules of one agent, in order.
use crate::permissions::command::file_name;
use crate::permissions::facts::Facts;
use crate::permissions::json::Fact;
use crate::permissions::path::below;
use crate::permissions::rule::{Action, Entries, Match, Rule};
use std::path::Path;

/// Kind of a tool call without a kind.
const OTHER: &str = "other";

/// Kind of a tool call that runs a command.
const EXECUTE: &str = "execute";

/// Kinds of tool calls that read or change files.
const FILE_KINDS: [&str; 5] = ["read", "edit", "delete", "move", "search"];

/// The place of the files that an agent uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a machine is this one or another one")]
pub enum Files {
    /// This machine: links are looked up.
    Local,
    /// Another machine: paths cannot be compared.
    Remote,
}

/// The rules of one agent, in order.
///
/// ```
/// use host::permissions::{Files, Rule, Rules};
///
/// #[derive(serde::Deserialize)]
/// #[serde(rename_all = "kebab-case")]
/// struct Settings {
///     permission_rules: Vec<Rule>,
/// }
///
/// let text = r#"
/// [[permission-rules]]
/// command = "cargo test *"
/// action = "allow"
/// "#;
/// let settings: Settings = toml::from_str(text)?;
/// assert!(!Rules::new(&settings.permission_rules, "gemini", Files::Local).is_empty());
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rules {
    /// Each with its number in the file, from 1.
    rules: Vec<(usize, Rule)>,
    files: Files,
}

/// The first rule for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuleMatch {
    pub(crate) rule: usize,
    pub(crate) action: Action,
    /// Whether a match could only not be excluded.
    pub(crate) is_unclear: bool,
}

impl Rules {
    /// Selects the rules for an agent.
    pub fn new(rules: &[Rule], agent: &str, files: Files) -> Self {
        let is_for = |rule: &Rule| {
            let is_denied = rule.action != Action::Allow;
            let matches = |names: &Entries<_>| {
                any(names, |name: &crate::permissions::NameGlob| name.matches(agent, is_denied))
            };
            rule.agent.as_ref().is_none_or(matches)
        };
        let numbered = rules.iter().enumerate().map(|(index, rule)| (index + 1, rule));
        let rules = numbered.filter(|(_, rule)| is_for(rule));
        Self { rules: rules.map(|(number, rule)| (number, rule.clone())).collect(), files }
    }

    /// Returns whether no rule is for the agent.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the first rule that matches, or that could match and does not allow.
    pub(crate) fn find(&self, facts: &Facts, cwd: Option<&Path>) -> Option<RuleMatch> {
        let cwd = cwd.filter(|_| self.files == Files::Local);
        self.rules.iter().find_map(|(number, rule)| {
            let matched = matches(rule, facts, cwd);
            let action = rule.action;
            let rule = *number;
            match (matched, action) {
                (Match::Yes, action) => Some(RuleMatch { rule, action, is_unclear: false }),
                (Match::Unclear, Action::Ask | Action::Reject) => {
                    Some(RuleMatch { rule, action: Action::Ask, is_unclear: true })
                }
                (Match::Unclear, Action::Allow) | (Match::No, _) => None,
            }
        })
    }
}

fn any<T>(entries: &Entries<T>, is_it: impl Fn(&T) -> bool) -> bool {
    entries.iter().any(is_it)
}

/// Returns whether all conditions of a rule hold.
fn matches(rule: &Rule, facts: &Facts, cwd: Option<&Path>) -> Match {
    let denies = rule.action != Action::Allow;
    let name = |entries: &Option<Entries<_>>, name: &Fact<String>| {
        let is_it = |name: &str| any_name(entries.as_ref(), name, denies);
        entries.as_ref().map(|_| of_text(name, is_it))
    };
    let kind = rule.kind.as_ref().map(|kinds| match &facts.kind {
        Fact::Absent => yes(any(kinds, |kind| kind.matches(OTHER))),
        kind => of_text(kind, |it| any(kinds, |kind| kind.matches(it))),
    });
    let conditions = [
        name(&rule.tool, &facts.name),
        name(&rule.title, &facts.title),
        kind,
        rule.path.as_ref().map(|_| of_paths(rule, facts, cwd)),
        rule.command.as_ref().map(|_| of_command(rule, facts, cwd)),
    ];
    conditions.into_iter().flatten().min().unwrap_or(Match::Yes)
}

fn any_name(
    entries: Option<&Entries<crate::permissions::NameGlob>>,
    name: &str,
    is_folded: bool,
) -> bool {
    entries.is_some_and(|entries| any(entries, |glob| glob.matches(name, is_folded)))
}

fn yes(is_it: bool) -> Match {
    if is_it { Match::Yes } else { Match::No }
}

fn of_text(fact: &Fact<String>, is_it: impl Fn(&str) -> bool) -> Match {
    match fact {
        Fact::Absent => Match::No,
        Fact::Known(text) => yes(is_it(text)),
        Fact::Unclear => Match::Unclear,
    }
}

/// Compares the paths of a call: all have to match a rule that allows, and one a rule that does
/// not.
fn of_paths(rule: &Rule, facts: &Facts, cwd: Option<&Path>) -> Match {
    let denies = rule.action != Action::Allow;
    // A condition on commands compares all other members.
    if !denies && rule.command.is_none() && facts.has_more_than_paths {
        return Match::Unclear;
    }
    let of_path = |path: &String| {
        let Some(path) = cwd.and_then(|cwd| below(cwd, path)) else { return Match::Unclear };
        let Some(globs) = &rule.path else { return Match::No };
        let removes = denies && removes_folder(facts, cwd, &path);
        let of_folder = |glob: &crate::permissions::PathGlob| {
            if removes { glob.matches_below(&path) } else { Match::No }
        };
        let of_glob = |glob: &crate::permissions::PathGlob| {
            yes(glob.matches(&path, denies)).max(of_folder(glob))
        };
        globs.iter().map(of_glob).max().unwrap_or(Match::No)
    };
    let mut compared = Vec::new();
    for paths in facts.paths() {
        match paths {
            Fact::Absent => {}
            Fact::Known(paths) => compared.extend(paths.iter().map(of_path)),
            Fact::Unclear => compared.push(Match::Unclear),
        }
    }
    let all = if denies { compared.into_iter().max() } else { compared.into_iter().min() };
    all.unwrap_or_else(|| match &facts.kind {
        Fact::Known(kind) if !FILE_KINDS.contains(&&**kind) => Match::No,
        Fact::Absent => Match::No,
        _ => Match::Unclear,
    })
}

/// Returns whether a call deletes or moves this path, which may be a folder.
fn removes_folder(facts: &Facts, cwd: Option<&Path>, path: &str) -> bool {
    let removes = match &facts.kind {
        Fact::Known(kind) => kind == "delete" || kind == "move",
        Fact::Absent | Fact::Unclear => false,
    };
    removes && !cwd.is_some_and(|cwd| cwd.join(path).is_file())
}

/// Returns whether the command of a call runs in the working directory of the session.
fn runs_in(cwd: Option<&Path>, facts: &Facts) -> bool {
    let is_it = |folder: &String| {
        cwd.is_some_and(|cwd| below(cwd, folder).is_some_and(|rest| rest.is_empty()))
    };
    match &facts.command_folders {
        Fact::Absent => true,
        Fact::Known(folders) => folders.iter().all(is_it),
        Fact::Unclear => false,
    }
}

fn of_command(rule: &Rule, facts: &Facts, cwd: Option<&Path>) -> Match {
    let Some(patterns) = &rule.command else { return Match::No };
    let denies = rule.action != Action::Allow;
    // A condition on paths compares the folder of the command.
    let is_in_place = rule.path.is_some() || runs_in(cwd, facts);
    let is_alone = match &facts.kind {
        Fact::Absent => !facts.has_diff(),
        Fact::Known(kind) => (kind == EXECUTE || kind == OTHER) && !facts.has_diff(),
        Fact::Unclear => false,
    };
    let is_certain = is_alone && is_in_place && !facts.is_changed;
    match &facts.command {
        Fact::Known(_) if !denies && !is_certain => Match::Unclear,
        Fact::Known(words) => {
            let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
            let is_it = |words: &[&str]| any(patterns, |pattern| pattern.matches(words, denies));
            let mut matches = is_it(&words);
            if let Some(program) = words.first_mut()
                && denies
            {
                *program = file_name(program);
                matches |= is_it(&words);
            }
            yes(matches)
        }
        Fact::Unclear => Match::Unclear,
        Fact::Absent => match &facts.kind {
            Fact::Known(kind) if kind == EXECUTE => Match::Unclear,
            Fact::Known(kind) if kind != OTHER => Match::No,
            Fact::Unclear => Match::Unclear,
            Fact::Known(_) | Fact::Absent if facts.has_input => Match::No,
            Fact::Known(_) | Fact::Absent => Match::Unclear,
        },
    }
}
