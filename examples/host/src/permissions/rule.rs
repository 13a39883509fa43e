//! A rule, as in a file of settings.
use crate::permissions::command::ANY_WORDS;
use acp_types::v1::tool_calls::ToolKind;
use globset::{GlobBuilder, GlobMatcher};
use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// A rule; see the [crate](crate) for its conditions.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Rule {
    /// Names of agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Entries<NameGlob>>,
    /// Names of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Entries<NameGlob>>,
    /// Titles of tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Entries<NameGlob>>,
    /// Kinds of tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Entries<Kind>>,
    /// Paths below the working directory of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Entries<PathGlob>>,
    /// Commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Entries<CommandPattern>>,
    /// What is done with a request that matches.
    pub action: Action,
}

/// What is done with a permission request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a request is answered in one of two ways, or by the user"
)]
pub enum Action {
    /// The request is allowed, once if possible.
    Allow,
    /// The user decides, also where the program would decide without a rule.
    Ask,
    /// The request is rejected, once if possible.
    Reject,
}

impl Action {
    /// Returns the name of the action in settings, spans and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Reject => "reject",
        }
    }
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    No,
    /// The value cannot be compared.
    Unclear,
    Yes,
}

/// The entries of a condition, at least one. A single entry may be written without a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entries<T>(Vec<T>);

impl<T> Entries<T> {
    /// Iterates over the entries.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
    type Value = Entries<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of strings")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Entries<T>, E> {
        T::deserialize(StrDeserializer::new(text)).map(|entry| Entries(vec![entry]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Entries<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = seq.next_element()? {
            entries.push(entry);
        }
        if entries.is_empty() {
            return Err(A::Error::custom("an empty list, expected at least one entry"));
        }
        Ok(Entries(entries))
    }
}

/// A text with globs.
#[derive(Clone, Debug)]
struct GlobPattern {
    text: String,
    exact: GlobMatcher,
    folded: GlobMatcher,
}

impl GlobPattern {
    fn new(text: String, is_path: bool) -> Result<Self, String> {
        let build = |is_folded| {
            let mut glob = GlobBuilder::new(&text);
            glob.literal_separator(is_path).backslash_escape(!is_path).case_insensitive(is_folded);
            let built = glob.build().map(|glob| glob.compile_matcher());
            built.map_err(|error| error.kind().to_string())
        };
        let exact = build(false)?;
        let folded = build(true)?;
        Ok(Self { text, exact, folded })
    }

    fn matches(&self, text: &str, is_folded: bool) -> bool {
        if is_folded { self.folded.is_match(text) } else { self.exact.is_match(text) }
    }
}

/// Defines an entry of a condition, which is a text in a file.
macro_rules! entry {
    ($(#[$doc:meta])* $Name:ident($Inner:ty), $text:expr, $read:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize, Serialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $Name($Inner);

        impl TryFrom<String> for $Name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                let read: fn(String) -> Result<$Inner, String> = $read;
                read(text).map(Self)
            }
        }

        impl From<$Name> for String {
            fn from(entry: $Name) -> Self {
                let text: fn($Inner) -> String = $text;
                text(entry.0)
            }
        }

        impl PartialEq for $Name {
            fn eq(&self, other: &Self) -> bool {
                String::from(self.clone()) == String::from(other.clone())
            }
        }

        impl Eq for $Name {}
    };
}

entry! {
    /// A glob of a name: `*` matches any characters.
    NameGlob(GlobPattern), |glob| glob.text,
    |text| GlobPattern::new(text, false).map_err(|why| {
        format!("an invalid glob ({why}), expected a name, or a glob such as `mcp__*`")
    })
}

entry! {
    /// A glob of a path below the working directory: `*` matches within a part, `**` any parts.
    PathGlob(PathPattern), |pattern| pattern.glob.text,
    |text| {
        let expected = "expected a glob below the working directory, such as `src/**`";
        let is_normal = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\\');
        if !text.split('/').all(is_normal) {
            return Err(format!("a path that is absolute or not normalized, {expected}"));
        }
        PathPattern::new(text).map_err(|why| format!("an invalid glob ({why}), {expected}"))
    }
}

entry! {
    /// A kind of tool calls.
    Kind(ToolKind), |kind| kind.as_str().to_owned(),
    |text| {
        let kind = ToolKind::from(&*text);
        if !kind.is_known() {
            let names = ToolKind::NAMES.join(", ");
            return Err(format!("an unknown kind `{text}`, expected one of {names}"));
        }
        Ok(kind)
    }
}

entry! {
    /// The words of a command, with globs.
    CommandPattern(Words), |words| words.text,
    |text| {
        let expected = "expected words, such as `cargo test *`";
        let split = shlex::split(&text).filter(|words| !words.is_empty());
        let mut words = split.ok_or_else(|| format!("a command without words, or with an open quote, {expected}"))?;
        let any_more = words.pop_if(|word| word == ANY_WORDS).is_some();
        let globs: Result<_, _> = words.into_iter().map(|word| GlobPattern::new(word, false)).collect();
        let words = globs.map_err(|why| format!("an invalid glob ({why}), {expected}"))?;
        Ok(Words { text, words, any_more })
    }
}

/// The words of a pattern, and whether further words may follow.
#[derive(Clone, Debug)]
struct Words {
    text: String,
    words: Vec<GlobPattern>,
    any_more: bool,
}

/// A glob of paths, and the globs of the folders that can have such a path below them.
#[derive(Clone, Debug)]
struct PathPattern {
    glob: GlobPattern,
    /// `None` for one that is no glob by itself.
    folders: Vec<Option<GlobPattern>>,
}

impl PathPattern {
    fn new(text: String) -> Result<Self, String> {
        let separators = text.match_indices('/');
        let folders = separators.filter_map(|(place, _)| text.get(..place));
        let folders =
            folders.map(|folder| GlobPattern::new(folder.to_owned(), true).ok()).collect();
        Ok(Self { glob: GlobPattern::new(text, true)?, folders })
    }
}

impl NameGlob {
    pub(crate) fn matches(&self, name: &str, is_folded: bool) -> bool {
        self.0.matches(name, is_folded)
    }
}

impl PathGlob {
    pub(crate) fn matches(&self, path: &str, is_folded: bool) -> bool {
        self.0.glob.matches(path, is_folded)
    }

    /// Returns whether a path below this folder matches, in letters of either case.
    pub(crate) fn matches_below(&self, folder: &str) -> Match {
        if folder.is_empty() {
            return Match::Yes;
        }
        let of_glob = |glob: &Option<GlobPattern>| match glob {
            Some(glob) if !glob.matches(folder, true) => Match::No,
            Some(glob) if !glob.text.contains("**") => Match::Yes,
            // Any folder may have such a path.
            _ => Match::Unclear,
        };
        self.0.folders.iter().map(of_glob).max().unwrap_or(Match::No)
    }
}

impl Kind {
    pub(crate) fn matches(&self, kind: &str) -> bool {
        self.0.as_str() == kind
    }
}

impl CommandPattern {
    pub(crate) fn matches(&self, command: &[&str], is_folded: bool) -> bool {
        let Words { words, any_more, .. } = &self.0;
        let fits =
            if *any_more { command.len() >= words.len() } else { command.len() == words.len() };
        fits && words.iter().zip(command).all(|(glob, word)| glob.matches(word, is_folded))
    }
}
