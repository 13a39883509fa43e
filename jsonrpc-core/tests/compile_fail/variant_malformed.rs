use jsonrpc_core::wire::Extra;

jsonrpc_core::open_union! {
    /// An outcome.
    pub enum Outcome by "type" {
        /// Success.
        Good(Extra) = "good",
        /// Failure.
        Bad(Extra),
    }
}

jsonrpc_core::member_union! {
    /// The contents of a resource.
    pub enum Contents {
        /// Text.
        Text(Extra) = "text",
    }
}

jsonrpc_core::open_enum! {
    /// A status.
    pub enum Status {
        /// Running.
        Running("running"),
    }
}

fn main() {}
