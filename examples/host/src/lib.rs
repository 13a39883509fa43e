//! What a program that runs ACP agents needs on its machine.
//!
//! | module | is about | feature |
//! |---|---|---|
//! | [`process`] | processes that end with this program | |
//! | `pty` | commands in a terminal of their own, on Unix | `pty` |
//! | [`relay`] | an agent behind its editor, and an observer of what passes | |
//! | [`transport`] | bytes to and from an agent: stdio, WebSocket, Streamable HTTP | `transport`; `remote` for the network |
//! | [`files`] | files below a root | `workspace` |
//! | [`terminals`] | commands below it | `workspace` |
//! | [`workspace`] | the agent's requests for both | `workspace` |
//! | `catalog` | known agents by name: commands, packages, authentication methods | `catalog` |
//! | `permissions` | rules that answer permission requests | `permissions` |
//! | `http` | users, pages of other sites, TLS and limits of an HTTP server | `http` |
//! | `key` | keys of a server for sealed states | `http` |
//!
//! A program calls [`process::Guard::requested`] first thing in `main`: it is started once more for
//! each agent.
#[cfg(feature = "catalog")]
pub mod catalog;
#[cfg(feature = "workspace")]
pub mod files;
#[cfg(feature = "http")]
mod hexadecimal;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "http")]
pub mod key;
#[cfg(feature = "permissions")]
pub mod permissions;
pub mod process;
#[cfg(all(unix, feature = "pty"))]
pub mod pty;
pub mod relay;
mod system;
#[cfg(feature = "workspace")]
pub mod terminals;
#[cfg(feature = "transport")]
pub mod transport;
#[cfg(feature = "workspace")]
pub mod workspace;
