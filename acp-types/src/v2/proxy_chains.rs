//! **Unstable.** Programs between client and agent, and the conductor that links them.
//!
//! Spec: [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
use super::initialization::{InitializeRequest, InitializeResponse};
pub use crate::shared::proxy_chains::{
    ProxySuccessorNotification, ProxySuccessorRequest, ProxySuccessorResponse,
};
use jsonrpc_core::object;

object! {
    /// **Unstable.** The conductor opens the connection to a program that has a successor.
    ///
    /// Method `proxy/initialize`. Spec: [`InitializeProxyRequest`](https://agentclientprotocol.com/protocol/v2/draft/schema#initializeproxyrequest)
    #[doc(alias = "proxy/initialize")]
    pub struct InitializeProxyRequest {}
    rest {
        /// As for `initialize`; the proxy passes it on before it answers.
        initialize: InitializeRequest,
    }
}

object! {
    /// **Unstable.** The proxy answers as its successor did.
    ///
    /// Method `proxy/initialize`. Spec: [`InitializeProxyResponse`](https://agentclientprotocol.com/protocol/v2/draft/schema#initializeproxyresponse)
    pub struct InitializeProxyResponse {}
    rest {
        /// As for `initialize`.
        initialize: InitializeResponse,
    }
}
