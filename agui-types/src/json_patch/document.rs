//! A JSON document that patches change, within limits of size and depth.
use super::{JsonPatchOperation, JsonPointer, PatchError, PatchProblem};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use jsonrpc_core::pointer::segment_name;
use jsonrpc_core::wire::Raw;
use serde_json::Value;

/// A JSON document that patches change.
///
/// A peer writes the patches, and a short patch can copy large values. Size and depth are therefore
/// bounded.
///
/// ```
/// use agui_types::json_patch::{JsonDocument, JsonPatch};
/// use agui_types::jsonrpc_core::wire;
/// use serde_json::json;
///
/// let mut document = JsonDocument::new(json!({"hits": [1]}));
/// let patch: JsonPatch = wire::decode(r#"[{"op":"add","path":"/hits/-","value":2},{"op":"test","path":"/hits/0","value":1}]"#)?;
/// document.apply(&patch)?;
/// assert_eq!(document.value(), &json!({"hits": [1, 2]}));
///
/// let patch: JsonPatch = wire::decode(r#"[{"op":"remove","path":"/hits/0"},{"op":"remove","path":"/draft"}]"#)?;
/// let error = document.apply(&patch).unwrap_err();
/// assert_eq!(error.to_string(), r#"operation 1: no value exists at "/draft""#);
/// assert_eq!(document.value(), &json!({"hits": [1, 2]}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Spec: [Deltas, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/snapshots#deltas),
/// [RFC 6902](https://www.rfc-editor.org/rfc/rfc6902)
#[derive(Clone, Debug, PartialEq)]
pub struct JsonDocument {
    value: Value,
    size: usize,
    limit: usize,
}

impl JsonDocument {
    /// Default largest size of a document, in bytes of compact JSON (approximate).
    pub const DEFAULT_LIMIT: usize = 16 * 1024 * 1024;

    /// Largest number of nested arrays and objects; the decoder has the same limit.
    pub const MAX_DEPTH: usize = 127;

    /// Creates a document.
    pub fn new(value: Value) -> Self {
        let (size, _) = measure(&value);
        Self { value, size, limit: Self::DEFAULT_LIMIT }
    }

    /// Sets the largest size, in bytes of compact JSON (approximate).
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Returns the document.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the document, consuming the wrapper.
    pub fn into_value(self) -> Value {
        self.value
    }

    /// Replaces the document.
    ///
    /// # Errors
    /// The value exceeds the limit of the size. The document stays unchanged.
    pub fn replace(&mut self, value: Value) -> Result<(), PatchProblem> {
        let (size, _) = measure(&value);
        if size > self.limit {
            return Err(PatchProblem::TooLarge);
        }
        self.value = value;
        self.size = size;
        Ok(())
    }

    /// Applies all operations of a patch, or none.
    ///
    /// Numbers are equal when their values are: `1` equals `1.0`. Removal of the whole document
    /// leaves `null`.
    ///
    /// # Errors
    /// An operation cannot be applied. The document stays unchanged.
    ///
    /// Spec: [When a patch does not apply,
    /// 1.0](https://ag-ui.com/spec/1.0/basic/patterns/snapshots#when-a-patch-does-not-apply)
    pub fn apply(&mut self, patch: &[JsonPatchOperation]) -> Result<(), PatchError> {
        let size = self.size;
        let mut done = Vec::new();
        for (index, operation) in patch.iter().enumerate() {
            if let Err(problem) = self.operate(operation, &mut done) {
                while let Some(undo) = done.pop() {
                    undo.run(&mut self.value);
                }
                self.size = size;
                let pointer = place(operation, problem);
                return Err(PatchError { index, pointer, problem });
            }
        }
        Ok(())
    }

    fn operate(
        &mut self,
        operation: &JsonPatchOperation,
        done: &mut Vec<Undo>,
    ) -> Result<(), PatchProblem> {
        match operation {
            JsonPatchOperation::Add(add) => {
                let value = read(&add.value)?;
                let undo = self.add(add.path.as_str(), value)?;
                done.push(undo);
            }
            JsonPatchOperation::Remove(remove) => {
                let path = remove.path.as_str();
                let value = self.take(path)?;
                done.push(if path.is_empty() {
                    Undo::Put(String::new(), value)
                } else {
                    Undo::Insert(path.into(), value)
                });
            }
            JsonPatchOperation::Replace(replace) => {
                let value = read(&replace.value)?;
                let path = replace.path.as_str();
                let old = self.value.pointer(path).ok_or(PatchProblem::Nothing)?;
                let (old, _) = measure(old);
                let name = path.rsplit_once('/').map_or(0, |(_, name)| name.len());
                self.size = self.check_room(path, &value, old + name)?;
                let slot = self.value.pointer_mut(path).ok_or(PatchProblem::Nothing)?;
                done.push(Undo::Put(path.into(), mem::replace(slot, value)));
            }
            JsonPatchOperation::Move(op) => self.shift(op.from.as_str(), op.path.as_str(), done)?,
            JsonPatchOperation::Copy(copy) => {
                let value = self.value.pointer(copy.from.as_str());
                let value = value.ok_or(PatchProblem::NothingToTake)?;
                // Checked before the copy, which may be large.
                self.check_room(copy.path.as_str(), value, 0)?;
                let value = value.clone();
                let undo = self.add(copy.path.as_str(), value)?;
                done.push(undo);
            }
            JsonPatchOperation::Test(test) => {
                let value = self.value.pointer(test.path.as_str()).ok_or(PatchProblem::Nothing)?;
                if !equal(value, &read(&test.value)?) {
                    return Err(PatchProblem::Different);
                }
            }
            JsonPatchOperation::Unknown(_) => return Err(PatchProblem::UnknownOperation),
        }
        Ok(())
    }

    fn shift(&mut self, from: &str, path: &str, done: &mut Vec<Undo>) -> Result<(), PatchProblem> {
        if path.strip_prefix(from).is_some_and(|rest| rest.starts_with('/')) {
            return Err(PatchProblem::IntoItself);
        }
        if from == path {
            let there = self.value.pointer(from).is_some();
            return if there { Ok(()) } else { Err(PatchProblem::NothingToTake) };
        }
        let value = self.take(from).map_err(|_| PatchProblem::NothingToTake)?;
        let kept = Undo::Insert(from.into(), value.clone());
        match self.add(path, value) {
            Ok(undo) => {
                done.push(kept);
                done.push(undo);
                Ok(())
            }
            Err(problem) => {
                kept.run(&mut self.value);
                Err(problem)
            }
        }
    }

    /// Checks that `value` fits at `path` once `freed` is removed.
    fn check_room(&self, path: &str, value: &Value, freed: usize) -> Result<usize, PatchProblem> {
        let (size, depth) = measure(value);
        if path.matches('/').count() + depth > Self::MAX_DEPTH {
            return Err(PatchProblem::TooDeep);
        }
        let name = path.rsplit_once('/').map_or(0, |(_, name)| name.len());
        let after = self.size.saturating_sub(freed).saturating_add(size + name);
        if after > self.limit { Err(PatchProblem::TooLarge) } else { Ok(after) }
    }

    fn add(&mut self, path: &str, value: Value) -> Result<Undo, PatchProblem> {
        let Some((parent, name)) = path.rsplit_once('/') else {
            self.size = self.check_room(path, &value, self.size)?;
            return Ok(Undo::Put(String::new(), mem::replace(&mut self.value, value)));
        };
        let after = self.check_room(path, &value, 0)?;
        let undo = match self.value.pointer_mut(parent) {
            Some(Value::Object(members)) => {
                match members.insert(segment_name(name).into(), value) {
                    Some(old) => {
                        let (freed, _) = measure(&old);
                        self.size = after.saturating_sub(freed + name.len());
                        return Ok(Undo::Put(path.into(), old));
                    }
                    None => Undo::Remove(path.into()),
                }
            }
            Some(Value::Array(elements)) => {
                let at = if name == "-" { Some(elements.len()) } else { index(name) };
                let at = at.filter(|at| *at <= elements.len()).ok_or(PatchProblem::NotAnIndex)?;
                elements.insert(at, value);
                Undo::Remove(format!("{parent}/{at}"))
            }
            _ => return Err(PatchProblem::Nothing),
        };
        self.size = after;
        Ok(undo)
    }

    fn take(&mut self, path: &str) -> Result<Value, PatchProblem> {
        let value = take(&mut self.value, path).ok_or(PatchProblem::Nothing)?;
        let (freed, _) = measure(&value);
        let name = path.rsplit_once('/').map_or(0, |(_, name)| name.len());
        self.size = self.size.saturating_sub(freed + name);
        Ok(value)
    }
}

/// The inverse of an operation.
enum Undo {
    /// Restores the value of a place that has another value now.
    Put(String, Value),
    /// Restores the value of a place that was removed.
    Insert(String, Value),
    /// Removes a value from a place that did not exist.
    Remove(String),
}

impl Undo {
    fn run(self, document: &mut Value) {
        match self {
            Self::Put(path, value) => {
                if let Some(slot) = document.pointer_mut(&path) {
                    *slot = value;
                }
            }
            Self::Insert(path, value) => {
                let Some((parent, name)) = path.rsplit_once('/') else { return };
                match document.pointer_mut(parent) {
                    Some(Value::Object(members)) => {
                        members.insert(segment_name(name).into(), value);
                    }
                    Some(Value::Array(elements)) => {
                        if let Some(at) = index(name).filter(|at| *at <= elements.len()) {
                            elements.insert(at, value);
                        }
                    }
                    _ => {}
                }
            }
            Self::Remove(path) => {
                take(document, &path);
            }
        }
    }
}

/// Returns the pointer that a problem refers to.
fn place(operation: &JsonPatchOperation, problem: PatchProblem) -> JsonPointer {
    let takes = problem == PatchProblem::NothingToTake;
    match operation {
        JsonPatchOperation::Add(add) => add.path.clone(),
        JsonPatchOperation::Remove(remove) => remove.path.clone(),
        JsonPatchOperation::Replace(replace) => replace.path.clone(),
        JsonPatchOperation::Move(op) if takes => op.from.clone(),
        JsonPatchOperation::Move(op) => op.path.clone(),
        JsonPatchOperation::Copy(copy) if takes => copy.from.clone(),
        JsonPatchOperation::Copy(copy) => copy.path.clone(),
        JsonPatchOperation::Test(test) => test.path.clone(),
        JsonPatchOperation::Unknown(_) => JsonPointer::default(),
    }
}

fn read(value: &Raw) -> Result<Value, PatchProblem> {
    value.decode().map_err(|_| PatchProblem::Unreadable)
}

/// Returns a value's approximate size in bytes of compact JSON, and its depth.
fn measure(value: &Value) -> (usize, usize) {
    let add = |(size, depth): (usize, usize), (more, below): (usize, usize)| {
        (size.saturating_add(more + 1), depth.max(below + 1))
    };
    match value {
        Value::Null | Value::Bool(_) => (4, 0),
        Value::Number(_) => (8, 0),
        Value::String(text) => (text.len() + 2, 0),
        Value::Array(elements) => elements.iter().map(measure).fold((2, 1), add),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| {
                let (size, depth) = measure(value);
                (size + name.len(), depth)
            });
            members.fold((2, 1), add)
        }
    }
}

/// Parses an array index of RFC 6901: digits without a leading zero.
fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with('0');
    let digits = token.bytes().all(|byte| byte.is_ascii_digit());
    if plain && digits { token.parse().ok() } else { None }
}

fn take(document: &mut Value, path: &str) -> Option<Value> {
    let Some((parent, name)) = path.rsplit_once('/') else { return Some(document.take()) };
    match document.pointer_mut(parent)? {
        Value::Object(members) => members.remove(&*segment_name(name)),
        Value::Array(elements) => {
            let at = index(name).filter(|at| *at < elements.len())?;
            Some(elements.remove(at))
        }
        _ => None,
    }
}

/// Returns whether two values are equal by RFC 6902: numbers by value, objects in any order.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.is_f64() != other.is_f64() && one.as_f64() == other.as_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same = |(name, one): (&String, &Value)| {
                other.get(name).is_some_and(|other| equal(one, other))
            };
            one.len() == other.len() && one.iter().all(same)
        }
        _ => one == other,
    }
}
