//! Special events: data that the protocol carries without interpretation.
//!
//! Spec: [Raw and Custom Events, 1.0](https://ag-ui.com/spec/1.0/events/passthrough)
use alloc::string::String;
use jsonrpc_core::wire::Raw;

event! {
    /// A provider's event, unchanged.
    ///
    /// Spec: [`RawEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#rawevent)
    #[doc(alias = "RAW")]
    pub struct RawEvent {
        /// The event: any JSON value.
        event: Raw = "event",
    }
    optional {
        /// Source of the event.
        source: String = "source",
    }
    attributable
}

event! {
    /// An application-defined event.
    ///
    /// Spec: [`CustomEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#customevent)
    #[doc(alias = "CUSTOM")]
    pub struct CustomEvent {
        /// Name of the event; names without a prefix are reserved for the protocol.
        name: String = "name",
        /// Any JSON value.
        value: Raw = "value",
    }
    attributable
}
