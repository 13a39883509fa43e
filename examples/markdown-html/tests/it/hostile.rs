//! Texts that try to run a script, to load something, to change the page, or to take long.
use super::html;
use proptest::prelude::*;

/// Attempts to run a script or to load a resource. The checks of the gateway's page show them in a browser.
const ATTEMPTS: &str = include_str!("../attempts.json");

/// The tags of a serialized document: text has no `<` in it.
fn tags(html: &str) -> Vec<&str> {
    html.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or_default()).collect()
}

fn is_harmless(tag: &str) -> Result<(), String> {
    const NAMES: &[&str] = &[
        "a",
        "b",
        "blockquote",
        "br",
        "code",
        "del",
        "details",
        "div",
        "em",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "i",
        "img",
        "kbd",
        "li",
        "mark",
        "ol",
        "p",
        "pre",
        "s",
        "span",
        "strong",
        "sub",
        "summary",
        "sup",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "u",
        "ul",
    ];
    let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default();
    if !NAMES.contains(&name) {
        return Err(format!("element {name}"));
    }
    // A quote inside a value is written as a reference.
    for attribute in tag.split('"').step_by(2).flat_map(|part| part.split(' ').skip(1)) {
        let name = attribute.trim_end_matches('=');
        let known = [
            "",
            "alt",
            "aria-label",
            "class",
            "href",
            "rel",
            "role",
            "src",
            "start",
            "target",
            "title",
        ];
        if !known.contains(&name) {
            return Err(format!("attribute {name} in {tag}"));
        }
    }
    for (name, starts) in
        [("href=\"", &["http://", "https://", "mailto:"][..]), ("src=\"", &["data:image/"])]
    {
        if let Some((_, value)) = tag.split_once(name)
            && !starts.iter().any(|start| value.starts_with(start))
        {
            return Err(format!("address {value}"));
        }
    }
    Ok(())
}

#[test]
fn attempts_have_no_effect() {
    let attempts: Vec<String> = serde_json::from_str(ATTEMPTS).expect("a list of texts");
    assert!(attempts.len() > 50);
    for attempt in attempts {
        for text in [
            attempt.clone(),
            format!("a {attempt} b"),
            format!("- {attempt}"),
            format!("> {attempt}"),
        ] {
            let shown = html(&text);
            for tag in tags(&shown) {
                is_harmless(tag).unwrap_or_else(|why| panic!("{why}: {text} gives {shown}"));
            }
            assert!(
                !shown.contains("composer") && !shown.contains("=\"alert\""),
                "{text} gives {shown}"
            );
        }
    }
}

#[test]
fn harmless_tags_are_shown() {
    assert_eq!(html("press <kbd>Esc</kbd>"), "<p>press <kbd>Esc</kbd></p>\n");
}

#[test]
fn deep_text_is_shown_without_its_depth() {
    for mark in ["> ", "- ", "*a _b "] {
        let shown = html(&format!("{}deepest", mark.repeat(10_000)));
        assert!(shown.contains("deepest"), "{mark}");
        assert!(shown.matches("<blockquote>").count() <= 32, "{mark}");
        assert!(shown.matches("<ul>").count() <= 32, "{mark}");
    }
}

#[test]
fn raw_tags_are_limited() {
    let shown = html(&"<b>a".repeat(10_000));
    assert_eq!(shown.matches("&lt;b&gt;a").count(), 10_000 - 256, "the rest is text");
}

#[test]
fn long_code_is_shown_without_colours() {
    let line = format!("let a = \"{}\";\n", "b".repeat(3_000));
    let long = html(&format!("```rust\n{line}```"));
    assert!(!long.contains("<span") && long.contains("language-rust"), "a long line");
    let long = html(&format!("```rust\n{}```", "let a = 1;\n".repeat(10_000)));
    assert!(!long.contains("<span"), "a long block");
}

#[test]
fn wide_tables_do_not_multiply() {
    let columns = 2_000;
    let text =
        format!("{}|\n{}|\n{}", "|a".repeat(columns), "|-".repeat(columns), "|b|\n".repeat(20_000));
    assert!(html(&text).len() < 16 * 1024 * 1024);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// No combination of pieces becomes an element or attribute that is not listed.
    #[test]
    fn pieces_have_no_effect(pieces in prop::collection::vec(prop::sample::select(vec![
        "<", ">", "\"", "'", "/", "=", " ", "\n", "script", "img", "onerror", "javascript:", "src", "href", "a", "svg", "style",
        "<!--", "-->", "`", "```", "[", "](", ")", "&lt;", "&#60;", "math", "title", "<a ", "<img ", "alert(1)", "\0", "|", "$",
    ]), 0..24)) {
        let text = pieces.concat();
        let shown = html(&text);
        for tag in tags(&shown) {
            if let Err(why) = is_harmless(tag) {
                prop_assert!(false, "{}: {:?} gives {}", why, text, shown);
            }
        }
    }
}
