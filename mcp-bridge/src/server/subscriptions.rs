//! Subscriptions of clients to changes.
use super::{Server, ServerEvent};
use crate::mcp::base::{
    EmptyResult, NotificationMetaObject, RequestParams, ResultMetaObject, ResultType,
};
use crate::mcp::resources::ResourceRequestParams;
use crate::mcp::subscriptions::{
    ServerChange, SubscriptionFilter, SubscriptionsListenRequestParams,
};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Meta;
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId};

/// The subscriptions of a connection.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    /// Open `subscriptions/listen` requests. Since 2026-07-28.
    pub(super) listeners: BTreeMap<RequestId, SubscriptionFilter>,
    /// Resources by `resources/subscribe`. Up to 2025-11-25.
    resources: BTreeSet<String>,
    /// Number of subscriptions to each resource.
    counts: BTreeMap<String, usize>,
}

impl Server {
    /// Maximum number of resources in one subscription, and of those of a client up to 2025-11-25.
    pub const MAX_RESOURCES_LISTENED: usize = 256;

    pub(super) fn offers_resource_changes(&self) -> bool {
        let resources = self.options.capabilities.resources.as_ref();
        resources.is_some_and(|resources| resources.subscribe == Some(true))
    }

    /// Acknowledges a subscription to the changes that the server offers.
    pub(super) fn listen(&mut self, id: &RequestId, params: SubscriptionsListenRequestParams) {
        let wanted = params.notifications;
        let offered = &self.options.capabilities;
        let prompts = offered.prompts.as_ref().and_then(|it| it.list_changed) == Some(true);
        let resources = offered.resources.as_ref().and_then(|it| it.list_changed) == Some(true);
        let is_wanted = |wanted: Option<bool>| wanted.filter(|wanted| *wanted);
        let mut filter = SubscriptionFilter::new();
        filter.tools_list_changed = is_wanted(wanted.tools_list_changed);
        filter.prompts_list_changed = is_wanted(wanted.prompts_list_changed).filter(|_| prompts);
        filter.resources_list_changed =
            is_wanted(wanted.resources_list_changed).filter(|_| resources);
        filter.resource_subscriptions = wanted
            .resource_subscriptions
            .filter(|_| self.offers_resource_changes())
            .map(|uris| distinct(uris, Self::MAX_RESOURCES_LISTENED));
        filter.task_ids = wanted
            .task_ids
            .filter(|_| self.offers_tasks())
            .map(|ids| distinct(ids, Self::MAX_TASKS_LISTENED));
        for uri in filter.resource_subscriptions.iter().flatten() {
            self.count_resource(uri);
        }
        let mut acknowledged = SubscriptionsListenRequestParams::new(filter.clone());
        acknowledged.meta = Some(subscription(id));
        self.subscriptions.listeners.insert(id.clone(), filter);
        self.notify("notifications/subscriptions/acknowledged", &acknowledged, Some(id.clone()));
    }

    /// Handles `resources/subscribe`.
    pub(super) fn subscribe(&mut self, uri: String) -> Result<(), ErrorObject> {
        let resources = &mut self.subscriptions.resources;
        if resources.contains(&uri) {
            return Ok(());
        }
        if resources.len() >= Self::MAX_RESOURCES_LISTENED {
            let problem = "too many subscriptions: unsubscribe from other resources first";
            return Err(ErrorObject::new(ErrorCode::INVALID_REQUEST, problem));
        }
        self.count_resource(&uri);
        self.subscriptions.resources.insert(uri);
        Ok(())
    }

    /// Handles `resources/unsubscribe`.
    pub(super) fn unsubscribe(&mut self, uri: &str) {
        if self.subscriptions.resources.remove(uri) {
            self.uncount_resource(uri);
        }
    }

    fn count_resource(&mut self, uri: &str) {
        let count = self.subscriptions.counts.entry(uri.into()).or_default();
        *count += 1;
        if *count == 1 {
            self.events.push_back(ServerEvent::Subscribed(uri.into()));
        }
    }

    fn uncount_resource(&mut self, uri: &str) {
        let Some(count) = self.subscriptions.counts.get_mut(uri) else { return };
        *count -= 1;
        if *count == 0 {
            self.subscriptions.counts.remove(uri);
            self.events.push_back(ServerEvent::Unsubscribed(uri.into()));
        }
    }

    /// Notifies subscribers of a change, as their versions require. Tools are replaced by
    /// [`set_tools`](Self::set_tools), which notifies by itself.
    ///
    /// A change of a resource concerns subscriptions to the resource and to the folders that
    /// contain it.
    pub fn notify_changed(&mut self, change: &ServerChange) {
        let session = self.session.as_ref();
        if session.is_some() && self.subscriptions.covers_session(change) {
            self.notify_change(change, None);
        }
        let listeners = self.subscriptions.listeners.iter();
        let covered = listeners.filter(|(_, filter)| covers(filter, change));
        let covered: Vec<_> = covered.map(|(id, _)| id.clone()).collect();
        for id in covered {
            self.notify_change(change, Some(id));
        }
    }

    fn notify_change(&mut self, change: &ServerChange, listener: Option<RequestId>) {
        let meta = listener.as_ref().map(subscription);
        let method = match change {
            ServerChange::Tools => "notifications/tools/list_changed",
            ServerChange::Prompts => "notifications/prompts/list_changed",
            ServerChange::Resources => "notifications/resources/list_changed",
            ServerChange::Resource(uri) => {
                let mut params = ResourceRequestParams::new(&**uri);
                params.meta = meta;
                return self.notify("notifications/resources/updated", &params, listener);
            }
        };
        let mut params = RequestParams::new();
        params.meta = meta;
        self.notify(method, &params, listener);
    }

    /// Ends a cancelled subscription.
    pub(super) fn forget_listener(&mut self, id: &RequestId) {
        let Some(filter) = self.subscriptions.listeners.remove(id) else { return };
        for uri in filter.resource_subscriptions.iter().flatten() {
            self.uncount_resource(uri);
        }
    }

    /// Ends all subscriptions at the end of the connection.
    pub(super) fn clear_subscriptions(&mut self) {
        let subscriptions = core::mem::take(&mut self.subscriptions);
        let ended = subscriptions.counts.into_keys().map(ServerEvent::Unsubscribed);
        self.events.extend(ended);
    }

    /// Ends all open subscriptions, before the server shuts down.
    pub fn end_subscriptions(&mut self) {
        while let Some(id) = self.subscriptions.listeners.keys().next().cloned() {
            self.forget_listener(&id);
            let mut meta = ResultMetaObject::new();
            meta.server_info = Some(self.options.server_info.clone());
            meta.subscription_id = Some(id.clone());
            let mut result = EmptyResult::new();
            result.result_type = Some(ResultType::Complete);
            result.meta = Some(meta.to_meta());
            self.answer_with(&id, &result);
        }
    }
}

impl Subscriptions {
    /// Returns whether a client up to 2025-11-25 is notified of a change.
    fn covers_session(&self, change: &ServerChange) -> bool {
        match change {
            ServerChange::Resource(uri) => self.resources.iter().any(|it| contains(it, uri)),
            _ => true,
        }
    }
}

fn covers(filter: &SubscriptionFilter, change: &ServerChange) -> bool {
    let list = match change {
        ServerChange::Tools => filter.tools_list_changed,
        ServerChange::Prompts => filter.prompts_list_changed,
        ServerChange::Resources => filter.resources_list_changed,
        ServerChange::Resource(uri) => {
            return filter.resource_subscriptions.iter().flatten().any(|it| contains(it, uri));
        }
    };
    list == Some(true)
}

/// Returns whether a resource is, or contains, the resource that changed.
fn contains(uri: &str, changed: &str) -> bool {
    let rest = changed.strip_prefix(uri);
    rest.is_some_and(|rest| rest.is_empty() || uri.ends_with('/') || rest.starts_with('/'))
}

/// Returns the first values, each once.
fn distinct(values: Vec<String>, limit: usize) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let distinct = values.into_iter().filter(|value| seen.insert(value.clone()));
    distinct.take(limit).collect()
}

pub(super) fn subscription(id: &RequestId) -> Meta {
    let mut meta = NotificationMetaObject::new();
    meta.subscription_id = Some(id.clone());
    meta.to_meta()
}
