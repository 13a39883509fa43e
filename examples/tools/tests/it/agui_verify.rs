//! Integration tests of the executable.
#[cfg(test)]
mod captured;
#[cfg(test)]
mod live;
#[cfg(test)]
mod program;
