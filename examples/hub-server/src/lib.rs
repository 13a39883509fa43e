//! Serves the threads of AG-UI clients with one ACP agent: the [hub](agui_bridge::hub) on tokio.
//!
//! ```text
//! requests of pages ─┐                     ┌─ Task ─ Link ─ agent
//! calls of tools ────┴─ AgentConnection ───┤
//!                          (a locked Hub)  └─ RunLog ─ readers
//! ```
//!
//! A request locks the hub, gives it its input, and wakes the task, which sends what follows. A reader locks it to copy
//! frames of its run. No lock is held across an await, so that a slow page delays neither the agent nor other pages.
mod activity;
mod answer_body;
mod capabilities;
mod connection;
mod events;
mod health;
mod link;
mod login;
mod mcp_servers;
pub mod records;
mod server_sign_in;
mod session_settings;
mod strays;
mod task;
mod thread;
mod users;
mod version;
mod waste;

pub use activity::{ACTIVITY_WAIT, TooManyWaiting};
pub use answer_body::AnswerBody;
pub use capabilities::capabilities;
pub use connection::{AgentConnection, NewRun, Reply, Unavailable};
pub use login::{AgentCommand, InUse, LoginState, Variables};
pub use mcp_servers::{
    McpServerError, McpServerSettings, McpTransport, SamplingSettings, mcp_servers, offered_servers,
};
pub use permission_rules;
pub use server_sign_in::{ClientSettings, SignInGrant, SignInPlace};
pub use session_settings::{ForwardedSettings, Sessions, input_rules};
pub use task::AgentSetup;
pub use thread::ThreadState;
pub use users::{
    Isolation, NoAgent, SpaceError, UserAgent, UserAgents, UserSettings, UserSpaces, base,
};
pub use version::AcpVersion;
