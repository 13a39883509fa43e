//! Memory of the linter while it checks a line.
use crate::lint::linter;
use allocation_counter::measure;
use jsonrpc_core::transcript::Direction;

/// An update of this number of bytes, ending in a list of equal items.
fn line(start: &str, item: &str, size: usize) -> String {
    let items = vec![item; size / (item.len() + 1)].join(",");
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":{start}[{items}]}}}}}}"#
    )
}

/// Lists without a type are checked item by item, without storing them as values.
#[test]
fn linter_holds_at_most_four_times_the_line() {
    for (start, item) in [
        (r#""plan","entries":"#, r#"{"type":7}"#),
        (r#""plan","entries":"#, "[]"),
        (r#""agent_message_chunk","content":"#, "7"),
        (r#""available_commands_update","availableCommands":"#, "{}"),
        (r#""tool_call","toolCallId":"c","title":"t","content":"#, r#"{"type":"content"}"#),
    ] {
        for size in [32_000, 256_000] {
            let line = line(start, item, size);
            let mut linter = linter();
            // Buffers and findings do not grow with the line.
            linter.handle_line(Direction::Received, line.as_bytes());
            let held = measure(|| linter.handle_line(Direction::Received, line.as_bytes()));
            let most = 4 * line.len() as u64;
            assert!(held.bytes_max <= most, "{item}: {} bytes for {}", held.bytes_max, line.len());
        }
    }
}
