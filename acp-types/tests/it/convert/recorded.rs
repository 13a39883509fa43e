//! Recorded sessions of real agents, through the bridge and back.
use super::chain::{Chain, updates_of};
use super::properties::{state_of, without_losses};
use crate::transcripts::{is_v2, transcripts};
use acp_types::convert::BridgeLoss;
use acp_types::v1::initialization::ProtocolVersion;
use jsonrpc_core::transcript::{Direction, Entry};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Plays a recording through a chain, and returns the updates of the agent.
fn play(ends: ProtocolVersion, entries: &[Entry<'_>]) -> (Chain, Vec<Value>) {
    let mut chain = Chain::new(ends);
    let mut updates = Vec::new();
    for entry in entries {
        // Some agents write lines that are no messages.
        let Ok(line) = serde_json::from_slice::<Value>(&entry.bytes) else { continue };
        match entry.direction {
            Direction::Sent => chain.editor(&line),
            _ => {
                chain.agent(&line);
                updates.extend(updates_of(core::slice::from_ref(&line)));
            }
        }
    }
    (chain, updates)
}

/// What the diagnostics do not name is equal in a recorded session of version 2 after both
/// conversions.
#[test]
fn recorded_sessions_of_version_2_come_back() {
    let mut count = 0;
    for (name, entries) in transcripts() {
        if !is_v2(&name) {
            continue;
        }
        count += 1;
        let (mut chain, updates) = play(ProtocolVersion::V2, &entries);
        let received = without_losses(state_of(&chain.updates()), &chain);
        assert_eq!(received, without_losses(state_of(&updates), &chain), "{name}");
        assert!(!received.is_empty(), "{name}");
        let [mut editor, link, _] = chain.errors();
        // What the recorded editor sends is not of the bridge.
        editor.retain(|finding| finding.direction == Direction::Received);
        assert_eq!(&editor[..], &[][..], "{name}");
        assert_eq!(&link[..], &[][..], "{name}");
        // The loss of these recordings: the agents repeat prompts, report states and work in the
        // background, and send hunks.
        let known = [
            BridgeLoss::PromptMessage,
            BridgeLoss::State,
            BridgeLoss::Background,
            BridgeLoss::Diff,
            BridgeLoss::Permission,
            BridgeLoss::Terminal,
            BridgeLoss::ToolStatus,
            BridgeLoss::ToolTitle,
            BridgeLoss::ConfigOption,
            BridgeLoss::Controls,
            BridgeLoss::StopReason,
        ];
        let known: BTreeSet<_> = known.into_iter().collect();
        let lost: BTreeSet<_> =
            BridgeLoss::ALL.iter().copied().filter(|loss| chain.has_lost(*loss)).collect();
        assert!(lost.is_subset(&known), "{name}: {lost:?}");
        for prompt in entries.iter().filter(|entry| entry.direction == Direction::Sent) {
            let line: Value = serde_json::from_slice(&prompt.bytes).unwrap();
            if line["method"] == "session/prompt" {
                assert_eq!(chain.responses(&line["id"]).len(), 1, "{name}");
            }
        }
    }
    assert!(count >= 10, "{count} recordings");
}

/// A version 1 session has the same messages, tool calls and results after both conversions.
#[test]
fn recorded_sessions_of_version_1_come_back() {
    let names = ["opencode-write", "gemini-cli-edit", "crow-cli-text", "cline-edit-reject"];
    for (name, entries) in transcripts().iter().filter(|(name, _)| names.contains(&&**name)) {
        let (chain, updates) = play(ProtocolVersion::V1, entries);
        let texts = |updates: &[Value], kind: &str| {
            let chunks = updates.iter().filter(|update| update["sessionUpdate"] == kind);
            chunks
                .filter_map(|it| it["content"]["text"].as_str().map(str::to_owned))
                .collect::<String>()
        };
        let statuses = |updates: &[Value]| {
            let calls = updates.iter().filter(|update| update.get("status").is_some());
            calls
                .map(|it| (it["toolCallId"].to_string(), it["status"].clone()))
                .collect::<BTreeMap<_, _>>()
        };
        let received = chain.updates();
        for kind in ["agent_message_chunk", "agent_thought_chunk"] {
            assert_eq!(texts(&received, kind), texts(&updates, kind), "{name}");
        }
        assert_eq!(statuses(&received), statuses(&updates), "{name}");
        for entry in entries.iter().filter(|entry| entry.direction != Direction::Sent) {
            let Ok(line) = serde_json::from_slice::<Value>(&entry.bytes) else { continue };
            if let Some(reason) = line.pointer("/result/stopReason") {
                let [response] = &chain.responses(&line["id"])[..] else { panic!("{name}") };
                assert_eq!(response.pointer("/result/stopReason"), Some(reason), "{name}");
            }
        }
    }
}
