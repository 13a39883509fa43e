//! Maps ACP and JSON-RPC traffic to OpenTelemetry GenAI spans and attributes, without IO.
#![no_std]
