//! Integration tests of the executable.

#[cfg(test)]
mod live;
#[cfg(test)]
mod transcripts;
