//! The program, as it is run.
#[cfg(test)]
mod captured;
#[cfg(test)]
mod live;
#[cfg(test)]
mod program;
