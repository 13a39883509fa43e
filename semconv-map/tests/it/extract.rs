//! Values outside of the protocol: each known place with a line that has it, and places named by
//! the program.
//!
//! Lines marked as recorded are from sessions of the agents. The others have the form that the
//! source or a description of the agent shows.
use crate::lines::{notification, prompt, request, result, stop, tool, update};
use crate::spans::{A2C, C2A, Run, Span};
use semconv_map::content::Capture;
use semconv_map::extract::{ExtractorError, Extractors};
use semconv_map::policy::ProviderPolicy;
use semconv_map::provider::provider;
use semconv_map::{AttributeValue, Direction, Policy};
use serde_json::{Value, json};

/// Starts a turn of an agent with this name, as request 3 in session `s`.
fn turn_of(agent: &str, policy: Policy) -> Run {
    let mut run = Run::new(policy);
    run.line(C2A, &request(1, "initialize", json!({ "protocolVersion": 1 })));
    let info = json!({ "name": agent, "version": "1" });
    run.line(A2C, &result(1, json!({ "protocolVersion": 1, "agentInfo": info })));
    run.line(C2A, &prompt(3, "s"));
    run
}

fn turn(run: &Run) -> &Span {
    let mut turns = run.spans.all.values().filter(|span| span.name().starts_with("invoke_agent"));
    turns.next_back().unwrap()
}

/// Returns input, output, cache reads and the model.
fn learned(span: &Span) -> (Option<i64>, Option<i64>, Option<i64>, Option<&str>) {
    (
        span.i64("gen_ai.usage.input_tokens"),
        span.i64("gen_ai.usage.output_tokens"),
        span.i64("gen_ai.usage.cache_read.input_tokens"),
        span.str("gen_ai.response.model"),
    )
}

#[test]
fn each_known_place_of_tokens_and_models_is_read() {
    let metrics =
        json!({ "input_tokens": 30, "output_tokens": 9, "cache_read_tokens": 5, "cost": 0.5 });
    let table: [(&str, Vec<String>, _); 7] = [
        (
            "gemini-cli",
            // Recorded.
            vec![r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":33,"output_tokens":21},"model_usage":[{"model":"gemini-3.8-flash","token_count":{"input_tokens":11,"output_tokens":7}},{"model":"auto","token_count":{"input_tokens":22,"output_tokens":14}}]}}}}"#.into()],
            (Some(33), Some(21), None, Some("gemini-3.8-flash")),
        ),
        (
            "@agentclientprotocol/codex-acp",
            // Recorded in an idle state of version 2.
            vec![r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":{"totalTokens":18,"inputTokens":6,"cachedReadTokens":5,"cachedWriteTokens":0,"outputTokens":7,"thoughtTokens":2},"_meta":{"quota":{"token_count":{"totalTokens":18,"inputTokens":6,"cachedInputTokens":5,"cacheWriteInputTokens":0,"outputTokens":7,"reasoningOutputTokens":2},"model_usage":[{"model":"gpt-5.5","token_count":{"totalTokens":18,"inputTokens":6,"cachedInputTokens":5,"cacheWriteInputTokens":0,"outputTokens":7,"reasoningOutputTokens":2}}]}}}}"#.into()],
            (Some(11), Some(7), Some(5), Some("gpt-5.5")),
        ),
        (
            "fast-agent-acp",
            // Recorded.
            vec![r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","_meta":{"field_meta":{"openhands.dev/metrics":{"status_line":"11 in, 7 out"}}}}}"#.into()],
            (Some(11), Some(7), None, None),
        ),
        (
            "fast-agent-acp",
            vec![result(3, json!({ "stopReason": "end_turn", "_meta": { "field_meta": { "openhands.dev/metrics": { "status_line": "1,234 in, 30 out, 2 tools (0.1%)" } } } }))],
            (Some(1234), Some(30), None, None),
        ),
        (
            "qwen-code",
            vec![
                update("s", json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "" }, "_meta": { "usage": { "inputTokens": 10, "outputTokens": 3, "totalTokens": 13, "thoughtTokens": 1, "cachedReadTokens": 4 }, "durationMs": 8 } })),
                update("s", json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "" }, "_meta": { "usage": { "inputTokens": 20, "outputTokens": 5, "totalTokens": 25, "cachedReadTokens": 6 } } })),
                stop(3, "end_turn"),
            ],
            (Some(30), Some(8), Some(10), None),
        ),
        (
            "OpenHands CLI",
            vec![
                notification("session/update", json!({ "sessionId": "s", "update": { "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "a" } }, "_meta": { "field_meta": { "openhands.dev/metrics": metrics } } })),
                stop(3, "end_turn"),
            ],
            (Some(30), Some(9), Some(5), None),
        ),
        (
            "grok",
            vec![
                notification("_x.ai/session_notification", json!({ "sessionId": "s", "update": { "sessionUpdate": "turn_completed", "usage": { "inputTokens": 1000, "outputTokens": 100, "cachedReadTokens": 700, "reasoningTokens": 30 } } })),
                stop(3, "end_turn"),
            ],
            (Some(1000), Some(100), Some(700), None),
        ),
    ];
    for (agent, lines, expected) in table {
        let mut run = turn_of(agent, Policy::default());
        lines.iter().for_each(|line| run.line(A2C, line));
        assert_eq!(learned(turn(&run)), expected, "{agent}");
        // Other agents do not have these places.
        let mut other = turn_of("another", Policy::default());
        lines.iter().for_each(|line| other.line(A2C, line));
        let is_private = lines
            .iter()
            .any(|line| line.contains("_x.ai/") || line.contains(r#""usage":{"totalTokens":18"#));
        assert!(is_private || learned(turn(&other)).0.is_none(), "{agent}");
    }
}

#[test]
fn totals_of_a_session_become_differences_by_turn() {
    let mut run = turn_of("openhands", Policy::default());
    for (id, input, cost) in [(3, 30, 0.5), (4, 42, 0.75)] {
        if id == 4 {
            run.line(C2A, &prompt(4, "s"));
        }
        let metrics = json!({ "input_tokens": input, "output_tokens": input, "cost": cost });
        let content = json!({ "type": "text", "text": "a" });
        let chunk = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
        let meta = json!({ "openhands.dev/metrics": metrics });
        let params = json!({ "sessionId": "s", "update": chunk, "_meta": meta });
        run.line(A2C, &notification("session/update", params));
        run.line(A2C, &stop(id, "end_turn"));
    }
    let turn = turn(&run);
    assert_eq!(turn.i64("gen_ai.usage.input_tokens"), Some(12));
    assert_eq!(turn.f64("acp.cost.turn_amount"), Some(0.25));
    assert_eq!(turn.f64("acp.cost.amount"), Some(0.75));
}

/// Recorded announcements, and the names of their tools.
#[test]
fn each_known_place_of_a_tool_name_is_read() {
    let table = [
        (
            "gemini-cli",
            r#"{"sessionUpdate":"tool_call","toolCallId":"read_file__call_stub_000111","status":"in_progress","title":"src/hello.py","content":[],"locations":[{"path":"/workspace/src/hello.py"}],"kind":"read"}"#,
            "read_file",
        ),
        (
            "fast-agent-acp",
            r#"{"toolCallId":"1f028c3a38bc43c6ab1d87d106d632ae","title":"execute","kind":"execute","status":"pending","content":[],"sessionUpdate":"tool_call"}"#,
            "execute",
        ),
        (
            "cline",
            r#"{"sessionUpdate":"tool_call","toolCallId":"call_stub_002128","title":"run_commands: printf 'one\\ntwo\\n' > out.txt; cat out.txt; ls","kind":"execute","status":"pending","rawInput":{"commands":["printf 'one\\ntwo\\n' > out.txt; cat out.txt; ls"]}}"#,
            "run_commands",
        ),
        (
            "OpenCode",
            r#"{"sessionUpdate":"tool_call","toolCallId":"call_stub_002075","title":"bash","kind":"execute","status":"pending","locations":[{"path":"/workspace"}],"rawInput":{"cwd":"/workspace"}}"#,
            "bash",
        ),
        (
            "grok",
            r#"{"sessionUpdate":"tool_call","toolCallId":"call-x","title":"list_dir","rawInput":{"target_directory":"/tmp"},"_meta":{"x.ai/tool":{"name":"list_dir"}}}"#,
            "list_dir",
        ),
        // A sentence is not a name.
        (
            "opencode",
            r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"List the files","kind":"read"}"#,
            "read",
        ),
        (
            "cline",
            r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"a b: c","kind":"read"}"#,
            "b",
        ),
        (
            "cline",
            r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"é: c","kind":"read"}"#,
            "read",
        ),
    ];
    for content in [Capture::Off, Capture::Span] {
        for (agent, line, expected) in table {
            let mut policy = Policy::default();
            policy.content = content;
            let mut run = turn_of(agent, policy);
            run.line(A2C, &update("s", serde_json::from_str(line).unwrap()));
            run.line(A2C, &stop(3, "end_turn"));
            let span = run.span(&format!("execute_tool {expected}"));
            assert_eq!(span.str("gen_ai.tool.name"), Some(expected), "{agent}: {line}");
        }
    }
}

/// Recorded ends of commands.
#[test]
fn exit_codes_are_recorded_without_content() {
    let table = [
        (
            "OpenCode",
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","title":"touch made.txt; echo out; echo err >&2; exit 3","content":[{"type":"content","content":{"type":"text","text":"out\nerr\n"}}],"rawOutput":{"output":"out\nerr\n","metadata":{"output":"out\nerr\n","exit":3,"truncated":false}}}"#,
        ),
        (
            "codex-acp",
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed","rawOutput":{"call_id":"call_stub_011614","stdout":"err\nout\n","stderr":"","formatted_output":"err\nout\n","status":"failed"},"_meta":{"terminal_exit":{"terminal_id":"call_stub_011614","exit_code":3,"signal":null}}}"#,
        ),
        (
            "codex-acp",
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","rawOutput":{"exit_code":3}}"#,
        ),
    ];
    for (agent, line) in table {
        let mut run = turn_of(agent, Policy::default());
        run.line(A2C, &tool("s", "t", "execute", "in_progress"));
        run.line(A2C, &update("s", serde_json::from_str(line).unwrap()));
        let span = run.span("execute_tool execute");
        assert_eq!(span.i64("process.exit.code"), Some(3), "{line}");
        assert_eq!(span.get("gen_ai.tool.call.result"), None);
    }
}

fn shell(lines: &[(Direction, String)]) -> (Option<i64>, Value) {
    let mut policy = Policy::default();
    policy.content = Capture::Span;
    let mut run = turn_of("agent", policy);
    let shown = json!([{ "type": "terminal", "terminalId": "term_1" }]);
    run.line(A2C, &update("s", json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "ls", "kind": "execute", "content": shown })));
    lines.iter().for_each(|(direction, line)| run.line(*direction, line));
    run.line(A2C, &update("s", json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed" })));
    let span = run.span("execute_tool execute");
    let result = span.str("gen_ai.tool.call.result").unwrap();
    (span.i64("process.exit.code"), serde_json::from_str(result).unwrap())
}

#[test]
fn output_of_terminals_is_the_result_of_their_tool_call() {
    let terminal = json!({ "sessionId": "s", "terminalId": "term_1" });
    // A terminal of the client.
    let (code, seen) = shell(&[
        (A2C, request(9, "terminal/wait_for_exit", terminal.clone())),
        (C2A, result(9, json!({ "exitCode": 3, "signal": null }))),
        (A2C, request(10, "terminal/output", terminal.clone())),
        (C2A, result(10, json!({ "output": "one\ntwo\n", "truncated": false }))),
        (A2C, request(11, "terminal/release", terminal)),
        (C2A, result(11, json!({}))),
    ]);
    assert_eq!(code, Some(3));
    assert_eq!(seen, json!({ "output": "one\ntwo\n", "exit_code": 3 }));
    // A terminal of the agent, in `_meta`.
    let with = |meta: Value| {
        (
            A2C,
            update(
                "s",
                json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "_meta": meta }),
            ),
        )
    };
    let (code, seen) = shell(&[
        with(json!({ "terminal_output": { "terminal_id": "term_1", "data": "one\n" } })),
        with(json!({ "terminal_output": { "terminal_id": "term_1", "data": "two\n" } })),
        with(
            json!({ "terminal_exit": { "terminal_id": "term_1", "exit_code": 0, "signal": null } }),
        ),
    ]);
    assert_eq!(code, Some(0));
    assert_eq!(seen, json!({ "output": "one\ntwo\n", "exit_code": 0 }));
    // A terminal of the agent in version 2. The output is recorded.
    let (code, seen) = shell(&[(
        A2C,
        update("s", serde_json::from_str(r#"{"sessionUpdate":"terminal_update","terminalId":"term_1","output":{"data":"L2Jpbi9iYXNoOiBsaW5lIDE6IG91dC50eHQ6IFJlYWQtb25seSBmaWxlIHN5c3RlbQo="},"exitStatus":{"exitCode":1,"signal":null}}"#).unwrap()),
    ), (
        A2C,
        update("s", json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": "term_1", "data": "ZW5k" })),
    )]);
    let output = "/bin/bash: line 1: out.txt: Read-only file system\nend";
    assert_eq!(code, Some(1));
    assert_eq!(seen, json!({ "output": output, "exit_code": 1 }));
}

#[test]
fn extractors_of_the_program_precede_the_known_ones() {
    let mut policy = Policy::default();
    policy.extractors = Extractors::from_json(
        r#"[{"agent":"GEMINI","message":"answer","path":"/_meta/mine","value":"input_tokens"},
            {"agent":"*","message":"session/update","path":"/update/_meta/model","value":"model"}]"#,
    )
    .unwrap();
    let mut run = turn_of("gemini-cli", policy);
    let content = json!({ "type": "text", "text": "a" });
    for model in ["first", "second"] {
        run.line(A2C, &update("s", json!({ "sessionUpdate": "agent_message_chunk", "content": content, "_meta": { "model": model } })));
    }
    let quota = json!({ "token_count": { "input_tokens": 1, "output_tokens": 2 } });
    run.line(
        A2C,
        &result(3, json!({ "stopReason": "end_turn", "_meta": { "mine": 7, "quota": quota } })),
    );
    assert_eq!(learned(turn(&run)), (Some(7), Some(2), None, Some("second")));

    let mut policy = Policy::default();
    policy.extractors = Extractors::none();
    let mut run = turn_of("gemini-cli", policy);
    run.line(A2C, &result(3, json!({ "stopReason": "end_turn", "_meta": { "quota": quota } })));
    assert_eq!(learned(turn(&run)), (None, None, None, None));
}

#[test]
fn invalid_extractors_are_rejected() {
    let path = r#"[{"agent":"*","message":"answer","path":"_meta","value":"model"}]"#;
    assert!(matches!(Extractors::from_json(path), Err(ExtractorError::Path(0))));
    for json in [
        "{}",
        r#"[{"agent":"*","message":"answer","path":"/a","value":"newer"}]"#,
        r#"[{"agent":"*","message":"answer","path":"/a","value":"model","typo":1}]"#,
        r#"[{"agent":"*","message":"answer","path":"/a"}]"#,
    ] {
        assert!(matches!(Extractors::from_json(json), Err(ExtractorError::Json(_))), "{json}");
    }
    let row = r#"{"agent":"*","message":"answer","path":"/a","value":"model"}"#;
    let many = format!("[{}]", vec![row; 257].join(","));
    assert!(matches!(Extractors::from_json(&many), Err(ExtractorError::TooMany(257))));
}

#[test]
fn providers_have_their_names_in_the_conventions() {
    let table = [
        (Some("@zed-industries/claude-code-acp"), Some("default"), Some("anthropic")),
        (Some("codex-acp"), None, Some("openai")),
        (Some("Gemini-CLI"), Some("auto"), Some("gcp.gemini")),
        (Some("grok"), None, Some("x_ai")),
        (Some("mistral-vibe"), None, Some("mistral_ai")),
        (Some("cline"), Some("gpt-4o"), Some("openai")),
        (Some("opencode"), Some("Anthropic/claude-opus"), Some("anthropic")),
        (Some("gemini-cli"), Some("claude-x"), Some("anthropic")),
        (Some("x"), Some("deepseek-chat"), Some("deepseek")),
        (None, Some("command-r"), Some("cohere")),
        (Some("opencode"), Some("opencode/big-pickle"), None),
        (None, None, None),
    ];
    for (agent, model, expected) in table {
        assert_eq!(provider(agent, model), expected, "{agent:?} {model:?}");
    }
    let rows = [
        (ProviderPolicy::WellKnown, "gemini-cli", "gcp.gemini"),
        (ProviderPolicy::WellKnown, "elsewhere", "elsewhere"),
        (ProviderPolicy::AgentName, "gemini-cli", "gemini-cli"),
        (ProviderPolicy::Prefixed, "gemini-cli", "acp.gemini-cli"),
    ];
    for (chosen, agent, expected) in rows {
        let mut policy = Policy::default();
        policy.provider = chosen;
        let mut run = turn_of(agent, policy);
        run.line(A2C, &stop(3, "end_turn"));
        let seen = turn(&run).get("gen_ai.provider.name");
        assert_eq!(seen, Some(&AttributeValue::from(expected.to_owned())), "{agent}");
    }
}
