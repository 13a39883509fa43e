//! **Unstable.** Proxies between client and agent, and the conductor that links them.
//!
//! Spec: [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
use super::initialization::{InitializeRequest, InitializeResponse};
pub use crate::shared::proxy_chains::{
    ProxySuccessorNotification, ProxySuccessorRequest, ProxySuccessorResponse,
};
use jsonrpc_core::object;

object! {
    /// **Unstable.** The first request of a conductor to a proxy, which has a successor.
    ///
    /// Method `proxy/initialize`.
    /// Spec: [`InitializeProxyRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#initializeproxyrequest)
    #[doc(alias = "proxy/initialize")]
    pub struct InitializeProxyRequest {}
    rest {
        /// As for `initialize`. The proxy forwards it before it responds.
        initialize: InitializeRequest,
    }
}

object! {
    /// **Unstable.** The response of the proxy, equal to that of its successor.
    ///
    /// Method `proxy/initialize`.
    /// Spec: [`InitializeProxyResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#initializeproxyresponse)
    pub struct InitializeProxyResponse {}
    rest {
        /// As for `initialize`.
        initialize: InitializeResponse,
    }
}
