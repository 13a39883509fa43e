//! Traces of programs that connect ACP agents: the lines of a connection as spans, metrics and log
//! records, over OTLP.
pub mod otlp;
