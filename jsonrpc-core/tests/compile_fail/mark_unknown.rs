jsonrpc_core::object! {
    /// A command.
    pub struct Command {}
    optional {
        /// Directory of the process.
        cwd: String = "cwd",
        /// Arguments.
        args: Vec<String> = "args" [default_on_sunday],
    }
}

jsonrpc_core::object! {
    /// A program.
    pub struct Program {}
}

jsonrpc_core::open_union! {
    /// A task.
    pub enum Task by "kind" {
        /// A command.
        Command(Command) = "command" [sharded],
    }
    untagged {
        /// A program.
        Program(Program),
    }
}

fn main() {}
