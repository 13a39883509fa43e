//! A run in the view of a client; the strict verifier checks each event.
use crate::gateway::{Gateway, soon};
use agui_types::content::Content;
use agui_types::event::{CustomEvent, Event, RunErrorEvent, RunFinishedEvent, RunFinishedOutcome};
use agui_types::input::RunAgentInput;
use agui_types::interrupt::Interrupt;
use agui_types::profile::Profile;
use agui_types::sse::Decoder;
use agui_types::verify::Verifier;
use jsonrpc_core::wire;
use serde_json::Value;

/// A response in progress.
pub(crate) struct Run {
    input: RunAgentInput,
    response: reqwest::Response,
    profile: Profile,
    decoder: Decoder,
    verifier: Verifier,
    /// The received events.
    events: Vec<Event>,
    /// The id of the last event.
    last_event_id: String,
}

/// An ended run.
pub(crate) struct EndedRun {
    pub(crate) events: Vec<Event>,
}

impl Run {
    pub(crate) fn new(input: &Value, response: reqwest::Response) -> Self {
        let input: RunAgentInput = wire::decode(&input.to_string()).unwrap();
        Self {
            response,
            profile: Profile::of(input.protocol_version.as_deref()),
            decoder: Decoder::default(),
            verifier: Verifier::strict_for(&input),
            events: Vec::new(),
            last_event_id: String::new(),
            input,
        }
    }

    /// Continues in another response, from the position of this one.
    pub(crate) async fn reconnect(&mut self, gateway: &Gateway) {
        let after = Some(&*self.last_event_id);
        let response = gateway.follow(self.input.run_id.as_str(), after).await;
        assert_eq!(response.status(), 200);
        self.response = response;
        self.decoder = Decoder::default();
    }

    /// The next event; `None` at the end of the stream. Comments are skipped.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(frame) = self.decoder.next_frame() {
                let frame = frame.unwrap();
                let event: Event = frame.decode().unwrap();
                self.last_event_id = frame.last_event_id;
                if matches!(event, Event::RunStarted(_)) {
                    // Also in the middle of a run: a restart with a snapshot of the conversation.
                    self.verifier = Verifier::strict_for(&self.input);
                    self.events.clear();
                }
                self.verifier.handle(&event).unwrap();
                assert_eq!(self.profile.refuses(&event), None, "{event:?}");
                self.events.push(event.clone());
                return Some(event);
            }
            let chunk = self.response.chunk().await.expect("the stream breaks off")?;
            assert!(!chunk.contains(&b'\r'), "lines end with a line feed");
            self.decoder.push(&chunk);
        }
    }

    /// Reads up to an event with this text in its JSON.
    pub(crate) async fn until(&mut self, text: &str) -> Event {
        let found = async {
            loop {
                let event = self.next().await.expect(text);
                if serde_json::to_string(&event).unwrap().contains(text) {
                    return event;
                }
            }
        };
        soon(found).await
    }

    /// Reads up to a permission request, and returns its `interruptId`.
    pub(crate) async fn until_asked(&mut self) -> String {
        let Event::Custom(asked) = self.until("acp.permission.requested").await else {
            panic!("no custom event");
        };
        value(&asked)["interruptId"].as_str().unwrap().to_owned()
    }

    /// Reads until the response ends, even before the run does.
    pub(crate) async fn drain(&mut self) -> usize {
        let before = self.events.len();
        soon(async { while self.next().await.is_some() {} }).await;
        self.events.len() - before
    }

    /// Reads to the end of a stream, which must end properly.
    pub(crate) async fn rest(mut self) -> EndedRun {
        soon(async { while self.next().await.is_some() {} }).await;
        self.decoder.finish();
        assert_eq!(self.decoder.next_frame(), None, "the last event is whole");
        self.verifier.finish().unwrap();
        EndedRun { events: self.events }
    }
}

pub(crate) fn value(event: &CustomEvent) -> Value {
    serde_json::from_str(event.value.as_str()).unwrap()
}

impl EndedRun {
    /// The text of all messages.
    pub(crate) fn text(&self) -> String {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::TextMessageContent(content) => Some(content.delta.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The results of tools.
    pub(crate) fn results(&self) -> Vec<&str> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::ToolCallResult(result) => match &result.content {
                    Content::Text(text) => Some(text.as_str()),
                    Content::Parts(_) => Some("(parts)"),
                },
                _ => None,
            })
            .collect()
    }

    pub(crate) fn tags(&self) -> Vec<&str> {
        self.events.iter().map(Event::tag).collect()
    }

    /// The values of the custom events of this name.
    pub(crate) fn customs(&self, name: &str) -> Vec<Value> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::Custom(custom) if custom.name == name => Some(value(custom)),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn finished(&self) -> &RunFinishedEvent {
        match self.events.last() {
            Some(Event::RunFinished(finished)) => finished,
            other => panic!("not finished: {other:?}"),
        }
    }

    /// The end of the run: the outcome, `finished` for clients without outcomes, or the code of the
    /// error.
    pub(crate) fn end(&self) -> &str {
        match self.events.last() {
            Some(Event::RunError(error)) => error.code.as_deref().unwrap_or("error"),
            Some(Event::RunFinished(finished)) => match &finished.outcome {
                Some(RunFinishedOutcome::Success(_)) => "success",
                Some(RunFinishedOutcome::Cancelled(_)) => "cancelled",
                Some(RunFinishedOutcome::Interrupt(_)) => "interrupt",
                Some(other) => panic!("unexpected: {other:?}"),
                None => "finished",
            },
            other => panic!("no end: {other:?}"),
        }
    }

    /// The interrupts of the run.
    pub(crate) fn interrupts(&self) -> &[Interrupt] {
        match &self.finished().outcome {
            Some(RunFinishedOutcome::Interrupt(outcome)) => &outcome.interrupts,
            other => panic!("not interrupted: {other:?}"),
        }
    }

    pub(crate) fn error(&self) -> &RunErrorEvent {
        match self.events.last() {
            Some(Event::RunError(error)) => error,
            other => panic!("no error: {other:?}"),
        }
    }
}
