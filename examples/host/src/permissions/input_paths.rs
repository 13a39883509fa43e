//! The paths in the input of a tool call, and whether it has more that may matter.
use crate::permissions::command::{REMARKS, letters};
use crate::permissions::json::{Fact, Json};

/// Largest depth of members with paths.
const MAX_DEPTH: usize = 8;

/// Ends of the names of members with paths, without `_` and `-`, in lower case.
const PATH_ENDINGS: [&str; 10] =
    ["path", "paths", "file", "files", "filename", "dir", "directory", "folder", "cwd", "root"];

/// Names of further members with paths, in the same form.
const PATH_NAMES: [&str; 11] = [
    "dest",
    "destination",
    "dst",
    "from",
    "output",
    "source",
    "src",
    "target",
    "to",
    "uri",
    "workdir",
];

/// Members that say how a part of a file is read or replaced, in the same form.
const HARMLESS_MEMBERS: [&str; 42] = [
    "aiproposedcontent",
    "autoapproved",
    "casesensitive",
    "cellid",
    "celltype",
    "content",
    "contentlength",
    "contents",
    "editmode",
    "encoding",
    "endline",
    "expectedreplacements",
    "filetext",
    "headlimit",
    "ignorecase",
    "insert",
    "insertline",
    "instruction",
    "limit",
    "line",
    "maxresults",
    "modifiedbyuser",
    "newcontent",
    "newsource",
    "newstr",
    "newstring",
    "newtext",
    "offset",
    "oldcontent",
    "oldstr",
    "oldstring",
    "oldtext",
    "outputmode",
    "pattern",
    "query",
    "regex",
    "replaceall",
    "startedatms",
    "startline",
    "text",
    "type",
    "viewrange",
];

/// Members with a diff. Its headers name files.
const DIFF_MEMBERS: [&str; 3] = ["diff", "patch", "unifieddiff"];

/// Beginnings of the lines of a diff that name a file.
const DIFF_HEADERS: [&str; 9] = [
    "--- ",
    "+++ ",
    "Index: ",
    "rename from ",
    "rename to ",
    "*** Add File: ",
    "*** Delete File: ",
    "*** Move to: ",
    "*** Update File: ",
];

/// The file of a diff that a new or a deleted file has instead of its own.
const NO_FILE: &str = "/dev/null";

/// Members with edits of a file, which have members of their own.
const EDITS: &str = "edits";

/// Members with changes by path.
const CHANGES: &str = "changes";

/// The paths in the input of a tool call.
pub(crate) struct InputPaths {
    /// The values of members with the name of a path, names of members that are paths, and the
    /// files of diffs.
    pub(crate) paths: Fact<Vec<String>>,
    /// Whether there are members that are not known as harmless.
    pub(crate) has_more: bool,
}

/// What the name of a member says of its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Path,
    Diff,
    Harmless,
    /// An object with further members.
    Members,
    /// An object with paths as names.
    Changes,
    Unknown,
}

impl Role {
    fn of(member: &str) -> Self {
        let name = letters(member);
        let name = name.as_str();
        if PATH_NAMES.contains(&name) || PATH_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            Self::Path
        } else if DIFF_MEMBERS.contains(&name) {
            Self::Diff
        } else if REMARKS.contains(&name) || HARMLESS_MEMBERS.contains(&name) {
            Self::Harmless
        } else {
            match name {
                EDITS => Self::Members,
                CHANGES => Self::Changes,
                _ => Self::Unknown,
            }
        }
    }
}

impl InputPaths {
    pub(crate) fn of(input: &Json) -> Self {
        let mut search = Search { paths: Vec::new(), has_more: false };
        let is_clear = search.collect(input, Role::Members, MAX_DEPTH);
        let paths = if is_clear { Fact::Known(search.paths) } else { Fact::Unclear };
        Self { paths, has_more: search.has_more }
    }
}

struct Search {
    paths: Vec<String>,
    has_more: bool,
}

impl Search {
    /// Returns `false` if a path cannot be read.
    fn collect(&mut self, value: &Json, role: Role, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match value {
            Json::Null => true,
            Json::Text(text) => {
                match role {
                    Role::Path => self.paths.push(text.clone()),
                    Role::Diff => self.paths.extend(files_of_diff(text)),
                    Role::Harmless => {}
                    Role::Members | Role::Changes | Role::Unknown => self.has_more = true,
                }
                true
            }
            Json::Other => {
                self.has_more |= role != Role::Harmless;
                true
            }
            Json::List(items) => items.iter().all(|item| self.collect(item, role, depth)),
            Json::Object(members) => {
                let has_members = matches!(role, Role::Path | Role::Members | Role::Changes);
                self.has_more |= !has_members && !members.is_empty();
                self.collect_members(members, role, depth)
            }
        }
    }

    fn collect_members(&mut self, members: &[(String, Json)], role: Role, depth: usize) -> bool {
        members.iter().enumerate().all(|(index, (name, value))| {
            if members.iter().take(index).any(|(other, _)| other == name) {
                return false;
            }
            let is_path = role == Role::Changes || name.contains('/');
            if is_path {
                self.paths.push(name.clone());
            }
            let role = if is_path { Role::Members } else { Role::of(name) };
            self.collect(value, role, depth)
        })
    }
}

fn files_of_diff(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| {
        let file = DIFF_HEADERS.iter().find_map(|header| line.strip_prefix(header))?;
        // A time may follow.
        let file = file.split('\t').next().unwrap_or(file).trim();
        (file != NO_FILE).then(|| file.to_owned())
    })
}
