//! Serves the threads of AG-UI clients with one ACP agent: the [hub](agui_bridge::hub) on tokio.
//!
//! ```text
//! requests of pages ─┐                     ┌─ Task ─ Link ─ agent
//! calls of tools ────┴─ AgentConnection ───┤
//!                          (a locked Hub)  └─ RunLog ─ readers
//! ```
//!
//! A request locks the hub, gives it its input, and wakes the task, which sends what follows and
//! appends the events of runs to their logs. A reader locks the log of its run alone. No lock is
//! held across an await, so that a slow page delays neither the agent nor other pages.
//!
//! | module | contents |
//! |---|---|
//! | `connection` | inputs of the hub |
//! | `state` | the hub behind a lock, and the state of the program for it |
//! | `new_run` | a run to start, and the answer to its client |
//! | `task` | the task that opens the transport, moves bytes, and closes the transport |
//! | `link` | an open transport |
//! | `login` | calls of the program, and the restart of the agent |
//! | `variables` | variables of a login, with values that are hidden |
//! | `strays` | output of the agent that is no JSON |
//! | `events` | outputs of the hub: requests for files and terminals, notices, events of runs |
//! | `thread` | pending runs, calls, questions and settings of a thread |
//! | `users` | connections to an agent: one for all users, or one for each with a root and an environment |
//! | `session_settings` | lifetime of sessions, and settings that pages may send |
//! | `mcp_servers` | MCP servers of settings, for the sessions of agents |
//! | `health` | availability of the agent, from several attempts |
//! | `readiness` | probes of the agent |
//! | `capabilities` | capabilities of the agent in the form for AG-UI clients, and those that it is offered |
//! | `version` | the versions of ACP that an agent is offered |
//! | `activity` | waiting for turns that an agent begins without a prompt |
//! | `answer_body` | the body of an answer to a question over HTTP |
//! | `server_sign_in` | credentials of MCP servers, sealed in the store of runs |
//! | `records` | records for an audit log |
//! | `waste` | the end of an agent that goes on writing useless output |
mod activity;
mod answer_body;
mod capabilities;
mod connection;
mod events;
mod health;
mod link;
mod login;
mod mcp_servers;
mod new_run;
mod readiness;
pub mod records;
mod server_sign_in;
mod session_settings;
mod state;
mod strays;
mod task;
mod thread;
mod users;
mod variables;
mod version;
mod waste;

pub use activity::{ACTIVITY_WAIT, TooManyWaiting};
pub use answer_body::AnswerBody;
pub use capabilities::capabilities;
pub use connection::AgentConnection;
pub use login::{AgentCommand, InUse, LoginState};
pub use mcp_servers::{
    McpServerError, McpServerSettings, McpTransport, SamplingSettings, mcp_servers, offered_servers,
};
pub use new_run::{NewRun, Reply, RunStart};
pub use server_sign_in::{ClientSettings, SignInGrant, SignInPlace};
pub use session_settings::{ForwardedSettings, Sessions, input_rules};
pub use state::Unavailable;
pub use task::AgentSetup;
pub use thread::ThreadState;
pub use users::{
    Isolation, NoAgent, SpaceError, UserAgent, UserAgents, UserSettings, UserSpaces, base,
};
pub use variables::Variables;
pub use version::AcpVersion;
