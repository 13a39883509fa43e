use super::{JsonPatchOperation, JsonPointer};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use jsonrpc_core::wire::Raw;
use serde_json::Value;

/// A JSON document that patches change.
///
/// Whoever writes the patches decides how it grows, and a short patch can copy much; so its size and depth are bounded.
///
/// ```
/// use agui_types::json_patch::{Document, JsonPatch};
/// use jsonrpc_core::wire;
/// use serde_json::json;
///
/// let mut document = Document::new(json!({"hits": [1]}));
/// let patch: JsonPatch = wire::decode(r#"[{"op":"add","path":"/hits/-","value":2},{"op":"test","path":"/hits/0","value":1}]"#)?;
/// document.apply(&patch)?;
/// assert_eq!(document.value(), &json!({"hits": [1, 2]}));
///
/// let patch: JsonPatch = wire::decode(r#"[{"op":"remove","path":"/hits/0"},{"op":"remove","path":"/draft"}]"#)?;
/// let error = document.apply(&patch).unwrap_err();
/// assert_eq!(error.to_string(), r#"operation 1: there is nothing at "/draft""#);
/// assert_eq!(document.value(), &json!({"hits": [1, 2]}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Spec: [Deltas, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/snapshots#deltas),
/// [RFC 6902](https://www.rfc-editor.org/rfc/rfc6902)
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    value: Value,
    size: usize,
    limit: usize,
}

impl Document {
    /// How large a document may become, unless another limit is set: in bytes, about as it is written.
    pub const DEFAULT_LIMIT: usize = 16 * 1024 * 1024;

    /// How many levels of arrays and objects a document may get: as many as can be read.
    pub const MAX_DEPTH: usize = 127;

    /// A document as it stands.
    pub fn new(value: Value) -> Self {
        let (size, _) = measure(&value);
        Self { value, size, limit: Self::DEFAULT_LIMIT }
    }

    /// Sets how large it may become, in bytes about as it is written.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// The document.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The document, for good.
    pub fn into_value(self) -> Value {
        self.value
    }

    /// Takes another value in the document's place.
    ///
    /// # Errors
    /// It is larger than the limit; the document is as it was.
    pub fn replace(&mut self, value: Value) -> Result<(), PatchProblem> {
        let (size, _) = measure(&value);
        if size > self.limit {
            return Err(PatchProblem::TooLarge);
        }
        (self.value, self.size) = (value, size);
        Ok(())
    }

    /// Does all operations, or none.
    ///
    /// Numbers are equal when their values are, so `1` is `1.0`. To remove the whole document leaves `null`.
    ///
    /// # Errors
    /// An operation cannot be done; the document is as it was.
    ///
    /// Spec: [When a patch does not apply,
    /// 1.0](https://ag-ui.com/spec/1.0/basic/patterns/snapshots#when-a-patch-does-not-apply)
    pub fn apply(&mut self, patch: &[JsonPatchOperation]) -> Result<(), PatchError> {
        let (size, mut done) = (self.size, Vec::new());
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
                let (value, path) = (read(&replace.value)?, replace.path.as_str());
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
                // Before it is copied, since it may be large.
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

    /// Checks that `value` may stand at `path` where `freed` goes.
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
            Some(Value::Object(members)) => match members.insert(unescape(name).into(), value) {
                Some(old) => {
                    let (freed, _) = measure(&old);
                    self.size = after.saturating_sub(freed + name.len());
                    return Ok(Undo::Put(path.into(), old));
                }
                None => Undo::Remove(path.into()),
            },
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

/// How to get back to what was before an operation.
enum Undo {
    /// This was in a place that has something else now.
    Put(String, Value),
    /// This was in a place that has been closed.
    Insert(String, Value),
    /// Nothing was there.
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
                        members.insert(unescape(name).into(), value);
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

/// A patch was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {index}: {} {:?}", problem.text(), pointer.as_str())]
#[non_exhaustive]
pub struct PatchError {
    /// The operation that could not be done, counted from zero.
    pub index: usize,
    /// Where: what the operation says, its `from` if that is where it fails.
    pub pointer: JsonPointer,
    /// Why.
    pub problem: PatchProblem,
}

/// Why an operation cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PatchProblem {
    /// The place does not exist.
    Nothing,
    /// The place that a value is to come from does not exist.
    NothingToTake,
    /// The place would be in an array, but is no index of it.
    NotAnIndex,
    /// The value is not the one that was required.
    Different,
    /// A value was to be moved into itself.
    IntoItself,
    /// The document would become deeper than [`Document::MAX_DEPTH`].
    TooDeep,
    /// The document would become larger than its limit.
    TooLarge,
    /// The value is deeper than [`Document::MAX_DEPTH`], or has a number that no double can be near.
    Unreadable,
    /// The operation is none of RFC 6902.
    UnknownOperation,
}

impl PatchProblem {
    fn text(self) -> &'static str {
        match self {
            Self::Nothing | Self::NothingToTake => "there is nothing at",
            Self::NotAnIndex => "the array has no such index:",
            Self::Different => "another value was required at",
            Self::IntoItself => "a value does not go into itself, to",
            Self::TooDeep => "the document would become too deep at",
            Self::TooLarge => "the document would become too large at",
            Self::Unreadable => "the value cannot be read that was for",
            Self::UnknownOperation => "the operation is unknown",
        }
    }
}

/// The pointer of an operation that a problem is about.
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

/// A value's size in bytes, about as it is written, and how many levels of arrays and objects it has.
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

fn unescape(token: &str) -> Cow<'_, str> {
    if token.contains('~') {
        Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(token)
    }
}

/// An array index as RFC 6901 writes it: digits, without a zero before others.
fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with('0');
    let digits = token.bytes().all(|byte| byte.is_ascii_digit());
    if plain && digits { token.parse().ok() } else { None }
}

fn take(document: &mut Value, path: &str) -> Option<Value> {
    let Some((parent, name)) = path.rsplit_once('/') else { return Some(document.take()) };
    match document.pointer_mut(parent)? {
        Value::Object(members) => members.remove(&*unescape(name)),
        Value::Array(elements) => {
            let at = index(name).filter(|at| *at < elements.len())?;
            Some(elements.remove(at))
        }
        _ => None,
    }
}

/// Whether two values are equal as RFC 6902 has it: numbers by value, objects in any order.
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
