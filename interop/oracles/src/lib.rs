//! Values for comparison, in addition to the recorded sessions of the tests.

pub mod acp;
