//! Tests of the chat model.
#[cfg(test)]
mod sampling;
