//! Skills of a folder, which the programs of this package serve.
pub mod skills;

/// Compiles and runs the example of the page.
#[cfg(doctest)]
#[doc = include_str!("../docs/mcp-http.md")]
struct Page;
