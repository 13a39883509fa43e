//! Recorded messages of agents and clients are decoded, and encoded unchanged.
use crate::stored::assert_is_stored;
use crate::transcripts::{folder, transcripts};
use acp_types::{v1, v2};
use jsonrpc_core::transcript::{self, Direction, Entry};
use jsonrpc_core::wire::{DecodeError, Mode};
use jsonrpc_core::{Message, RequestId};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Returns the payloads of a conversation that fail to decode or to round-trip, and the number of
/// payloads.
fn check(entries: &[Entry<'_>]) -> (Vec<String>, usize) {
    let mut conversation = Conversation { asked: HashMap::new(), is_v2: false };
    let mut problems = Vec::new();
    let mut count = 0;
    for (number, entry) in entries.iter().enumerate() {
        // Lines that are not messages are noise or defects, which the linter reports.
        let Ok(Ok(message)) = std::str::from_utf8(&entry.bytes).map(Message::decode) else {
            continue;
        };
        let Some((method, given, again)) = conversation.read(entry.direction, &message) else {
            continue;
        };
        count += 1;
        let problem = match again {
            Ok(again) if same(&given, &again) => continue,
            Ok(again) => format!("is {again}"),
            Err(error) => error.to_string(),
        };
        problems.push(format!("{} {:?} {method}: {problem}", number + 1, entry.direction));
    }
    (problems, count)
}

struct Conversation {
    asked: HashMap<(bool, RequestId), String>,
    is_v2: bool,
}

impl Conversation {
    /// Returns the method of a message, its payload, and the payload decoded and encoded again. The
    /// client has recorded.
    fn read(
        &mut self,
        direction: Direction,
        message: &Message<'_>,
    ) -> Option<(String, Value, Result<Value, DecodeError>)> {
        let to_agent = direction == Direction::Sent;
        macro_rules! read {
            ($Type:ident, $method:expr, $payload:expr) => {
                if self.is_v2 {
                    v2::dispatch::$Type::decode_with($method, $payload, Mode::Preserve)
                        .map(|read| read.encode())
                } else {
                    v1::dispatch::$Type::decode_with($method, $payload, Mode::Preserve)
                        .map(|read| read.encode())
                }
            };
        }
        let (method, payload, read) = match message {
            Message::Request(request) => {
                let method = request.method.to_string();
                if method == "initialize" {
                    self.is_v2 = version(request.params) == Some(2);
                }
                self.asked.insert((to_agent, request.id.clone()), method.clone());
                let read = if to_agent {
                    read!(ClientRequest, &method, request.params)
                } else {
                    read!(AgentRequest, &method, request.params)
                };
                (method, request.params, read)
            }
            Message::Notification(notification) => {
                let method = notification.method.to_string();
                let params = notification.params;
                let read = if to_agent {
                    read!(ClientNotification, &method, params)
                } else {
                    read!(AgentNotification, &method, params)
                };
                (method, params, read)
            }
            Message::Response(response) => {
                let method = self.asked.remove(&(!to_agent, response.id.clone()))?;
                let result = response.outcome.as_ref().ok().copied()?;
                if method == "initialize" {
                    self.is_v2 = version(Some(result)) == Some(2);
                }
                let read = if to_agent {
                    read!(ClientResponse, &method, result)
                } else {
                    read!(AgentResponse, &method, result)
                };
                (method, Some(result), read)
            }
        };
        let given = payload.map_or("null", RawValue::get);
        let read = read.map(|text| serde_json::from_str(&text.unwrap()).unwrap());
        Some((method, serde_json::from_str(given).unwrap(), read))
    }
}

fn version(initialize: Option<&RawValue>) -> Option<u64> {
    serde_json::from_str::<Value>(initialize?.get()).ok()?["protocolVersion"].as_u64()
}

/// Returns whether `again` equals `given`. A `null` member may be absent, and numbers are compared
/// by value.
fn same(given: &Value, again: &Value) -> bool {
    match (given, again) {
        (Value::Object(given), Value::Object(again)) => {
            again.keys().all(|name| given.contains_key(name))
                && given.iter().all(|(name, given)| {
                    again.get(name).map_or(given.is_null(), |again| same(given, again))
                })
        }
        (Value::Array(given), Value::Array(again)) => {
            given.len() == again.len()
                && given.iter().zip(again).all(|(given, again)| same(given, again))
        }
        (Value::Number(given), Value::Number(again)) => {
            given == again || given.as_f64() == again.as_f64()
        }
        // Absent parameters and results are decoded as empty objects.
        (Value::Null, Value::Object(again)) => again.is_empty(),
        _ => given == again,
    }
}

/// All recorded messages of the protocol round-trip; the others are listed.
#[test]
fn conversations_round_trip() {
    let mut problems = Vec::new();
    let mut count = 0;
    for (name, entries) in transcripts() {
        let (of_one, payloads) = check(&entries);
        problems.extend(of_one.into_iter().map(|problem| format!("{name}:{problem}")));
        count += payloads;
    }
    assert!(count > 400, "{count}");
    let mut list = problems.join("\n");
    list.push('\n');
    assert_is_stored(&list, &folder().join("unread.txt"));
}

/// The same for the folder in `TRANSCRIPTS`, if set. Prints the failures.
#[test]
fn more_conversations_round_trip() {
    let Some(folder) = std::env::var_os("TRANSCRIPTS") else { return };
    let mut problems = Vec::new();
    let mut files = 0;
    let mut count = 0;
    visit(Path::new(&folder), &mut |path| {
        let text = fs::read_to_string(path).unwrap();
        let Ok(entries) = transcript::read(&text).collect::<Result<Vec<_>, _>>() else {
            problems.push(format!("{}: no transcript", path.display()));
            return;
        };
        let (of_one, payloads) = check(&entries);
        problems.extend(of_one.into_iter().map(|problem| format!("{}:{problem}", path.display())));
        files += 1;
        count += payloads;
    });
    println!(
        "{files} files, {count} payloads, {} not read or otherwise\n{}",
        problems.len(),
        problems.join("\n")
    );
    assert!(count > 0, "no transcripts in {}", folder.display());
}

fn visit(folder: &Path, file: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            visit(&path, file);
        } else if path.extension().is_some_and(|name| name == "jsonl") {
            file(&path);
        }
    }
}
