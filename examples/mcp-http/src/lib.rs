//! The tool [`book_flight`], which asks its user twice and the model once, and the [`skills`] of a folder. The programs of this
//! package serve them over Streamable HTTP, with the tools of the official conformance suite.

pub mod book_flight;
pub mod key;
pub mod skills;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
