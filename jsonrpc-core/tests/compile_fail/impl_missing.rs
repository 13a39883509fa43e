#[derive(Clone, Debug, PartialEq)]
pub struct Point(f64, f64);

jsonrpc_core::object! {
    /// A line.
    pub struct Line {
        /// Name.
        name: String = "name",
        /// First point.
        start: Point = "start",
    }
}

fn main() {}
