//! The agents and MCP servers of a server for its page: their state, and logins over HTTP.
//!
//! | module | contents |
//! |---|---|
//! | `logins` | the agents, and the open or last login of each |
//! | `method` | authentication methods, and what a user does for each |
//! | `attempt` | a login from its start to its end |
//! | `terminal` | the program of an agent in a terminal |
//! | `routes` | requests and responses |
//! | `servers`, `callback_sites` | sign-ins at MCP servers, and the addresses that their redirects may have |
//!
//! [`router`] adds the routes to a server that sets the [`Principal`](host::http::Principal) of
//! each request. A login holds for the agent, and thereby for all users of the server.
//!
//! | limit | value |
//! |---|---|
//! | open logins of an agent | 1 |
//! | duration of a login | 10 minutes |
//! | value of a variable | 8 KiB |
//! | input for a terminal | 4 KiB, 16 at a time |
//! | screen of a terminal | 100 by 40 characters |
//! | methods of an agent, variables of a method | 16 |
//!
//! A value of a variable is kept in memory only, is not printed, and, with at least six bytes, is
//! hidden where the agent repeats it.
mod attempt;
mod callback_sites;
mod error;
mod logins;
mod method;
mod routes;
mod servers;
#[cfg_attr(not(unix), path = "login/no_terminal.rs")]
mod terminal;

pub use callback_sites::CallbackSites;
pub use logins::{LoginAgent, Logins};
pub use routes::router;
pub use servers::callback_router;
