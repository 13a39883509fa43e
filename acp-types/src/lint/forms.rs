//! Checks of forms and their answers.
use super::report::Report;
use super::rule;
use super::value::{Json, is_text, push, shown, text};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};

/// Checks the schema of a form: its properties, and the list of required ones.
pub(super) fn form(
    properties: Json<'_>,
    names: Option<Json<'_>>,
    at: impl Fn(&str) -> String,
    report: &mut Report,
) {
    for name in required(names) {
        if properties.get(&name).is_none() {
            let message = format!("`{}` is not one of properties", shown(&name));
            report.add(&rule::FORM_REQUIRED, at("required"), message);
        }
    }
    for (name, member) in properties.members() {
        if is_text(member, "type", "string") && asks_for_secret(&name, member) {
            let mut pointer = at("properties");
            push(&mut pointer, &name);
            let message = format!("`{}` looks like a secret", shown(&name));
            report.add(&rule::FORM_SECRET, pointer, message);
        }
    }
}

fn required(list: Option<Json<'_>>) -> impl Iterator<Item = Cow<'_, str>> {
    list.into_iter().flat_map(Json::items).filter_map(Json::as_str)
}

/// Words that name a secret. The words of an entry have to be adjacent.
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

/// Checks name, title and format; not the description, which may warn against secrets.
fn asks_for_secret(name: &str, member: Json<'_>) -> bool {
    let title = text(member, "title");
    is_text(member, "format", "password")
        || names_secret(name)
        || title.is_some_and(|title| names_secret(&title))
}

fn names_secret(text: &str) -> bool {
    let words = words(text);
    SECRETS.iter().any(|secret| words.windows(secret.len()).any(|words| words == *secret))
}

/// Returns the words of `userAPIKey`, `user_api_key` or `User API key` in lower case.
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

/// Checks the answer to the form in `params`.
pub(super) fn answered(params: Json<'_>, result: Json<'_>, report: &mut Report) {
    if !is_text(params, "mode", "form") || !is_text(result, "action", "accept") {
        return;
    }
    let Some(schema) = params.get("requestedSchema") else { return };
    let properties = schema.get("properties").unwrap_or(Json::NULL);
    let content = result.get("content").unwrap_or(Json::NULL);
    for name in required(schema.get("required")) {
        if content.get(&name).is_none_or(Json::is_null) {
            let message = format!("the form requires `{}`", shown(&name));
            report.add(&rule::FORM_ANSWER, "/result", message);
        }
    }
    for (name, _) in content.members() {
        if properties.get(&name).is_none() {
            let mut pointer = "/result/content".to_string();
            push(&mut pointer, &name);
            let message = format!("the form does not ask for `{}`", shown(&name));
            report.add(&rule::FORM_ANSWER, pointer, message);
        }
    }
}
