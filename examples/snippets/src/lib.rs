//! The examples of the README, compiled and run as they stand there.
#![doc = include_str!("../../../README.md")]
