//! Subscriptions to changes.
use super::{Client, ClientEvent, ConnectionState, RequestPurpose, SendRequestError};
use crate::mcp::base::{Era, NotificationMetaObject};
use crate::mcp::resources::ResourceRequestParams;
use crate::mcp::subscriptions::{SubscriptionFilter, SubscriptionsListenRequestParams};
use jsonrpc_core::wire::{Meta, Raw};
use jsonrpc_core::{ErrorObject, RequestId};

/// The changes that the client wants to know.
#[derive(Debug, Default)]
pub(super) struct Subscription {
    filter: SubscriptionFilter,
    /// The open request. Since 2026-07-28.
    current: Option<ListenRequest>,
    /// The request that `current` replaces. It stays open until `current` is acknowledged, so that
    /// no change is missed.
    former: Option<RequestId>,
    next_number: u64,
}

/// An open `subscriptions/listen` request.
#[derive(Debug)]
struct ListenRequest {
    number: u64,
    id: RequestId,
    is_acknowledged: bool,
}

impl Client {
    /// Replaces the changes that the server reports. [`ClientEvent::Changed`] reports each.
    ///
    /// | changes | server up to 2025-11-25 | server since 2026-07-28 |
    /// |---|---|---|
    /// | of lists | reported without a subscription | `subscriptions/listen` |
    /// | of resources | `resources/subscribe`, `resources/unsubscribe` | `subscriptions/listen` |
    ///
    /// [`ClientEvent::SubscriptionEnded`] follows if the server ends or rejects the subscription.
    /// Call this method again then to subscribe again: up to 2025-11-25, to the rejected resources.
    ///
    /// ```
    /// use core::time::Duration;
    /// use mcp_bridge::client::{Client, ClientEvent, ClientOptions};
    /// use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
    /// use mcp_bridge::mcp::subscriptions::{ServerChange, SubscriptionFilter};
    ///
    /// let options = ClientOptions::new(Implementation::new("c", "1"), ClientCapabilities::new());
    /// let mut client = Client::new(options);
    /// client.start(Duration::ZERO);
    /// client.handle_line(Ok(r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#), None);
    /// assert!(matches!(client.poll_event(), Some(ClientEvent::Ready(_))));
    ///
    /// client.subscribe(SubscriptionFilter::new().with_prompts_list_changed(true))?;
    /// client.handle_line(Ok(r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#), None);
    /// assert!(matches!(client.poll_event(), Some(ClientEvent::Changed(ServerChange::Prompts))));
    /// # Ok::<(), mcp_bridge::client::SendRequestError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a request cannot be sent.
    pub fn subscribe(&mut self, mut filter: SubscriptionFilter) -> Result<(), SendRequestError> {
        let ConnectionState::Ready { era, version } = &self.state else {
            return Err(SendRequestError::NotReady);
        };
        filter.resource_subscriptions = filter.resource_subscriptions.filter(|it| !it.is_empty());
        if *era == Era::Legacy {
            return self.subscribe_to_resources(filter);
        }
        if self.subscription.current.is_some() && self.subscription.filter == filter {
            return Ok(());
        }
        let mut params = SubscriptionsListenRequestParams::new(filter.clone());
        params.meta = Some(self.request_meta(version, None));
        let is_empty = filter == SubscriptionFilter::new();
        let listening = match is_empty {
            true => None,
            false => {
                let number = self.subscription.next_number;
                let pending = RequestPurpose::Listen(number);
                let id = self.transmit(pending, "subscriptions/listen", &params, None)?;
                Some(ListenRequest { number, id, is_acknowledged: false })
            }
        };
        self.subscription.next_number += 1;
        self.subscription.filter = filter;
        let replaced = core::mem::replace(&mut self.subscription.current, listening);
        if let Some(replaced) = replaced {
            match replaced.is_acknowledged {
                true => self.subscription.former = Some(replaced.id),
                false => self.end_listening(&replaced.id),
            }
        }
        if is_empty {
            self.end_former();
        }
        Ok(())
    }

    /// Subscribes to single resources of a server up to 2025-11-25.
    fn subscribe_to_resources(
        &mut self,
        filter: SubscriptionFilter,
    ) -> Result<(), SendRequestError> {
        let wanted = filter.resource_subscriptions.as_deref().unwrap_or_default();
        let former = self.subscription.filter.resource_subscriptions.clone().unwrap_or_default();
        for uri in wanted.iter().filter(|uri| !former.contains(uri)) {
            let params = ResourceRequestParams::new(&**uri);
            self.transmit(
                RequestPurpose::Subscribe(uri.clone()),
                "resources/subscribe",
                &params,
                None,
            )?;
        }
        for uri in former.iter().filter(|uri| !wanted.contains(uri)) {
            let params = ResourceRequestParams::new(&**uri);
            self.transmit(
                RequestPurpose::Subscribe(uri.clone()),
                "resources/unsubscribe",
                &params,
                None,
            )?;
        }
        self.subscription.filter = filter;
        Ok(())
    }

    /// Handles the acknowledgement of a subscription.
    pub(super) fn handle_acknowledged(&mut self, meta: Option<&Meta>) {
        let meta = NotificationMetaObject::read(meta).unwrap_or_default();
        let Some(current) = &mut self.subscription.current else { return };
        if meta.subscription_id.is_some_and(|id| id != current.id) {
            return;
        }
        if !core::mem::replace(&mut current.is_acknowledged, true) {
            self.events.push_back(ClientEvent::Subscribed);
        }
        self.end_former();
    }

    /// Handles the response to a subscription, which ends it.
    pub(super) fn handle_listen_end(&mut self, number: u64, error: Option<ErrorObject>) {
        let is_current = |current: &mut ListenRequest| current.number == number;
        let Some(ended) = self.subscription.current.take_if(is_current) else { return };
        self.end_former();
        let was_open = ended.is_acknowledged;
        self.events.push_back(ClientEvent::SubscriptionEnded { was_open, error });
    }

    /// Handles the response to a subscription of a resource. Up to 2025-11-25.
    pub(super) fn handle_subscribed(&mut self, uri: &str, outcome: Result<Raw, ErrorObject>) {
        if let Err(error) = outcome {
            let subscribed = &mut self.subscription.filter.resource_subscriptions;
            subscribed.iter_mut().for_each(|uris| uris.retain(|it| it != uri));
            let was_open = false;
            let error = Some(error);
            self.events.push_back(ClientEvent::SubscriptionEnded { was_open, error });
        }
    }

    fn end_former(&mut self) {
        if let Some(former) = self.subscription.former.take() {
            self.end_listening(&former);
        }
    }

    fn end_listening(&mut self, request: &RequestId) {
        if let Some(cancellation) = self.peer.cancel(request) {
            self.send(cancellation.notification().into());
        }
        self.peer.forget(request);
    }
}
