//! Configuration of the requests of tools to a model.
use futures::executor::block_on;
use jsonrpc_core::wire::{self, Raw};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::sampling::{CreateMessageRequestParams, ModelPreferences};
use mcp_bridge::plugin::{
    MemoryStore, NewCall, NoElicitations, Outcome, PluginContext, PluginError, PluginHost,
    PluginTool, Resumption, Sampling, SuspendPolicy, Turn,
};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The requests of a tool: how often, and with how many tokens.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
struct Requests {
    count: u32,
    tokens: u64,
}

fn request(tokens: u64) -> CreateMessageRequestParams {
    let text = json!({ "maxTokens": tokens, "systemPrompt": "the card is 4111",
        "messages": [{ "role": "user", "content": { "type": "text", "text": "Hi" } }] });
    wire::decode(&text.to_string()).expect("params")
}

/// A tool that returns the texts of all responses.
async fn ask(
    requests: Requests,
    ctx: PluginContext<NoElicitations>,
) -> Result<Vec<String>, PluginError> {
    let mut texts = Vec::new();
    for _ in 0..requests.count {
        let result = ctx.sample("tip", request(requests.tokens)).await?;
        texts.push(serde_json::to_value(&result.content).expect("JSON")["text"].to_string());
    }
    Ok(texts)
}

fn host(policy: SuspendPolicy, tool: Sampling, host: Sampling) -> PluginHost {
    let builder = PluginTool::builder("ask", "1").elicits::<NoElicitations>().sampling(tool);
    let store = Arc::new(MemoryStore::default());
    let clock = Arc::new(|| Duration::ZERO);
    let tools = [builder.execute(ask).expect("a tool")];
    PluginHost::new(tools, policy, store, "a", clock).with_sampling(host)
}

/// Runs the tool with a model that responds with `key 4111`. Returns the requests that it received,
/// and the result.
fn run(host: &PluginHost, requests: Requests) -> (Vec<Value>, Value) {
    let arguments = Raw::from_value(&requests).expect("JSON");
    let session_id = "9c41";
    let call_id = "c";
    let tool = "ask";
    let principal = "ada";
    let call = NewCall { session_id, call_id, tool, arguments, principal, meta: None };
    let mut turn = block_on(host.call(call, None));
    let mut received = Vec::new();
    loop {
        match turn.expect("a turn") {
            Turn::Asks { state, asks } => {
                let ServerRequest::CreateMessage(params) = &asks[0].request else {
                    panic!("{asks:?}")
                };
                received.push(serde_json::to_value(params).expect("JSON"));
                let text = json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "key 4111" } });
                let answer = Outcome::Value(Raw::from_value(&text).expect("JSON"));
                let answers = vec![(asks[0].key.clone(), answer)];
                let resumption =
                    Resumption { state: &state, tool, arguments: None, principal, answers };
                turn = block_on(host.resume(resumption, None));
            }
            Turn::Done(result) => return (received, serde_json::to_value(&result).expect("JSON")),
            other => panic!("{other:?}"),
        }
    }
}

fn note(text: &'static str) -> Sampling {
    let add = move |prompt: Option<String>| Some(format!("{}{text}", prompt.unwrap_or_default()));
    Sampling::new()
        .with_before(move |mut request, _| {
            request.system_prompt = add(request.system_prompt);
            Ok(request)
        })
        .with_after(move |mut result, _| {
            result.content = wire::decode(
                &serde_json::to_string(&result.content)
                    .expect("JSON")
                    .replace("key", &format!("key{text}")),
            )
            .expect("content");
            Ok(result)
        })
}

/// The request passes the tool's functions and then the host's, and the response the other way.
#[test]
fn functions_are_called_in_order() {
    for policy in [SuspendPolicy::Park, SuspendPolicy::Replay] {
        let host = host(policy, note(" tool"), note(" host"));
        let (received, result) = run(&host, Requests { count: 2, tokens: 9 });
        assert_eq!(received.len(), 2);
        assert!(received.iter().all(|it| it["systemPrompt"] == "the card is 4111 tool host"));
        assert_eq!(result["structuredContent"][1], r#""key tool host 4111""#);
    }
}

#[test]
fn preferences_apply_to_requests_without_any() {
    let cheap = || ModelPreferences::new().with_cost_priority(1);
    let fast = || ModelPreferences::new().with_speed_priority(1);
    let with = |tool: Option<ModelPreferences>, own: Option<ModelPreferences>| {
        let tool = tool.map_or_else(Sampling::new, |it| Sampling::new().with_model_preferences(it));
        let tool = match own {
            Some(own) => {
                tool.with_before(move |request, _| Ok(request.with_model_preferences(own.clone())))
            }
            None => tool,
        };
        let host =
            host(SuspendPolicy::Replay, tool, Sampling::new().with_model_preferences(cheap()));
        run(&host, Requests { count: 1, tokens: 9 }).0[0]["modelPreferences"].clone()
    };
    assert_eq!(with(None, None), json!({ "costPriority": 1 }));
    assert_eq!(with(Some(fast()), None), json!({ "speedPriority": 1 }));
    assert_eq!(with(None, Some(fast())), json!({ "speedPriority": 1 }));
}

/// A guard ends the request before it leaves, and a response before the tool receives it.
#[test]
fn guard_rejects_requests_and_responses() {
    let before = Sampling::new().with_before(|request, context| match context.number {
        1 => Ok(request),
        _ => Err(format!("no `{}` of {} for {}", context.key, context.call_id, context.principal)),
    });
    let after = Sampling::new().with_after(|result, _| match result.model.as_str() {
        "local" => Ok(result),
        other => Err(format!("`{other}` is not local")),
    });
    for (guard, reason, count) in
        [(before, "no `tip#2` of c for ada", 1), (after, "`m` is not local", 1)]
    {
        for (tool, all) in [(guard.clone(), Sampling::new()), (Sampling::new(), guard.clone())] {
            let host = host(SuspendPolicy::Replay, tool, all);
            let (received, result) = run(&host, Requests { count: 3, tokens: 9 });
            assert_eq!(received.len(), count);
            assert_eq!(result["isError"], true);
            let text = result["content"][0]["text"].as_str().expect("text");
            assert!(text.ends_with(reason), "{text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// No request exceeds a limit or contains what is redacted, with any limits of tool and host.
    #[test]
    fn limits_hold(
        count in 0_u32..5,
        tokens in 0_u64..40,
        limits in prop::array::uniform2((prop::option::of(0_u64..40), prop::option::of(0_u32..5))),
        parks in any::<bool>(),
    ) {
        let [tool, all] = limits.map(|(tokens, requests)| {
            let mut sampling = Sampling::new().with_before(|mut request, _| {
                request.system_prompt = request.system_prompt.map(|prompt| prompt.replace("4111", "[card]"));
                Ok(request)
            });
            if let Some(tokens) = tokens {
                sampling = sampling.with_max_tokens(tokens);
            }
            if let Some(requests) = requests {
                sampling = sampling.with_max_requests(requests);
            }
            sampling
        });
        let policy = if parks { SuspendPolicy::Park } else { SuspendPolicy::Replay };
        let (received, result) = run(&host(policy, tool, all), Requests { count, tokens });
        let most = limits.iter().filter_map(|(_, requests)| *requests).chain([count]).min().expect("one");
        prop_assert_eq!(received.len(), most as usize);
        prop_assert_eq!(result["isError"] == true, most < count);
        let most = limits.iter().filter_map(|(tokens, _)| *tokens).chain([tokens]).min().expect("one");
        for request in received {
            prop_assert_eq!(&request["maxTokens"], most);
            prop_assert_eq!(&request["systemPrompt"], "the card is [card]");
        }
    }
}
