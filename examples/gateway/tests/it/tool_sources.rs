//! Servers over HTTP in this process, and names of tools.
#[cfg(test)]
mod http;
#[cfg(test)]
mod names;
