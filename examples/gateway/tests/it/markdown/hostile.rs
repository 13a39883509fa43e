//! Texts that try to run a script, to load something, to change the page, or to take long.
use super::{html, shown};
use gateway::markdown::{Format, MAX_TEXTS, Source, TIME, TooMuch, render_all};
use proptest::prelude::*;
use std::time::Instant;

/// Attempts to run a script or to load a resource. The checks of the gateway's page show them in a
/// browser.
const ATTEMPTS: &str = include_str!("attempts.json");

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

/// Checks that a text in another format than Markdown contains only the elements, attributes and
/// classes of its format, and that each element ends.
fn is_of_format(html: &str) -> Result<(), String> {
    let mut open = Vec::new();
    for tag in tags(html) {
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("end of {name} in {html}"));
            }
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        open.push(name);
        let class = attributes.strip_prefix("class=\"").and_then(|rest| rest.strip_suffix('"'));
        let classes = || class.unwrap_or_default().split(' ');
        let is_known = match name {
            "pre" | "ins" | "del" | "table" | "tbody" => attributes.is_empty(),
            "code" => {
                attributes.is_empty() || classes().all(|class| is_class(class, &["language-"]))
            }
            "span" => {
                attributes.is_empty()
                    || classes().all(|class| is_class(class, &["hl-", "ansi-", "diff-"]))
            }
            "tr" => classes().all(|class| is_class(class, &["diff-"])),
            "td" if attributes.contains(' ') || class.is_none() => {
                matches!(attributes, "colspan=\"4\"" | "class=\"diff-sign\" aria-hidden=\"true\"")
            }
            "td" => classes().all(|class| is_class(class, &["diff-"])),
            _ => false,
        };
        if !is_known {
            return Err(format!("{tag} in {html}"));
        }
    }
    open.is_empty().then_some(()).ok_or_else(|| format!("{open:?} in {html}"))
}

fn is_class(class: &str, prefixes: &[&str]) -> bool {
    let rest = prefixes.iter().find_map(|prefix| class.strip_prefix(prefix));
    rest.is_some_and(|rest| {
        rest.chars().all(|letter| letter.is_ascii_alphanumeric() || "+#-_.".contains(letter))
    })
}

/// The text in each format other than Markdown.
fn in_formats(text: &str, other: &str) -> [Source; 5] {
    let source = |format, text: &str, before: &str, name: &str| {
        let mut source = Source::of(format, text);
        source.before = before.into();
        source.name = name.into();
        source
    };
    let first = "--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n";
    let patch = format!("{first}--- a\n+++ {other}\n@@ -1,9 +1,9 @@\n {other}\n{text}\n");
    [
        source(Format::Terminal, text, "", ""),
        source(Format::Code, text, "", other),
        source(Format::Diff, text, other, "a.js"),
        source(Format::Diff, other, text, text),
        source(Format::Patch, &patch, "", ""),
    ]
}

#[test]
fn attempts_have_no_effect_in_other_formats() {
    let attempts: Vec<String> = serde_json::from_str(ATTEMPTS).expect("a list of texts");
    for attempt in attempts {
        for source in in_formats(&attempt, &format!("x {attempt}\n y")) {
            is_of_format(&shown(&source)).unwrap_or_else(|why| panic!("{source:?}: {why}"));
        }
    }
}

/// A definition of JavaScript may not end with a comment behind a name, also inside of other
/// languages.
#[test]
fn comments_of_javascript_end() {
    let texts = ["x /* a */\n", "<script>\nx /* a */\n</script>\n", "```js\nx /* a */\n```\n"];
    for name in [
        "js", "a.js", "a.ts", "a.html", "a.vue", "a.svelte", "a.php", "a.erb", "a.jsp", "a.twig",
        "a.md", "a.java", "a.qml", "a.css", "a.rs",
    ] {
        for text in texts {
            for format in [Format::Code, Format::Diff] {
                let mut source = Source::of(format, text);
                source.before = "x /* b".into();
                source.name = name.into();
                is_of_format(&shown(&source)).unwrap_or_else(|why| panic!("{source:?}: {why}"));
            }
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

/// The same code has the same colours on each machine.
#[test]
fn code_is_highlighted_until_its_work_is_done() {
    let colored = |text: &str| html(text).matches("<code class=\"language-json\"><span").count();
    // A line of 2,000 bytes is work of 33,250, and 128 KiB are done.
    let long = format!("```json\n[{}]\n```\n\n", "1".repeat(1_997));
    assert_eq!(colored(&long.repeat(5)), 3);
}

#[test]
fn texts_of_a_request_share_its_time() {
    let code = "fn a() {}\n".repeat(3);
    let named = |format| {
        let mut source = Source::of(format, &*code);
        source.name = "a.rs".into();
        source
    };
    let sources = [
        Source::complete(format!("```rust\n{code}```")),
        named(Format::Code),
        named(Format::Diff),
        Source::of(
            Format::Patch,
            format!("+++ a.rs\n@@ -0,0 +1,3 @@\n+{}", code.trim_end().replace('\n', "\n+")),
        ),
    ];
    let colored = |until| -> Vec<bool> {
        let rendered = render_all(&sources, until).unwrap();
        let html =
            rendered.iter().map(|text| text.blocks.iter().map(|it| &*it.html).collect::<String>());
        html.map(|html| {
            assert!(html.contains("fn"), "the text stays: {html}");
            html.contains("hl-storage")
        })
        .collect()
    };
    let now = Instant::now();
    assert_eq!(colored(now + TIME), [true; 4]);
    assert_eq!(colored(now), [false; 4], "the time of the request has passed");
    let texts = |count: usize| vec![Source::complete("a"); count];
    assert_eq!(render_all(&texts(MAX_TEXTS), now).map(|all| all.len()), Ok(MAX_TEXTS));
    assert_eq!(render_all(&texts(MAX_TEXTS + 1), now), Err(TooMuch::Texts(MAX_TEXTS + 1)));
}

/// The document has them in parts, so that the time to write it is in proportion to them.
#[test]
fn long_texts_are_shown_whole() {
    const COUNT: usize = 200_000;
    for sign in ["&", "§", "a"] {
        let long = sign.repeat(COUNT);
        let texts = [
            long.clone(),
            format!("`{long}`"),
            format!("```\n{long}\n```"),
            format!("```rust\n{long}\n```"),
            format!("**{long}**"),
            format!("[{long}](https://example.org)"),
            format!("<div>{long}\n</div>"),
            format!("<b>{long}</b>"),
            format!("$${long}$$"),
            format!("https://example.org/{long}"),
            format!("![{long}](https://example.org/a.png)"),
        ];
        let written = if sign == "&" { "&amp;" } else { sign };
        for text in texts {
            let shown = html(&text);
            let start: String = text.chars().take(20).collect();
            assert!(shown.matches(written).count() >= COUNT, "{start}");
            assert!(!shown.contains("!--"), "{start}");
            for tag in tags(&shown) {
                assert_eq!(is_harmless(tag), Ok(()), "{start}");
            }
        }
    }
}

#[test]
fn long_attributes_are_left_out() {
    let long = "&".repeat(200_000);
    let shown = html(&format!("[a](https://example.org/?{long})"));
    assert!(shown.ends_with("\">a</a></p>\n") && !shown.contains("href"), "{shown}");
    let shown = html(&format!("[a](https://example.org/ \"{long}\")"));
    assert!(shown.contains("href=\"https://example.org/\"") && !shown.contains("&amp;"), "{shown}");
    let shown = html(&format!("![{long}](data:image/png;base64,aaaa)"));
    assert!(shown.contains("alt=\"&amp;&amp;") && !shown.contains("!--"), "an image");
    let shown = html(&format!("<a title=\"{long}\">b</a>"));
    assert!(shown.starts_with("<p>&lt;a title="), "an element");
}

#[test]
fn wide_tables_do_not_multiply() {
    let columns = 2_000;
    let text =
        format!("{}|\n{}|\n{}", "|a".repeat(columns), "|-".repeat(columns), "|b|\n".repeat(20_000));
    assert!(html(&text).len() < 16 * 1024 * 1024);
}

proptest! {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// No combination of pieces becomes an element, attribute or class that its format does not
    /// have.
    #[test]
    fn pieces_have_no_effect_in_other_formats(
        text in prop::collection::vec(pieces(), 0..24),
        other in prop::collection::vec(pieces(), 0..12),
    ) {
        for source in in_formats(&text.concat(), &other.concat()) {
            if let Err(why) = is_of_format(&shown(&source)) {
                prop_assert!(false, "{:?}: {}", source, why);
            }
        }
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "<",
        ">",
        "\"",
        "'",
        "&",
        "/",
        "=",
        " ",
        "\n",
        "\r",
        "\0",
        "script",
        "<img src=x onerror=alert(1)>",
        "</pre>",
        "</td>",
        "&lt;",
        "\u{1b}[31m",
        "\u{1b}[1;7m",
        "\u{1b}[",
        "\u{1b}]8;;",
        "\u{7}",
        "38;5;200",
        ";",
        "m",
        "\u{1b}[A",
        "\u{1b}[K",
        "\u{8}",
        "\u{202e}",
        "+",
        "-",
        "\\",
        "@@ -1 +1 @@\n",
        "@@",
        "+++ ",
        "--- ",
        "fn a() {",
        "/* ",
        "\"a",
        "class",
        ".rs",
        ".html",
        ".js",
        "é",
        "🎵",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}
