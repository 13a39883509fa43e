//! JSON Patch (RFC 6902): changes of state and activities.
//!
//! Spec: [`JsonPatch`, 1.0](https://ag-ui.com/spec/1.0/schema#jsonpatch),
//! [RFC 6902](https://www.rfc-editor.org/rfc/rfc6902)
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use jsonrpc_core::wire::{Fault, Raw, ValueReader, View, Wire};
use jsonrpc_core::{object, open_union};

mod document;
mod patch_error;

pub use document::JsonDocument;
pub use patch_error::{PatchError, PatchProblem};

/// Operations, applied in order. An empty list is a valid patch.
///
/// Spec: [`JsonPatch`, 1.0](https://ag-ui.com/spec/1.0/schema#jsonpatch)
pub type JsonPatch = Vec<JsonPatchOperation>;

open_union! {
    /// An operation of a patch.
    ///
    /// Unknown members of an operation are valid and kept.
    ///
    /// ```
    /// use agui_types::json_patch::{JsonPatch, JsonPatchOperation};
    /// use agui_types::jsonrpc_core::wire;
    ///
    /// let text = r#"[{"op":"add","path":"/hits/-","value":null},{"op":"remove","path":"/draft"}]"#;
    /// let patch: JsonPatch = wire::decode(text)?;
    /// let JsonPatchOperation::Add(add) = &patch[0] else { panic!("not an addition") };
    /// assert_eq!(add.path.as_str(), "/hits/-");
    /// assert_eq!(serde_json::to_string(&patch)?, text);
    ///
    /// let error = wire::decode::<JsonPatch>(r#"[{"op":"remove","path":"draft"}]"#).unwrap_err();
    /// assert_eq!(error.to_string(), "at /0/path: expected a JSON pointer, got string");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Spec: [`JsonPatchOperation`, 1.0](https://ag-ui.com/spec/1.0/schema#jsonpatchoperation)
    pub enum JsonPatchOperation by "op" {
        /// Inserts a value.
        Add(AddOperation) = "add",
        /// Removes a value.
        Remove(RemoveOperation) = "remove",
        /// Replaces a value.
        Replace(ReplaceOperation) = "replace",
        /// Moves a value.
        Move(MoveOperation) = "move",
        /// Copies a value.
        Copy(CopyOperation) = "copy",
        /// Requires a value to be equal.
        Test(TestOperation) = "test",
    }
}

object! {
    /// Inserts a value.
    ///
    /// Spec: [`AddOperation`, 1.0](https://ag-ui.com/spec/1.0/schema#addoperation)
    pub struct AddOperation {
        /// The target place.
        path: JsonPointer = "path",
        /// The value; `null` is a value.
        value: Raw = "value",
    }
}

object! {
    /// Removes a value.
    ///
    /// Spec: [`RemoveOperation`, 1.0](https://ag-ui.com/spec/1.0/schema#removeoperation)
    pub struct RemoveOperation {
        /// The place of the value.
        path: JsonPointer = "path",
    }
}

object! {
    /// Replaces a value.
    ///
    /// Spec: [`ReplaceOperation`, 1.0](https://ag-ui.com/spec/1.0/schema#replaceoperation)
    pub struct ReplaceOperation {
        /// The place of the value.
        path: JsonPointer = "path",
        /// The new value; `null` is a value.
        value: Raw = "value",
    }
}

object! {
    /// Moves a value.
    ///
    /// Spec: [`MoveOperation`, 1.0](https://ag-ui.com/spec/1.0/schema#moveoperation)
    pub struct MoveOperation by name {
        /// The source place.
        from: JsonPointer = "from",
        /// The target place.
        path: JsonPointer = "path",
    }
}

object! {
    /// Copies a value.
    ///
    /// Spec: [`CopyOperation`, 1.0](https://ag-ui.com/spec/1.0/schema#copyoperation)
    pub struct CopyOperation by name {
        /// The source place.
        from: JsonPointer = "from",
        /// The target place.
        path: JsonPointer = "path",
    }
}

object! {
    /// Requires a value to be equal. Otherwise the whole patch fails.
    ///
    /// Spec: [`TestOperation`, 1.0](https://ag-ui.com/spec/1.0/schema#testoperation)
    pub struct TestOperation {
        /// The place of the value.
        path: JsonPointer = "path",
        /// The expected value; `null` is a value.
        value: Raw = "value",
    }
}

/// A place in a JSON document: empty for the whole document, otherwise tokens that each begin with
/// `/`.
///
/// ```
/// use agui_types::json_patch::JsonPointer;
///
/// assert_eq!(JsonPointer::try_from("/a~1b/0")?.as_str(), "/a~1b/0");
/// assert!(JsonPointer::try_from("a").is_err());
/// assert!(JsonPointer::try_from("/a~2").is_err());
/// # Ok::<(), agui_types::json_patch::JsonPointerError>(())
/// ```
///
/// Spec: [`JsonPointer`, 1.0](https://ag-ui.com/spec/1.0/schema#jsonpointer),
/// [RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JsonPointer(Box<str>);

impl JsonPointer {
    /// Returns the pointer as on the wire, with its escapes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for JsonPointer {
    type Error = JsonPointerError;

    fn try_from(text: &str) -> Result<Self, JsonPointerError> {
        let rooted = text.is_empty() || text.starts_with('/');
        let escaped = text.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
        if rooted && escaped { Ok(Self(text.into())) } else { Err(JsonPointerError) }
    }
}

impl fmt::Display for JsonPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for JsonPointer {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "JsonPointer".into()
    }

    fn schema_id() -> alloc::borrow::Cow<'static, str> {
        concat!(module_path!(), "::JsonPointer").into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^(/([^/~]|~[01])*)*$" })
    }
}

impl Wire for JsonPointer {
    fn blank() -> Self {
        Self::default()
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        match Self::try_from(&*reader.string()?) {
            Ok(pointer) => *self = pointer,
            Err(JsonPointerError) => return Err(reader.invalid("a JSON pointer")),
        }
        Ok(())
    }

    fn view(&self) -> View<'_> {
        View::Str(&self.0)
    }
}

object! { @serde JsonPointer }

/// An error parsing a JSON pointer: a text that does not begin with a slash, or a tilde without `0`
/// or `1` after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a JSON pointer")]
pub struct JsonPointerError;
