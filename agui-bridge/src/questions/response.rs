//! Responses to the agent's requests.
use crate::AnsweredBy;
use acp_types::v1::elicitation::CreateElicitationResponse;
use acp_types::v1::tool_calls::{RequestPermissionResponse, ToolCallId};
use alloc::string::String;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{RequestId, member_union};
use serde::{Deserialize, Serialize};

/// A response to send to the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// The id of the request, unchanged.
    pub request_id: RequestId,
    /// Its result.
    pub result: Answer,
    /// The request as the stream shows it: for a permission title, description, the call or the
    /// subject, and the options.
    pub request: Raw,
    /// The agent's id of the tool call that the request belongs to.
    pub call: Option<ToolCallId>,
    /// The id of its question, if the user was asked.
    pub interrupt_id: Option<String>,
    /// The origin of the result.
    pub answered_by: AnsweredBy,
}

member_union! {
    /// The result of a request for user input. It has the same form in ACP v1 and v2.
    ///
    /// Spec: [`RequestPermissionResponse`](https://agentclientprotocol.com/protocol/v1/schema#requestpermissionresponse),
    /// [`CreateElicitationResponse`](https://agentclientprotocol.com/protocol/v1/schema#createelicitationresponse)
    /// (ACP v1)
    pub enum Answer {
        /// Of `session/request_permission`.
        Permission(RequestPermissionResponse) has "outcome",
        /// Of `elicitation/create`.
        Elicitation(CreateElicitationResponse) has "action",
    }
}
