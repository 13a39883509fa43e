//! Recordings of real agents and an MCP session, in each profile, checked against the registries of
//! the conventions in `fixtures/conventions.txt`: names, types, values, requirement levels, and no
//! deprecated names.
//!
//! Derived from the registries
//! [v1.39.0](https://github.com/open-telemetry/semantic-conventions/tree/v1.39.0/model),
//! [v1.41.1](https://github.com/open-telemetry/semantic-conventions/tree/v1.41.1/model) and
//! [v1.44.0](https://github.com/open-telemetry/semantic-conventions/tree/v1.44.0/model), and from
//! [semantic-conventions-genai](https://github.com/open-telemetry/semantic-conventions-genai) as of
//! 2026-10-07.
use crate::golden::{recordings, replay};
use crate::spans::Span;
use crate::{rpc, subagent};
use semconv_map::content::Capture;
use semconv_map::metric::{self, Instrument, Measurement};
use semconv_map::policy::ToolTypePolicy;
use semconv_map::rpc::Protocol;
use semconv_map::span::SpanKind;
use semconv_map::{Attribute, AttributeValue, Policy, Profile};
use std::collections::{BTreeMap, BTreeSet};

const PROFILES: [Profile; 3] = [Profile::V1_39, Profile::V1_41, Profile::GENAI_DEV];

/// The registry of one profile.
struct Registry {
    /// Spans, events and metrics with their attributes.
    signals: BTreeMap<&'static str, BTreeMap<&'static str, KnownAttribute>>,
    deprecated: BTreeSet<&'static str>,
    values: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

#[derive(Clone, Copy)]
struct KnownAttribute {
    kind: &'static str,
    level: &'static str,
}

impl Registry {
    /// Reads a column of the file.
    fn of(profile: Profile) -> Self {
        let column = PROFILES.iter().position(|known| *known == profile).unwrap();
        let mut registry =
            Self { signals: BTreeMap::new(), deprecated: BTreeSet::new(), values: BTreeMap::new() };
        let mut signal = None;
        let lines = include_str!("../fixtures/conventions.txt").lines();
        for line in lines.filter(|line| !line.starts_with('#')) {
            let (what, columns) = line.split_once(" | ").unwrap_or_else(|| panic!("{line}"));
            let said = columns.split(' ').nth(column).filter(|said| *said != "-");
            if let Some(attribute) = what.strip_prefix("    ") {
                let (name, kind) = attribute.split_once(' ').unwrap();
                let attributes = signal.and_then(|signal| registry.signals.get_mut(signal));
                if let (Some(attributes), Some(level)) = (attributes, said) {
                    attributes.insert(name, KnownAttribute { kind, level });
                }
                continue;
            }
            signal = said.map(|_| what);
            let Some(_) = said else { continue };
            let words: Vec<_> = what.split(' ').collect();
            match words[..] {
                ["deprecated", name] => {
                    registry.deprecated.insert(name);
                }
                ["value", key, value] => {
                    registry.values.entry(key).or_default().insert(value);
                }
                _ => {
                    registry.signals.insert(what, BTreeMap::new());
                }
            }
        }
        registry
    }

    /// Returns the attributes of a signal, which has to exist.
    fn signal(&self, name: &str) -> &BTreeMap<&'static str, KnownAttribute> {
        self.signals.get(name).unwrap_or_else(|| panic!("no {name} here"))
    }

    /// Checks that each attribute belongs to the signal or is an extension, has the right type and
    /// a listed value, and that required attributes are present.
    fn check(&self, signal: &str, attributes: &[&Attribute], extensions: &[(&str, &str)]) {
        let known = self.signal(signal);
        for attribute in attributes.iter().filter(|attribute| !attribute.key.starts_with("acp.")) {
            let Attribute { key, value, .. } = attribute;
            assert!(!self.deprecated.contains(key), "{signal}: {key} is deprecated");
            let extension = extensions.iter().find(|(name, _)| name == key);
            let kind = known.get(key).map(|known| known.kind).or(extension.map(|it| it.1));
            let kind = kind.unwrap_or_else(|| panic!("{signal} has no {key}"));
            let is_right = match value {
                AttributeValue::String(text) => {
                    let values = self.values.get(key);
                    // Providers and methods are open lists. Values chosen by this crate have to be
                    // listed.
                    let is_listed = values.is_none_or(|values| values.contains(&**text));
                    let is_open = *key == "mcp.method.name" && text == "_OTHER";
                    assert!(is_listed || is_open, "{signal}: {key} = {text}");
                    kind == "string"
                        || kind == "any" && serde_json::from_str::<serde_json::Value>(text).is_ok()
                }
                AttributeValue::Json(text) => {
                    kind == "any" && serde_json::from_str::<serde_json::Value>(text).is_ok()
                }
                AttributeValue::Bool(_) => kind == "boolean",
                AttributeValue::I64(_) => kind == "int",
                AttributeValue::F64(_) => kind == "double",
                AttributeValue::StringArray(_) => kind == "string[]",
                other => panic!("{key}: no such type here: {other:?}"),
            };
            assert!(is_right, "{signal}: {key} is no {kind}: {value:?}");
        }
        let has = |name: &str| attributes.iter().any(|attribute| attribute.key == name);
        for (name, known) in known {
            assert!(known.level != "req" || has(name), "{signal} has no {name}");
        }
    }

    /// Returns the opt-in attributes of a signal.
    fn opt_in(&self, signal: &str) -> impl Iterator<Item = &'static str> {
        self.signal(signal).iter().filter(|(_, known)| known.level == "opt").map(|(name, _)| *name)
    }
}

/// Attributes beyond the conventions of a profile, with the reason.
fn extensions(signal: &str, profile: Profile) -> Vec<(&'static str, &'static str)> {
    // From the conventions for networks.
    let mut more = vec![("network.transport", "string")];
    if signal.starts_with("span invoke_agent CLIENT") || signal.starts_with("span execute_tool") {
        // These spans are also JSON-RPC requests.
        more.extend([("jsonrpc.request.id", "string"), ("rpc.response.status_code", "string")]);
    }
    if signal.starts_with("span invoke_agent") {
        // The event with the same data has it. Backends compute the cost with it.
        more.push(("gen_ai.response.model", "string"));
    }
    if signal.starts_with("span execute_tool") && profile != Profile::GENAI_DEV {
        // Defined by the next release. Backends group by them.
        more.extend([("gen_ai.agent.name", "string"), ("gen_ai.conversation.id", "string")]);
    }
    if signal.starts_with("span execute_tool") || signal.starts_with("span jsonrpc") {
        // Exit code of a terminal command.
        more.push(("process.exit.code", "int"));
    }
    if signal.starts_with("span jsonrpc") {
        // Session of a request. Backends group by it.
        more.push(("gen_ai.conversation.id", "string"));
    }
    if signal.starts_with("span mcp") {
        // A method that is not known.
        more.push(("rpc.method_original", "string"));
        // Defined by the next release.
        more.extend([("gen_ai.tool.call.arguments", "any"), ("gen_ai.tool.call.result", "any")]);
    }
    more
}

/// Opt-in attributes that are always recorded.
///
/// Unknown methods are recorded as `_OTHER`, so the cardinality is low and the reason for opt-in
/// does not apply.
const ALWAYS: [&str; 1] = ["rpc.method"];

fn signal(span: &Span) -> String {
    let kind = match span.start.kind {
        SpanKind::Client => "CLIENT",
        SpanKind::Server => "SERVER",
        _ => "INTERNAL",
    };
    let is_mcp = span.get("mcp.method.name").is_some();
    let operation = span.str("gen_ai.operation.name").filter(|_| !is_mcp);
    format!("span {} {kind}", operation.unwrap_or(if is_mcp { "mcp" } else { "jsonrpc" }))
}

fn check_span(registry: &Registry, profile: Profile, content: Capture, span: &Span) {
    let signal = signal(span);
    let attributes: Vec<_> = span.attributes().collect();
    registry.check(&signal, &attributes, &extensions(&signal, profile));
    if content == Capture::Off {
        let content = ["gen_ai.tool.call.arguments", "gen_ai.tool.call.result"];
        let opt_in = registry.opt_in(&signal).chain(content);
        for key in opt_in.filter(|key| !ALWAYS.contains(key)) {
            assert_eq!(span.get(key), None, "{signal}: {key} is opt-in");
        }
    }
    // Requirements under a condition that can be observed.
    let is_error = span.is_error();
    assert_eq!(span.get("error.type").is_some(), is_error, "{signal}");
    let target = |key| span.str(key).map_or_else(String::new, |target| format!(" {target}"));
    let expected = match &*signal {
        name if name.contains("invoke_agent") => {
            Some(format!("invoke_agent{}", target("gen_ai.agent.name")))
        }
        name if name.contains("execute_tool") => {
            Some(format!("execute_tool{}", target("gen_ai.tool.name")))
        }
        name if name.contains("mcp") && span.str("mcp.method.name") != Some("_OTHER") => {
            let tool = target("gen_ai.tool.name");
            let prompt = target("gen_ai.prompt.name");
            Some(format!("{}{tool}{prompt}", span.str("mcp.method.name").unwrap()))
        }
        _ => None,
    };
    assert!(expected.is_none_or(|expected| span.name() == expected), "{signal}: {}", span.name());
    for event in span
        .events
        .iter()
        .filter(|event| !["acp.", "mcp."].iter().any(|own| event.name.starts_with(own)))
    {
        let attributes: Vec<_> = event.attributes.iter().collect();
        registry.check(&format!("event {}", event.name), &attributes, &[]);
    }
}

fn check_metric(registry: &Registry, measured: &Measurement) {
    if measured.metric.name.starts_with("acp.") {
        return;
    }
    let attributes: Vec<_> = measured.attributes.iter().collect();
    let keys: BTreeSet<_> = attributes.iter().map(|attribute| attribute.key).collect();
    assert_eq!(keys.len(), attributes.len(), "{keys:?}");
    assert!(!registry.deprecated.contains(measured.metric.name), "{}", measured.metric.name);
    registry.check(&metric_signal(measured.metric), &attributes, &[]);
}

fn metric_signal(metric: &metric::Metric) -> String {
    let instrument = match metric.instrument {
        Instrument::Histogram => "histogram",
        Instrument::Counter => "counter",
        other => panic!("{other:?}"),
    };
    format!("metric {} {instrument} {}", metric.name, metric.unit)
}

fn policies(profile: Profile) -> impl Iterator<Item = Policy> {
    let captures = [Capture::Off, Capture::Span, Capture::Event];
    captures.into_iter().map(move |content| {
        let mut policy = Policy::default();
        policy.profile = profile;
        policy.content = content;
        policy.network_transport = Some("pipe".into());
        policy.tool_type = ToolTypePolicy::ByExecution;
        policy.record_metrics = true;
        policy.record_notifications = true;
        policy
    })
}

#[test]
fn spans_and_metrics_follow_the_conventions() {
    let mut spans = BTreeSet::new();
    let mut metrics = BTreeSet::new();
    for profile in PROFILES {
        let registry = Registry::of(profile);
        for policy in policies(profile) {
            let content = policy.content;
            let acp = recordings().into_values().map(|it| replay(policy.clone(), &it).spans);
            let sides =
                [Protocol::McpClient, Protocol::McpServer, Protocol::JsonRpc(&["initialize"])];
            let rpc = sides.map(|protocol| rpc::session(policy.clone(), protocol).spans);
            let subagents = subagent::nested(policy.clone()).spans;
            for run in acp.chain(rpc).chain([subagents]) {
                for span in run.all.values() {
                    check_span(&registry, profile, content, span);
                    spans.insert(signal(span));
                }
                for measured in &run.metrics {
                    check_metric(&registry, measured);
                    metrics.insert(measured.metric.name);
                }
            }
        }
    }
    let seen: Vec<_> = spans.iter().map(|name| &**name).collect();
    assert_eq!(
        seen,
        [
            "span execute_tool INTERNAL",
            "span invoke_agent CLIENT",
            "span invoke_agent INTERNAL",
            "span jsonrpc CLIENT",
            "span jsonrpc SERVER",
            "span mcp CLIENT",
            "span mcp SERVER",
        ]
    );
    let unseen: Vec<_> = metric::ALL
        .iter()
        .map(|it| it.name)
        .filter(|name| !metrics.contains(name) && !name.starts_with("acp."))
        .collect();
    assert_eq!(unseen, [""; 0]);
}

/// Each metric of the conventions belongs to a profile, with the same instrument and unit.
#[test]
fn metrics_are_in_a_registry() {
    let registries = PROFILES.map(Registry::of);
    for metric in metric::ALL.iter().filter(|metric| !metric.name.starts_with("acp.")) {
        let signal = metric_signal(metric);
        assert!(
            registries.iter().any(|registry| registry.signals.contains_key(&*signal)),
            "{signal}"
        );
    }
}

/// The check detects the mistakes of an early design: deprecated names, wrong types, missing
/// attributes.
#[test]
fn check_detects_mistakes() {
    let registry = Registry::of(Profile::V1_39);
    let rows: [(&str, &[Attribute], &str); 6] = [
        ("span jsonrpc CLIENT", &[Attribute::new("rpc.system", "jsonrpc")], "deprecated"),
        ("span jsonrpc CLIENT", &[], "has no rpc.system.name"),
        ("span jsonrpc CLIENT", &[Attribute::new("rpc.system.name", "json")], "= json"),
        (
            "span invoke_agent CLIENT",
            &[Attribute::new("gen_ai.response.finish_reasons", "stop")],
            "no string[]",
        ),
        (
            "span invoke_agent CLIENT",
            &[Attribute::new("gen_ai.agent.version", "1")],
            "has no gen_ai.agent.version",
        ),
        ("span invoke_agent SERVER", &[], "no span invoke_agent SERVER here"),
    ];
    for (signal, attributes, expected) in rows {
        let attributes: Vec<_> = attributes.iter().collect();
        let check = std::panic::AssertUnwindSafe(|| registry.check(signal, &attributes, &[]));
        let said = std::panic::catch_unwind(check).expect_err(expected);
        let said = said.downcast_ref::<String>().unwrap();
        assert!(said.contains(expected), "{said}");
    }
}
