//! Invalid items of lists, which are kept as text.
use crate::scan::Scanner;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// Items that were left out of a list, as text.
#[derive(Clone, Debug, Default)]
pub(super) struct OmittedItems {
    /// Runs of adjacent items: their indices, and the place of all in the text.
    runs: Vec<(Range<u32>, Range<usize>)>,
    text: String,
}

impl OmittedItems {
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Adds an item at a place of the text of the list.
    pub(super) fn push(&mut self, index: u32, place: Range<usize>) {
        match self.runs.last_mut() {
            Some((indices, run)) if indices.end == index => {
                indices.end = index + 1;
                run.end = place.end;
            }
            _ => self.runs.push((index..index + 1, place)),
        }
    }

    /// Copies the runs from the text of the list, after the last item.
    pub(super) fn keep(&mut self, list: &str) {
        let mut text = String::with_capacity(self.runs.iter().map(|(_, run)| run.len()).sum());
        for (_, run) in &mut self.runs {
            let start = text.len();
            text.push_str(list.get(run.clone()).unwrap_or_default());
            *run = start..text.len();
        }
        self.text = text;
    }

    /// Returns the list with the items in their places, if it is long enough.
    pub(super) fn put_back(&self, list: &[u8]) -> Option<String> {
        let mut scanner = Scanner::of_any_depth(list);
        let mut out = String::from("[");
        let mut index = 0;
        let mut is_first = true;
        let mut runs = self.runs.iter().peekable();
        loop {
            let is_more = scanner.next_item(is_first)?;
            is_first = false;
            while let Some((indices, run)) =
                runs.next_if(|(indices, _)| !is_more || indices.start == index)
            {
                push_item(&mut out, self.text.get(run.clone())?);
                index = indices.end;
            }
            if !is_more {
                break;
            }
            let item = scanner.value()?;
            push_item(&mut out, core::str::from_utf8(list.get(item)?).ok()?);
            index += 1;
        }
        out.push(']');
        Some(out)
    }
}

fn push_item(list: &mut String, item: &str) {
    if list.len() > 1 {
        list.push(',');
    }
    list.push_str(item);
}
