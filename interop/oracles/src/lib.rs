//! What the oracles compare with, beside the recorded sessions of the tests.

pub mod acp;
