//! Permitted messages, by announced capabilities.
use crate::wire_types::VERSIONS;
use acp_types::capabilities::{self, Reason, Refusal};
use acp_types::methods::Receiver;
use acp_types::{v1, v2};
use jsonrpc_core::wire::decode;
use serde_json::{Value, json};

fn read<T: jsonrpc_core::wire::Wire>(value: &Value) -> T {
    decode(&value.to_string()).unwrap_or_else(|error| panic!("{value}: {error}"))
}

fn of_v1(client: Value, agent: Value, auth: Value) -> capabilities::v1::Capabilities {
    capabilities::v1::Capabilities::new(
        &read(&json!({ "protocolVersion": 1, "clientCapabilities": client })),
        &read(&json!({ "protocolVersion": 1, "agentCapabilities": agent, "authMethods": auth })),
    )
}

fn of_v2(client: Value, agent: Value, auth: Value) -> capabilities::v2::Capabilities {
    let info = json!({ "name": "n", "version": "1" });
    let side = |own: Value| json!({ "protocolVersion": 2, "info": info, "capabilities": own });
    let mut response = side(agent);
    response.as_object_mut().expect("an object").insert("authMethods".to_owned(), auth);
    capabilities::v2::Capabilities::new(&read(&side(client)), &read(&response))
}

fn all_v1() -> capabilities::v1::Capabilities {
    of_v1(
        json!({
            "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true,
            "auth": { "terminal": true }, "elicitation": { "form": {}, "url": {} },
            "session": {
                "compaction": {}, "notices": {}, "configOptions": { "boolean": {} }, "cursors": {},
                "promptSuggestions": { "image": {}, "audio": {}, "embeddedContext": {} },
            },
            "subagents": {}, "plan": {},
        }),
        json!({
            "loadSession": true, "providers": {}, "auth": { "logout": {}, "status": {} },
            "promptCapabilities": { "image": true, "audio": true, "embeddedContext": true },
            "mcpCapabilities": { "http": true, "sse": true, "acp": true },
            "sessionCapabilities": {
                "list": {}, "delete": {}, "resume": {}, "close": {}, "fork": {}, "archive": {},
                "status": {}, "title": {}, "options": {}, "additionalDirectories": {},
                "systemPrompt": { "mode": { "override": {} } },
            },
        }),
        json!([{ "id": "key", "name": "Key" }]),
    )
}

fn all_v2() -> capabilities::v2::Capabilities {
    of_v2(
        json!({
            "auth": { "terminal": {} }, "elicitation": { "form": {}, "url": {} },
            "session": {
                "promptSuggestions": { "image": {}, "audio": {}, "embeddedContext": {} },
                "commands": { "skill": {} },
            },
        }),
        json!({
            "providers": {}, "auth": { "status": {} },
            "session": {
                "prompt": { "image": {}, "audio": {}, "embeddedContext": {}, "skill": { "inline": {} } },
                "mcp": { "stdio": {}, "http": {}, "acp": {} },
                "delete": {}, "fork": {}, "archive": {}, "status": {}, "title": {}, "options": {},
                "additionalDirectories": {}, "systemPrompt": { "mode": { "override": {} } },
            },
        }),
        json!([{ "type": "agent", "methodId": "key", "name": "Key" }]),
    )
}

fn none_v1() -> capabilities::v1::Capabilities {
    let terminal = json!([{ "type": "terminal", "id": "tty", "name": "Terminal" }]);
    of_v1(json!({}), json!({}), terminal)
}

fn none_v2() -> capabilities::v2::Capabilities {
    of_v2(json!({}), json!({}), json!([]))
}

/// Gates that depend on the state of the session, not on the `initialize` pair.
const LATER: [&str; 4] = [
    "modes of the session",
    "configOptions of the session",
    "capabilities.cancel of the tool call",
    "capabilities.cancel of the terminal",
];

/// Each gate of the table opens, and the refusal names it while it is closed.
#[test]
fn every_gate_opens_and_closes() {
    let full = (all_v1(), all_v2());
    let empty = (none_v1(), none_v2());
    for version in VERSIONS {
        for method in version.methods {
            let subject = (method.receiver, method.name);
            let (open, shut) = if version.name == "v1" {
                (full.0.allows(subject), empty.0.allows(subject))
            } else {
                (full.1.allows(subject), empty.1.allows(subject))
            };
            assert_eq!(open, Ok(()), "{}", version.name);
            let needs = method.gate.filter(|gate| !LATER.contains(gate)).map(Reason::NotAnnounced);
            assert_eq!(shut.err().map(|refusal| refusal.reason), needs, "{}", method.name);
        }
    }
}

/// Capabilities with `false` or `null` are not announced.
#[test]
fn false_and_null_are_not_announced() {
    let client = json!({ "fs": { "readTextFile": false }, "terminal": null });
    let agent = json!({ "loadSession": false, "sessionCapabilities": { "list": null } });
    let capabilities = of_v1(client, agent, Value::Null);
    for subject in [
        (Receiver::Client, "fs/read_text_file"),
        (Receiver::Client, "terminal/kill"),
        (Receiver::Agent, "session/load"),
        (Receiver::Agent, "session/list"),
        (Receiver::Agent, "authenticate"),
    ] {
        assert!(capabilities.allows(subject).is_err(), "{}", subject.1);
    }
}

/// A method has a receiver and a version, or is an extension.
#[test]
fn methods_have_a_receiver_and_a_version() {
    let reason = |result: Result<(), Refusal>| result.err().map(|refusal| refusal.reason);
    let v1 = all_v1();
    let v2 = all_v2();
    for (subject, first, second) in [
        (
            (Receiver::Client, "session/prompt"),
            Some(Reason::OtherDirection),
            Some(Reason::OtherDirection),
        ),
        ((Receiver::Agent, "session/load"), None, Some(Reason::NotInVersion)),
        ((Receiver::Agent, "auth/login"), Some(Reason::NotInVersion), None),
        ((Receiver::Client, "fs/read_text_file"), None, Some(Reason::NotInVersion)),
        (
            (Receiver::Agent, "session/dream"),
            Some(Reason::NotInVersion),
            Some(Reason::NotInVersion),
        ),
        ((Receiver::Agent, "_example.com/ping"), None, None),
        ((Receiver::Client, "$/progress"), None, None),
    ] {
        assert_eq!(reason(v1.allows(subject)), first, "v1 {}", subject.1);
        assert_eq!(reason(v2.allows(subject)), second, "v2 {}", subject.1);
    }
}

macro_rules! subjects {
    ($version:ident, $full:expr, $empty:expr, { $($module:ident::$Type:ident { $($json:tt)* } => $needs:expr,)+ }) => {
        $(
            let value = json!({ $($json)* });
            let subject = read::<$version::$module::$Type>(&value);
            let refused = $empty.allows(&subject).err().map(|refusal| refusal.reason);
            let needs: Option<Reason> = $needs;
            assert_eq!(refused, needs, "{value}");
            let expected = needs.filter(|reason| *reason == Reason::NotInVersion);
            assert_eq!($full.allows(&subject).err().map(|refusal| refusal.reason), expected, "{value}");
        )+
    };
}

fn needs(path: &'static str) -> Option<Reason> {
    Some(Reason::NotAnnounced(path))
}

const UNKNOWN: Option<Reason> = Some(Reason::NotInVersion);

/// Requirements of each subject in version 1.
#[test]
fn subjects_of_version_1_have_requirements() {
    let full = all_v1();
    let empty = none_v1();
    let compaction = needs("clientCapabilities.session.compaction");
    let subagents = needs("clientCapabilities.subagents");
    let plan = needs("clientCapabilities.plan");
    let text = json!({ "type": "text", "text": "" });
    subjects!(v1, full, empty, {
        content::ContentBlock { "type": "text", "text": "" } => None,
        content::ContentBlock { "type": "resource_link", "name": "n", "uri": "u" } => None,
        content::ContentBlock { "type": "image", "data": "", "mimeType": "m" }
            => needs("agentCapabilities.promptCapabilities.image"),
        content::ContentBlock { "type": "audio", "data": "", "mimeType": "m" }
            => needs("agentCapabilities.promptCapabilities.audio"),
        content::ContentBlock { "type": "resource", "resource": { "uri": "u", "text": "" } }
            => needs("agentCapabilities.promptCapabilities.embeddedContext"),
        content::ContentBlock { "type": "hologram" } => UNKNOWN,
        content::ContentBlock { "type": "_hologram" } => None,
        prompt_turn::SessionUpdate { "sessionUpdate": "agent_message_chunk", "content": text }
            => None,
        prompt_turn::SessionUpdate { "sessionUpdate": "plan", "entries": [] } => None,
        prompt_turn::SessionUpdate { "sessionUpdate": "notice", "severity": "info", "title": "t" }
            => needs("clientCapabilities.session.notices"),
        prompt_turn::SessionUpdate {
            "sessionUpdate": "compaction_update", "compactionId": "k", "status": "failed"
        } => compaction,
        prompt_turn::SessionUpdate {
            "sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": text
        } => compaction,
        prompt_turn::SessionUpdate { "sessionUpdate": "plan_removed", "planId": "p" } => plan,
        prompt_turn::SessionUpdate { "sessionUpdate": "plan_update", "plan": { "type": "gantt" } }
            => plan,
        prompt_turn::SessionUpdate { "sessionUpdate": "subagent_update", "sessionId": "s" }
            => subagents,
        prompt_turn::SessionUpdate { "sessionUpdate": "session_message", "messageId": "m" }
            => subagents,
        prompt_turn::SessionUpdate {
            "sessionUpdate": "session_message_chunk", "messageId": "m", "content": text
        } => subagents,
        prompt_turn::SessionUpdate {
            "sessionUpdate": "tool_call", "toolCallId": "c", "title": "t",
            "content": [{ "type": "session", "sessionId": "child" }]
        } => subagents,
        prompt_turn::SessionUpdate {
            "sessionUpdate": "tool_call_update", "toolCallId": "c",
            "content": [{ "type": "session", "sessionId": "child" }]
        } => subagents,
        prompt_turn::SessionUpdate { "sessionUpdate": "cursor_update", "cursorId": "k" }
            => needs("clientCapabilities.session.cursors"),
        prompt_turn::SessionUpdate {
            "sessionUpdate": "prompt_suggestions_update", "suggestions": []
        } => needs("clientCapabilities.session.promptSuggestions"),
        prompt_turn::SessionUpdate { "sessionUpdate": "config_option_update", "configOptions": [] }
            => None,
        prompt_turn::SessionUpdate {
            "sessionUpdate": "config_option_update", "configOptions": [{ "id": "c", "name": "n", "type": "boolean", "currentValue": true }]
        } => needs("clientCapabilities.session.configOptions.boolean"),
        prompt_turn::SessionUpdate { "sessionUpdate": "mood" } => UNKNOWN,
        session_setup::McpServer { "name": "n", "command": "/c", "args": [], "env": [] } => None,
        session_setup::McpServer { "type": "http", "name": "n", "url": "u", "headers": [] }
            => needs("agentCapabilities.mcpCapabilities.http"),
        session_setup::McpServer { "type": "sse", "name": "n", "url": "u", "headers": [] }
            => needs("agentCapabilities.mcpCapabilities.sse"),
        session_setup::McpServer { "type": "acp", "name": "n", "serverId": "s" }
            => needs("agentCapabilities.mcpCapabilities.acp"),
        session_setup::McpServer { "type": "pigeon" } => UNKNOWN,
        elicitation::ElicitationMode { "mode": "form", "sessionId": "s", "requestedSchema": {} }
            => needs("clientCapabilities.elicitation.form"),
        elicitation::ElicitationMode {
            "mode": "url", "sessionId": "s", "elicitationId": "e", "url": "u"
        } => needs("clientCapabilities.elicitation.url"),
        elicitation::ElicitationMode { "mode": "voice" } => UNKNOWN,
        authentication::AuthMethod { "id": "k", "name": "n" } => None,
        authentication::AuthMethod { "type": "terminal", "id": "k", "name": "n" }
            => needs("clientCapabilities.auth.terminal"),
        authentication::AuthMethod { "type": "palm" } => UNKNOWN,
    });
}

/// Requirements of each subject in version 2.
#[test]
fn subjects_of_version_2_have_requirements() {
    let full = all_v2();
    let empty = none_v2();
    let session = needs("capabilities.session");
    subjects!(v2, full, empty, {
        content::ContentBlock { "type": "text", "text": "" } => session,
        content::ContentBlock { "type": "image", "data": "", "mimeType": "m" }
            => needs("capabilities.session.prompt.image"),
        content::ContentBlock { "type": "audio", "data": "", "mimeType": "m" }
            => needs("capabilities.session.prompt.audio"),
        content::ContentBlock { "type": "resource", "resource": { "uri": "u", "text": "" } }
            => needs("capabilities.session.prompt.embeddedContext"),
        content::ContentBlock { "type": "skill", "name": "review" }
            => needs("capabilities.session.prompt.skill"),
        content::ContentBlock { "type": "hologram" } => UNKNOWN,
        slash_commands::AvailableCommand { "type": "command", "name": "n", "description": "d" }
            => None,
        slash_commands::AvailableCommand { "type": "skill", "name": "n", "description": "d" }
            => needs("capabilities.session.commands.skill"),
        slash_commands::AvailableCommand { "type": "macro", "name": "n", "description": "d" }
            => UNKNOWN,
        prompt_lifecycle::SessionUpdate { "sessionUpdate": "cursor_update", "cursorId": "k" }
            => session,
        prompt_lifecycle::SessionUpdate { "sessionUpdate": "replay_complete" } => session,
        prompt_lifecycle::SessionUpdate {
            "sessionUpdate": "notice", "severity": "info", "title": "t"
        } => session,
        prompt_lifecycle::SessionUpdate { "sessionUpdate": "plan_removed", "planId": "p" }
            => session,
        prompt_lifecycle::SessionUpdate { "sessionUpdate": "mood" } => UNKNOWN,
        session_setup::McpServer { "type": "stdio", "name": "n", "command": "/c" }
            => needs("capabilities.session.mcp.stdio"),
        session_setup::McpServer { "type": "http", "name": "n", "url": "u" }
            => needs("capabilities.session.mcp.http"),
        session_setup::McpServer { "type": "acp", "name": "n", "serverId": "s" }
            => needs("capabilities.session.mcp.acp"),
        session_setup::McpServer { "type": "sse", "name": "n", "url": "u" } => UNKNOWN,
        elicitation::ElicitationMode {
            "mode": "form", "sessionId": "s", "requestedSchema": { "type": "object", "properties": {} }
        } => needs("capabilities.elicitation.form"),
        elicitation::ElicitationMode {
            "mode": "url", "sessionId": "s", "elicitationId": "e", "url": "u"
        } => needs("capabilities.elicitation.url"),
        authentication::AuthMethod { "type": "agent", "methodId": "k", "name": "n" } => None,
        authentication::AuthMethod { "type": "terminal", "methodId": "k", "name": "n" }
            => needs("capabilities.auth.terminal"),
    });
}

/// Requirements of each member of session setup.
#[test]
fn members_of_session_setup_have_requirements() {
    let reason = |result: Result<(), Refusal>| result.err().map(|refusal| refusal.reason);
    for (mode, first, second) in [
        (
            "append",
            needs("agentCapabilities.sessionCapabilities.systemPrompt"),
            needs("capabilities.session.systemPrompt"),
        ),
        (
            "override",
            needs("agentCapabilities.sessionCapabilities.systemPrompt.mode.override"),
            needs("capabilities.session.systemPrompt.mode.override"),
        ),
        ("whisper", UNKNOWN, UNKNOWN),
    ] {
        let of_first = v1::system_prompt::SystemPromptMode::from(mode);
        let of_second = v2::system_prompt::SystemPromptMode::from(mode);
        assert_eq!(reason(none_v1().allows(&of_first)), first);
        assert_eq!(reason(none_v2().allows(&of_second)), second);
        let expected = if of_first.is_known() { None } else { UNKNOWN };
        assert_eq!(reason(all_v1().allows(&of_first)), expected);
        assert_eq!(reason(all_v2().allows(&of_second)), expected);
    }
    let first = capabilities::v1::Subject::AdditionalDirectories;
    let second = capabilities::v2::Subject::AdditionalDirectories;
    let path = "agentCapabilities.sessionCapabilities.additionalDirectories";
    assert_eq!(reason(none_v1().allows(first)), needs(path));
    assert_eq!(
        reason(none_v2().allows(second)),
        needs("capabilities.session.additionalDirectories"),
    );
    assert_eq!(all_v1().allows(first), Ok(()));
    assert_eq!(all_v2().allows(second), Ok(()));
    let first = capabilities::v1::Subject::InitialConfigOptions;
    let second = capabilities::v2::Subject::InitialConfigOptions;
    let path = "agentCapabilities.sessionCapabilities.options";
    assert_eq!(reason(none_v1().allows(first)), needs(path));
    assert_eq!(reason(none_v2().allows(second)), needs("capabilities.session.options"));
    assert_eq!(all_v1().allows(first), Ok(()));
    assert_eq!(all_v2().allows(second), Ok(()));
}

/// A suggestion has to be supported by the client, and its content by both sides.
#[test]
fn suggestions_need_both_sides() {
    let reason = |result: Result<(), Refusal>| result.err().map(|refusal| refusal.reason);
    let image = json!({
        "sessionUpdate": "prompt_suggestions_update",
        "suggestions": [{ "prompt": [{ "type": "image", "data": "", "mimeType": "image/png" }] }],
    });
    let supports = json!({ "session": { "promptSuggestions": { "image": {} } } });
    let offers = json!({ "session": { "promptSuggestions": {} } });

    let update = read::<v1::prompt_turn::SessionUpdate>(&image);
    let accepts = json!({ "promptCapabilities": { "image": true } });
    let of_both = of_v1(supports.clone(), accepts.clone(), Value::Null);
    let of_agent = of_v1(offers.clone(), accepts, Value::Null);
    let of_client = of_v1(supports.clone(), json!({}), Value::Null);
    assert_eq!(reason(of_both.allows(&update)), None);
    let path = "clientCapabilities.session.promptSuggestions.image";
    assert_eq!(reason(of_agent.allows(&update)), needs(path));
    let path = "agentCapabilities.promptCapabilities.image";
    assert_eq!(reason(of_client.allows(&update)), needs(path));

    let update = read::<v2::prompt_lifecycle::SessionUpdate>(&image);
    let accepts = json!({ "session": { "prompt": { "image": {} } } });
    let of_both = of_v2(supports.clone(), accepts.clone(), json!([]));
    let of_agent = of_v2(offers, accepts.clone(), json!([]));
    let of_client = of_v2(supports, json!({ "session": {} }), json!([]));
    let of_neither = of_v2(json!({}), accepts, json!([]));
    assert_eq!(reason(of_both.allows(&update)), None);
    let path = "capabilities.session.promptSuggestions.image";
    assert_eq!(reason(of_agent.allows(&update)), needs(path));
    let path = "capabilities.session.prompt.image";
    assert_eq!(reason(of_client.allows(&update)), needs(path));
    let path = "capabilities.session.promptSuggestions";
    assert_eq!(reason(of_neither.allows(&update)), needs(path));
}
