//! The output of terminals: colours, and text that replaces other text.
use super::shown;
use gateway::markdown::{Format, Source};

/// The content of the `pre` element.
fn screen(output: &str) -> String {
    let html = shown(&Source::of(Format::Terminal, output));
    let content = html.strip_prefix("<pre>\n").and_then(|rest| rest.strip_suffix("</pre>\n"));
    content.expect("one element").to_owned()
}

#[test]
fn colours_are_classes() {
    assert_eq!(
        screen("\u{1b}[1;31mred\u{1b}[0m <b>\n\u{1b}[92mgreen"),
        "<span class=\"ansi-fg-1 ansi-bold\">red</span> &lt;b&gt;\n<span class=\"ansi-fg-10\">green</span>"
    );
    for (sequence, classes) in [
        ("30", "ansi-fg-0"),
        ("97", "ansi-fg-15"),
        ("47", "ansi-bg-7"),
        ("101;4", "ansi-bg-9 ansi-underline"),
        ("38;5;9;1", "ansi-fg-9 ansi-bold"),
        ("38;2;0;250;0;44", "ansi-fg-2 ansi-bg-4"),
        ("38:2::0:0:5", "ansi-fg-0"),
        ("48:5:12", "ansi-bg-12"),
        ("2;3;4;7;9", "ansi-dim ansi-italic ansi-underline ansi-invert ansi-strike"),
    ] {
        let expected = format!("<span class=\"{classes}\">a</span>");
        assert_eq!(screen(&format!("\u{1b}[{sequence}ma")), expected, "{sequence}");
    }
    for sequence in [
        "", "0", "5", "8", "38;5", "38;2;1", "38;5;256", "999", ">4", "4;24", "31;39", "41;49",
        "1;2;22",
    ] {
        assert_eq!(screen(&format!("\u{1b}[{sequence}ma")), "a", "{sequence}");
    }
}

#[test]
fn later_text_replaces_that_at_its_place() {
    for (output, expected) in [
        ("10%\r100%\r\nend", "100%\nend"),
        ("Building\r\u{1b}[KDone", "Done"),
        ("a\u{1b}[2Kb", "b"),
        ("one\ntwo\n\u{1b}[2A\u{1b}[2K1\n\u{1b}[2K2\nend", "1\n2\nend"),
        ("one\ntwo\nthree\u{1b}[99F\u{1b}[Jend", "end"),
        ("ab\u{8}c", "ac"),
        ("abc\u{1b}[1Gx\u{1b}[99Cd\u{1b}[2De", "xbed"),
        ("\u{1b}]0;title\u{7}a\u{1b}]8;;https://example.com\u{1b}\\b", "ab"),
        ("a\tb\n", "a\tb\n"),
    ] {
        assert_eq!(screen(output), expected, "{output:?}");
    }
}

#[test]
fn changes_of_direction_are_shown() {
    assert_eq!(
        screen("end\u{202e}\u{1b}[31m\u{200b}"),
        "end[U+202E]<span class=\"ansi-fg-1\">[U+200B]</span>"
    );
}

#[test]
fn output_does_not_multiply() {
    let styled = screen(&"\u{1b}[1;2;3;4;7;9;30;40ma\u{1b}[mb".repeat(40_000));
    assert_eq!(styled.matches("<span").count(), 20_000);
    let moved = screen(&"a\u{1b}[65535b\u{1b}[65535C\u{1b}[65535B".repeat(40_000));
    assert_eq!(moved.len(), 40_000);
}
