//! Integration tests: the tests act as the editor of the proxy.
//!
//! `cfg(test)` makes Clippy treat helpers as tests.

#[cfg(test)]
mod backends;
#[cfg(test)]
mod bytes;
#[cfg(test)]
mod canaries;
#[cfg(test)]
mod certificate;
#[cfg(test)]
mod collector;
#[cfg(test)]
mod conventions;
#[cfg(test)]
mod conversation;
#[cfg(unix)]
#[cfg(test)]
mod disks;
#[cfg(test)]
mod editor;
#[cfg(test)]
mod editors;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod environment;
#[cfg(test)]
mod exemplars;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod help;
#[cfg(test)]
mod injection;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod metrics;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod protocols;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod recording;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod report;
#[cfg(test)]
mod sampling;
#[cfg(unix)]
#[cfg(test)]
mod signals;
#[cfg(test)]
mod span_files;
#[cfg(test)]
mod spans;
#[cfg(test)]
mod summary;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod view;
#[cfg(windows)]
#[cfg(test)]
mod windows;
