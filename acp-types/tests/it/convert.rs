//! The bridge between versions.
mod cases;
mod chain;
mod members;
mod properties;
mod properties_v1;
mod recorded;
mod setup;
