//! Responses to the agent's requests.
use acp_types::v1::elicitation::CreateElicitationResponse;
use acp_types::v1::tool_calls::RequestPermissionResponse;
use jsonrpc_core::{RequestId, member_union};
use serde::{Deserialize, Serialize};

/// A response to send to the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// The id of the request, unchanged.
    pub request_id: RequestId,
    /// Its result.
    pub result: Answer,
}

member_union! {
    /// The result of a request for user input. It has the same form in ACP v1 and v2.
    ///
    /// Spec: [`RequestPermissionResponse`](https://agentclientprotocol.com/protocol/v1/schema#requestpermissionresponse),
    /// [`CreateElicitationResponse`](https://agentclientprotocol.com/protocol/v1/schema#createelicitationresponse) (ACP v1)
    pub enum Answer {
        /// Of `session/request_permission`.
        Permission(RequestPermissionResponse) has "outcome",
        /// Of `elicitation/create`.
        Elicitation(CreateElicitationResponse) has "action",
    }
}
