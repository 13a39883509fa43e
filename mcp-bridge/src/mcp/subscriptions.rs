//! Changes that a client hears of, from 2026-07-28 on.
//!
//! Spec: [Subscriptions](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions)
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// The params of `subscriptions/listen` and of `notifications/subscriptions/acknowledged`.
    ///
    /// The request stays open as long as the client listens. The server says first what it will tell of.
    ///
    /// Spec: [`SubscriptionsListenRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionslistenrequestparams),
    /// [`SubscriptionsAcknowledgedNotificationParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionsacknowledgednotificationparams)
    pub struct SubscriptionsListenRequestParams {
        /// What is told of.
        notifications: SubscriptionFilter = "notifications",
    }
    and "_meta"
}

object! {
    /// Changes to hear of.
    ///
    /// Spec: [`SubscriptionFilter`](https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionfilter)
    pub struct SubscriptionFilter {}
    optional {
        /// Of the list of tools.
        tools_list_changed: bool = "toolsListChanged",
        /// Of the list of prompts.
        prompts_list_changed: bool = "promptsListChanged",
        /// Of the list of resources.
        resources_list_changed: bool = "resourcesListChanged",
        /// Of these resources.
        resource_subscriptions: Vec<String> = "resourceSubscriptions",
        /// Of these tasks. Of the extension [`tasks`](super::tasks).
        task_ids: Vec<String> = "taskIds",
    }
}
