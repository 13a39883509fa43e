//! Removes all elements and attributes that are not on a list.
use ammonia::Builder;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

const TAGS: &[&str] = &[
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

const ATTRIBUTES: &[(&str, &[&str])] = &[
    ("a", &["href", "title"]),
    ("blockquote", &["class"]),
    ("code", &["class"]),
    ("div", &["class"]),
    ("img", &["alt", "src", "title"]),
    ("ol", &["start"]),
    ("span", &["aria-label", "class", "role"]),
    ("td", &["class"]),
    ("th", &["class"]),
];

const SCHEMES: &[&str] = &["http", "https", "mailto", "data"];

/// Formats of images in which no script can be.
const IMAGES: &[&str] =
    &["data:image/png;", "data:image/jpeg;", "data:image/gif;", "data:image/webp;"];

/// Removes what could run, load, or change the page.
pub(crate) fn clean(html: &str) -> String {
    static CLEANER: OnceLock<Builder<'static>> = OnceLock::new();
    CLEANER.get_or_init(cleaner).clean(html).to_string()
}

/// Returns whether an image with this address is shown.
pub(crate) fn is_shown_image(address: &str) -> bool {
    IMAGES.iter().any(|start| address.starts_with(start))
}

fn cleaner() -> Builder<'static> {
    let attributes: HashMap<_, HashSet<_>> =
        ATTRIBUTES.iter().map(|(tag, names)| (*tag, names.iter().copied().collect())).collect();
    let mut cleaner = Builder::new();
    cleaner
        .tags(TAGS.iter().copied().collect())
        .tag_attributes(attributes)
        .generic_attributes(HashSet::new())
        .url_schemes(SCHEMES.iter().copied().collect())
        .url_relative(ammonia::UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer"))
        .set_tag_attribute_value("a", "target", "_blank")
        .attribute_filter(filter);
    cleaner
}

/// Decides about the value of a listed attribute.
fn filter<'v>(element: &str, attribute: &str, value: &'v str) -> Option<Cow<'v, str>> {
    let is_allowed = match (element, attribute) {
        ("img", "src") => is_shown_image(value),
        // Compared as a browser reads it: without regard to case, blanks and control characters.
        ("a", "href") => !scheme(value).eq_ignore_ascii_case("data"),
        (_, "class") => value.split_ascii_whitespace().all(is_class),
        (_, "role") => value == "img",
        (_, "aria-label") => matches!(value, "Done" | "Open"),
        (_, "start") => value.parse::<u32>().is_ok(),
        _ => true,
    };
    is_allowed.then_some(Cow::Borrowed(value))
}

fn scheme(address: &str) -> String {
    let before = address.split(':').next().unwrap_or_default();
    before
        .chars()
        .filter(|character| !character.is_whitespace() && !character.is_control())
        .collect()
}

fn is_class(class: &str) -> bool {
    const PREFIXES: [&str; 4] = ["hl-", "language-", "align-", "markdown-alert-"];
    matches!(class, "footnote" | "task") || PREFIXES.iter().any(|prefix| class.starts_with(prefix))
}
