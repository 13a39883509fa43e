//! Changes of files: as texts in version 1, as patches in version 2.
//!
//! Spec: [`Diff`](https://agentclientprotocol.com/protocol/v1/schema#diff),
//! [in version 2](https://agentclientprotocol.com/protocol/v2/schema#diff)
use crate::v1::tool_calls::{Content, Diff as Texts, DiffMembers, ToolCallContent};
use crate::v2::diffs::{
    Diff, DiffChange, DiffOperation, DiffPatch, DiffPatchFormat, DiffPathChange,
};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use core::str::SplitInclusive;

/// Returns a change to a file with both texts in its patch.
pub(crate) fn diff_of_texts(texts: &Texts) -> Diff {
    let path = DiffPathChange::new(texts.path.as_str());
    let operation = match texts.old_text {
        Some(_) => DiffOperation::Modify(path),
        None => DiffOperation::Add(path),
    };
    let mut diff = Diff::new([DiffChange::new(operation)]);
    diff.patch = Some(DiffPatch::new(DiffPatchFormat::GitPatch, patch(texts)));
    diff.meta = texts.meta.clone();
    diff.extra = texts.extra.clone();
    diff
}

/// Converts texts to a change with a patch of the whole texts.
impl From<Texts> for Diff {
    fn from(texts: Texts) -> Self {
        diff_of_texts(&texts)
    }
}

/// Returns the patch between both texts in Git's format, with absolute paths as version 2 requires.
/// Its only hunk has the whole texts, with the common lines at the beginning and at the end as
/// context.
fn patch(texts: &Texts) -> String {
    let path = &texts.path;
    let old = texts.old_text.as_deref().unwrap_or_default();
    let mut patch = format!("diff --git {path} {path}\n");
    let from = if texts.old_text.is_some() {
        path.as_str()
    } else {
        patch.push_str("new file mode 100644\n");
        "/dev/null"
    };
    let new = &*texts.new_text;
    let range = |count: usize| if count == 0 { "0,0".into() } else { format!("1,{count}") };
    let before = range(lines(old).count());
    let after = range(lines(new).count());
    // Writing to a string cannot fail.
    let _ = writeln!(patch, "--- {from}\n+++ {path}\n@@ -{before} +{after} @@");
    let (head, old) = old.split_at(common(lines(old), lines(new)));
    let new = new.split_at(head.len()).1;
    let (old, tail) = old.split_at(old.len() - common(lines(old).rev(), lines(new).rev()));
    let new = new.split_at(new.len() - tail.len()).0;
    for (sign, text) in [(' ', head), ('-', old), ('+', new), (' ', tail)] {
        for line in lines(text) {
            patch.push(sign);
            patch.push_str(line);
            if !line.ends_with('\n') {
                patch.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    patch
}

/// Returns the lines of a text, with their ends.
fn lines(text: &str) -> SplitInclusive<'_, char> {
    text.split_inclusive('\n')
}

/// Returns the length of the lines that both have before the first difference.
fn common<'a>(one: impl Iterator<Item = &'a str>, other: impl Iterator<Item = &'a str>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).map(|(line, _)| line.len()).sum()
}

/// Returns the texts of a change, one for each file. Where the patch has parts of a file, the texts
/// have the same parts. A change without a patch is described in a line. The flag is whether
/// [`diff_of_texts`] returns the same change.
pub(crate) fn texts_of_diff(diff: &Diff) -> (Vec<ToolCallContent>, bool) {
    let patch = diff.patch.as_ref().filter(|patch| patch.format == DiffPatchFormat::GitPatch);
    let sections = patch.map(|patch| sections(&patch.text)).unwrap_or_default();
    let is_paired = sections.len() == diff.changes.len();
    let contents = diff.changes.iter().enumerate().map(|(index, change)| {
        let Some((path, is_new)) = path_of(&change.operation) else {
            return described(&change.operation);
        };
        let section_of_path = || sections.iter().find(|section| section.is_about(path));
        let section = if is_paired { sections.get(index) } else { section_of_path() };
        match section.and_then(Section::texts) {
            Some((old, new)) => {
                let members = DiffMembers { path: path.into(), new_text: new };
                let mut texts = Texts::from(members);
                texts.old_text = (!is_new).then_some(old);
                if diff.changes.len() == 1 {
                    texts.meta = diff.meta.clone();
                    texts.extra = diff.extra.clone();
                }
                ToolCallContent::Diff(Box::new(texts))
            }
            None => described(&change.operation),
        }
    });
    let contents: Vec<_> = contents.collect();
    let is_same = match &contents[..] {
        [ToolCallContent::Diff(texts)] => diff_of_texts(texts) == *diff,
        _ => false,
    };
    (contents, is_same)
}

/// Returns the path of a changed file, and whether it is new.
fn path_of(operation: &DiffOperation) -> Option<(&str, bool)> {
    match operation {
        DiffOperation::Add(change) => Some((change.path.as_str(), true)),
        DiffOperation::Modify(change) | DiffOperation::Delete(change) => {
            Some((change.path.as_str(), false))
        }
        DiffOperation::Move(change) | DiffOperation::Copy(change) => {
            Some((change.path.as_str(), false))
        }
        DiffOperation::Unknown(_) => None,
    }
}

fn described(operation: &DiffOperation) -> ToolCallContent {
    let text = match operation {
        DiffOperation::Move(change) | DiffOperation::Copy(change) => {
            format!("{} {} {}", operation.tag(), change.old_path, change.path)
        }
        DiffOperation::Add(change)
        | DiffOperation::Delete(change)
        | DiffOperation::Modify(change) => format!("{} {}", operation.tag(), change.path),
        DiffOperation::Unknown(_) => operation.tag().into(),
    };
    ToolCallContent::Content(Content::new(text))
}

/// The part of a patch about one file.
struct Section<'a> {
    head: &'a str,
    hunks: &'a str,
}

/// Splits a patch by file.
fn sections(patch: &str) -> Vec<Section<'_>> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in patch.split_inclusive('\n') {
        if line.starts_with("diff --git ") {
            starts.push(at);
        }
        at += line.len();
    }
    if starts.is_empty() {
        starts.push(0);
    }
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    let texts = starts.iter().zip(ends).filter_map(|(start, end)| patch.get(*start..end));
    texts
        .map(|text| {
            let hunks =
                if text.starts_with("@@ ") { Some(0) } else { text.find("\n@@ ").map(|at| at + 1) };
            let (head, hunks) =
                text.split_at_checked(hunks.unwrap_or(text.len())).unwrap_or((text, ""));
            Section { head, hunks }
        })
        .collect()
}

impl Section<'_> {
    fn is_about(&self, path: &str) -> bool {
        let mut lines = self.head.lines();
        lines.any(|line| {
            let heads = ["+++ ", "--- ", "rename to ", "copy to "];
            heads.iter().find_map(|head| line.strip_prefix(head)) == Some(path)
        })
    }

    /// Returns the texts before and after; `None` without hunks.
    fn texts(&self) -> Option<(String, String)> {
        let mut old = String::new();
        let mut new = String::new();
        let mut last = ' ';
        if self.hunks.is_empty() {
            return None;
        }
        for line in self.hunks.split_inclusive('\n') {
            let mut rest = line.chars();
            let sign = rest.next().unwrap_or(' ');
            match sign {
                '@' | 'd' => continue,
                '\\' => {
                    if last != '+' && old.ends_with('\n') {
                        old.pop();
                    }
                    if last != '-' && new.ends_with('\n') {
                        new.pop();
                    }
                    continue;
                }
                '-' => old.push_str(rest.as_str()),
                '+' => new.push_str(rest.as_str()),
                '\n' => {
                    old.push('\n');
                    new.push('\n');
                }
                _ => {
                    old.push_str(rest.as_str());
                    new.push_str(rest.as_str());
                }
            }
            last = sign;
        }
        Some((old, new))
    }
}
