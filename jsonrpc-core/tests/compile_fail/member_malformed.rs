jsonrpc_core::object! {
    /// A place in a text.
    pub struct Place {
        /// The line.
        line: u32 = "line",
        /// The column.
        column: u32,
    }
    optional {
        /// The length.
        length: u32 = "length" or "0",
    }
}

fn main() {}
