//! Operations of JSON Patch.
use super::field::{DecodeError, EncodeError, Field, closed};
use super::value::Value;
use crate::json_patch::{
    AddOperation, CopyOperationMembers, JsonPatchOperation, JsonPointer, MoveOperationMembers,
    RemoveOperation, ReplaceOperation, TestOperation,
};
use alloc::string::{String, ToString};

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct WireOperation {
    #[prost(int32, tag = "1")]
    op: i32,
    #[prost(string, tag = "2")]
    path: String,
    #[prost(string, optional, tag = "3")]
    from: Option<String>,
    #[prost(message, optional, tag = "4")]
    value: Option<Value>,
}

impl Field<WireOperation> for JsonPatchOperation {
    fn to_wire(&self) -> Result<WireOperation, EncodeError> {
        let (op, path, from, value, extra) = match self {
            Self::Add(it) => (0, &it.path, None, Some(&it.value), &it.extra),
            Self::Remove(it) => (1, &it.path, None, None, &it.extra),
            Self::Replace(it) => (2, &it.path, None, Some(&it.value), &it.extra),
            Self::Move(it) => (3, &it.path, Some(&it.from), None, &it.extra),
            Self::Copy(it) => (4, &it.path, Some(&it.from), None, &it.extra),
            Self::Test(it) => (5, &it.path, None, Some(&it.value), &it.extra),
            Self::Unknown(other) => return Err(EncodeError::Unknown(other.tag().into())),
        };
        closed(extra)?;
        let from = from.map(|from| from.as_str().to_string());
        let value = value.map(Field::<Value>::to_wire).transpose()?;
        Ok(WireOperation { op, path: path.as_str().into(), from, value })
    }

    fn from_wire(wire: WireOperation) -> Result<Self, DecodeError> {
        let pointer = |text: &str| {
            JsonPointer::try_from(text).map_err(|error| DecodeError::Value(error.to_string()))
        };
        let path = pointer(&wire.path)?;
        let from = pointer(wire.from.as_deref().unwrap_or_default());
        let value = wire.value;
        let value = || Field::<Option<Value>>::from_wire(value);
        Ok(match wire.op {
            0 => Self::Add(AddOperation::new(path, raw(value()?))),
            1 => Self::Remove(RemoveOperation::new(path)),
            2 => Self::Replace(ReplaceOperation::new(path, raw(value()?))),
            3 => Self::Move(MoveOperationMembers { from: from?, path }.into()),
            4 => Self::Copy(CopyOperationMembers { from: from?, path }.into()),
            5 => Self::Test(TestOperation::new(path, raw(value()?))),
            other => {
                return Err(DecodeError::Value(alloc::format!(
                    "{other} is not an operation of a patch"
                )));
            }
        })
    }
}

/// Fixes the type for inference.
fn raw(value: jsonrpc_core::wire::Raw) -> jsonrpc_core::wire::Raw {
    value
}
