//! What the protocol only carries.
//!
//! Spec: [Raw and Custom Events, 1.0](https://ag-ui.com/spec/1.0/events/passthrough)
use alloc::string::String;
use jsonrpc_core::wire::Raw;

event! {
    /// A provider's event, as it was.
    ///
    /// Spec: [`RawEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#rawevent)
    pub struct RawEvent {
        /// The event: any JSON value.
        event: Raw = "event",
    }
    optional {
        /// Where it comes from.
        source: String = "source",
    }
    attributable
}

event! {
    /// Something that producer and application agreed on.
    ///
    /// Spec: [`CustomEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#customevent)
    pub struct CustomEvent {
        /// What it is; names without a prefix are the protocol's own.
        name: String = "name",
        /// Any JSON value.
        value: Raw = "value",
    }
    attributable
}
