//! The messages of MCP, one module for each page of the specification.
//!
//! [`dispatch`] decodes params and results by method; [`methods`] lists the methods as data.

pub mod base;
pub mod cancellation;
pub mod capabilities;
pub mod completion;
pub mod content;
pub mod discover;
pub mod dispatch;
pub mod elicitation;
pub mod error;
pub mod lifecycle;
pub mod logging;
mod method;
pub mod methods;
pub mod mrtr;
pub mod progress;
pub mod prompts;
mod requested_schema;
pub mod resources;
pub mod roots;
pub mod sampling;
pub mod skills;
pub mod subscriptions;
pub mod tasks;
pub mod tools;
