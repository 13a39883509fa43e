//! What the text of the specification says about a single object and its schema does not.
use super::patch::is_absolute;
use super::report::Report;
use super::rule::Rule;
use super::value::{push, shown};
use super::{forms, patch, rule};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use serde_json::{Map, Value};

/// What a text has to be.
type Check = fn(&str) -> bool;

/// Members with text, wherever they are: name, rule, what they have to be, in words, check.
const TEXTS: &[(&str, &Rule, &str, Check)] = &[
    ("cwd", &rule::RELATIVE_PATH, "an absolute path", is_absolute),
    ("path", &rule::RELATIVE_PATH, "an absolute path", is_absolute),
    ("oldPath", &rule::RELATIVE_PATH, "an absolute path", is_absolute),
    ("additionalDirectories", &rule::RELATIVE_PATH, "an absolute path", is_absolute),
];

/// Members with text of a type: type, name, rule, what they have to be, in words, check.
const TEXTS_OF: &[(&str, &str, &Rule, &str, Check)] = &[
    ("ImageContent", "data", &rule::BASE64, "base64", is_base64),
    ("AudioContent", "data", &rule::BASE64, "base64", is_base64),
    ("BlobResourceContents", "blob", &rule::BASE64, "base64", is_base64),
    ("TerminalOutput", "data", &rule::BASE64, "base64", is_base64),
    ("TerminalOutputChunk", "data", &rule::BASE64, "base64", is_base64),
    ("Cost", "currency", &rule::CURRENCY, "three capital letters", is_currency),
    ("AvailableCommand", "name", &rule::COMMAND_NAME, "a name", is_there),
    ("Command", "name", &rule::COMMAND_NAME, "a name without white space", is_command),
    ("Notice", "title", &rule::EMPTY_TITLE, "a title", is_there),
    ("Icon", "src", &rule::ICON_SOURCE, "`https:` or `data:`", is_icon),
    ("Icon", "sizes", &rule::ICON_SIZE, "`any`, or a size like `48x48`", is_size),
    ("EnvVariable", "name", &rule::ENV_NAME, "a name without `=`", is_variable),
];

/// Lists whose items have names of their own: the list, what names an item.
const NAMED: &[(&str, &[&str])] = &[
    ("availableCommands", &["name"]),
    ("availableModes", &["id"]),
    ("authMethods", &["id", "methodId"]),
    ("configOptions", &["id", "configId"]),
    ("env", &["name"]),
    ("options", &["optionId", "value", "group", "groupId"]),
];

/// Looks at an object of `types`.
pub(super) fn look_at(
    types: &[&str],
    object: &Map<String, Value>,
    version: u16,
    pointer: &str,
    report: &mut Report,
) {
    // What is not of the protocol may mean anything.
    if types.is_empty() {
        return;
    }
    let is = |name: &str| types.contains(&name);
    let at = |name: &str| {
        let mut pointer = pointer.to_string();
        push(&mut pointer, name);
        pointer
    };
    for (name, rule, expected, check) in TEXTS {
        for _ in texts(object.get(*name)).filter(|text| !check(text)) {
            report.add(rule, at(name), format!("expected {expected}"));
        }
    }
    for (of, name, rule, expected, check) in TEXTS_OF {
        for _ in texts(object.get(*name)).filter(|text| is(of) && !check(text)) {
            report.add(rule, at(name), format!("expected {expected}"));
        }
    }
    if object.get("line").and_then(Value::as_u64) == Some(0) {
        report.add(&rule::LINE_ZERO, at("line"), "expected a line from 1");
    }
    for name in ["updatedAt", "lastModified"] {
        let time = object.get(name).and_then(Value::as_str);
        if time.is_some_and(|time| !is_date_time(time, version == 2)) {
            let expected = if version == 2 { "a time (RFC 3339)" } else { "a time (ISO 8601)" };
            report.add(&rule::DATE_TIME, at(name), format!("expected {expected}"));
        }
    }
    let priority = object.get("priority").and_then(Value::as_f64).filter(|_| is("Annotations"));
    if priority.is_some_and(|priority| !(0.0..=1.0).contains(&priority)) {
        report.add(&rule::PRIORITY, at("priority"), "expected a number from 0 to 1");
    }
    for (list, keys) in NAMED {
        duplicates(object.get(*list), keys, &at(list), report);
    }
    empty_lists(types, object, at, report);
    current_values(types, object, at, report);
    system_prompt(types, object, at, report);
    if is("ElicitationSchema") {
        forms::form(object, at, report);
    }
    if is("AuthMethodTerminal") && version == 1 {
        let variables = object.get("env").and_then(Value::as_object);
        for name in variables.into_iter().flat_map(Map::keys).filter(|name| !is_variable(name)) {
            let mut pointer = at("env");
            push(&mut pointer, name);
            report.add(&rule::ENV_NAME, pointer, "expected a name without `=`");
        }
    }
    if is("DiffPatch")
        && object.get("format").and_then(Value::as_str) == Some("git_patch")
        && let Some(Value::String(text)) = object.get("text")
    {
        patch::look_at(text, &at("text"), report);
    }
    if version == 2 && is("McpServerStdio") {
        let command = object.get("command").and_then(Value::as_str);
        if command.is_some_and(|command| !is_absolute(command)) {
            report.add(&rule::RELATIVE_PATH, at("command"), "expected an absolute path");
        }
    }
}

/// A text, or a list of texts.
fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let items = value.and_then(Value::as_array).map(|items| items.as_slice()).unwrap_or_default();
    value.and_then(Value::as_str).into_iter().chain(items.iter().filter_map(Value::as_str))
}

fn duplicates(list: Option<&Value>, keys: &[&str], pointer: &str, report: &mut Report) {
    let Some(Value::Array(items)) = list else { return };
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let named = keys.iter().find_map(|key| Some((*key, item.get(key)?.as_str()?)));
        if let Some((key, name)) = named
            && !seen.insert((key, name))
        {
            let message = format!("`{}` comes twice", shown(name));
            report.add(&rule::DUPLICATE_ID, format!("{pointer}/{index}/{key}"), message);
        }
    }
}

fn empty_lists(
    types: &[&str],
    object: &Map<String, Value>,
    at: impl Fn(&str) -> String,
    report: &mut Report,
) {
    for (of, list, rule) in [
        ("RequestPermissionRequest", "options", &rule::EMPTY_OPTIONS),
        ("PromptRequest", "prompt", &rule::EMPTY_PROMPT),
        ("SessionConfigSelect", "options", &rule::EMPTY_CHOICES),
        ("SessionConfigSelectGroup", "options", &rule::EMPTY_CHOICES),
        ("StringPropertySchema", "enum", &rule::EMPTY_CHOICES),
        ("StringPropertySchema", "oneOf", &rule::EMPTY_CHOICES),
        ("StringMultiSelectItems", "enum", &rule::EMPTY_CHOICES),
        ("SystemPrompt", "content", &rule::SYSTEM_PROMPT),
    ] {
        let is_empty = |list: &Value| list.as_array().is_some_and(|list| list.is_empty());
        if types.contains(&of) && object.get(list).is_some_and(is_empty) {
            report.add(rule, at(list), "expected at least one");
        }
    }
}

fn current_values(
    types: &[&str],
    object: &Map<String, Value>,
    at: impl Fn(&str) -> String,
    report: &mut Report,
) {
    for (of, current, list, key) in [
        ("SessionModeState", "currentModeId", "availableModes", "id"),
        ("SessionConfigSelect", "currentValue", "options", "value"),
    ] {
        let Some(Value::Array(items)) = object.get(list).filter(|_| types.contains(&of)) else {
            continue;
        };
        let Some(Value::String(name)) = object.get(current) else { continue };
        let values = items.iter().flat_map(|item| {
            let inner = item.get("options").and_then(Value::as_array);
            inner.map(|items| items.as_slice()).unwrap_or_default().iter().chain([item])
        });
        if !values.into_iter().any(|item| item.get(key).is_some_and(|it| it == name.as_str())) {
            let message = format!("`{}` is not one of {list}", shown(name));
            report.add(&rule::CURRENT_VALUE, at(current), message);
        }
    }
}

fn system_prompt(
    types: &[&str],
    object: &Map<String, Value>,
    at: impl Fn(&str) -> String,
    report: &mut Report,
) {
    let Some(Value::Array(blocks)) =
        object.get("content").filter(|_| types.contains(&"SystemPrompt"))
    else {
        return;
    };
    for (index, block) in blocks.iter().enumerate() {
        if block.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "text") {
            let pointer = format!("{}/{index}", at("content"));
            report.add(&rule::SYSTEM_PROMPT, pointer, "expected text");
        }
    }
}

fn is_base64(text: &str) -> bool {
    let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    text.len().is_multiple_of(4)
        && padding <= 2
        && text.bytes().take(text.len() - padding).all(is_digit)
}

fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn is_command(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

fn is_there(text: &str) -> bool {
    !text.is_empty()
}

fn is_icon(text: &str) -> bool {
    text.starts_with("https:") || text.starts_with("data:")
}

fn is_size(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let sides = text.split_once(['x', 'X']);
    text == "any" || sides.is_some_and(|(width, height)| is_number(width) && is_number(height))
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// `2026-11-20T10:00:00.5+01:00`: RFC 3339, and without a zone ISO 8601 still.
fn is_date_time(text: &str, has_zone: bool) -> bool {
    let is_like = |text: &str, pattern: &str| {
        text.len() == pattern.len()
            && text.chars().zip(pattern.chars()).all(|(it, pattern)| match pattern {
                '0' => it.is_ascii_digit(),
                'T' => matches!(it, 'T' | 't' | ' '),
                other => it == other,
            })
    };
    let Some((date_time, rest)) = text.split_at_checked(19) else { return false };
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => {
            let zone = fraction.trim_start_matches(|it: char| it.is_ascii_digit());
            if zone.len() == fraction.len() {
                return false;
            }
            zone
        }
        None => rest,
    };
    is_like(date_time, "0000-00-00T00:00:00")
        && (zone.is_empty() && !has_zone
            || matches!(zone, "Z" | "z")
            || is_like(zone, "+00:00")
            || is_like(zone, "-00:00"))
}
