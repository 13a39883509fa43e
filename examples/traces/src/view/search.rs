//! Search in all sessions.

use super::Page;
use super::html::{Address, document, navigation};
use super::library::{Library, MAX_BYTES};
use crate::report::escaped;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

/// Maximum number of results.
const MAX_RESULTS: usize = 200;

/// Maximum number of results of one transcript.
const MAX_OF_ONE: usize = 20;

/// Maximum number of bytes that are searched.
const MAX_SEARCHED: u64 = MAX_BYTES;

/// Number of characters before and after a match.
const AROUND: usize = 80;

/// Returns the page with the messages that contain `words`, in any case.
pub(super) fn page(library: &mut Library, words: &str) -> Page {
    let wanted = words.trim().to_lowercase();
    let mut results = String::new();
    let mut count = 0;
    let mut room = MAX_SEARCHED;
    let transcripts = if wanted.is_empty() { Vec::new() } else { library.transcripts()? };
    for transcript in &transcripts {
        if count >= MAX_RESULTS || transcript.size > room {
            break;
        }
        room -= transcript.size;
        // A transcript that was removed in the meantime has no results.
        let Ok(file) = File::open(&transcript.path) else { continue };
        let mut reader = library.reader();
        let mut of_one = 0;
        for (number, line) in
            (1_u64..).zip(BufReader::new(file.take(room.max(transcript.size))).split(b'\n'))
        {
            let Ok(line) = line else { break };
            let Ok(Some(entry)) = reader.entry(&line) else { continue };
            let text = String::from_utf8_lossy(&entry.bytes);
            let Some(excerpt) = excerpt(&library.privacy().text(&text), &wanted) else { continue };
            let address = Address::lines(&transcript.name);
            let name = escaped(&transcript.name);
            // Writing to a `String` does not fail.
            let _ = writeln!(
                results,
                "<li><a href=\"{address}{number}#line-{number}\">{name}, line {number}</a><pre>{excerpt}</pre></li>"
            );
            of_one += 1;
            count += 1;
            if of_one == MAX_OF_ONE || count == MAX_RESULTS {
                break;
            }
        }
    }
    let more = if count == MAX_RESULTS { " or more" } else { "" };
    let body =
        format!("<p>{count}{more} messages contain “{}”.</p><ol>{results}</ol>", escaped(words));
    Ok(document("Search", &navigation(None), &body))
}

/// Returns the text around the first match as HTML, with the match marked.
fn excerpt(text: &str, wanted: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let at = lower.find(wanted)?;
    // Lower case may have another length, so positions are counted in characters.
    let before = lower.get(..at)?.chars().count();
    let length = wanted.chars().count();
    let part =
        |from: usize, count: usize| -> String { text.chars().skip(from).take(count).collect() };
    let start = before.saturating_sub(AROUND);
    Some(format!(
        "{}<mark>{}</mark>{}",
        escaped(&part(start, before - start)),
        escaped(&part(before, length)),
        escaped(&part(before + length, AROUND))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_marks_the_match_in_any_case() {
        let text = format!("{}<b>Wörd{}", "x".repeat(200), "y".repeat(200));
        let expected =
            format!("{}&lt;b&gt;<mark>Wörd</mark>{}", "x".repeat(AROUND - 3), "y".repeat(AROUND));
        assert_eq!(excerpt(&text, "wörd"), Some(expected));
        assert_eq!(excerpt(&text, "absent"), None);
    }
}
