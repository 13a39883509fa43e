jsonrpc_core::object! {
    /// A command.
    pub struct Command {
        /// Name of the program.
        name: String = "name",
        /// Arguments.
        args: Vec<String> = "args" [default_on_null],
    }
}

fn main() {}
