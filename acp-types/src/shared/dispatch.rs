//! The methods of the types that both versions share.
use super::authentication::{AuthStatusRequest, AuthStatusResponse, AuthStatusUpdateNotification};
use super::cancellation::CancelRequestNotification;
use super::elicitation::CompleteElicitationNotification;
use super::mcp_over_acp::{MessageMcpNotification, MessageMcpRequest, MessageMcpResponse};
use super::providers::{
    DisableProviderRequest, DisableProviderResponse, ListProvidersRequest, ListProvidersResponse,
    SetProviderRequest, SetProviderResponse,
};
use super::proxy_chains::{
    ProxySuccessorNotification, ProxySuccessorRequest, ProxySuccessorResponse,
};
use super::session_list::{
    ArchiveSessionRequest, ArchiveSessionResponse, DeleteSessionRequest, DeleteSessionResponse,
    SetSessionTitleRequest, SetSessionTitleResponse, UnarchiveSessionRequest,
    UnarchiveSessionResponse,
};
use super::session_setup::{CloseSessionRequest, CloseSessionResponse};
use crate::dispatch::Answer;
use crate::params::{NotificationParams, params};
use alloc::boxed::Box;
use jsonrpc_core::wire::Wire;
use serde_json::value::RawValue;

params! { "auth/status" AuthStatusRequest -> AuthStatusResponse }
params! { "mcp/message" MessageMcpRequest -> MessageMcpResponse }
params! { "providers/disable" DisableProviderRequest -> DisableProviderResponse }
params! { "providers/list" ListProvidersRequest -> ListProvidersResponse }
params! { "providers/set" SetProviderRequest -> SetProviderResponse }
params! { "proxy/successor" ProxySuccessorRequest -> ProxySuccessorResponse }
params! { "session/archive" ArchiveSessionRequest -> ArchiveSessionResponse }
params! { "session/close" CloseSessionRequest -> CloseSessionResponse }
params! { "session/delete" DeleteSessionRequest -> DeleteSessionResponse }
params! { "session/set_title" SetSessionTitleRequest -> SetSessionTitleResponse }
params! { "session/unarchive" UnarchiveSessionRequest -> UnarchiveSessionResponse }

impl NotificationParams for CancelRequestNotification {
    const METHOD: &'static str = "$/cancel_request";
}

impl NotificationParams for AuthStatusUpdateNotification {
    const METHOD: &'static str = "auth/status_update";
}

impl NotificationParams for CompleteElicitationNotification {
    const METHOD: &'static str = "elicitation/complete";
}

impl NotificationParams for MessageMcpNotification {
    const METHOD: &'static str = "mcp/message";
}

impl NotificationParams for ProxySuccessorNotification {
    const METHOD: &'static str = "proxy/successor";
}

impl Answer for Box<ProxySuccessorResponse> {
    fn blank(text: &RawValue) -> Self {
        Self::new(ProxySuccessorResponse(text.into()))
    }

    fn value(&mut self) -> Option<&mut dyn Wire> {
        None
    }
}
