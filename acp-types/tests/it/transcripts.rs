//! Conversations of real agents; see `fixtures/transcripts/README.md`.
use crate::lint::linter;
use crate::stored::assert_is_stored;
use jsonrpc_core::transcript::{self, Entry};
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts")
}

/// Returns the transcripts, by name.
pub(crate) fn transcripts() -> Vec<(String, Vec<Entry<'static>>)> {
    let files = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let mut transcripts: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let entries = transcript::read(&text).collect::<Result<_, _>>().unwrap();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), entries)
        })
        .collect();
    transcripts.sort_by(|(one, _), (other, _)| one.cmp(other));
    transcripts
}

/// Returns whether the agent of a transcript speaks version 2.
pub(crate) fn is_v2(name: &str) -> bool {
    ["codex-acp-v2", "claude-agent-acp-v2"].iter().any(|agent| name.starts_with(agent))
}

/// The findings in the recorded conversations are exactly those of the list, each of which was
/// reviewed.
#[test]
fn findings_match_the_list() {
    let mut list = String::new();
    for (name, entries) in transcripts() {
        let mut linter = linter();
        entries.iter().for_each(|entry| linter.handle_line(entry.direction, &entry.bytes));
        linter.finish();
        list.push_str(&format!("{name}\n"));
        while let Some(found) = linter.poll_finding() {
            list.push_str(&format!("  {found}\n"));
        }
        assert_eq!(linter.missed(), 0, "{name}");
    }
    assert_is_stored(&list, &folder().join("findings.txt"));
}
