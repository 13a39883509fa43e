//! Compatibility: events that AG-UI 1.0 has under other names.
//!
//! Producers before 0.0.46 report reasoning in five events named `THINKING_*`, without identifiers.
//! Decoding keeps these as [unknown events](crate::event::Event::Unknown); [`ThinkingConverter`]
//! replaces them with their equivalents of 1.0. The stage is the specification's compatibility
//! boundary: after the transport, before [`enforce`](crate::enforce), which would drop the events.
//! `null`s and `binary` parts of such peers are handled by decoding and enforcement.
//!
//! Spec: [Versioning, 1.0](https://ag-ui.com/spec/1.0/basic/versioning)
use crate::enforce::{Removal, RemovalKind, SchemaError};
use crate::event::Event;
use crate::id::MessageId;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{self, Extra, Raw, UnknownVariant};

/// Replaces `THINKING_*` events with `REASONING_*` events and assigns identifiers.
///
/// | event | result | identifier |
/// |---|---|---|
/// | `THINKING_START` | `REASONING_START`; its `title` is lost | a new one |
/// | `THINKING_TEXT_MESSAGE_START` | `REASONING_MESSAGE_START`, with the required role | a new one |
/// | `THINKING_TEXT_MESSAGE_CONTENT` | `REASONING_MESSAGE_CONTENT` | that of the last message start |
/// | `THINKING_TEXT_MESSAGE_END` | `REASONING_MESSAGE_END` | that of the last message start |
/// | `THINKING_END` | `REASONING_END` | that of the last span start |
/// | any other | unchanged | |
///
/// A new identifier is the prefix followed by a number. An event without a matching start receives
/// a new identifier, so that the [verifier](crate::verify) rejects it. Other members are kept.
///
/// ```
/// use agui_types::event::Event;
/// use agui_types::legacy::ThinkingConverter;
/// use agui_types::jsonrpc_core::wire;
///
/// let mut thinking = ThinkingConverter::new("r1-thought-");
/// let (event, reported) = thinking.handle(wire::decode(r#"{"type":"THINKING_START","title":"Plan"}"#)?)?;
/// assert_eq!(serde_json::to_string(&event)?, r#"{"type":"REASONING_START","messageId":"r1-thought-1"}"#);
/// let reported: Vec<_> = reported.iter().map(ToString::to_string).collect();
/// assert_eq!(reported, [r#"retired event "THINKING_START" at """#, r#"unknown member "title" at "/title""#]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Spec: [Reasoning, 1.0](https://ag-ui.com/spec/1.0/events/reasoning)
#[derive(Clone, Debug)]
pub struct ThinkingConverter {
    prefix: Box<str>,
    minted: u64,
    span: Option<MessageId>,
    message: Option<MessageId>,
}

impl ThinkingConverter {
    /// Creates the stage for the beginning of a stream. No other identifier of the thread may begin
    /// with `prefix`.
    pub fn new(prefix: impl Into<Box<str>>) -> Self {
        Self { prefix: prefix.into(), minted: 0, span: None, message: None }
    }

    /// Handles the next decoded event. Returns its equivalent of 1.0 and the reported removals.
    ///
    /// # Errors
    /// The event has a retired name, but its body is invalid.
    pub fn handle(&mut self, event: Event) -> Result<(Event, Vec<Removal>), SchemaError> {
        let Event::Unknown(retired) = &event else { return Ok((event, Vec::new())) };
        let (modern, id) = match retired.tag() {
            "THINKING_START" => ("REASONING_START", self.open(false)),
            "THINKING_END" => ("REASONING_END", self.close(false)),
            "THINKING_TEXT_MESSAGE_START" => ("REASONING_MESSAGE_START", self.open(true)),
            "THINKING_TEXT_MESSAGE_CONTENT" => {
                let id = self.message.clone();
                ("REASONING_MESSAGE_CONTENT", id.unwrap_or_else(|| self.mint()))
            }
            "THINKING_TEXT_MESSAGE_END" => ("REASONING_MESSAGE_END", self.close(true)),
            _ => return Ok((event, Vec::new())),
        };
        let (event, lost_title) = translate(retired, modern, &id)?;
        let reported = |kind, name: &str, pointer: &str| {
            let removed = String::from(pointer);
            let pointer = String::from(pointer);
            Removal { kind, name: name.into(), pointer, removed }
        };
        let mut removals = Vec::from([reported(RemovalKind::LegacyEvent, retired.tag(), "")]);
        if lost_title {
            removals.push(reported(RemovalKind::Member, "title", "/title"));
        }
        Ok((event, removals))
    }

    fn mint(&mut self) -> MessageId {
        self.minted += 1;
        MessageId::from(format!("{}{}", self.prefix, self.minted))
    }

    fn slot(&mut self, message: bool) -> &mut Option<MessageId> {
        if message { &mut self.message } else { &mut self.span }
    }

    fn open(&mut self, message: bool) -> MessageId {
        let id = self.mint();
        *self.slot(message) = Some(id.clone());
        id
    }

    fn close(&mut self, message: bool) -> MessageId {
        self.slot(message).take().unwrap_or_else(|| self.mint())
    }
}

/// Returns the event under its present name, and whether a title was lost.
fn translate(
    retired: &UnknownVariant,
    modern: &str,
    id: &MessageId,
) -> Result<(Event, bool), SchemaError> {
    let mut members = Extra::new();
    let mut set = |name: &str, value: &str| {
        // A string always has a JSON form.
        if let Ok(value) = Raw::from_value(value) {
            members.insert(name, value);
        }
    };
    set(Event::TAG, modern);
    set("messageId", id.as_str());
    if modern == "REASONING_MESSAGE_START" {
        set("role", "reasoning");
    }
    let mut lost_title = false;
    for (name, value) in retired.members().iter() {
        match name {
            "title" => lost_title = true,
            "messageId" | "role" => {}
            _ => members.insert(name, value.clone()),
        }
    }
    let text = serde_json::to_string(&members).unwrap_or_default();
    Ok((wire::decode(&text)?, lost_title))
}
