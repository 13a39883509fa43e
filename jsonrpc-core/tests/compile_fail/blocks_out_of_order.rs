jsonrpc_core::object! {
    /// A place in a text.
    pub struct Place {
        /// The line.
        line: u32 = "line",
    }
    patch {
        /// The column.
        column: u32 = "column",
    }
    optional {
        /// The length.
        length: u32 = "length",
    }
}

jsonrpc_core::object! {
    /// A range of a text.
    pub struct Range {}
    and "_meta"
    optional {
        /// The length.
        length: u32 = "length",
    }
}

fn main() {}
