//! The messages of MCP, one module for each page of the specification.

pub mod content;
pub mod tools;
