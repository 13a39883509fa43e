//! Constructs of GitHub Flavored Markdown. The expected elements are those of the specification's
//! examples.
use super::html;
use gateway::markdown::{MAX_TEXT, Source, TooMuch, render};

#[test]
fn inline_marks_are_shown() {
    assert_eq!(
        html("*a* __b__ ~~c~~ `d`"),
        "<p><em>a</em> <strong>b</strong> <del>c</del> <code>d</code></p>\n"
    );
}

#[test]
fn line_breaks_are_kept() {
    assert_eq!(html("a\nb"), "<p>a<br>\nb</p>\n");
}

#[test]
fn headings_rank_below_those_of_the_page() {
    assert_eq!(html("# a\n## b\n###### c"), "<h3>a</h3>\n<h4>b</h4>\n<h6>c</h6>\n");
}

#[test]
fn tables_have_heads_and_alignments() {
    let table = html("| a | b |\n|---|--:|\n| c | `d` |");
    assert!(table.contains("<th>a</th><th class=\"align-right\">b</th>"), "{table}");
    assert!(table.contains("<td>c</td><td class=\"align-right\"><code>d</code></td>"), "{table}");
}

#[test]
fn task_lists_have_marks() {
    let list = html("- [x] a\n- [ ] b");
    assert!(list.contains("aria-label=\"Done\">☑</span> a"), "{list}");
    assert!(list.contains("aria-label=\"Open\">☐</span> b"), "{list}");
}

#[test]
fn numbers_of_lists_are_kept() {
    assert_eq!(html("3. a\n4. b"), "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>\n");
}

#[test]
fn bare_urls_are_links() {
    let link = html("see https://example.com/a_b_c?d=1&e=2, please");
    let address = "https://example.com/a_b_c?d=1&amp;e=2";
    assert!(link.contains(&format!("href=\"{address}\"")), "{link}");
    assert!(link.contains(&format!(">{address}</a>, please")), "{link}");
    assert!(!html("`https://example.com`").contains("href"), "code has no links");
    assert_eq!(html("[https://a.example](https://b.example)").matches("<a ").count(), 1);
}

#[test]
fn links_open_in_a_tab_without_access() {
    let link = html("[a](https://example.com \"b\")");
    for part in [
        "href=\"https://example.com\"",
        "title=\"b\"",
        "rel=\"noopener noreferrer\"",
        "target=\"_blank\"",
    ] {
        assert!(link.contains(part), "{part} in {link}");
    }
}

#[test]
fn images_are_shown_only_as_data() {
    let data = "data:image/png;base64,iVBORw0KGgo=";
    assert_eq!(html(&format!("![a]({data})")), format!("<p><img src=\"{data}\" alt=\"a\"></p>\n"));
    let remote = html("![a](https://example.com/b.png)");
    assert!(!remote.contains("<img") && remote.contains(">a</a>"), "{remote}");
    let vector = html("![a](data:image/svg+xml;base64,PHN2Zy8+)");
    assert!(!vector.contains("<img"), "{vector}");
    assert_eq!(html("<img src=x onerror=a>"), "&lt;img src=x onerror=a&gt;");
}

#[test]
fn code_is_highlighted() {
    let code = html("```rust\nfn a() {}\n```");
    assert!(
        code.starts_with("<pre><code class=\"language-rust\"><span class=\"hl-source hl-rust\">"),
        "{code}"
    );
    assert!(code.contains("hl-entity hl-name hl-function hl-rust\">a</span>"), "{code}");
    for language in ["ts", "tsx", "toml", "python", "json", "bash", "diff", "go", "dockerfile"] {
        let code = html(&format!("```{language}\n- a = 1\n```"));
        assert!(code.contains("<span class=\"hl-"), "{language}: {code}");
    }
    assert_eq!(
        html("```nothing\n<a>\n```"),
        "<pre><code class=\"language-nothing\">&lt;a&gt;\n</code></pre>\n"
    );
    assert_eq!(html("    a\n"), "<pre><code>a\n</code></pre>\n");
}

/// Also inside of other languages, and behind comments.
#[test]
fn javascript_is_highlighted() {
    let javascript = "const x /* a */ = 1;";
    let html = |language: &str, code: &str| html(&format!("````{language}\n{code}\n````"));
    for code in [
        html("js", javascript),
        html("html", &format!("<script>\n{javascript}\n</script>")),
        html("markdown", &format!("```js\n{javascript}\n```")),
    ] {
        assert!(code.contains("hl-storage hl-type hl-ts\">const</span>"), "{code}");
        assert!(code.contains("hl-comment hl-block hl-ts"), "{code}");
    }
}

#[test]
fn changed_lines_have_classes() {
    let diff = html("```diff\n-old\n+new\n```");
    assert!(
        diff.contains("hl-markup hl-deleted") && diff.contains("hl-markup hl-inserted"),
        "{diff}"
    );
}

#[test]
fn formulas_are_code() {
    assert_eq!(html("$x^2$ of $5 and $6"), "<p><code>x^2</code> of $5 and $6</p>\n");
}

#[test]
fn footnotes_are_numbered() {
    let text = html("a[^x] b[^y]\n\n[^y]: second\n\n[^x]: first\n");
    assert!(text.contains("a<sup>1</sup>") && text.contains("b<sup>2</sup>"), "{text}");
    assert!(text.contains("<div class=\"footnote\"><sup>2</sup> \n<p>second</p>"), "{text}");
}

#[test]
fn alerts_are_quotes_with_a_class() {
    let alert = html("> [!WARNING]\n> a");
    assert_eq!(alert, "<blockquote class=\"markdown-alert-warning\">\n<p>a</p>\n</blockquote>\n");
}

#[test]
fn text_over_the_limit_is_refused() {
    let long = "a".repeat(MAX_TEXT + 1);
    assert_eq!(render(&Source::complete(long)), Err(TooMuch::Bytes(MAX_TEXT + 1)));
}

#[test]
fn ends_are_in_utf16_units() {
    let rendered = render(&Source::complete("𝄞\n\n日本\n\nz")).expect("a short text");
    let ends: Vec<usize> = rendered.blocks.iter().map(|block| block.end).collect();
    assert_eq!(ends, [3, 7, 9]);
}
