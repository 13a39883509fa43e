//! Highlights code.
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use syntect::html::{ClassStyle, ClassedHTMLGenerator};
use syntect::parsing::SyntaxSet;
use syntect::util::LinesWithEndings;

/// Maximum number of bytes of a code block that is highlighted.
const MAX_HIGHLIGHTED: usize = 64 * 1024;

/// Maximum number of bytes of a highlighted line. Regular expressions take long for lines of generated files.
const MAX_LINE: usize = 2_000;

/// Time for all code of a text. Later blocks are shown without colours.
const TIME: Duration = Duration::from_millis(500);

/// Maximum length of the name of a language, in bytes.
const MAX_LANGUAGE: usize = 32;

/// Highlights the code blocks of a text, within a time limit.
pub(crate) struct Highlighter {
    until: Instant,
}

impl Highlighter {
    pub(crate) fn new() -> Self {
        Self { until: Instant::now() + TIME }
    }

    /// Returns the code as HTML with classes, if the language is known and the limits allow it.
    pub(crate) fn highlight(&self, language: &str, code: &str) -> Option<String> {
        if code.len() > MAX_HIGHLIGHTED || language.is_empty() {
            return None;
        }
        let syntaxes = syntaxes();
        let syntax = syntaxes.find_syntax_by_token(language)?;
        let style = ClassStyle::SpacedPrefixed { prefix: "hl-" };
        let mut html = ClassedHTMLGenerator::new_with_class_style(syntax, syntaxes, style);
        for line in LinesWithEndings::from(code) {
            if line.len() > MAX_LINE || Instant::now() > self.until {
                return None;
            }
            html.parse_html_for_line_which_includes_newline(line).ok()?;
        }
        Some(html.finalize())
    }
}

/// Returns the language of a code block, which is the first word behind its fence.
pub(crate) fn language(info: &str) -> String {
    let word = info.split([' ', ',', '{', '\t']).next().unwrap_or_default();
    let is_name = word.len() <= MAX_LANGUAGE
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#-_.".contains(&byte));
    if is_name { word.to_ascii_lowercase() } else { String::new() }
}

fn syntaxes() -> &'static SyntaxSet {
    static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();
    SYNTAXES.get_or_init(two_face::syntax::extra_newlines)
}
