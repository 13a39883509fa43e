//! Turns of real agents, as recorded on the wire; see `fixtures/v1/recorded/README.md`.
use crate::replay::{How, TranslatedSession, messages, replay};
use crate::script::verify;
use agui_types::event::Event;
use agui_types::profile::Profile;
use agui_types::reduce::Reducer;
use serde_json::Value;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Each recording translates into streams that pass the strict verifier and lose no text, for
/// clients of 1.0 and of 0.x, and with the peculiarities of the agent. The responses to the agent
/// are the recorded ones. For clients of 1.0 the streams equal the stored ones.
///
/// `AGUI_BRIDGE_WRITE` writes these, for review. `AGUI_BRIDGE_RECORDINGS` adds a folder of
/// recordings.
#[test]
fn recordings_translate() -> Result<(), Box<dyn Error>> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1/recorded");
    let mut folders = vec![ours];
    folders.extend(std::env::var_os("AGUI_BRIDGE_RECORDINGS").map(PathBuf::from));
    let mut translated = 0;
    while let Some(folder) = folders.pop() {
        for file in fs::read_dir(folder)? {
            let path = file?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                translate(&path)?;
                translated += 1;
            }
        }
    }
    assert!(translated >= 100, "only {translated} recordings");
    Ok(())
}

fn translate(path: &Path) -> Result<(), Box<dyn Error>> {
    let shown = path.display();
    let messages = messages(&fs::read_to_string(path)?);
    let mut written = String::new();
    for how in [How::Plain(Profile::V1), How::Plain(Profile::Legacy), How::Known(Profile::V1)] {
        println!("{shown} {how:?}");
        let (How::Plain(profile) | How::Known(profile)) = how;
        for session in replay(&messages, how) {
            let events: Vec<Value> =
                session.events.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
            verify(profile, &events);
            assert_eq!(spoken(&events), session.said, "{shown}");
            if how == How::Plain(Profile::V1) {
                show(&session, &mut written)?;
            }
        }
    }
    let expected = path.with_extension("txt");
    if std::env::var_os("AGUI_BRIDGE_WRITE").is_some() {
        fs::write(&expected, &written)?;
    }
    let expected = fs::read_to_string(&expected)?;
    for (number, (given, expected)) in written.lines().zip(expected.lines()).enumerate() {
        assert_eq!(given, expected, "{shown}, line {}", number + 1);
    }
    assert_eq!(written, expected, "{shown}");
    Ok(())
}

/// Returns the text of the agent's messages.
fn spoken(events: &[Value]) -> String {
    let is_agents =
        |start: &&Value| start["type"] == "TEXT_MESSAGE_START" && start["role"] == "assistant";
    let messages: Vec<_> =
        events.iter().filter(is_agents).map(|start| &start["messageId"]).collect();
    let content = events.iter().filter(|event| {
        event["type"] == "TEXT_MESSAGE_CONTENT" && messages.contains(&&event["messageId"])
    });
    content.filter_map(|event| event["delta"].as_str()).collect()
}

/// Writes one line for each event, with repeated and continued events joined, and the final
/// messages.
fn show(session: &TranslatedSession, out: &mut String) -> Result<(), Box<dyn Error>> {
    writeln!(out, "session {}", session.session)?;
    let mut reducer = Reducer::new();
    let mut last: Option<(Event, String, usize)> = None;
    for event in &session.events {
        let _ = reducer.handle(event);
        let (event, delta) = apart(event.clone());
        match &mut last {
            Some((same, joined, count)) if *same == event => {
                joined.push_str(&delta);
                *count += 1;
            }
            _ => {
                write_event(last.take(), out)?;
                last = Some((event, delta, 1));
            }
        }
    }
    write_event(last, out)?;
    writeln!(out, "messages")?;
    for message in reducer.messages() {
        writeln!(out, "  {}", serde_json::to_string(message)?)?;
    }
    Ok(())
}

/// Separates an event from its text.
fn apart(mut event: Event) -> (Event, String) {
    let text = delta(&mut event).map(std::mem::take).unwrap_or_default();
    (event, text)
}

fn delta(event: &mut Event) -> Option<&mut String> {
    match event {
        Event::TextMessageContent(event) => Some(&mut event.delta),
        Event::ReasoningMessageContent(event) => Some(&mut event.delta),
        Event::ToolCallArgs(event) => Some(&mut event.delta),
        _ => None,
    }
}

fn write_event(
    last: Option<(Event, String, usize)>,
    out: &mut String,
) -> Result<(), Box<dyn Error>> {
    let Some((mut event, joined, count)) = last else { return Ok(()) };
    if let Some(delta) = delta(&mut event) {
        *delta = joined;
    }
    let times = if count > 1 { format!("{count} times ") } else { String::new() };
    writeln!(out, "  {times}{}", serde_json::to_string(&event)?)?;
    Ok(())
}
