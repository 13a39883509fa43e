//! Finds the first problem of a stream.
use agui_types::enforce::{self, SchemaError};
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::profile;
use agui_types::proto::{self, Frame};
use agui_types::sse;
use agui_types::verify::{Rule, Verifier, Violation};
use std::collections::VecDeque;

/// The rules to apply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Strictness {
    Strict,
    Tolerant,
    Legacy,
}

impl Strictness {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Tolerant => "tolerant",
            Self::Legacy => "legacy",
        }
    }
}

/// Encoding of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    Sse,
    Jsonl,
    Protobuf,
}

impl Form {
    /// Detects the encoding by the first byte. A protobuf frame is shorter than 16 MiB, so its
    /// first byte is zero.
    fn of(first: u8) -> Self {
        match first {
            0 => Self::Protobuf,
            b'{' => Self::Jsonl,
            _ => Self::Sse,
        }
    }
}

/// The first problem of a stream.
#[derive(Debug, PartialEq)]
pub(crate) struct Problem {
    /// Code for programs.
    pub(crate) code: String,
    /// The violated rule.
    pub(crate) rule: String,
    /// URL of the rule in the specification.
    pub(crate) link: &'static str,
    /// What violates the rule in this stream.
    pub(crate) detail: Option<String>,
    /// Index of the event, starting with zero. For the end of the stream, the number of events.
    pub(crate) index: u64,
    /// Whether the problem is in an event rather than at the end.
    pub(crate) is_event: bool,
}

const SSE: &str = "https://ag-ui.com/spec/1.0/basic/transports/http-sse#response";
const PROTOBUF: &str = "https://ag-ui.com/spec/1.0/basic/transports/http-protobuf";
const PROCESSING: &str = "https://ag-ui.com/spec/1.0/basic/processing#the-rule";
const PRODUCER: &str = "https://ag-ui.com/spec/1.0/basic/processing#what-a-producer-must-not-do";
const VERSIONING: &str = "https://ag-ui.com/spec/1.0/basic/versioning";

/// Checks a stream in chunks.
#[derive(Debug)]
pub(crate) struct Checker {
    strictness: Strictness,
    body: Option<Body>,
    verifier: Verifier,
    /// The last events as text, ending with the current one.
    shown: VecDeque<String>,
    context: usize,
    events: u64,
    runs: u64,
    problem: Option<Problem>,
}

#[derive(Debug)]
enum Body {
    Sse(sse::Decoder),
    Jsonl(Vec<u8>),
    Protobuf(proto::Decoder),
}

impl Checker {
    pub(crate) fn new(
        strictness: Strictness,
        form: Option<Form>,
        input: Option<&RunAgentInput>,
        context: usize,
    ) -> Self {
        let verifier = match (strictness, input) {
            (Strictness::Strict, Some(input)) => Verifier::strict_for(input),
            (Strictness::Strict, None) => Verifier::strict(),
            _ => Verifier::tolerant(),
        };
        Self {
            strictness,
            body: form.map(Body::new),
            verifier,
            shown: VecDeque::new(),
            context,
            events: 0,
            runs: 0,
            problem: None,
        }
    }

    pub(crate) fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// Returns the last events as text, with their indexes.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (u64, &str)> {
        let first = self.events - self.shown.len() as u64;
        (first..).zip(self.shown.iter().map(String::as_str))
    }

    /// Checks the next bytes. Returns whether to continue.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> bool {
        if self.problem.is_some() {
            return false;
        }
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let Some(mut body) = self.body.take().or_else(|| first.map(|it| Body::new(Form::of(*it))))
        else {
            return true;
        };
        let strict = self.strictness == Strictness::Strict;
        match &mut body {
            Body::Sse(decoder) => {
                let lines_end_right = !bytes.contains(&b'\r');
                decoder.push(bytes);
                self.frames(decoder);
                // The first-party client cannot parse such a body.
                if !lines_end_right {
                    self.report("carriage_return", "lines end with a line feed alone", SSE, None);
                }
            }
            Body::Jsonl(held) => {
                held.extend_from_slice(bytes);
                while let Some(end) = held.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = held.drain(..=end).collect();
                    self.line(&line);
                }
            }
            Body::Protobuf(decoder) => {
                decoder.push(bytes);
                self.binary_frames(decoder, strict);
            }
        }
        self.body = Some(body);
        self.problem.is_none()
    }

    /// Handles the end of the stream.
    pub(crate) fn finish(&mut self) {
        match self.body.take() {
            Some(Body::Sse(mut decoder)) => {
                let before = self.events;
                decoder.finish();
                self.frames(&mut decoder);
                if self.events > before {
                    let rule = "an empty line ends each event";
                    self.report("unfinished_frame", rule, SSE, None);
                }
            }
            Some(Body::Jsonl(rest)) => self.line(&rest),
            Some(Body::Protobuf(decoder)) => {
                if let Err(error) = decoder.finish() {
                    self.report(
                        "broken_frame",
                        "frames are whole",
                        PROTOBUF,
                        Some(error.to_string()),
                    );
                }
            }
            None => {}
        }
        if self.problem.is_none()
            && let Err(violation) = self.verifier.finish()
        {
            self.violated(&violation);
        }
    }

    fn frames(&mut self, decoder: &mut sse::Decoder) {
        while let Some(frame) = decoder.next_frame() {
            match frame {
                Ok(frame) => self.event_text(&frame.data),
                Err(error) => {
                    let rule = "an event is one line of JSON that can be read";
                    self.report("broken_frame", rule, SSE, Some(error.to_string()));
                }
            }
        }
    }

    fn binary_frames(&mut self, decoder: &mut proto::Decoder, strict: bool) {
        while self.problem.is_none()
            && let Some(frame) = decoder.next_frame()
        {
            match frame {
                Ok(Frame::Event(event)) => {
                    // Events always serialize.
                    let text = serde_json::to_string(&event).unwrap_or_default();
                    self.next(&text);
                    self.event(event);
                }
                Ok(Frame::Unknown { field }) => {
                    self.next(&format!("(field {field} of the envelope)"));
                    if strict {
                        let rule = Rule::UnknownEvent;
                        self.report(rule.as_str(), rule.text(), rule.link(), None);
                    }
                }
                Err(error) => {
                    let rule = "frames hold events";
                    self.report("broken_frame", rule, PROTOBUF, Some(error.to_string()));
                }
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        match std::str::from_utf8(line) {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => self.event_text(text.trim()),
            Err(error) => {
                let detail = Some(error.to_string());
                self.report("broken_frame", "a line is UTF-8", PROCESSING, detail);
            }
        }
    }

    fn event_text(&mut self, text: &str) {
        if self.problem.is_some() {
            return;
        }
        self.next(text);
        let (event, nulls) = match enforce::read_event(text) {
            Ok(read) => read,
            Err(problem) => return self.malformed(&problem),
        };
        if self.strictness == Strictness::Strict
            && let Some(null) = nulls.first()
        {
            let rule = "an optional member is left out, not null";
            return self.report("null_member", rule, PROCESSING, Some(null.to_string()));
        }
        self.event(event);
    }

    fn event(&mut self, event: Event) {
        if self.problem.is_some() {
            return;
        }
        if self.strictness == Strictness::Legacy
            && let Some(refusal) = profile::Profile::Legacy.refuses(&event)
        {
            let rule = "a client of 0.0.59 takes every event";
            return self.report("refused_by_0_0_59", rule, VERSIONING, Some(refusal.to_string()));
        }
        self.runs += u64::from(matches!(event, Event::RunStarted(_)));
        if let Err(violation) = self.verifier.handle(&event) {
            return self.violated(&violation);
        }
        let (_, removals) = enforce::enforce_event(event);
        if self.strictness == Strictness::Strict
            && let Some(removal) = removals.first()
        {
            let rule = "a producer sends only what the protocol describes";
            self.report("undescribed", rule, PRODUCER, Some(removal.to_string()));
        }
    }

    fn next(&mut self, text: &str) {
        self.events += 1;
        self.shown.push_back(text.to_owned());
        if self.shown.len() > self.context + 1 {
            self.shown.pop_front();
        }
    }

    fn malformed(&mut self, problem: &SchemaError) {
        let rule = "an event has the members that the schema gives it";
        self.report("malformed", rule, PROCESSING, Some(problem.to_string()));
    }

    fn violated(&mut self, violation: &Violation) {
        let rule = violation.rule();
        let detail = violation.subject().map(|subject| format!("not so for {subject:?}"));
        self.report(rule.as_str(), rule.text(), rule.link(), detail);
        if let Some(problem) = &mut self.problem {
            problem.is_event = violation.event_type().is_some();
            problem.index = violation.index();
        }
    }

    fn report(&mut self, code: &str, rule: &str, link: &'static str, detail: Option<String>) {
        if self.problem.is_none() {
            let code = code.to_owned();
            let rule = rule.to_owned();
            let index = self.events.saturating_sub(1);
            let is_event = self.events > 0;
            self.problem = Some(Problem { code, rule, link, detail, index, is_event });
        }
    }
}

impl Body {
    fn new(form: Form) -> Self {
        match form {
            Form::Sse => Self::Sse(sse::Decoder::default()),
            Form::Jsonl => Self::Jsonl(Vec::new()),
            Form::Protobuf => Self::Protobuf(proto::Decoder::default()),
        }
    }
}
