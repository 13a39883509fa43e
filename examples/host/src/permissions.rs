//! Rules that answer the permission requests of ACP agents, and refuse commands for terminals, as
//! data of a file of settings.
//!
//! ```toml
//! [[permission-rules]]
//! kind = ["read", "search"]
//! path = "**/.env*"
//! action = "reject"
//!
//! [[permission-rules]]
//! agent = "gemini"
//! kind = ["read", "edit"]
//! path = "src/**"
//! action = "allow"
//!
//! [[permission-rules]]
//! command = ["cargo test *", "git status"]
//! action = "allow"
//! ```
//!
//! The first rule that matches decides. A request that no rule matches is left to the program. A
//! [`Watcher`] takes the lines of one connection, and returns the [`Decision`] on a permission
//! request or a command for a terminal.
//!
//! # Conditions
//!
//! A rule matches if each of its conditions holds; a rule without conditions matches each request.
//! A condition with several entries holds if one entry matches.
//!
//! | condition | compared with | entry |
//! |---|---|---|
//! | `agent` | the program's name of the agent | glob |
//! | `tool` | `name` of the tool call, or the name in its `_meta` | glob |
//! | `title` | `title` of the tool call, a text of the agent or of its model | glob |
//! | `kind` | `kind` of the tool call; `other` if it is missing | a kind of ACP |
//! | `path` | the paths of the tool call, relative to the working directory of the session | glob; `*` does not match `/`, `**` does |
//! | `command` | the words of the command | words with globs; a last word `*` matches any further words |
//!
//! Paths are those of `locations`, of diffs, and of members of `rawInput` with the name of a path
//! (`path`, `file_path`, `cwd`, …), and the names of its `changes`. The command is `command`,
//! `cmd`, `script` or `commandLine` of `rawInput`, with `args` if present, or the subject of a
//! request in ACP v2. The script of `sh -c` and of other shells is compared instead of the shell.
//!
//! # Values that cannot be compared
//!
//! | value | example |
//! |---|---|
//! | a path outside of the working directory, or with `..` | `src/../../key` |
//! | a path through a symbolic link | `src/link/key` |
//! | a path with a character that tools or shells expand | `~/key`, `src/*`, `$HOME` |
//! | a path of an agent on another machine, or of a session with an unknown directory | |
//! | a command with other characters than letters, digits, space, quotes and `_-./:=,@+`, in quotes or not | `ls; rm x`, `ls && rm x`, `echo $(rm x)`, a second line |
//! | a command that begins with an assignment, or with an open quote | `PATH=. ls` |
//! | several commands in one call, repeated members, values of another type | |
//! | a command with a member that is not known as harmless, for a rule that allows | `env`, `stdin`, another `cwd` than that of the session |
//! | a command in a call of another kind than `execute` and `other`, or beside a diff, for a rule that allows | `kind` `edit` with `git status` |
//! | a path with a member that is not known as harmless, for a rule that allows without a command | `command`, `url`, `recursive` |
//!
//! A rule with action `allow` does not match such a value. For a rule with another action the
//! request is put to the user, since a match cannot be excluded.
//!
//! | | `allow` | `ask`, `reject` |
//! |---|---|---|
//! | several paths | all have to match | one has to match |
//! | a folder that is deleted or moved | the folder has to match | the paths that can be below it match too; those of `**` are put to the user |
//! | no path, in a call that reads or changes files | does not match | is put to the user |
//! | no command, in a call of kind `execute`, or of kind `other` without arguments | does not match | is put to the user |
//! | first word of a command | as written | also without its folder: `/bin/rm` matches `rm` |
//! | letters of globs | case-sensitive | case-insensitive |
//!
//! # Limits
//!
//! Rules compare what the agent states. They do not confine an agent that states something else, or
//! that does not request permission; a sandbox does. A rule with a command does not look at the
//! paths in its words, nor at programs that start others (`env`, `sudo`, `xargs`): allow whole
//! commands, and use `*` only where any further word is harmless. A rule with a path alone allows
//! no call with a command, and a search of a folder reads the files below it. A file can be
//! replaced by a link between the decision and its use. A title is a text of the agent or its
//! model; a rule that allows should not depend on it.
//!
//! # Answers
//!
//! | action | answer: the first option of kind | otherwise of kind | otherwise |
//! |---|---|---|---|
//! | `allow` | `allow_once` | `allow_always` | the user is asked |
//! | `reject` | `reject_once` | `reject_always` | `cancelled` |
//! | `ask` | the user is asked | | |
//!
//! # Commands for terminals
//!
//! A command that an agent gives to the client by `terminal/create` is compared like a tool call of
//! kind `execute`, with `command` and `args` as its command and `cwd` as its path; it has no name
//! and no title. `reject` answers the request with an error that has the number of the rule. With
//! `allow` and `ask`, and without a rule, the command runs as without rules: the protocol has no
//! question here, and an agent that asks does so by a permission request before. A command that
//! cannot be compared runs as well.
mod calls;
mod command;
mod decision;
mod facts;
mod file;
mod input_paths;
mod json;
mod path;
mod rule;
mod rules;
mod watcher;

pub use decision::{Decision, RULE_ACTION, RULE_INDEX};
pub use file::{FileError, read_rules};
pub use rule::{Action, CommandPattern, Entries, Kind, NameGlob, PathGlob, Rule};
pub use rules::{Files, Rules};
pub use watcher::{MAX_CALLS, MAX_SESSIONS, Watcher};
