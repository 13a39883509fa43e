//! JSON pointers of places in a text.
use crate::JsonStr;
use crate::pointer::push_segment;
use crate::scan::Scanner;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Largest depth of pointers; deeper values are skipped.
const MAX_DEPTH: usize = 128;

/// Total length of pointers that is permitted for any text.
const MIN_TOTAL: usize = 64 * 1024;

/// Returns the pointers of the values at these places of a valid text, in one pass. `places` are in
/// order. If the pointers exceed the length of the text, the last ones are left out.
pub(super) fn pointers(json: &str, places: &[usize]) -> Vec<String> {
    let scanner = Scanner::of_any_depth(json.as_bytes());
    let left = json.len().max(MIN_TOTAL);
    let mut search =
        Search { json, places, scanner, left, pointer: String::new(), found: Vec::new() };
    search.value(0);
    search.found
}

struct Search<'a> {
    json: &'a str,
    places: &'a [usize],
    scanner: Scanner<'a>,
    /// Permitted length of further pointers.
    left: usize,
    /// The pointer of the current value.
    pointer: String,
    found: Vec<String>,
}

impl Search<'_> {
    /// Searches the next value, at a depth. Returns `None` at the end of the search.
    fn value(&mut self, depth: usize) -> Option<()> {
        let first = self.scanner.next_token();
        while *self.places.get(self.found.len())? <= self.scanner.at() {
            self.left = self.left.checked_sub(self.pointer.len())?;
            self.found.push(self.pointer.clone());
        }
        let length = self.pointer.len();
        match first {
            b'{' if depth < MAX_DEPTH => {
                let mut is_more = self.scanner.enter()?;
                while is_more {
                    let name = self.json.get(self.scanner.name_place()?.0).unwrap_or_default();
                    let name = JsonStr::between_quotes(name).decode().unwrap_or(name.into());
                    push_segment(&mut self.pointer, &name);
                    self.value(depth + 1)?;
                    self.pointer.truncate(length);
                    is_more = self.scanner.go_on()?;
                }
            }
            b'[' if depth < MAX_DEPTH => {
                let mut index = 0_usize;
                while self.scanner.next_item(index == 0)? {
                    push_segment(&mut self.pointer, &index.to_string());
                    self.value(depth + 1)?;
                    self.pointer.truncate(length);
                    index += 1;
                }
            }
            _ => {
                self.scanner.value()?;
            }
        }
        Some(())
    }
}
