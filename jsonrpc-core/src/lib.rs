//! JSON-RPC 2.0 without IO: messages, peeking, framing, request correlation, and the vocabulary of open, lossless wire types.
#![no_std]
