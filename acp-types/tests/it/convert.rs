//! The bridge between versions.
mod cases;
mod chain;
mod properties;
mod properties_v1;
mod recorded;
