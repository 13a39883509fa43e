//! The table of methods.
use crate::shapes::{Presence, Shape, V1_SHAPES};
use acp_types::methods::{self, Direction, Method, MethodKind};
use acp_types::v1::dispatch::{
    AgentNotification, AgentRequest, AgentResponse, ClientNotification, ClientRequest,
    ClientResponse,
};
use std::collections::BTreeSet;

/// Each row is a method that is read by that name, and by that name alone.
#[test]
fn each_method_is_read_by_its_receiver() {
    for method in methods::V1 {
        let (agent, client) = match method.kind {
            MethodKind::Request => (
                known(ClientRequest::decode(method.name, None), |request| {
                    matches!(request, ClientRequest::Other { .. })
                }),
                known(AgentRequest::decode(method.name, None), |request| {
                    matches!(request, AgentRequest::Other { .. })
                }),
            ),
            MethodKind::Notification => (
                known(ClientNotification::decode(method.name, None), |notification| {
                    matches!(notification, ClientNotification::Other { .. })
                }),
                known(AgentNotification::decode(method.name, None), |notification| {
                    matches!(notification, AgentNotification::Other { .. })
                }),
            ),
        };
        let expected = match method.direction {
            Direction::ToAgent => (true, false),
            Direction::ToClient => (false, true),
            Direction::ToEither => (true, true),
        };
        assert_eq!((agent, client), expected, "{}", method.name);
        assert_eq!(methods::find(methods::V1, method.direction, method.name), Some(method));
    }
}

/// Whether decoding knew the method: an error says so too, for only the parameters can be wrong.
fn known<T, E>(decoded: Result<T, E>, is_other: impl Fn(&T) -> bool) -> bool {
    !decoded.as_ref().is_ok_and(is_other)
}

/// A result is read by the method of its request.
#[test]
fn each_result_is_read_by_its_receiver() {
    let null = serde_json::value::RawValue::NULL;
    for method in methods::V1.iter().filter(|method| method.kind == MethodKind::Request) {
        let to_client = known(AgentResponse::decode(method.name, null), |response| {
            matches!(response, AgentResponse::Other { .. })
        });
        let to_agent = known(ClientResponse::decode(method.name, null), |response| {
            matches!(response, ClientResponse::Other { .. })
        });
        let expected =
            (method.direction == Direction::ToAgent, method.direction == Direction::ToClient);
        assert_eq!((to_client, to_agent), expected, "{}", method.name);
    }
}

/// The names of types, and which methods are of a session, agree with the shapes.
#[test]
fn rows_agree_with_the_shapes() {
    for Method { name, params, result, session_scoped, .. } in methods::V1 {
        let Some(Shape::Object(members)) = V1_SHAPES.get(params) else {
            panic!("{name}: {params}")
        };
        let has_session = members.iter().any(|member| {
            member.name == Some("sessionId") && member.presence == Presence::Required
        });
        assert_eq!(*session_scoped, has_session, "{name}");
        assert!(result.is_none_or(|result| V1_SHAPES.contains_key(result)), "{name}: {result:?}");
    }
    let names: BTreeSet<_> = methods::V1.iter().map(|method| method.name).collect();
    assert_eq!(names.len(), methods::V1.len(), "a method is there twice");
}
