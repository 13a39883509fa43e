//! Tests of what programs that run agents share.
#[cfg(test)]
mod catalog;
#[cfg(test)]
mod http;
#[cfg(test)]
mod permissions;
