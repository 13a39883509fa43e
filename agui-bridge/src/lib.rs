//! Translates ACP agent traffic into AG-UI event streams, and AG-UI input into ACP requests, without IO.
#![no_std]
