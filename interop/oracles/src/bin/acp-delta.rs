//! Prints what differs between two versions of the official schema crate of ACP.
//!
//! ```text
//! acp-delta 1.15.1 1.20.0
//! ```
use oracles::acp::delta::{Inventory, delta};
use std::env;
use std::error::Error;
use std::io::{Write, stdout};

fn main() -> Result<(), Box<dyn Error>> {
    let versions: Vec<_> = env::args().skip(1).collect();
    let [old, new] = &versions[..] else {
        return Err("usage: acp-delta OLD NEW, with versions such as 1.15.1 and 1.20.0".into());
    };
    let lines = delta(&Inventory::of_version(old)?, &Inventory::of_version(new)?);
    let mut out = stdout().lock();
    for line in &lines {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{} lines differ between {old} and {new}", lines.len())?;
    Ok(())
}
