//! Randomness and time, which the crates below take as arguments.
use std::fmt::Write;
use std::io;
use std::time::{Duration, SystemTime};

/// Random bytes of the operating system.
///
/// # Errors
/// It has none.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::from)?;
    Ok(bytes)
}

/// A name of 128 bits that nobody can guess, in hexadecimal digits.
///
/// # Errors
/// The operating system has no randomness.
pub fn random_id() -> io::Result<String> {
    let bytes: [u8; 16] = random_bytes()?;
    Ok(bytes.iter().fold(String::with_capacity(32), |mut id, byte| {
        // Writing into a string does not fail.
        let _ = write!(id, "{byte:02x}");
        id
    }))
}

/// The time since 1970, which all programs agree on that share a store or a key.
pub fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
