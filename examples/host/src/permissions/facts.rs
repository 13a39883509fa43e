//! Facts of a tool call that rules compare: what the agent states in its messages.
use crate::permissions::command::{command_of, folders_of, is_changed, words_of_text};
use crate::permissions::input_paths::InputPaths;
use crate::permissions::json::{Fact, Json};

/// Largest number of bytes of a value. Longer values cannot be compared.
const MAX_BYTES: usize = 16 << 10;

/// Places of a tool's name in `_meta`.
const META_NAMES: [&[&str]; 3] = [&["claudeCode", "toolName"], &["toolName"], &["tool_name"]];

/// What an agent states of a tool call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Facts {
    pub(crate) name: Fact<String>,
    pub(crate) title: Fact<String>,
    pub(crate) kind: Fact<String>,
    pub(crate) command: Fact<Vec<String>>,
    pub(crate) has_input: bool,
    locations: Fact<Vec<String>>,
    diffs: Fact<Vec<String>>,
    input_paths: Fact<Vec<String>>,
    /// Whether the input has members that are not known as harmless beside paths.
    pub(crate) has_more_than_paths: bool,
    /// Whether the input may change what the command does.
    pub(crate) is_changed: bool,
    /// Folders that the command runs in; empty for that of the session.
    pub(crate) command_folders: Fact<Vec<String>>,
}

impl Facts {
    /// Adds the members of a `tool_call`, a `tool_call_update`, or the call of a permission
    /// request.
    pub(crate) fn update(&mut self, call: &Json) {
        self.name.update(tool_name(call));
        self.title.update(short_text(call.get("title")));
        self.kind.update(short_text(call.get("kind")));
        self.locations.update(call.get("locations").and_then(|it| listed_paths(it, false)));
        self.diffs.update(call.get("content").and_then(|it| listed_paths(it, true)));
        let input = call.get("rawInput");
        if input != Fact::Absent {
            self.has_input = true;
            self.is_changed = matches!(&input, Fact::Known(input) if is_changed(input, false));
            self.command_folders = input.clone().and_then(|input| bounded(folders_of(input)));
            // Facts of earlier arguments do not remain.
            self.command = Fact::Unclear;
            self.input_paths = Fact::Unclear;
            if let Fact::Known(input @ Json::Object(_)) = input {
                let found = InputPaths::of(input);
                self.command = bounded(command_of(input));
                self.input_paths = bounded(found.paths);
                self.has_more_than_paths = found.has_more;
            }
        }
    }

    /// Adds a piece of the content, in ACP v2.
    pub(crate) fn append(&mut self, content: &Json) {
        let added = listed_paths(&Json::List(vec![content.clone()]), true);
        let known = core::mem::take(&mut self.diffs);
        self.diffs = match (known, added) {
            (Fact::Absent, added) => added,
            (Fact::Known(mut paths), Fact::Known(added)) => {
                paths.extend(added);
                bounded(Fact::Known(paths))
            }
            _ => Fact::Unclear,
        };
    }

    /// Returns the facts of a request of ACP v2 about a command.
    pub(crate) fn of_command(subject: &Json) -> Self {
        let command = subject.get("command").and_then(Json::text);
        let cwd = subject.get("cwd").and_then(Json::text);
        Self {
            kind: Fact::Known("execute".to_owned()),
            command: bounded(command.and_then(|text| words_of_text(&text))),
            has_input: true,
            has_more_than_paths: true,
            command_folders: folders_of(subject),
            input_paths: bounded(cwd.and_then(|cwd| Fact::Known(vec![cwd]))),
            ..Self::default()
        }
    }

    /// Returns the facts of a request for a terminal.
    pub(crate) fn of_terminal(params: &Json) -> Self {
        let cwd = params.get("cwd").and_then(Json::text);
        Self {
            kind: Fact::Known("execute".to_owned()),
            command: bounded(command_of(params)),
            is_changed: is_changed(params, true),
            command_folders: folders_of(params),
            has_input: true,
            has_more_than_paths: true,
            input_paths: bounded(cwd.and_then(|cwd| Fact::Known(vec![cwd]))),
            ..Self::default()
        }
    }

    /// Returns the facts of a request that cannot be read, or names no call.
    pub(crate) fn unclear() -> Self {
        let name = Fact::Unclear;
        let title = Fact::Unclear;
        let kind = Fact::Unclear;
        let command = Fact::Unclear;
        let input_paths = Fact::Unclear;
        Self { name, title, kind, command, input_paths, ..Self::default() }
    }

    /// Returns whether the call changes files by a diff.
    pub(crate) fn has_diff(&self) -> bool {
        !matches!(&self.diffs, Fact::Absent) && self.diffs != Fact::Known(Vec::new())
    }

    /// Returns the lists of paths.
    pub(crate) fn paths(&self) -> [&Fact<Vec<String>>; 3] {
        [&self.locations, &self.diffs, &self.input_paths]
    }
}

fn short_text(value: Fact<&Json>) -> Fact<String> {
    let text = value.and_then(Json::text);
    text.and_then(|text| if text.len() > MAX_BYTES { Fact::Unclear } else { Fact::Known(text) })
}

fn bounded(words: Fact<Vec<String>>) -> Fact<Vec<String>> {
    words.and_then(|words| {
        let bytes = words.iter().map(|word| word.len() + size_of::<String>()).sum::<usize>();
        if bytes > MAX_BYTES { Fact::Unclear } else { Fact::Known(words) }
    })
}

fn tool_name(call: &Json) -> Fact<String> {
    let mut name = short_text(call.get("name"));
    for path in META_NAMES {
        if name != Fact::Absent {
            break;
        }
        let meta = path.iter().fold(call.get("_meta"), |at, member| match at {
            Fact::Known(object @ Json::Object(_)) => object.get(member),
            // A member of another type belongs to another program.
            Fact::Known(_) | Fact::Absent => Fact::Absent,
            Fact::Unclear => Fact::Unclear,
        });
        name = short_text(meta);
    }
    name
}

/// Returns the paths of locations, or of the diffs in a content.
fn listed_paths(list: &Json, only_diffs: bool) -> Fact<Vec<String>> {
    let Json::List(items) = list else { return Fact::Unclear };
    let mut paths = Vec::new();
    for item in items {
        if only_diffs && item.get("type") != Fact::Known(&Json::Text("diff".to_owned())) {
            continue;
        }
        // A diff of version 2 is about several files.
        let is_clear = match item.get("changes") {
            _ if !only_diffs => add_paths(item, &mut paths),
            Fact::Absent => add_paths(item, &mut paths),
            Fact::Known(Json::List(changes)) => {
                changes.iter().all(|change| add_paths(change, &mut paths))
            }
            Fact::Known(_) | Fact::Unclear => false,
        };
        if !is_clear {
            return Fact::Unclear;
        }
    }
    bounded(Fact::Known(paths))
}

/// Adds the path of a location or a change, and the earlier path of a moved or copied file. Returns
/// `false` if one cannot be read.
fn add_paths(item: &Json, paths: &mut Vec<String>) -> bool {
    let path = item.get("path");
    let old = item.get("oldPath");
    let (Fact::Known(path), old) = (path.and_then(Json::text), old.and_then(Json::text)) else {
        return false;
    };
    paths.push(path);
    match old {
        Fact::Known(old) => paths.push(old),
        Fact::Absent => {}
        Fact::Unclear => return false,
    }
    true
}
