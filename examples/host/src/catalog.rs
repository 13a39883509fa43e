//! Known ACP agents by name: how each is started, installed and logged in to.
//!
//! ```
//! use host::catalog::{Catalog, Programs};
//!
//! let catalog = Catalog::known()?;
//! let agent = catalog.agent("gemini-cli").ok_or("unknown")?;
//! assert_eq!(agent.title, "Gemini CLI");
//! // A command with arguments is run as it is.
//! let launch = catalog.launch("gemini --acp --debug", &Programs::in_path("/nonexistent"));
//! assert!(launch.is_err(), "no such program");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The agents are data: `catalog.toml` of this package, and documents of the official registry
//! ([`Catalog::load`]).
mod agent;
mod archive;
mod document;
mod download;
mod install;
mod known_agents;
mod launch;
mod programs;
mod registry;
mod table;
mod task;

pub use agent::{Agent, Binary, LoginMethod, Quirks, Transport};
pub use archive::{ArchiveError, ArchiveLimits};
pub use document::{CatalogError, DownloadError, MAX_DOCUMENT_BYTES};
pub use install::{InstallError, Installation};
pub use known_agents::Catalog;
pub use launch::{Launch, LaunchError};
pub use programs::Programs;
pub use table::table;
pub use task::{AgentsCommand, TaskError};
