//! The name of a thread.
use http_access::Principal;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// A thread, identified by user, agent and id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ThreadKey {
    pub(crate) principal: Principal,
    pub(crate) agent: String,
    pub(crate) id: String,
}

impl ThreadKey {
    /// The name of the thread, unique among all gateways.
    pub(crate) fn name(&self) -> String {
        let parts = [self.principal.as_str(), &self.agent, &self.id];
        serde_json::to_string(&parts).unwrap_or_default()
    }

    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let [principal, agent, id]: [String; 3] = serde_json::from_str(name).ok()?;
        Some(Self { principal: Principal::from(&*principal), agent, id })
    }

    /// Returns the path for runs of the thread.
    pub(crate) fn path(&self) -> String {
        format!("/api/ai/agents/{}/chat", utf8_percent_encode(&self.agent, NON_ALPHANUMERIC))
    }
}
