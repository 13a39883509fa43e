//! The section of a message that carries a context.
use super::problem::ContextProblem;
use super::{ContextLimits, LATER_NAME, ModelContext, NAME, json};
use alloc::string::String;
use jsonrpc_core::wire::Raw;
use serde_json::value::RawValue;

/// Classification of the last line of a message that starts with a marker.
#[derive(Debug)]
pub(super) enum Section {
    /// A context, `None` if it is empty or `null`. The message ends at `end`.
    Context { end: usize, context: Option<ModelContext> },
    /// A section of an unsupported media type. The message ends at `end`.
    Unsupported { end: usize },
    /// Not a section. The message is unchanged.
    Bad(ContextProblem),
}

/// Finds the section of a message.
pub(super) fn find(message: &str, limits: &ContextLimits) -> Option<Section> {
    let (start, after_marker) = last_marker(message)?;
    let (header, body) = after_marker.split_once('\n').unwrap_or((after_marker, ""));
    let is_crlf = header.ends_with('\r');
    let end = without_separator(message, start, is_crlf);
    Some(match media_type(header) {
        None => Section::Bad(ContextProblem::MalformedHeader),
        Some(MediaType::Other) => Section::Unsupported { end },
        Some(MediaType::Json) => match read(body, limits) {
            Ok(context) => Section::Context { end, context },
            Err(problem) => Section::Bad(problem),
        },
    })
}

/// Returns the text with every marker broken, so that no reader takes it for a section. Returns
/// `None` if there is no marker.
pub(super) fn neutralise(message: &str) -> Option<String> {
    let is_there = [NAME, LATER_NAME].iter().any(|name| find_marker(message, name).is_some());
    is_there.then(|| {
        [NAME, LATER_NAME].iter().fold(String::from(message), |message, name| {
            let marker = alloc::format!("--{name}:");
            let broken = alloc::format!("-- {name}:");
            message.replace(&marker, &broken)
        })
    })
}

fn find_marker(message: &str, name: &str) -> Option<usize> {
    message.match_indices(name).map(|(at, _)| at).find(|&at| {
        let before = message.get(..at).is_some_and(|before| before.ends_with("--"));
        before && message.get(at + name.len()..).is_some_and(|after| after.starts_with(':'))
    })
}

/// Finds the last line that starts with a marker. Returns its offset and the rest of the line.
fn last_marker(message: &str) -> Option<(usize, &str)> {
    let starts = message.rmatch_indices('\n').map(|(at, _)| at + 1).chain([0]);
    starts.into_iter().find_map(|start| {
        let line = message.get(start..)?;
        let line = line.strip_prefix('\r').unwrap_or(line);
        let rest = line.strip_prefix("--")?;
        let rest = [NAME, LATER_NAME].iter().find_map(|name| rest.strip_prefix(name))?;
        Some((start, rest.strip_prefix(':')?))
    })
}

/// Returns the end of the message, before the line breaks (two at most) that separate the section.
fn without_separator(message: &str, start: usize, is_crlf: bool) -> usize {
    let mut kept = message.get(..start).unwrap_or_default();
    for _ in 0..2 {
        let Some(rest) = kept.strip_suffix('\n') else { break };
        kept = if is_crlf { rest.strip_suffix('\r').unwrap_or(rest) } else { rest };
    }
    kept.len()
}

enum MediaType {
    Json,
    Other,
}

/// Parses the header. Returns `None` if it has no media type.
fn media_type(header: &str) -> Option<MediaType> {
    let mut parts = header.split(';').map(str::trim);
    let (main, sub) = parts.next()?.split_once('/')?;
    let is_token = |text: &str| {
        let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
        !text.is_empty() && text.bytes().all(is_token_byte)
    };
    if !is_token(main) || !is_token(sub) {
        return None;
    }
    let is_json = main.eq_ignore_ascii_case("application") && sub.eq_ignore_ascii_case("json");
    let is_utf8 = |charset: &str| {
        let charset = charset.trim_matches('"');
        charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8")
    };
    let mut charsets = parts
        .filter_map(|parameter| parameter.split_once('='))
        .filter(|(name, _)| name.trim_end().eq_ignore_ascii_case("charset"));
    let is_readable = is_json && charsets.all(|(_, charset)| is_utf8(charset.trim_start()));
    Some(if is_readable { MediaType::Json } else { MediaType::Other })
}

/// Parses the body of the section.
fn read(body: &str, limits: &ContextLimits) -> Result<Option<ModelContext>, ContextProblem> {
    let text = body.trim_matches(is_json_space);
    check(text, limits)?;
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let value = values.next().and_then(Result::ok).ok_or(ContextProblem::InvalidJson)?;
    if !text.get(values.byte_offset()..).is_some_and(str::is_empty) {
        return Err(ContextProblem::TrailingText);
    }
    read_value(value.into())
}

fn is_json_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

/// Checks size and depth of a text before it is parsed.
pub(super) fn check(text: &str, limits: &ContextLimits) -> Result<(), ContextProblem> {
    if text.len() > limits.bytes {
        return Err(ContextProblem::TooLarge);
    }
    if json::depth(text) > limits.depth {
        return Err(ContextProblem::TooDeep);
    }
    Ok(())
}

/// Converts a JSON value into a context; `None` if it is `null` or empty.
pub(super) fn read_value(value: Raw) -> Result<Option<ModelContext>, ContextProblem> {
    if value.as_str() == "null" {
        return Ok(None);
    }
    let context = ModelContext::from_raw(value).map_err(|_| ContextProblem::NotAnObject)?;
    Ok(Some(context).filter(|context| !context.is_empty()))
}
