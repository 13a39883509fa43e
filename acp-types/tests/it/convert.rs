//! The bridge between versions.
mod cases;
mod chain;
mod properties;
mod recorded;
