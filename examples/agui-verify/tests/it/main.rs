//! Runs the program.
#[cfg(test)]
mod captured;
#[cfg(test)]
mod live;
#[cfg(test)]
mod program;
