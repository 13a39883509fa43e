//! Configuration of a hub.
use crate::conversation::{ConversationOptions, RefusedServers};
use core::time::Duration;

/// Configuration of a [`Hub`](super::Hub), and its limits.
///
/// ```
/// use agui_bridge::conversation::ConversationOptions;
/// use agui_bridge::hub::{Hub, HubOptions};
///
/// let mut options = HubOptions::new(ConversationOptions::new("/work"));
/// options.max_threads = 16;
/// let hub = Hub::new(options);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HubOptions {
    /// Configuration of conversations that are created for runs.
    pub conversation: ConversationOptions,
    /// Maximum number of threads; 1024. Beyond it a run of a new thread is
    /// [refused](super::HubRefused::TooManyThreads).
    pub max_threads: usize,
    /// Time after which a thread without runs is removed; 30 minutes.
    pub idle: Duration,
    /// Whether the agent runs on this machine and can start MCP servers of the program; `true`.
    pub agent_is_local: bool,
    /// Whether sessions are loaded; `true`. Clear it for a transport in which the response to
    /// `session/load` can overtake earlier updates.
    pub can_load: bool,
    /// Transports of the page's server that the agent is known to refuse; none.
    pub refused_servers: RefusedServers,
}

impl HubOptions {
    /// Creates the default limits.
    pub fn new(conversation: ConversationOptions) -> Self {
        Self {
            conversation,
            max_threads: 1024,
            idle: Duration::from_secs(30 * 60),
            agent_is_local: true,
            can_load: true,
            refused_servers: RefusedServers::default(),
        }
    }
}
