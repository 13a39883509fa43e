//! The program, as a program.

#[cfg(test)]
mod live;
#[cfg(test)]
mod transcripts;
