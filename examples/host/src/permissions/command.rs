//! Commands as words, and patterns of them.
use crate::permissions::json::{Fact, Json};

/// Members of `rawInput` with a command.
const COMMAND_MEMBERS: [&str; 5] = ["command", "cmd", "script", "commandLine", "command_line"];

/// Member of `rawInput` with the arguments of a command.
const ARGUMENTS: &str = "args";

/// Member of `rawInput` with several commands, which are not compared.
const COMMANDS: &str = "commands";

/// Members of any call with an id or a reason, which change nothing, without `_` and `-`, in lower
/// case.
pub(crate) const REMARKS: [&str; 6] =
    ["callid", "description", "explanation", "justification", "reason", "turnid"];

/// Further members beside a command that do not change what it does, without `_` and `-`, in lower
/// case.
const HARMLESS_MEMBERS: [&str; 8] = [
    "background",
    "isbackground",
    "maxoutputtokens",
    "runinbackground",
    "timeout",
    "timeoutms",
    "timeoutseconds",
    "yieldtimems",
];

/// Member with the parts of the command, as the agent has read it.
const PARSED_COMMAND: &str = "parsedcmd";

/// Further harmless members of a request for a terminal.
const TERMINAL_MEMBERS: [&str; 2] = ["sessionid", "outputbytelimit"];

/// Members with the folder of a command, in the same form. The working directory of the session is
/// harmless.
const FOLDER_MEMBERS: [&str; 4] = ["cwd", "directory", "workdir", "workingdirectory"];

/// Shells. Their script is compared instead of the shell.
const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "ash"];

/// Folders of the shells that the system has. Another program can have any name.
const SHELL_FOLDERS: [&str; 4] = ["", "/bin/", "/usr/bin/", "/usr/local/bin/"];

/// Further programs that read a script with an option.
const OTHER_SHELLS: [&str; 4] = ["fish", "csh", "tcsh", "nu"];

/// Programs with arguments that are commands.
const COMMAND_PROGRAMS: [&str; 4] = ["busybox", "cmd", "powershell", "pwsh"];

/// Options of a shell with which its next argument is a script.
const SCRIPT_OPTIONS: [&str; 3] = ["-c", "-lc", "-ec"];

/// Largest number of shells that are unwrapped.
const MAX_SHELLS: usize = 3;

/// The last word of a pattern that matches any further words.
pub(crate) const ANY_WORDS: &str = "*";

/// Reads the command of a call's input.
pub(crate) fn command_of(input: &Json) -> Fact<Vec<String>> {
    let given = COMMAND_MEMBERS.map(|name| input.get(name));
    let mut given = given.into_iter().filter(|command| *command != Fact::Absent);
    let command = match (given.next(), given.next()) {
        (None, _) if input.get(COMMANDS) == Fact::Absent => return Fact::Absent,
        (None, _) => return Fact::Unclear,
        (Some(command), None) => command,
        _ => return Fact::Unclear,
    };
    if input.get(COMMANDS) != Fact::Absent {
        return Fact::Unclear;
    }
    let arguments = input.get(ARGUMENTS).and_then(Json::texts);
    match (command, arguments) {
        (Fact::Known(Json::List(words)), Fact::Absent) => {
            Json::List(words.clone()).texts().and_then(words_of_list)
        }
        (Fact::Known(Json::Text(text)), Fact::Absent) => words_of_text(text),
        (Fact::Known(Json::Text(program)), Fact::Known(mut words)) => {
            words.insert(0, program.clone());
            words_of_list(words)
        }
        _ => Fact::Unclear,
    }
}

/// Returns whether the input of a call has members beside the command that may change what it does:
/// each member that is not known as harmless, such as an environment, the input of the program, or
/// further rights.
pub(crate) fn is_changed(input: &Json, is_terminal: bool) -> bool {
    let Json::Object(members) = input else { return true };
    let is_empty = |value: &Json| match value {
        Json::Null => true,
        Json::List(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    };
    let is_harmless = |name: &str, value: &Json| {
        let plain = letters(name);
        let is_plain = matches!(value, Json::Null | Json::Text(_) | Json::Other);
        COMMAND_MEMBERS.contains(&name)
            || name == ARGUMENTS
            || plain == PARSED_COMMAND
            || (is_plain && REMARKS.contains(&&*plain))
            || (is_plain && HARMLESS_MEMBERS.contains(&&*plain))
            || FOLDER_MEMBERS.contains(&&*plain)
            || (is_terminal && TERMINAL_MEMBERS.contains(&&*plain))
    };
    members.iter().any(|(name, value)| !is_harmless(name, value) && !is_empty(value))
}

/// Returns the folders of a command.
pub(crate) fn folders_of(input: &Json) -> Fact<Vec<String>> {
    let Json::Object(members) = input else { return Fact::Unclear };
    let is_folder = |name: &str| FOLDER_MEMBERS.contains(&&*letters(name));
    let given = members.iter().filter(|(name, value)| is_folder(name) && *value != Json::Null);
    let mut folders = Vec::new();
    for (_, value) in given {
        let Json::Text(folder) = value else { return Fact::Unclear };
        folders.push(folder.clone());
    }
    Fact::Known(folders)
}

/// Returns the name of a member without `_` and `-`, in lower case.
pub(crate) fn letters(member: &str) -> String {
    let letters = member.chars().filter(|c| !matches!(c, '_' | '-'));
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

/// Reads a command for a shell.
pub(crate) fn words_of_text(text: &str) -> Fact<Vec<String>> {
    let words = split(text).and_then(|words| unwrapped(words, MAX_SHELLS));
    words.map_or(Fact::Unclear, Fact::Known)
}

fn words_of_list(words: Vec<String>) -> Fact<Vec<String>> {
    unwrapped(words, MAX_SHELLS).map_or(Fact::Unclear, Fact::Known)
}

/// Replaces a shell with its script. Returns `None` for words that another program could read in
/// another way.
fn unwrapped(words: Vec<String>, shells: usize) -> Option<Vec<String>> {
    let (program, arguments) = words.split_first()?;
    let (folder, name) = program.split_at(program.len() - file_name(program).len());
    let is_shell = SHELLS.contains(&name) && SHELL_FOLDERS.contains(&folder);
    match arguments {
        [option, script] if is_shell && SCRIPT_OPTIONS.contains(&&**option) => {
            unwrapped(split(script)?, shells.checked_sub(1)?)
        }
        [first, ..] if may_run(name, first) => None,
        _ if program.contains('=') || program.is_empty() => None,
        _ => words.iter().all(|word| word.chars().all(is_plain)).then_some(words),
    }
}

/// Returns whether a program may run a command that its arguments contain, in a way that is not
/// known.
fn may_run(name: &str, argument: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let is_shell = SHELLS.contains(&name) || OTHER_SHELLS.contains(&name);
    COMMAND_PROGRAMS.contains(&name) || (is_shell && argument.starts_with(['-', '+']))
}

/// Returns the words of a simple command.
fn split(text: &str) -> Option<Vec<String>> {
    let is_readable = text.chars().all(|c| is_plain(c) || c == '\'' || c == '"');
    let words = is_readable.then(|| shlex::split(text)).flatten()?;
    (!words.is_empty()).then_some(words)
}

/// Returns whether each shell reads a character as itself.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || " _-./:=,@+".contains(c)
}

/// Returns a program without its folder.
pub(crate) fn file_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
