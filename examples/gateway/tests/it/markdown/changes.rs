//! Changes of files: rows with numbers and marked words, and the law that they contain both texts.
use super::shown as html;
use gateway::markdown::{Format, MAX_TEXT, Source, render};
use proptest::prelude::*;

fn diff(before: &str, after: &str, name: &str) -> String {
    let mut source = Source::of(Format::Diff, after);
    source.before = before.into();
    source.name = name.into();
    html(&source)
}

/// The rows as kind, numbers and text, separated by spaces.
fn rows(html: &str) -> Vec<String> {
    let cell = |row: &str, class: &str| {
        let rest = row.split_once(&format!("class=\"{class}\">")).map_or("", |(_, rest)| rest);
        text(rest.split_once("</td>").map_or("", |(cell, _)| cell))
    };
    html.split("<tr class=\"diff-")
        .skip(1)
        .map(|row| match row.split_once('"') {
            Some(("gap", rest)) => format!("… {}", text(rest.trim_start_matches('>')).trim()),
            Some((kind, rest)) => {
                let (_, numbers) = rest.split_once("diff-number\">").expect("a number");
                let (before, after) = numbers.split_once("</td>").expect("a cell");
                let after = cell(after, "diff-number");
                format!("{kind} {before},{after} {}", cell(row, "diff-line"))
            }
            None => row.to_owned(),
        })
        .collect()
}

fn text(html: &str) -> String {
    let parts = html.split('<').enumerate();
    let text: String = parts
        .map(
            |(at, part)| {
                if at == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) }
            },
        )
        .collect();
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

#[test]
fn lines_have_their_numbers() {
    let lines = |changed: &'static str| {
        (1..=20).map(move |at| if at == 10 { format!("{changed}\n") } else { format!("{at}\n") })
    };
    let [before, after] = ["old", "new"].map(|changed| lines(changed).collect::<String>());
    let table = diff(&before, &after, "a.txt");
    assert_eq!(
        rows(&table),
        [
            "… 6 unchanged lines",
            "same 7,7 7",
            "same 8,8 8",
            "same 9,9 9",
            "removed 10, old",
            "added ,10 new",
            "same 11,11 11",
            "same 12,12 12",
            "same 13,13 13",
            "… 7 unchanged lines"
        ]
    );
    assert!(table.starts_with(
        "<span class=\"diff-added-count\">+1</span> <span class=\"diff-removed-count\">−1</span>"
    ));
    assert_eq!(rows(&diff("a\n", "a\n", "")), ["… 1 unchanged line"]);
}

#[test]
fn changed_words_are_marked_between_highlighted_code() {
    let [before, after] = ["1", "2"].map(|number| format!("fn a() {{ let number = {number}; }}\n"));
    let table = diff(&before, &after, "src/main.rs");
    assert!(table.contains("<span class=\"hl-mark\">2</span>"), "{table}");
    assert!(table.contains("hl-entity hl-name hl-function hl-rust\">a</span>"), "{table}");
    assert_eq!(table.matches("<span").count(), table.matches("</span>").count());
    let other = diff("one two\n", "three four\n", "");
    assert!(!other.contains("hl-mark"), "a line that is different as a whole: {other}");
    assert_eq!(
        rows(&table),
        ["removed 1, fn a() { let number = 1; }", "added ,1 fn a() { let number = 2; }"]
    );
}

#[test]
fn hidden_characters_are_shown() {
    let table = diff("a\n", "a\u{202e}b\u{7}<i>\n", "");
    assert_eq!(rows(&table)[1], "added ,1 a[U+202E]b\u{2407}<i>");
    assert_eq!(rows(&diff("a\r\nb\r\n", "a\r\nc\r\n", ""))[0], "same 1,1 a");
}

#[test]
fn long_changes_end_with_the_number_of_other_lines() {
    let after: String = (0..5_000).map(|at| format!("{at}\n")).collect();
    let rows = rows(&diff("", &after, ""));
    assert_eq!(rows.len(), 1_001);
    assert_eq!(rows[1_000].as_str(), "… 4000 more lines");
    let mut source = Source::of(Format::Diff, "a".repeat(MAX_TEXT));
    source.before = "b".into();
    assert!(render(&source).is_err(), "both texts count");
}

#[test]
fn files_are_named_without_the_prefixes_of_git() {
    for (before, after, shown) in [
        ("a/x.py", "b/y.py", "y.py"),
        ("/dev/null", "b/y.py", "y.py"),
        ("a/x.py", "/dev/null", "x.py"),
        ("b/x.py", "b/x.py", "b/x.py"),
        ("x.py", "/dev/null", "x.py"),
    ] {
        let other = "--- o\n+++ o\n@@ -1 +1 @@\n-a\n+b\n";
        let patch = format!("{other}--- {before}\n+++ {after}\n@@ -1 +1 @@\n-a\n+b\n");
        let rows = rows(&html(&Source::of(Format::Patch, patch)));
        assert_eq!(rows[3], format!("… {shown}, line 1"));
    }
}

#[test]
fn hunks_of_a_unified_diff_are_rows() {
    let patch = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -2,2 +2,2 @@ def f\n \n-print(1)\n+print(2)\n@@ -9 +9 @@\n--- x\n+y\n";
    assert_eq!(
        rows(&html(&Source::of(Format::Patch, patch))),
        [
            "… Line 2",
            "same 2,2 ",
            "removed 3, print(1)",
            "added ,3 print(2)",
            "… Line 9",
            "removed 9, -- x",
            "added ,9 y"
        ]
    );
    let files = format!("{patch}--- a/b.rs\n+++ b/b.rs\n@@ -1 +1 @@\n-a\n+b\n");
    let rows = rows(&html(&Source::of(Format::Patch, files)));
    assert_eq!(rows[0].as_str(), "… a.py, line 2");
    assert_eq!(rows[7].as_str(), "… b.rs, line 1");
    let other = html(&Source::of(Format::Patch, "*** Begin Patch\n+a\n"));
    assert!(other.starts_with("<pre><code class=\"language-diff\">"), "{other}");
}

#[test]
fn hostile_hunks_are_bounded() {
    let last = u64::MAX;
    let other = html(&Source::of(Format::Patch, format!("@@ -{last},1 +{last},1 @@\n-a\n+b\n")));
    assert!(other.starts_with("<pre>"), "a number that no file has: {other}");
    let many = html(&Source::of(Format::Patch, "@@ -1,0 +1,0 @@\n".repeat(50_000)));
    assert_eq!(rows(&many).len(), 1_000);
}

#[test]
fn deep_code_does_not_multiply() {
    let deep = |line: &str| format!("{}\n{}", "(".repeat(1_900), line.repeat(900));
    let table = diff(&deep("a\n"), &deep("b\n"), "a.rs");
    assert!(table.len() < 4 * 1024 * 1024, "{} bytes", table.len());
}

#[test]
fn words_of_changes_are_compared_until_their_work_is_done() {
    let line = |word: &str| format!("{word} {}\n", "same ".repeat(1_600));
    // Each change is 8,000 bytes before and after, of 2 to the power of 28 in all: four are
    // compared.
    let text = |word: &str| (0..8).map(|at| format!("{}{at}\n", line(word))).collect::<String>();
    let table = diff(&text("old"), &text("new"), "");
    assert_eq!(table.matches("hl-mark\">new</span>").count(), 4);
    assert_eq!(table.matches("<ins>").count(), 8);
}

#[test]
fn code_has_the_language_of_its_file() {
    let mut source = Source::of(Format::Code, "{\"a\": 1}");
    source.name = "/b/package.json".into();
    let code = html(&source);
    assert!(code.starts_with("<pre><code class=\"language-json\"><span class=\"hl-"), "{code}");
    source.name = "\"><script>".into();
    assert_eq!(html(&source), "<pre><code>{\"a\": 1}</code></pre>\n");
}

proptest! {
    /// Rows without the added ones are the text before, and rows without the removed ones are the
    /// text after.
    #[test]
    fn rows_contain_both_texts(before in "([a-c <]{0,3}\n){0,12}", after in "([a-c <]{0,3}\n){0,12}") {
        let rows = rows(&diff(&before, &after, "a.rs"));
        if before != after && !rows.iter().any(|row| row.starts_with('…')) {
            let side = |other: &str| -> String {
                let kept = rows.iter().filter(|row| !row.starts_with(other));
                kept.map(|row| format!("{}\n", row.splitn(3, ' ').nth(2).unwrap_or_default())).collect()
            };
            prop_assert_eq!(side("added"), before);
            prop_assert_eq!(side("removed"), after);
        }
    }
}
