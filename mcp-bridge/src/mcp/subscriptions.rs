//! Subscriptions to changes, since 2026-07-28.
//!
//! Spec: [Subscriptions](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions)
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// The params of `subscriptions/listen` and of `notifications/subscriptions/acknowledged`.
    ///
    /// The request stays open for the duration of the subscription. The server first acknowledges
    /// which changes it will report.
    ///
    /// Spec: [`SubscriptionsListenRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionslistenrequestparams),
    /// [`SubscriptionsAcknowledgedNotificationParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionsacknowledgednotificationparams)
    #[doc(alias = "subscriptions/listen")]
    pub struct SubscriptionsListenRequestParams {
        /// The changes to report.
        notifications: SubscriptionFilter = "notifications",
    }
    and "_meta"
}

object! {
    /// Changes that a subscription covers.
    ///
    /// Spec: [`SubscriptionFilter`](https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionfilter)
    pub struct SubscriptionFilter {}
    optional {
        /// Changes of the tool list.
        tools_list_changed: bool = "toolsListChanged",
        /// Changes of the prompt list.
        prompts_list_changed: bool = "promptsListChanged",
        /// Changes of the resource list.
        resources_list_changed: bool = "resourcesListChanged",
        /// Changes of these resources, by URI.
        resource_subscriptions: Vec<String> = "resourceSubscriptions",
        /// Changes of these tasks. Defined by the extension [`tasks`](super::tasks).
        task_ids: Vec<String> = "taskIds",
    }
}

/// A change that a server reports to its clients.
///
/// Spec: [Notification
/// Types](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions)
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerChange {
    /// The tool list.
    Tools,
    /// The prompt list.
    Prompts,
    /// The resource list.
    Resources,
    /// The contents of the resource with this URI, which may be part of a resource with a
    /// subscription.
    Resource(String),
}
