//! Facts of a tool call that rules compare: what the agent states in its messages.
use crate::command::{command_of, folders_of, is_changed, letters, words_of_text};
use crate::json::{Fact, Json};

/// Largest number of bytes of a value. Longer values cannot be compared.
const MAX_BYTES: usize = 16 << 10;

/// Largest depth at which members of `rawInput` with paths are searched.
const MAX_DEPTH: usize = 8;

/// Ends of the names of members with paths, without `_` and `-`, in lower case.
const PATH_ENDINGS: [&str; 10] =
    ["path", "paths", "file", "files", "filename", "dir", "directory", "folder", "cwd", "root"];

/// Names of further members with paths.
const PATH_NAMES: [&str; 9] =
    ["source", "destination", "target", "from", "to", "src", "dst", "uri", "workdir"];

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
    /// Whether the input may change what the command does.
    pub(crate) is_changed: bool,
    /// Folders that the command runs in; empty for that of the session.
    pub(crate) command_folders: Fact<Vec<String>>,
}

impl Facts {
    /// Adds the members of a `tool_call`, a `tool_call_update`, or the call of a permission request.
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
            (self.command, self.input_paths) = match input {
                Fact::Known(input @ Json::Object(_)) => {
                    (bounded(command_of(input)), bounded(input_paths(input)))
                }
                _ => (Fact::Unclear, Fact::Unclear),
            };
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
            input_paths: bounded(cwd.and_then(|cwd| Fact::Known(vec![cwd]))),
            ..Self::default()
        }
    }

    /// Returns the facts of a request that cannot be read, or names no call.
    pub(crate) fn unclear() -> Self {
        let (name, title, kind) = (Fact::Unclear, Fact::Unclear, Fact::Unclear);
        let (command, input_paths) = (Fact::Unclear, Fact::Unclear);
        Self { name, title, kind, command, input_paths, ..Self::default() }
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

/// Adds the path of a location or a change, and the earlier path of a moved or copied file. Returns `false` if one cannot be
/// read.
fn add_paths(item: &Json, paths: &mut Vec<String>) -> bool {
    let (path, old) = (item.get("path"), item.get("oldPath"));
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

/// Returns the values of members with the name of a path, and names of members that are paths.
fn input_paths(input: &Json) -> Fact<Vec<String>> {
    let mut paths = Vec::new();
    let is_clear = collect(input, false, MAX_DEPTH, &mut paths);
    if is_clear { Fact::Known(paths) } else { Fact::Unclear }
}

/// Returns `false` if a path cannot be read.
fn collect(value: &Json, is_path: bool, depth: usize, paths: &mut Vec<String>) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match value {
        Json::Text(text) if is_path => {
            paths.push(text.clone());
            true
        }
        Json::List(items) => items.iter().all(|item| collect(item, is_path, depth, paths)),
        Json::Object(members) => members.iter().enumerate().all(|(index, (name, value))| {
            if members.iter().take(index).any(|(other, _)| other == name) {
                return false;
            }
            if name.contains('/') {
                paths.push(name.clone());
            }
            collect(value, names_path(name), depth, paths)
        }),
        Json::Null | Json::Text(_) | Json::Other => true,
    }
}

fn names_path(member: &str) -> bool {
    let name = letters(member);
    PATH_NAMES.contains(&&*name) || PATH_ENDINGS.iter().any(|ending| name.ends_with(ending))
}
