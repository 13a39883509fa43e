//! **Unstable.** Programs between client and agent, and the conductor that links them.
//!
//! Spec: [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
use super::initialization::{InitializeRequest, InitializeResponse};
use alloc::string::String;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{__json_schema, object};
use serde::{Deserialize, Serialize};

object! {
    /// **Unstable.** The conductor opens the connection to a program that has a successor.
    ///
    /// Method `proxy/initialize`. Spec: [`InitializeProxyRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#initializeproxyrequest)
    pub struct InitializeProxyRequest {}
    rest {
        /// As for `initialize`; the proxy passes it on before it answers.
        initialize: InitializeRequest,
    }
}

object! {
    /// **Unstable.** The proxy answers as its successor did.
    ///
    /// Method `proxy/initialize`. Spec: [`InitializeProxyResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#initializeproxyresponse)
    pub struct InitializeProxyResponse {}
    rest {
        /// As for `initialize`.
        initialize: InitializeResponse,
    }
}

object! {
    /// **Unstable.** A request to or from the successor of a proxy, wrapped.
    ///
    /// Method `proxy/successor`. Spec: [`ProxySuccessorRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#proxysuccessorrequest)
    pub struct ProxySuccessorRequest {
        /// The inner method.
        method: String = "method",
    }
    optional {
        /// The inner parameters.
        params: Raw = "params",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A notification to or from the successor of a proxy, wrapped.
    ///
    /// Method `proxy/successor`. Spec: [`ProxySuccessorNotification`](https://agentclientprotocol.com/protocol/v1/draft/schema#proxysuccessornotification)
    pub struct ProxySuccessorNotification {
        /// The inner method.
        method: String = "method",
    }
    optional {
        /// The inner parameters.
        params: Raw = "params",
    }
    and "_meta"
}

/// **Unstable.** The result of the wrapped request as it came, any JSON.
///
/// Method `proxy/successor`. Spec: [`ProxySuccessorResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#proxysuccessorresponse)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProxySuccessorResponse(
    /// The result.
    pub Raw,
);

__json_schema! { ProxySuccessorResponse, generator => object!(@schema Raw, generator) }
