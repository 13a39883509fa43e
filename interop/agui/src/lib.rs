//! Streams of the producer and of agui-bridge, as input of other implementations.
pub mod bridge;
#[allow(dead_code, reason = "the tests of agui-bridge use more of it")]
#[path = "../../../agui-bridge/tests/it/generated.rs"]
mod generated;
#[path = "../../../agui-bridge/tests/it/hub_differences.rs"]
mod hub_differences;
#[path = "../../../agui-bridge/tests/it/hub_player.rs"]
mod hub_player;
#[allow(dead_code, reason = "the tests of agui-bridge use more of it")]
#[path = "../../../agui-bridge/tests/it/replay.rs"]
mod replay;
#[allow(dead_code, reason = "the tests of agui-bridge use more of it")]
#[path = "../../../agui-bridge/tests/it/script.rs"]
mod script;
#[allow(dead_code, reason = "the tests of agui-bridge use more of it")]
#[path = "../../../agui-bridge/tests/it/thread.rs"]
mod thread;

use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::interrupt::Interrupt;
use agui_types::produce::{Interrupts, Run};
use agui_types::profile::{Downgrade, Profile};
use agui_types::reduce::Reducer;
use agui_types::{proto, sse};
use jsonrpc_core::wire;
use serde_json::{Value, json};

/// One response, and the resulting conversation of agui-types.
#[derive(Debug)]
pub struct Stream {
    pub input: RunAgentInput,
    pub events: Vec<Event>,
}

/// Deterministic pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// Returns the stream of this number: a run with some calls of the producer, of which some may be
/// refused, and an end.
pub fn stream(number: u64) -> Stream {
    let mut numbers = Numbers(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let input = json!({"threadId":"t","runId":format!("run{number}"),"protocolVersion":"1.0","messages":[
        {"id":"asked","role":"user","content":"Do it."},
        {"id":"before","role":"assistant","toolCalls":[{"id":"old","type":"function","function":{"name":"shell","arguments":"{}"}}]}],
        "tools":[{"name":"page","description":"In the page."}],"context":[],"state":{},"forwardedProps":{}});
    let input: RunAgentInput = wire::decode(&input.to_string()).expect("an input");
    let mut run = Run::begin(&input, Vec::new());
    for _ in 0..numbers.below(30) {
        let id = numbers.one(&["a", "b", "c"]);
        let words = numbers.one(&["Hello", ", \"world\"\n", "é 👋", "", "{\"a\":"]);
        // About half of the calls are refused, as intended.
        let _ = match numbers.below(16) {
            0..=3 => run.text(&format!("m-{id}").as_str().into(), words),
            4 => run.end_text(&format!("m-{id}").as_str().into()),
            5..=6 => run.reasoning(&format!("r-{id}").as_str().into(), words),
            7 => run.end_reasoning(&format!("r-{id}").as_str().into()),
            8..=9 => run.tool_call(
                &format!("c-{id}").as_str().into(),
                numbers.one(&["page", "shell"]),
                None,
            ),
            10 => run.arguments(&format!("c-{id}").as_str().into(), words),
            11 => run.tool_result(&format!("c-{id}").as_str().into(), words).map(drop),
            12 => run.tool_result(&"old".into(), "done").map(drop),
            _ => run.emit(other(&mut numbers, id)),
        };
    }
    let ended = match numbers.below(6) {
        0..=2 => run.finish(),
        3 => run.interrupt(Interrupts::new(Interrupt::new("i1", "confirmation"))),
        4 => run.cancel(),
        _ => run.fail("something broke", Some("BROKEN")),
    };
    ended.expect("a run ends once");
    let events = run.sink().clone();
    Stream { input, events }
}

/// An event for which the producer has no method.
fn other(numbers: &mut Numbers, id: &str) -> Event {
    let event = match numbers.below(11) {
        0 => json!({"type":"STATE_SNAPSHOT","snapshot":{"n":1,"list":[1,2.5,null]}}),
        1 => json!({"type":"STATE_DELTA","delta":[{"op":"add","path":"/n","value":2}]}),
        2 => {
            json!({"type":"ACTIVITY_SNAPSHOT","messageId":format!("act-{id}"),"activityType":"x","content":{"k":[1]}})
        }
        3 => {
            json!({"type":"ACTIVITY_DELTA","messageId":format!("act-{id}"),"activityType":"x","patch":[{"op":"add","path":"/k","value":null}]})
        }
        4 => json!({"type":"CUSTOM","name":"acme.note","value":{"é":id}}),
        5 => json!({"type":"RAW","event":{"provider":id},"source":"acme"}),
        6 => json!({"type":"STEP_STARTED","stepName":id}),
        7 => json!({"type":"STEP_FINISHED","stepName":id}),
        8 => json!({"type":"SUBAGENT_STARTED","subagentRunId":format!("s-{id}"),"name":"helper"}),
        9 => {
            json!({"type":"TEXT_MESSAGE_START","messageId":format!("sm-{id}"),"subagentRunId":format!("s-{id}"),"metadata":{"acme.a":1}})
        }
        _ => {
            json!({"type":"TOOL_CALL_RESULT","messageId":format!("res-{id}"),"toolCallId":format!("c-{id}"),
            "content":[{"type":"text","text":"part"},{"type":"image","source":{"type":"url","value":"https://e.x/a.png"}}]})
        }
    };
    wire::decode(&event.to_string()).expect("an event")
}

impl Stream {
    /// Returns the events for a client of this profile.
    pub fn events_for(&self, profile: Profile) -> Vec<Event> {
        let mut downgrade = Downgrade::to(profile);
        let sent = self.events.iter().cloned().filter_map(|event| downgrade.handle(event).0);
        sent.collect()
    }

    /// Returns the stream for a client of this profile and the resulting conversation, as JSON.
    pub fn report(&self, profile: Profile) -> Value {
        let events = self.events_for(profile);
        let mut body = Vec::new();
        let mut frames = Vec::new();
        let mut reducer = Reducer::for_input(&self.input).expect("an input");
        for event in &events {
            sse::write_event(&mut body, event).expect("JSON");
            proto::write_event(&mut frames, event).expect("bytes");
            let _ = reducer.handle(event);
        }
        let hex: String = frames.iter().map(|byte| format!("{byte:02x}")).collect();
        json!({
            "input": self.input,
            "events": events,
            "sse": String::from_utf8(body).expect("UTF-8"),
            "protobuf": hex,
            "messages": reducer.messages(),
            "state": reducer.state(),
            "pending": reducer.pending_tool_call_ids(),
        })
    }
}
