//! The programs with each other.

#[cfg(test)]
mod acp;
#[cfg(test)]
mod agui;
#[cfg(test)]
mod gateway;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod usage;
