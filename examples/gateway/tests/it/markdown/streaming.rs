//! Text that is rendered while it is streamed.
use super::html;
use gateway::markdown::{Source, render};
use proptest::prelude::*;

/// Renders a text as a page does: what is finished is not rendered again.
fn streamed(parts: &[String]) -> (String, bool) {
    let mut shown = String::new();
    let mut open = String::new();
    let mut has_references = false;
    for (number, part) in parts.iter().enumerate() {
        open.push_str(part);
        let is_last = number + 1 == parts.len();
        let source = if is_last { Source::complete(&open) } else { Source::streamed(&open) };
        let rendered = render(&source).expect("a short text");
        has_references |= rendered.has_references;
        let finished = rendered.blocks.get(..rendered.finished).expect("blocks");
        shown.extend(finished.iter().map(|block| block.html.as_str()));
        let units = finished.last().map_or(0, |block| block.end);
        open = String::from_utf16(&open.encode_utf16().skip(units).collect::<Vec<_>>())
            .expect("whole characters");
    }
    (shown, has_references)
}

#[test]
fn last_block_is_open() {
    let finished = |text: &str| render(&Source::streamed(text)).expect("a short text").finished;
    assert_eq!(finished("a"), 0);
    assert_eq!(finished("a\n\n"), 0, "it may be a list that goes on");
    assert_eq!(finished("a\n\nb"), 0, "the last line may become anything");
    assert_eq!(finished("a\n\nb\n"), 1);
    assert_eq!(finished("```\na\n```\n\nb\n\nc\n"), 2);
    assert_eq!(finished("  ===\n| a | b |\n|---|---|"), 0, "with one more column it is no table");
    assert_eq!(finished("  ===\n| a | b |\n|---|---|\n"), 1);
}

#[test]
fn definitions_are_announced() {
    let has = |text: &str| render(&Source::streamed(text)).expect("a short text").has_references;
    assert!(has("[a]: https://example.com\n"));
    assert!(has("a[^1]\n\n[^1]: b\n"));
    assert!(!has("[a](https://example.com)\n"));
}

/// Texts with everything that begins, continues or ends a block.
fn markdown() -> impl Strategy<Value = Vec<String>> {
    let marks = prop::sample::select(vec![
        "a",
        "b c",
        "\n",
        "\n",
        "\n\n",
        "- ",
        "* ",
        "1. ",
        "2) ",
        "> ",
        "# ",
        "```",
        "~~~",
        "    ",
        "  ",
        "\t",
        "---",
        "===",
        "| a | b |",
        "|---|---|",
        "**",
        "_",
        "`",
        "<div>",
        "</div>",
        "<!--",
        "-->",
        "<b>",
        "&amp;",
        "\\",
        "🎵",
        "[x] ",
        "$$",
        "\r\n",
        "https://example.com/",
    ]);
    let part = prop::collection::vec(marks, 0..6).prop_map(|marks| marks.concat());
    prop::collection::vec(part, 1..10)
}

proptest! {
    /// A streamed text is shown as a whole one, however it is cut.
    #[test]
    fn any_cut_gives_the_same_html(parts in markdown()) {
        let (shown, has_references) = streamed(&parts);
        let whole = parts.concat();
        if !has_references {
            prop_assert_eq!(shown, html(&whole), "{:?}", whole);
        }
    }

    /// Any text is rendered.
    #[test]
    fn any_text_is_rendered(text in "\\PC{0,200}") {
        let rendered = render(&Source::streamed(text.as_str())).expect("a short text");
        prop_assert!(rendered.finished <= rendered.blocks.len());
        prop_assert!(rendered.blocks.is_sorted_by_key(|block| block.end));
    }
}
