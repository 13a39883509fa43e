//! **Unstable.** Proxies between client and agent, and the conductor that links them.
//!
//! Spec: [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
use alloc::string::String;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{__json_schema, object, transparent};

object! {
    /// **Unstable.** A request to or from the successor of a proxy, wrapped.
    ///
    /// Method `proxy/successor`.
    /// Spec: [`ProxySuccessorRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#proxysuccessorrequest),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#proxysuccessorrequest)
    #[doc(alias = "proxy/successor")]
    pub struct ProxySuccessorRequest {
        /// The inner method.
        method: String = "method",
    }
    optional {
        /// Parameters of the inner message.
        params: Raw = "params",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A notification to or from the successor of a proxy, wrapped.
    ///
    /// Method `proxy/successor`.
    /// Spec: [`ProxySuccessorNotification`](https://agentclientprotocol.com/protocol/v1/draft/schema#proxysuccessornotification),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#proxysuccessornotification)
    #[doc(alias = "proxy/successor")]
    pub struct ProxySuccessorNotification {
        /// The inner method.
        method: String = "method",
    }
    optional {
        /// Parameters of the inner message.
        params: Raw = "params",
    }
    and "_meta"
}

/// **Unstable.** The result of the wrapped request, kept verbatim; any JSON value.
///
/// Method `proxy/successor`.
/// Spec: [`ProxySuccessorResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#proxysuccessorresponse),
/// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#proxysuccessorresponse)
#[derive(Clone, Debug, PartialEq)]
pub struct ProxySuccessorResponse(
    /// The result.
    pub Raw,
);

transparent! { ProxySuccessorResponse(Raw) }

__json_schema! { ProxySuccessorResponse, generator => object!(@schema Raw, generator) }
