jsonrpc_core::object! {
    /// A place in a text.
    pub struct Place {
        /// The line.
        line: u32 = "line",
    }
    optional {
        /// The column.
        column: u32 = "line",
    }
}

jsonrpc_core::open_enum! {
    /// An outcome.
    pub enum Outcome {
        /// Success.
        Good = "good",
        /// Failure.
        Bad = "good",
    }
}

fn main() {}
