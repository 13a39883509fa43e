//! Tests of what programs that run agents share.
#[cfg(test)]
#[cfg(feature = "catalog")]
mod catalog;
#[cfg(test)]
#[cfg(feature = "http")]
mod http;
#[cfg(test)]
#[cfg(feature = "permissions")]
mod permissions;
