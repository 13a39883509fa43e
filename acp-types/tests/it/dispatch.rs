//! Reading by method.
use acp_types::v1::dispatch::{AgentNotification, AgentResponse, ClientRequest};
use jsonrpc_core::wire::Raw;
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
fn an_empty_result_may_be_null() -> Result<(), Box<dyn Error>> {
    let null = Raw::from_text("null")?;
    let response = AgentResponse::decode("session/resume", null.as_ref())?;
    assert!(matches!(response, AgentResponse::ResumeSessionResponse(_)), "{response:?}");
    let error = AgentResponse::decode("session/prompt", null.as_ref()).expect_err("no reason");
    assert_eq!(error.to_string(), "expected member `stopReason`, got none");
    Ok(())
}

#[test]
fn what_is_unknown_stays_as_it_came() -> Result<(), Box<dyn Error>> {
    let params = Raw::from_text(r#"{ "a" : 1.50 }"#)?;
    let method = "_example.com/note";
    let notification = AgentNotification::decode(method, Some(params.as_ref()))?;
    assert_eq!(notification.method(), method);
    let other = AgentNotification::Other { method: method.to_owned(), params: Some(params) };
    assert_eq!(notification, other);
    Ok(())
}

#[test]
fn a_request_of_one_side_is_unknown_to_the_other() -> Result<(), Box<dyn Error>> {
    let request = ClientRequest::decode("fs/read_text_file", None)?;
    assert!(matches!(request, ClientRequest::Other { .. }), "{request:?}");
    Ok(())
}
