//! Segments of JSON pointers.
use jsonrpc_core::pointer::{push_segment, segment_name};
use proptest::prelude::*;
use serde_json::{Value, json};

proptest! {
    /// A pointer of any names refers to the value below them, as `serde_json` resolves it, and each
    /// name can be read from its segment.
    #[test]
    fn pointer_refers_to_its_value(names in prop::collection::vec("[~/01a\u{e9}\"]{0,4}", 0..4)) {
        let mut pointer = String::new();
        let mut value = json!("found");
        for name in names.iter().rev() {
            value = Value::Object([(name.clone(), value)].into_iter().collect());
        }
        for name in &names {
            push_segment(&mut pointer, name);
        }
        prop_assert_eq!(value.pointer(&pointer), Some(&json!("found")), "{}", pointer);
        let read: Vec<_> = pointer.split('/').skip(1).map(segment_name).collect();
        prop_assert_eq!(read, names);
    }
}
