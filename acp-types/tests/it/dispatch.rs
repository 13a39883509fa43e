//! Decoding by method.
use crate::wire_types::VERSIONS;
use acp_types::methods::Receiver;
use acp_types::v1::dispatch::{AgentNotification, AgentResponse, ClientRequest};
use acp_types::{v1, v2};
use jsonrpc_core::wire::{DecodeError, Raw};
use serde::Serialize;
use serde_json::value::RawValue;
use std::error::Error;

#[test]
fn absent_and_null_params_are_an_empty_object() -> Result<(), Box<dyn Error>> {
    let null = Raw::from_text("null")?;
    for params in [None, Some(null.as_ref())] {
        let request = ClientRequest::decode("session/list", params)?;
        assert!(matches!(request, ClientRequest::ListSessionsRequest(_)), "{request:?}");
        let error = ClientRequest::decode("session/new", params).expect_err("no `cwd`");
        assert_eq!(error.to_string(), "expected member `cwd`, got none");
    }
    Ok(())
}

#[test]
fn empty_result_may_be_null() -> Result<(), Box<dyn Error>> {
    let null = Raw::from_text("null")?;
    let response = AgentResponse::decode("session/resume", null.as_ref())?;
    assert!(matches!(response, AgentResponse::ResumeSessionResponse(_)), "{response:?}");
    let error = AgentResponse::decode("session/prompt", null.as_ref()).expect_err("no reason");
    assert_eq!(error.to_string(), "expected member `stopReason`, got none");
    Ok(())
}

/// Decodes a result by its method, then encodes it.
type Again = fn(&str, &RawValue) -> Result<String, DecodeError>;

fn again<T: Serialize>(read: Result<T, DecodeError>) -> Result<String, DecodeError> {
    read.map(|read| serde_json::to_string(&read).expect("it has a JSON form"))
}

/// A result without required members may be `null` and is preserved; others may not.
#[test]
fn null_results_stay_null() -> Result<(), Box<dyn Error>> {
    let readers: [[Again; 2]; 2] = [
        [
            |method, result| again(v1::dispatch::AgentResponse::decode(method, result)),
            |method, result| again(v1::dispatch::ClientResponse::decode(method, result)),
        ],
        [
            |method, result| again(v2::dispatch::AgentResponse::decode(method, result)),
            |method, result| again(v2::dispatch::ClientResponse::decode(method, result)),
        ],
    ];
    let null = Raw::from_text("null")?;
    for (version, [agent, client]) in VERSIONS.iter().zip(readers) {
        let mut empty = 0;
        for method in version.methods {
            let read = match method.receiver {
                Receiver::Agent => agent,
                Receiver::Client => client,
                _ => continue,
            };
            let Some(result) = method.result else { continue };
            let required = (version.find(result).again)("{}").is_err();
            let here = format!("{} {}", version.name, method.name);
            if required {
                assert!(read(method.name, null.as_ref()).is_err(), "{here}");
                continue;
            }
            empty += 1;
            assert_eq!(read(method.name, null.as_ref())?, "null", "{here}");
            let object = Raw::from_text(r#"{"other":null}"#)?;
            assert_eq!(read(method.name, object.as_ref())?, object.as_str(), "{here}");
        }
        assert!(empty > 10, "{empty} in {}", version.name);
    }
    Ok(())
}

#[test]
fn unknown_messages_are_kept_verbatim() -> Result<(), Box<dyn Error>> {
    let params = Raw::from_text(r#"{ "a" : 1.50 }"#)?;
    let method = "_example.com/note";
    let notification = AgentNotification::decode(method, Some(params.as_ref()))?;
    assert_eq!(notification.method(), method);
    let other = AgentNotification::Other { method: method.to_owned(), params: Some(params) };
    assert_eq!(notification, other);
    Ok(())
}

#[test]
fn request_of_one_side_is_unknown_to_the_other() -> Result<(), Box<dyn Error>> {
    let request = ClientRequest::decode("fs/read_text_file", None)?;
    assert!(matches!(request, ClientRequest::Other { .. }), "{request:?}");
    Ok(())
}
