//! Every target has a dictionary with the words of its protocol.
use acp_types::methods;
use agui_types::event::Event;
use agui_types::proto::{self, DecodeError, Frame};
use mcp_bridge::mcp;
use spanwire_fuzz::TARGETS;
use std::collections::BTreeSet;
use std::error::Error;
use std::process::Command;

/// The longest word that libFuzzer takes.
const MAX_WORD: usize = 64;

fn run(script: &str, argument: &str) -> Result<String, Box<dyn Error>> {
    let path = format!("{}/{script}", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(path).arg(argument).output()?;
    assert!(output.status.success(), "{script} {argument}: {output:?}");
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the words of a target's dictionary.
fn dictionary(target: &str) -> Result<BTreeSet<Vec<u8>>, Box<dyn Error>> {
    let lines = run("dictionary", target)?;
    lines.lines().map(|line| word(line).ok_or_else(|| format!("{target}: {line}").into())).collect()
}

/// Decodes a line of a dictionary: a word in quotes, with `\"`, `\\` and `\xAB` as escapes.
fn word(line: &str) -> Option<Vec<u8>> {
    let mut left = line.strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    let mut word = Vec::new();
    while let Some((first, behind)) = left.split_first() {
        left = behind;
        if *first == b'"' {
            return None;
        }
        if *first != b'\\' {
            word.push(*first);
        } else if let Some(behind) = left.strip_prefix(b"x") {
            let (digits, behind) = behind.split_at_checked(2)?;
            word.push(u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?);
            left = behind;
        } else {
            let (escaped, behind) = left.split_first()?;
            word.push(Some(*escaped).filter(|escaped| matches!(escaped, b'"' | b'\\'))?);
            left = behind;
        }
    }
    Some(word)
}

fn assert_names<'a>(
    target: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), Box<dyn Error>> {
    let words = dictionary(target)?;
    for name in names {
        assert!(words.contains(format!("\"{name}\"").as_bytes()), "{target} lacks {name}");
    }
    Ok(())
}

#[test]
fn script_lists_each_target() -> Result<(), Box<dyn Error>> {
    let listed = run("run", "list")?;
    assert!(listed.lines().eq(TARGETS.map(|(name, _)| name)), "{listed}");
    Ok(())
}

#[test]
fn each_target_has_words_of_limited_length() -> Result<(), Box<dyn Error>> {
    for (target, _) in TARGETS {
        let words = dictionary(target)?;
        assert!(!words.is_empty(), "{target}");
        for word in words {
            assert!((1..=MAX_WORD).contains(&word.len()), "{target}: {}", word.escape_ascii());
        }
    }
    Ok(())
}

#[test]
fn dictionaries_have_the_methods_and_members_of_acp() -> Result<(), Box<dyn Error>> {
    let methods = methods::V1.iter().chain(methods::V2).map(|method| method.name);
    for target in ["agent", "client", "convert", "conversation", "hub"] {
        assert_names(target, methods.clone())?;
        assert_names(target, ["jsonrpc", "params", "sessionId", "toolCallId", "_meta"])?;
    }
    Ok(())
}

#[test]
fn dictionaries_have_the_events_and_members_of_ag_ui() -> Result<(), Box<dyn Error>> {
    let targets = TARGETS.map(|(name, _)| name).into_iter().filter(|name| name.starts_with("agui"));
    for target in targets.filter(|name| *name != "agui_sse") {
        assert_names(target, Event::NAMES.iter().copied())?;
        assert_names(target, ["threadId", "messageId", "subagentRunId", "delta"])?;
    }
    Ok(())
}

#[test]
fn dictionaries_have_the_methods_and_members_of_mcp() -> Result<(), Box<dyn Error>> {
    for target in ["mcp_message", "mcp_context", "mcp_schema", "mcp_peers"] {
        assert_names(target, mcp::methods::all().map(|method| method.name))?;
        assert_names(target, ["jsonrpc", "inputSchema", "structuredContent", "progressToken"])?;
    }
    Ok(())
}

#[test]
fn dictionary_of_the_binary_form_has_each_event() -> Result<(), Box<dyn Error>> {
    let words = dictionary("agui_proto")?;
    let events = words.iter().filter(|word| {
        // Some events require a value. A type that contradicts the field is another error.
        matches!(proto::decode_event(word), Ok(Frame::Event(_)) | Err(DecodeError::Value(_)))
    });
    assert_eq!(events.count(), Event::NAMES.len());
    Ok(())
}
