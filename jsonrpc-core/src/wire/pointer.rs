//! JSON pointers of places in a text.
use crate::JsonStr;
use crate::pointer::push_segment;
use crate::scan::{Scanner, token};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Largest depth of pointers; deeper values are skipped.
const MAX_DEPTH: usize = 128;

/// Total length of pointers that is permitted for any text.
const MIN_TOTAL: usize = 64 * 1024;

/// An array or object on the path to a value.
struct Level {
    /// Length of its pointer.
    length: usize,
    /// The index of the current item; `None` in an object.
    index: Option<usize>,
}

/// Returns the pointers of the values at these places of a valid text, in one pass. `places` are in order. If the
/// pointers exceed the length of the text, the last ones are left out.
pub(super) fn pointers(json: &str, places: &[usize]) -> Vec<String> {
    let bytes = json.as_bytes();
    let mut scanner = Scanner::of_any_depth(bytes);
    let (mut found, mut total) = (Vec::new(), 0);
    let (mut pointer, mut levels) = (String::new(), Vec::<Level>::new());
    let (_, mut at) = token(bytes, 0);
    loop {
        while let Some(place) = places.get(found.len())
            && *place <= at
        {
            total += pointer.len();
            if total > json.len().max(MIN_TOTAL) {
                return found;
            }
            found.push(pointer.clone());
        }
        if found.len() == places.len() {
            return found;
        }
        let (first, inside) = token(bytes, at + 1);
        let is_entered = match bytes.get(at) {
            Some(b'{') => first != b'}',
            Some(b'[') => first != b']',
            _ => false,
        };
        if is_entered && levels.len() < MAX_DEPTH {
            let index = (bytes.get(at) == Some(&b'[')).then_some(0);
            levels.push(Level { length: pointer.len(), index });
            at = inside;
        } else {
            scanner.go_to(at);
            let Some(value) = scanner.value() else { return found };
            at = value.end;
            // Leaves the values that end here.
            loop {
                let Some(level) = levels.last_mut() else { return found };
                pointer.truncate(level.length);
                let (byte, place) = token(bytes, at);
                at = place + 1;
                if byte == b',' {
                    level.index = level.index.map(|index| index + 1);
                    break;
                }
                levels.pop();
            }
        }
        match levels.last().and_then(|level| level.index) {
            Some(index) => {
                push_segment(&mut pointer, &index.to_string());
                at = token(bytes, at).1;
            }
            None => {
                scanner.go_to(at);
                let Some((name, _)) = scanner.name_place() else { return found };
                let name = json.get(name).unwrap_or_default();
                let name = JsonStr::between_quotes(name).decode().unwrap_or(name.into());
                push_segment(&mut pointer, &name);
                scanner.next_token();
                at = scanner.at();
            }
        }
    }
}
