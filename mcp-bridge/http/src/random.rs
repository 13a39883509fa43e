//! Randomness and time, which the libraries receive as arguments.
use std::fmt::Write;
use std::io;
use std::time::{Duration, SystemTime};

/// Returns random bytes of the operating system.
///
/// # Errors
/// Returns an error if the operating system provides none.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::from)?;
    Ok(bytes)
}

/// Returns an unpredictable id of 128 bits, in hexadecimal digits.
///
/// # Errors
/// Returns an error if the operating system provides no random bytes.
pub fn random_id() -> io::Result<String> {
    let bytes: [u8; 16] = random_bytes()?;
    Ok(bytes.iter().fold(String::with_capacity(32), |mut id, byte| {
        // Writing to a string does not fail.
        let _ = write!(id, "{byte:02x}");
        id
    }))
}

/// Returns the time since the Unix epoch, shared by all programs with the same store or key.
pub fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
