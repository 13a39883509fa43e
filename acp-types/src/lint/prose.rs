//! Checks of single objects that the specification defines in prose, not in its schema.
use super::patch::is_absolute;
use super::report::Report;
use super::rule::Rule;
use super::value::{Json, is_text, items, push, shown};
use super::{forms, patch, rule};
use crate::base64;
use crate::v2::prompt_lifecycle::IdempotencyKey;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The check of a string.
type Check = fn(&str) -> bool;

/// String members of any type: name, rule, expected value, check.
const TEXTS: &[(&str, &Rule, &str, Check)] = &[
    ("cwd", &rule::RELATIVE_PATH, "an absolute path", is_absolute),
    ("path", &rule::RELATIVE_PATH, "an absolute path", is_absolute),
    ("oldPath", &rule::RELATIVE_PATH, "an absolute path", is_absolute),
    ("additionalDirectories", &rule::RELATIVE_PATH, "an absolute path", is_absolute),
];

/// String members of a certain type: type, name, rule, expected value, check.
const TEXTS_OF: &[(&str, &str, &Rule, &str, Check)] = &[
    ("ImageContent", "data", &rule::BASE64, "base64", is_base64),
    ("AudioContent", "data", &rule::BASE64, "base64", is_base64),
    ("BlobResourceContents", "blob", &rule::BASE64, "base64", is_base64),
    ("TerminalOutput", "data", &rule::BASE64, "base64", is_base64),
    ("TerminalOutputChunk", "data", &rule::BASE64, "base64", is_base64),
    ("Cost", "currency", &rule::CURRENCY, "three capital letters", is_currency),
    ("AvailableCommand", "name", &rule::COMMAND_NAME, "a name", is_there),
    ("Command", "name", &rule::COMMAND_NAME, "a name without white space", is_command),
    ("Skill", "name", &rule::COMMAND_NAME, "a name without white space", is_command),
    ("PromptRequest", "idempotencyKey", &rule::PROMPT_KEY, "1 to 255 characters", is_key),
    ("Notice", "title", &rule::EMPTY_TITLE, "a title", is_there),
    ("Icon", "src", &rule::ICON_SOURCE, "`https:` or `data:`", is_icon),
    ("Icon", "sizes", &rule::ICON_SIZE, "`any`, or a size like `48x48`", is_size),
    ("EnvVariable", "name", &rule::ENV_NAME, "a name without `=`", is_variable),
];

/// Lists of named items: the list, and the member with the name of an item.
const NAMED: &[(&str, &[&str])] = &[
    ("availableCommands", &["name"]),
    ("availableModes", &["id"]),
    ("authMethods", &["id", "methodId"]),
    ("configOptions", &["id", "configId"]),
    ("env", &["name"]),
    ("options", &["optionId", "value", "group", "groupId"]),
];

/// Names of checked members, in addition to those of the tables.
const NAMES: &[&str] = &[
    "line",
    "updatedAt",
    "lastModified",
    "priority",
    "prompt",
    "enum",
    "oneOf",
    "content",
    "currentModeId",
    "currentValue",
    "properties",
    "required",
    "format",
    "text",
    "command",
    "pattern",
];

/// The checked members of an object, so that it is read once.
struct Members<'a>(Vec<(&'static str, Json<'a>)>);

impl<'a> Members<'a> {
    fn read(object: Json<'a>) -> Self {
        let known_name = |name: &str| {
            let names = TEXTS.iter().map(|row| row.0).chain(TEXTS_OF.iter().map(|row| row.1));
            let names = names.chain(NAMED.iter().map(|row| row.0)).chain(NAMES.iter().copied());
            names.into_iter().find(|known| *known == name)
        };
        let mut members: Vec<(&'static str, Json<'a>)> = Vec::new();
        for (name, value) in object.members() {
            if let Some(name) = known_name(&name)
                && members.iter().all(|(known, _)| *known != name)
            {
                members.push((name, value));
            }
        }
        Self(members)
    }

    fn get(&self, name: &str) -> Option<Json<'a>> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// Checks an object of `types`.
pub(super) fn look_at(
    types: &[&str],
    object: Json<'_>,
    version: u16,
    pointer: &str,
    report: &mut Report,
) {
    // The meaning of objects outside of the protocol is unknown.
    if types.is_empty() {
        return;
    }
    let object = &Members::read(object);
    let is = |name: &str| types.contains(&name);
    let at = |name: &str| {
        let mut pointer = pointer.to_string();
        push(&mut pointer, name);
        pointer
    };
    for (name, rule, expected, check) in TEXTS {
        for _ in texts(object.get(name)).filter(|text| !check(text)) {
            report.add(rule, at(name), format!("expected {expected}"));
        }
    }
    for (of, name, rule, expected, check) in TEXTS_OF {
        for _ in texts(object.get(name).filter(|_| is(of))).filter(|text| !check(text)) {
            report.add(rule, at(name), format!("expected {expected}"));
        }
    }
    if object.get("line").and_then(Json::as_u64) == Some(0) {
        report.add(&rule::LINE_ZERO, at("line"), "expected a line from 1");
    }
    for name in ["updatedAt", "lastModified"] {
        let time = object.get(name).and_then(Json::as_str);
        if time.is_some_and(|time| !is_date_time(&time, version == 2)) {
            let expected = if version == 2 { "a time (RFC 3339)" } else { "a time (ISO 8601)" };
            report.add(&rule::DATE_TIME, at(name), format!("expected {expected}"));
        }
    }
    let priority = object.get("priority").and_then(Json::as_f64).filter(|_| is("Annotations"));
    if priority.is_some_and(|priority| !(0.0..=1.0).contains(&priority)) {
        report.add(&rule::PRIORITY, at("priority"), "expected a number from 0 to 1");
    }
    for (name, keys) in NAMED {
        if let Some(list) = object.get(name) {
            duplicates(list, keys, &at(name), report);
        }
    }
    empty_lists(types, object, at, report);
    current_values(types, object, at, report);
    system_prompt(types, object, at, report);
    if is("ElicitationSchema") {
        let properties = object.get("properties").unwrap_or(Json::NULL);
        forms::form(properties, object.get("required"), at, report);
    }
    if is("AuthMethodTerminal") && version == 1 {
        let variables = object.get("env").unwrap_or(Json::NULL).members();
        for (name, _) in variables.filter(|(name, _)| !is_variable(name)) {
            let mut pointer = at("env");
            push(&mut pointer, &name);
            report.add(&rule::ENV_NAME, pointer, "expected a name without `=`");
        }
    }
    if is("PlanFile") {
        report.add(&rule::REMOVED_PART, pointer, "a plan in a file is now one with a `path`");
    }
    if is("StringPropertySchema") && version == 2 && object.get("pattern").is_some() {
        report.add(&rule::REMOVED_PART, at("pattern"), "version 2 has no patterns");
    }
    if is("PromptSuggestion") {
        let is_blank = |block: Json<'_>| {
            let text = block.get("text").and_then(Json::as_str);
            is_text(block, "type", "text") && text.is_some_and(|text| text.trim().is_empty())
        };
        let prompt = object.get("prompt").filter(|prompt| prompt.is_array());
        if prompt.is_some_and(|prompt| prompt.items().all(is_blank)) {
            report.add(&rule::EMPTY_SUGGESTION, at("prompt"), "expected content");
        }
    }
    if is("DiffPatch")
        && object.get("format").is_some_and(|format| format.is_str("git_patch"))
        && let Some(text) = object.get("text").and_then(Json::as_str)
    {
        patch::look_at(&text, &at("text"), report);
    }
    if version == 2 && is("McpServerStdio") {
        let command = object.get("command").and_then(Json::as_str);
        if command.is_some_and(|command| !is_absolute(&command)) {
            report.add(&rule::RELATIVE_PATH, at("command"), "expected an absolute path");
        }
    }
}

/// Returns a string, or the strings of a list.
fn texts(value: Option<Json<'_>>) -> impl Iterator<Item = Cow<'_, str>> {
    let items = value.into_iter().flat_map(Json::items);
    value.and_then(Json::as_str).into_iter().chain(items.filter_map(Json::as_str))
}

fn duplicates(list: Json<'_>, keys: &[&str], pointer: &str, report: &mut Report) {
    let mut seen = BTreeSet::new();
    for (index, item) in list.items().enumerate() {
        let named = keys.iter().find_map(|key| Some((*key, item.get(key)?.as_str()?)));
        if let Some((key, name)) = named
            && !seen.insert((key, name.clone()))
        {
            let message = format!("`{}` is repeated", shown(&name));
            report.add(&rule::DUPLICATE_ID, format!("{pointer}/{index}/{key}"), message);
        }
    }
}

fn empty_lists(
    types: &[&str],
    object: &Members<'_>,
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
        let is_empty = |list: Json<'_>| list.is_array() && list.items().next().is_none();
        if types.contains(&of) && object.get(list).is_some_and(is_empty) {
            report.add(rule, at(list), "expected at least one");
        }
    }
}

fn current_values(
    types: &[&str],
    object: &Members<'_>,
    at: impl Fn(&str) -> String,
    report: &mut Report,
) {
    for (of, current, list, key) in [
        ("SessionModeState", "currentModeId", "availableModes", "id"),
        ("SessionConfigSelect", "currentValue", "options", "value"),
    ] {
        let is_list = |list: &Json<'_>| types.contains(&of) && list.is_array();
        let Some(list_of) = object.get(list).filter(is_list) else { continue };
        let Some(name) = object.get(current).and_then(Json::as_str) else { continue };
        let mut values = list_of.items().flat_map(|item| items(item, "options").chain([item]));
        if !values.any(|item| is_text(item, key, &name)) {
            let message = format!("`{}` is not one of {list}", shown(&name));
            report.add(&rule::CURRENT_VALUE, at(current), message);
        }
    }
}

fn system_prompt(
    types: &[&str],
    object: &Members<'_>,
    at: impl Fn(&str) -> String,
    report: &mut Report,
) {
    let blocks = object.get("content").filter(|_| types.contains(&"SystemPrompt"));
    for (index, block) in blocks.into_iter().flat_map(Json::items).enumerate() {
        let kind = block.get("type").filter(|kind| kind.is_string());
        if kind.is_some_and(|kind| !kind.is_str("text")) {
            let pointer = format!("{}/{index}", at("content"));
            report.add(&rule::SYSTEM_PROMPT, pointer, "expected text");
        }
    }
}

fn is_base64(text: &str) -> bool {
    base64::decode(text).is_some()
}

fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn is_command(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

fn is_key(text: &str) -> bool {
    IdempotencyKey::new(text).is_some()
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

/// Checks for RFC 3339, such as `2026-11-20T10:00:00.5+01:00`, or without a zone ISO 8601.
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
