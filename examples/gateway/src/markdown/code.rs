//! Highlights code.
use crate::markdown::controls::visible;
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};
use std::cell::Cell;
use std::sync::OnceLock;
use std::time::Instant;
use syntect::html::{ClassStyle, ClassedHTMLGenerator};
use syntect::parsing::{SyntaxReference, SyntaxSet, SyntaxSetBuilder};
use syntect::util::LinesWithEndings;

/// Maximum number of bytes of a code block that is highlighted.
pub(crate) const MAX_HIGHLIGHTED: usize = 64 * 1024;

/// Maximum number of bytes of a highlighted line. Regular expressions take long for lines of
/// generated files.
const MAX_LINE: usize = 2_000;

/// Work for all code of a text, in bytes of short lines. Later code is shown without colours.
const MAX_WORK: usize = 128 * 1024;

/// Length of a line at which its bytes count twice. Most expressions are tried again after each
/// token of a line.
const LONG_LINE: usize = 128;

/// Classes of the page.
pub(crate) const STYLE: ClassStyle = ClassStyle::SpacedPrefixed { prefix: "hl-" };

/// Maximum length of the name of a language, in bytes.
const MAX_LANGUAGE: usize = 32;

/// Highlights the code of a text, until its work is done or its time has passed.
pub(crate) struct Highlighter {
    work_left: Cell<usize>,
    until: Instant,
}

impl Highlighter {
    pub(crate) fn new(until: Instant) -> Self {
        Self { work_left: Cell::new(MAX_WORK), until }
    }

    /// Returns whether a line is highlighted, and counts its work. No line follows one that is not.
    pub(crate) fn takes(&self, line: &str) -> bool {
        let length = line.len();
        let work = length.saturating_add(length.saturating_mul(length) / LONG_LINE);
        let left = self.work_left.get().checked_sub(work);
        self.work_left.set(left.unwrap_or_default());
        length <= MAX_LINE && left.is_some() && Instant::now() < self.until
    }

    /// Returns the code as HTML with classes, if the language is known and the limits allow it.
    pub(crate) fn highlight(&self, language: &str, code: &str) -> Option<String> {
        if code.len() > MAX_HIGHLIGHTED || language.is_empty() {
            return None;
        }
        let syntax = syntaxes().find_syntax_by_token(language)?;
        let mut html = ClassedHTMLGenerator::new_with_class_style(syntax, syntaxes(), STYLE);
        for line in LinesWithEndings::from(code) {
            if !self.takes(line) {
                return None;
            }
            html.parse_html_for_line_which_includes_newline(line).ok()?;
        }
        Some(html.finalize())
    }
}

/// Returns code as a block, highlighted in the language of a file or of this name.
pub(crate) fn html(name: &str, code: &str, until: Instant) -> String {
    let token = last_part(name);
    let language = language(token.rsplit('.').next().unwrap_or(token));
    let code = visible(code);
    let highlighter = Highlighter::new(until);
    let colored = syntax_of(name).and_then(|syntax| highlighter.highlight(&syntax.name, &code));
    if let Some(html) = colored {
        return format!("<pre><code class=\"language-{language}\">{html}</code></pre>\n");
    }
    let mut html = String::new();
    let kind = CodeBlockKind::Fenced(language.into());
    let start = Tag::CodeBlock(kind);
    let end = TagEnd::CodeBlock;
    let events = [Event::Start(start), Event::Text(code.into_owned().into()), Event::End(end)];
    pulldown_cmark::html::push_html(&mut html, events.into_iter());
    html
}

/// Returns the syntax of a file, by its name or extension, or of a language.
pub(crate) fn syntax_of(name: &str) -> Option<&'static SyntaxReference> {
    let name = last_part(name);
    let extension = name.rsplit('.').next().unwrap_or(name);
    let find = |token| syntaxes().find_syntax_by_token(token);
    find(name).or_else(|| find(extension))
}

fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns the language of a code block, which is the first word behind its fence.
pub(crate) fn language(info: &str) -> String {
    let word = info.split([' ', ',', '{', '\t']).next().unwrap_or_default();
    let is_name = word.len() <= MAX_LANGUAGE
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#-_.".contains(&byte));
    if is_name { word.to_ascii_lowercase() } else { String::new() }
}

pub(crate) fn syntaxes() -> &'static SyntaxSet {
    static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();
    SYNTAXES.get_or_init(definitions)
}

/// Returns the definitions of all languages. The one of JavaScript does not end with a comment
/// behind a name, such as `x /* a */`, so JavaScript is read as TypeScript, also inside of other
/// languages.
fn definitions() -> SyntaxSet {
    let found = two_face::syntax::extra_newlines().into_builder();
    let typescript = found.syntaxes().iter().find(|it| it.name == "TypeScript");
    let typescript = typescript.and_then(|it| it.contexts.get("main"));
    let mut definitions = SyntaxSetBuilder::new();
    for definition in found.syntaxes() {
        let mut definition = definition.clone();
        if definition.name == "JavaScript" {
            // The contexts keep their numbers, which other languages refer to.
            for (name, context) in &mut definition.contexts {
                match &**name {
                    "main" => {
                        context.patterns =
                            typescript.map_or_else(Vec::new, |it| it.patterns.clone());
                    }
                    // The definition begins with these, which lead to `main`.
                    "__start" | "__main" => {}
                    _ => context.patterns.clear(),
                }
            }
        }
        definitions.add(definition);
    }
    definitions.build()
}
