//! Integration tests.

#[cfg(test)]
mod client;
#[cfg(test)]
mod compact;
#[cfg(test)]
mod delta;
#[cfg(test)]
mod enforce;
#[cfg(test)]
mod expand;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod generate;
#[cfg(test)]
mod json_patch;
#[cfg(test)]
mod law;
#[cfg(test)]
mod legacy;
#[cfg(test)]
mod model;
#[cfg(test)]
mod produce;
#[cfg(test)]
mod profile;
#[cfg(test)]
#[cfg(feature = "protobuf")]
mod proto;
#[cfg(test)]
mod reduce;
#[cfg(test)]
mod run_log;
#[cfg(test)]
#[cfg(feature = "schemars")]
mod schema;
#[cfg(test)]
mod sse;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod verify;
