//! Forms, and answers to them.
use super::report::Report;
use super::rule;
use super::value::{push, shown};
use alloc::format;
use alloc::string::{String, ToString};
use serde_json::{Map, Value};

/// Looks at the schema of a form.
pub(super) fn form(object: &Map<String, Value>, at: impl Fn(&str) -> String, report: &mut Report) {
    let members = object.get("properties").and_then(Value::as_object);
    for name in required(object.get("required")) {
        if !members.is_some_and(|members| members.contains_key(name)) {
            let message = format!("`{}` is not one of properties", shown(name));
            report.add(&rule::FORM_REQUIRED, at("required"), message);
        }
    }
    for (name, member) in members.into_iter().flatten() {
        if member.get("type").and_then(Value::as_str) == Some("string")
            && asks_for_secret(name, member)
        {
            let mut pointer = at("properties");
            push(&mut pointer, name);
            let message = format!("`{}` looks like a secret", shown(name));
            report.add(&rule::FORM_SECRET, pointer, message);
        }
    }
}

fn required(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Words that name a secret. All words of an entry have to follow each other.
const SECRETS: &[&[&str]] = &[
    &["password"],
    &["passwd"],
    &["passphrase"],
    &["secret"],
    &["api", "key"],
    &["apikey"],
    &["private", "key"],
    &["access", "token"],
    &["auth", "token"],
    &["credit", "card"],
    &["cvv"],
];

/// By its name, its title or its format; not by its description, which may say what not to write.
fn asks_for_secret(name: &str, member: &Value) -> bool {
    let text = |key| member.get(key).and_then(Value::as_str).unwrap_or_default();
    text("format") == "password" || [name, text("title")].iter().any(|text| names_secret(text))
}

fn names_secret(text: &str) -> bool {
    let words = words(text);
    SECRETS.iter().any(|secret| words.windows(secret.len()).any(|words| words == *secret))
}

/// The words of `userAPIKey`, `user_api_key` or `User API key`, in small letters.
fn words(text: &str) -> alloc::vec::Vec<String> {
    let mut words = alloc::vec![String::new()];
    let mut was = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let ends_word = letter.is_uppercase()
            && (was.is_lowercase() || letters.peek().is_some_and(|next| next.is_lowercase()));
        if (ends_word || !letter.is_alphanumeric())
            && words.last().is_some_and(|word| !word.is_empty())
        {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        was = letter;
    }
    words
}

/// Looks at the answer to a form that was asked with `params`.
pub(super) fn answered(params: &Value, result: &Value, report: &mut Report) {
    if params.get("mode").and_then(Value::as_str) != Some("form")
        || result.get("action").and_then(Value::as_str) != Some("accept")
    {
        return;
    }
    let Some(schema) = params.get("requestedSchema") else { return };
    let asked = schema.get("properties").and_then(Value::as_object);
    let content = result.get("content").and_then(Value::as_object);
    for name in required(schema.get("required")) {
        let value = content.and_then(|content| content.get(name));
        if value.is_none_or(Value::is_null) {
            let message = format!("the form requires `{}`", shown(name));
            report.add(&rule::FORM_ANSWER, "/result", message);
        }
    }
    for name in content.into_iter().flat_map(Map::keys) {
        if !asked.is_some_and(|asked| asked.contains_key(name)) {
            let mut pointer = "/result/content".to_string();
            push(&mut pointer, name);
            let message = format!("the form does not ask for `{}`", shown(name));
            report.add(&rule::FORM_ANSWER, pointer, message);
        }
    }
}
