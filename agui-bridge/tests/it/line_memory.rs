//! Memory of the translator while it decodes and translates an update.
use crate::script::in_stream;
use agui_bridge::jsonrpc_core::wire;
use agui_bridge::{Options, Translator};
use agui_types::input::RunAgentInput;
use agui_types::profile::Profile;
use allocation_counter::measure;

fn translator(profile: Profile) -> Translator {
    let input = r#"{"threadId":"t","runId":"r","protocolVersion":"1.0","state":{},"messages":[{"id":"u","role":"user","content":"x"}]}"#;
    let input: RunAgentInput = wire::decode(input).unwrap();
    let options: Options = in_stream(profile);
    let mut translator = Translator::new(options);
    let _ = translator.begin_run(&input, &[]).unwrap();
    while translator.poll_event().is_some() {}
    translator
}

/// Params of an update of about this number of bytes, with a list of equal items.
fn params(start: &str, item: &str, size: usize) -> String {
    let items = vec![item; size / (item.len() + 1)].join(",");
    format!(r#"{{"sessionId":"s","update":{{"sessionUpdate":{start}[{items}]}}}}"#)
}

/// A list grows once, and values beyond their limit are not written.
#[test]
fn translator_holds_at_most_four_times_the_update() {
    for (start, item) in [
        (r#""plan","entries":"#, r#"{"content":"x","priority":"low","status":"pending"}"#),
        (r#""tool_call","toolCallId":"c","title":"t","rawInput":"#, "1"),
        (
            r#""tool_call","toolCallId":"c","title":"t","content":"#,
            r#"{"type":"terminal","terminalId":"x"}"#,
        ),
        (
            r#""available_commands_update","availableCommands":"#,
            r#"{"name":"x","description":"A command of the agent."}"#,
        ),
    ] {
        for profile in [Profile::V1, Profile::Legacy] {
            let params = params(start, item, 1_000_000);
            let mut translator = translator(profile);
            let held = measure(|| {
                translator.handle_notification(wire::decode(&params).unwrap());
                while translator.poll_event().is_some() {}
            });
            let (most, held) = (4 * params.len() as u64, held.bytes_max);
            assert!(held <= most, "{start}{item}, {profile:?}: {held} bytes for {}", params.len());
        }
    }
}
