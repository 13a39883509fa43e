//! A gateway between AG-UI web pages and agents: ACP agents, and models with tools.
//!
//! | module | contents |
//! |---|---|
//! | `program`, `cli`, `settings`, `reload` | start and end; the command line, the file of settings and the environment |
//! | `server`, `page`, `socket`, `session`, `refusal` | routes, the page, the chat over a WebSocket, settings of sessions, errors |
//! | [`history`], [`login`], [`chat_socket`], [`markdown`] | conversations and logins over HTTP, the protocol of that chat, texts as HTML |
//! | `threads`, `run`, `model_thread` | threads and their runs, and the threads of models |
//! | `replicas` | other gateways that serve the same threads |
//! | `agents`, [`hub`], [`model`] | the agents of the settings: ACP agents behind a hub, and models |
//! | [`tools`] | tools of pages, of the gateway and of MCP servers |
//! | [`store`] | runs and conversations: memory, a file, or Redis |
//! | [`telemetry`], [`log`], [`fair_queue`] | spans and metrics, standard error, turns of users at shared work |

mod agents;
pub mod chat_socket;
mod cli;
pub mod fair_queue;
pub mod history;
pub mod hub;
pub mod log;
pub mod login;
pub mod markdown;
pub mod model;
mod model_thread;
mod page;
mod program;
mod refusal;
#[cfg(unix)]
mod reload;
mod replicas;
mod run;
mod server;
mod session;
mod settings;
mod socket;
pub mod store;
pub mod telemetry;
mod threads;
pub mod tools;

pub use program::main;
