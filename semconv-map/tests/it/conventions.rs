//! Recordings of real agents against the registries of the conventions.
//!
//! The names of each span, their types and what is required are those of the registry
//! [v1.41.1](https://github.com/open-telemetry/semantic-conventions/tree/v1.41.1/model) and
//! [v1.39.0](https://github.com/open-telemetry/semantic-conventions/tree/v1.39.0/model), and those of
//! [semantic-conventions-genai](https://github.com/open-telemetry/semantic-conventions-genai) as of 2026-10-07.
use crate::golden::{recordings, replay};
use crate::spans::Span;
use semconv_map::content::Capture;
use semconv_map::{AttributeValue, Policy, Profile};

/// A name, and the type of its value.
type Name = (&'static str, Type);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Type {
    String,
    Int,
    Strings,
}

const INVOKE_AGENT: &[Name] = &[
    ("error.type", Type::String),
    ("gen_ai.agent.name", Type::String),
    ("gen_ai.conversation.id", Type::String),
    ("gen_ai.input.messages", Type::String),
    ("gen_ai.operation.name", Type::String),
    ("gen_ai.output.messages", Type::String),
    ("gen_ai.provider.name", Type::String),
    ("gen_ai.request.model", Type::String),
    ("gen_ai.response.finish_reasons", Type::Strings),
    ("gen_ai.usage.input_tokens", Type::Int),
    ("gen_ai.usage.output_tokens", Type::Int),
];

/// What `invoke_agent` has since v1.40.
const INVOKE_AGENT_V1_41: &[Name] = &[
    ("gen_ai.agent.version", Type::String),
    ("gen_ai.usage.cache_creation.input_tokens", Type::Int),
    ("gen_ai.usage.cache_read.input_tokens", Type::Int),
];

/// What `invoke_agent` has in development.
const INVOKE_AGENT_DEV: &[Name] = &[
    ("gen_ai.agent.version", Type::String),
    ("gen_ai.usage.cache_read.input_tokens", Type::Int),
    ("gen_ai.usage.cache_write.input_tokens", Type::Int),
    ("gen_ai.usage.reasoning.output_tokens", Type::Int),
];

const EXECUTE_TOOL: &[Name] = &[
    ("error.type", Type::String),
    ("gen_ai.operation.name", Type::String),
    ("gen_ai.tool.call.arguments", Type::String),
    ("gen_ai.tool.call.id", Type::String),
    ("gen_ai.tool.call.result", Type::String),
    ("gen_ai.tool.name", Type::String),
    ("gen_ai.tool.type", Type::String),
    // Not of these releases, but of the next: backends group by them.
    ("gen_ai.agent.name", Type::String),
    ("gen_ai.conversation.id", Type::String),
];

const JSON_RPC: &[Name] = &[
    ("error.type", Type::String),
    ("jsonrpc.protocol.version", Type::String),
    ("rpc.method", Type::String),
    ("rpc.method_original", Type::String),
    ("rpc.system.name", Type::String),
    // Not of RPC: the session that a request belongs to.
    ("gen_ai.conversation.id", Type::String),
];

/// What every request can have, whatever its span means.
const REQUEST: &[Name] = &[
    ("jsonrpc.request.id", Type::String),
    ("network.transport", Type::String),
    ("process.exit.code", Type::Int),
    ("rpc.response.status_code", Type::String),
];

#[test]
fn each_attribute_is_one_of_its_span() {
    let mut seen = 0;
    for (profile, newer) in [
        (Profile::V1_39, [].as_slice()),
        (Profile::V1_41, INVOKE_AGENT_V1_41),
        (Profile::GENAI_DEV, INVOKE_AGENT_DEV),
    ] {
        for (name, recording) in recordings() {
            let mut policy = Policy::default();
            policy.profile = profile;
            policy.content = Capture::Span;
            policy.network_transport = Some("pipe".into());
            for span in replay(policy, &recording).spans.all.values() {
                let (names, required): (Vec<Name>, &[&str]) =
                    match span.str("gen_ai.operation.name") {
                        Some("invoke_agent") => (
                            [INVOKE_AGENT, newer].concat(),
                            &["gen_ai.operation.name", "gen_ai.provider.name"],
                        ),
                        Some("execute_tool") => {
                            (EXECUTE_TOOL.to_vec(), &["gen_ai.operation.name", "gen_ai.tool.name"])
                        }
                        Some(other) => panic!("{name}: no such operation: {other}"),
                        None => (JSON_RPC.to_vec(), &["rpc.system.name"]),
                    };
                for key in required {
                    assert!(span.get(key).is_some(), "{name}: {} has no {key}", span.name());
                }
                check(&name, span, &names);
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "only {seen} spans");
}

fn check(recording: &str, span: &Span, names: &[Name]) {
    for attribute in span.attributes().filter(|attribute| !attribute.key.starts_with("acp.")) {
        let value = match &attribute.value {
            AttributeValue::String(_) => Type::String,
            AttributeValue::I64(_) => Type::Int,
            AttributeValue::StringArray(_) => Type::Strings,
            other => panic!("{}: no such type here: {other:?}", attribute.key),
        };
        let known = names.iter().chain(REQUEST).find(|(name, _)| *name == attribute.key);
        assert_eq!(known, Some(&(attribute.key, value)), "{recording}: {}", span.name());
    }
}
