//! Usage of a turn: tokens, context, cost.
use crate::lines::{prompt, request, result, stop, update};
use crate::spans::{A2C, C2A, Run};
use semconv_map::policy::UsagePolicy;
use semconv_map::{Policy, Profile};
use serde_json::{Value, json};

/// Counts in the response, and the attributes: input, output, cache reads and cache writes.
#[test]
fn usage_counts_cached_tokens_as_input_and_thoughts_as_output() {
    let rows = [
        (
            json!({ "totalTokens": 30, "inputTokens": 10, "outputTokens": 20 }),
            [Some(10), Some(20), None, None],
        ),
        (
            json!({ "totalTokens": 18, "inputTokens": 6, "outputTokens": 5, "thoughtTokens": 2, "cachedReadTokens": 5 }),
            [Some(11), Some(7), Some(5), None],
        ),
        (
            json!({ "totalTokens": 11, "inputTokens": 6, "outputTokens": 5, "thoughtTokens": 2, "cachedReadTokens": 5 }),
            [Some(6), Some(5), Some(5), None],
        ),
        (
            json!({ "totalTokens": 15, "inputTokens": 6, "outputTokens": 5, "thoughtTokens": 2, "cachedWriteTokens": 4 }),
            [Some(10), Some(5), None, Some(4)],
        ),
        (
            json!({ "totalTokens": 0, "inputTokens": 6, "outputTokens": 5, "thoughtTokens": 2 }),
            [Some(6), Some(5), None, None],
        ),
        (Value::Null, [None; 4]),
    ];
    for (usage, expected) in rows {
        let mut run = Run::new(Policy::default());
        run.line(C2A, &prompt(1, "s"));
        run.line(A2C, &result(1, json!({ "stopReason": "end_turn", "usage": usage })));
        let turn = run.span("invoke_agent");
        let keys = [
            "input_tokens",
            "output_tokens",
            "cache_read.input_tokens",
            "cache_creation.input_tokens",
        ];
        assert_eq!(keys.map(|key| turn.i64(&format!("gen_ai.usage.{key}"))), expected, "{usage}");
    }
}

/// A cumulative agent and one that counts per turn result in the same values for each type of
/// tokens.
#[test]
fn cumulative_usage_becomes_usage_by_turn() {
    let by_turn = [[10, 20, 4, 3, 2], [1, 2, 1, 0, 1], [7, 0, 0, 2, 0]];
    let cumulative = [[10, 20, 4, 3, 2], [11, 22, 5, 3, 3], [18, 22, 5, 5, 3]];
    for (policy_of, counts) in
        [(UsagePolicy::PerTurn, by_turn), (UsagePolicy::Cumulative, cumulative)]
    {
        let mut policy = Policy::default();
        policy.usage = policy_of;
        policy.profile = Profile::GENAI_DEV;
        let mut run = Run::new(policy);
        for (id, [input, output, read, written, thought]) in counts.into_iter().enumerate() {
            run.line(C2A, &prompt(id, "s"));
            let usage = json!({
                "totalTokens": input + output, "inputTokens": input, "outputTokens": output,
                "cachedReadTokens": read, "cachedWriteTokens": written, "thoughtTokens": thought,
            });
            run.line(A2C, &result(id, json!({ "stopReason": "end_turn", "usage": usage })));
        }
        let turns = run.spans.all.values();
        let seen = turns.map(|turn| {
            [
                "input_tokens",
                "output_tokens",
                "cache_read.input_tokens",
                "cache_write.input_tokens",
                "reasoning.output_tokens",
            ]
            .map(|key| turn.i64(&format!("gen_ai.usage.{key}")).unwrap())
        });
        assert!(seen.eq(by_turn), "{policy_of:?}");
    }
}

/// Counts beyond the range of attributes are saturated.
#[test]
fn counts_are_saturated() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    let most = u64::MAX;
    run.line(
        A2C,
        &update("s", json!({ "sessionUpdate": "usage_update", "used": most, "size": most })),
    );
    let usage = json!({ "totalTokens": most, "inputTokens": most, "outputTokens": most, "cachedReadTokens": most });
    run.line(A2C, &result(1, json!({ "stopReason": "end_turn", "usage": usage })));
    let turn = run.span("invoke_agent");
    for key in [
        "acp.usage.context.used",
        "acp.usage.context.size",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
    ] {
        assert_eq!(turn.i64(key), Some(i64::MAX), "{key}");
    }
}

fn usage_update(amount: f64, currency: &str) -> String {
    let cost = json!({ "amount": amount, "currency": currency });
    update("s", json!({ "sessionUpdate": "usage_update", "used": 5, "size": 100, "cost": cost }))
}

#[test]
fn cost_of_session_and_turn_is_recorded() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &request(0, "session/new", json!({ "cwd": "/", "mcpServers": [] })));
    run.line(A2C, &result(0, json!({ "sessionId": "s" })));
    for (id, updates) in [
        (1, vec![(0.25, "USD"), (0.5, "USD")]),
        (2, vec![(0.75, "USD")]),
        (3, vec![(0.5, "USD")]),
        (4, vec![(0.75, "EUR")]),
    ] {
        run.line(C2A, &prompt(id, "s"));
        for (amount, currency) in updates {
            run.line(A2C, &usage_update(amount, currency));
        }
        run.line(A2C, &stop(id, "end_turn"));
    }
    let turns: Vec<_> = run.spans.all.values().skip(1).collect();
    let seen =
        turns.iter().map(|turn| (turn.f64("acp.cost.amount"), turn.f64("acp.cost.turn_amount")));
    assert!(seen.eq([
        (Some(0.5), Some(0.5)),
        (Some(0.75), Some(0.25)),
        (Some(0.5), Some(0.0)),
        (Some(0.75), None),
    ]));
    assert_eq!(turns[0].i64("acp.usage.context.used"), Some(5));
    assert_eq!(turns[0].i64("acp.usage.context.size"), Some(100));
    assert_eq!(turns[3].str("acp.cost.currency"), Some("EUR"));
}

/// The cost of a loaded session before loading is unknown, and so is the cost of its first turn.
#[test]
fn first_turn_of_a_loaded_session_has_no_cost() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &usage_update(9.0, "USD"));
    run.line(A2C, &stop(1, "end_turn"));
    assert_eq!(run.span("invoke_agent").f64("acp.cost.turn_amount"), None);
}
