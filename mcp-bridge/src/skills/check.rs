//! Checks of skills and their files.
use crate::mcp::content::ResourceContents;
use crate::mcp::skills::{
    MAX_SKILL_BYTES, MAX_SKILL_FILES, Skill, SkillFrontmatter, SkillResource, SkillResources,
};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonrpc_core::wire::Raw;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Maximum length of the name of a skill.
const MAX_NAME: usize = 64;

/// Maximum length of the description of a skill, in characters.
const MAX_DESCRIPTION: usize = 1024;

/// Maximum length of the environment that a skill requires, in characters.
const MAX_COMPATIBILITY: usize = 500;

/// An error of a skill or of one of its files. The skill must not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// A path has an empty segment, `.` or `..`.
    #[error("the path `{0}` is invalid: expected segments separated by `/`, without `.` and `..`")]
    Path(String),
    /// The URI is not that of a `SKILL.md` in a directory with the name of the skill.
    #[error(
        "the skill `{name}` has the URI `{uri}`: expected one that ends with `/{name}/SKILL.md`"
    )]
    Uri {
        /// Name of the skill.
        name: String,
        /// URI of the skill.
        uri: String,
    },
    /// The name is invalid.
    #[error(
        "the name of the skill `{0}` is invalid: expected 1 to 64 of the characters a-z, 0-9 and single `-` between them"
    )]
    Name(String),
    /// The description is missing.
    #[error("the skill `{0}` has no description: write what it does, and when it is used")]
    Description(String),
    /// Another field of the frontmatter is invalid.
    #[error("the frontmatter of the skill `{name}` is invalid: {expected}")]
    Frontmatter {
        /// Name of the skill.
        name: String,
        /// The field, and its valid values.
        expected: &'static str,
    },
    /// The list of files lacks the `SKILL.md` of the skill.
    #[error("the files of a skill lack `{uri}`")]
    NoSkillFile {
        /// URI of the skill.
        uri: String,
    },
    /// A file is not in the directory of the skill.
    #[error("the file `{uri}` is not in the directory of its skill")]
    Outside {
        /// URI of the file.
        uri: String,
    },
    /// A file or skill occurs twice.
    #[error("`{uri}` occurs twice")]
    Repeated {
        /// URI of the file or skill.
        uri: String,
    },
    /// Two skills have different files with the same URI.
    #[error("two skills have different contents of `{uri}`")]
    Conflict {
        /// URI of the file.
        uri: String,
    },
    /// The digest or the size of a file has another form than the specification defines.
    #[error(
        "the digest or size of `{uri}` is invalid: expected `sha256:` with 64 lowercase hexadecimal digits, and a number of bytes"
    )]
    Manifest {
        /// URI of the file.
        uri: String,
    },
    /// The catalog is full.
    #[error("more than {0} skills")]
    TooManySkills(usize),
    /// The skill has too many files for hosts to support it.
    #[error("the skill has {0} files: hosts support 512")]
    TooManyFiles(usize),
    /// The files of the skill are too large for hosts to support it.
    #[error("the files of the skill have {0} bytes: hosts support 16 MiB")]
    TooLarge(u64),
    /// A file is not in the list of the skill, so that its contents are unknown.
    #[error("the file `{uri}` is not in the list of the skill: get the skill again")]
    Unlisted {
        /// URI of the file.
        uri: String,
    },
    /// A file differs from the list of the skill: it was changed, or the skill was updated.
    #[error("the contents of `{uri}` differ from the list of the skill: get the skill again")]
    Changed {
        /// URI of the file.
        uri: String,
    },
    /// The contents are neither text nor base64.
    #[error("`{uri}` has neither text nor valid base64")]
    Contents {
        /// URI of the file.
        uri: String,
    },
    /// The files of the skill are generated, so that they cannot be verified.
    #[error("the files of the skill `{uri}` are generated, and cannot be verified")]
    Dynamic {
        /// URI of the skill.
        uri: String,
    },
}

/// Checks that a skill of a server meets the specification and its limits.
///
/// Spec: [Agent Skills](https://agentskills.io/specification#frontmatter), [Skill
/// Entries](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#skill-entries)
///
/// # Errors
/// Returns the first problem. A host must not load the skill.
pub fn check(skill: &Skill) -> Result<(), SkillError> {
    let name = &skill.frontmatter.name;
    if !is_name(name) {
        return Err(SkillError::Name(name.clone()));
    }
    if skill.frontmatter.description.trim().is_empty() {
        return Err(SkillError::Description(name.clone()));
    }
    if let Some(expected) = frontmatter_problem(&skill.frontmatter) {
        return Err(SkillError::Frontmatter { name: name.clone(), expected });
    }
    let root = skill.path().filter(|path| path.rsplit('/').next() == Some(name));
    let root =
        root.ok_or_else(|| SkillError::Uri { name: name.clone(), uri: skill.uri.clone() })?;
    match &skill.resources {
        SkillResources::Files(files) => check_files(skill, root, files),
        SkillResources::Dynamic => Ok(()),
    }
}

/// Returns what is expected of a field that differs. Some clients reject a whole list for one such
/// skill.
fn frontmatter_problem(frontmatter: &SkillFrontmatter) -> Option<&'static str> {
    let has_length = |text: &str, max| (1..=max).contains(&text.chars().count());
    let field = |name| frontmatter.extra.get(name).map(|raw| raw.decode().unwrap_or(Value::Null));
    if !has_length(&frontmatter.description, MAX_DESCRIPTION) {
        return Some("expected a `description` of 1 to 1024 characters");
    }
    let is_compatibility =
        |it: Value| it.as_str().is_some_and(|it| has_length(it, MAX_COMPATIBILITY));
    if !field("compatibility").is_none_or(is_compatibility) {
        return Some("expected `compatibility` as a string of 1 to 500 characters");
    }
    let is_metadata =
        |it: Value| it.as_object().is_some_and(|it| it.values().all(Value::is_string));
    if !field("metadata").is_none_or(is_metadata) {
        return Some("expected `metadata` with strings as values, such as `version: \"1.0\"`");
    }
    None
}

fn check_files(skill: &Skill, root: &str, files: &[SkillResource]) -> Result<(), SkillError> {
    if files.len() > MAX_SKILL_FILES {
        return Err(SkillError::TooManyFiles(files.len()));
    }
    let mut seen = BTreeSet::new();
    let mut total = 0_u64;
    for file in files {
        let uri = || file.uri.clone();
        let size = file.size.as_u64().filter(|_| is_digest(&file.digest));
        total = total.saturating_add(size.ok_or_else(|| SkillError::Manifest { uri: uri() })?);
        let below = file.uri.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        let is_inside = below.is_some_and(|below| below.split('/').all(is_segment));
        if !is_inside {
            return Err(SkillError::Outside { uri: uri() });
        }
        if !seen.insert(&*file.uri) {
            return Err(SkillError::Repeated { uri: uri() });
        }
    }
    if total > MAX_SKILL_BYTES {
        return Err(SkillError::TooLarge(total));
    }
    let has_main = seen.contains(&*skill.uri);
    has_main.then_some(()).ok_or_else(|| SkillError::NoSkillFile { uri: skill.uri.clone() })
}

/// Verifies a file that was read against the list of its skill, and returns its bytes.
///
/// A match proves that the list and the file belong together, not that the server is trustworthy.
///
/// Spec: [Integrity and
/// Verification](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#integrity-and-verification)
///
/// # Errors
/// Returns an error if the file is not in the list, or differs from it. Its contents must not be
/// used.
pub fn verify(skill: &Skill, contents: &ResourceContents) -> Result<Vec<u8>, SkillError> {
    let uri = || contents.uri.clone();
    let SkillResources::Files(files) = &skill.resources else {
        return Err(SkillError::Dynamic { uri: skill.uri.clone() });
    };
    let listed = files.iter().find(|file| file.uri == contents.uri);
    let listed = listed.ok_or_else(|| SkillError::Unlisted { uri: uri() })?;
    let bytes = match (&contents.text, &contents.blob) {
        (Some(text), _) => Some(text.clone().into_bytes()),
        (None, Some(blob)) => STANDARD.decode(blob).ok(),
        (None, None) => None,
    };
    let bytes = bytes.ok_or_else(|| SkillError::Contents { uri: uri() })?;
    let has_size = listed.size.as_u64() == u64::try_from(bytes.len()).ok();
    if !has_size || digest(&bytes) != listed.digest {
        return Err(SkillError::Changed { uri: uri() });
    }
    Ok(bytes)
}

/// Returns the digest of a file: `sha256:` and 64 hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    let digits = Sha256::digest(bytes);
    digits.iter().fold(String::from("sha256:"), |text, byte| text + &format!("{byte:02x}"))
}

/// Returns the YAML of the frontmatter of a `SKILL.md`, without the lines that delimit it. A host
/// compares it, as JSON, with the frontmatter of the skill: see [`is_same_frontmatter`].
///
/// ```
/// use mcp_bridge::skills::frontmatter_text;
///
/// assert_eq!(frontmatter_text("---\nname: a\n---\n# A\n---\n"), Some("name: a\n"));
/// assert_eq!(frontmatter_text("# A"), None);
/// ```
pub fn frontmatter_text(skill_file: &str) -> Option<&str> {
    let text = skill_file.strip_prefix('\u{feff}').unwrap_or(skill_file);
    let start = text.lines().next().filter(|line| line.trim_end() == "---")?.len();
    let rest = text.get(start..)?.trim_start_matches('\r').strip_prefix('\n')?;
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return rest.get(..length);
        }
        length += line.len();
    }
    None
}

/// Returns whether the frontmatter of a `SKILL.md` is that of its entry. A host must not load a
/// skill if it is not.
///
/// Numbers are compared by value: parsers of YAML read `1e3` as an integer or not.
///
/// Spec: [Integrity and
/// Verification](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#integrity-and-verification)
pub fn is_same_frontmatter(file: &SkillFrontmatter, entry: &SkillFrontmatter) -> bool {
    let value = |it: &SkillFrontmatter| Raw::of(it).decode::<Value>().ok();
    matches!((value(file), value(entry)), (Some(file), Some(entry)) if is_same(&file, &entry))
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let is_float = one.is_f64() || other.is_f64();
            one == other || (is_float && one.as_f64() == other.as_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(key, value)| other.get(key).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(has)
        }
        (one, other) => one == other,
    }
}

/// Returns a path with the characters encoded that a URI does not permit in a segment.
///
/// # Errors
/// Returns an error if a segment is empty, `.` or `..`.
pub(super) fn encoded(path: &str) -> Result<String, SkillError> {
    if !path.split('/').all(is_segment) {
        return Err(SkillError::Path(path.into()));
    }
    Ok(path.bytes().fold(String::new(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
        uri
    }))
}

/// Returns a segment of a URI without its encoding.
pub(super) fn decoded(segment: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        let mut following = rest.clone();
        let digits = [following.next(), following.next()].map(|digit| {
            digit
                .and_then(|digit| char::from(digit).to_digit(16))
                .and_then(|it| u8::try_from(it).ok())
        });
        if let (b'%', [Some(high), Some(low)]) = (byte, digits) {
            bytes.push(high * 16 + low);
            rest = following;
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| segment.into())
}

fn is_segment(segment: &str) -> bool {
    !matches!(segment, "" | "." | "..")
}

fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_meant = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        !part.is_empty() && part.bytes().all(is_meant)
    };
    name.len() <= MAX_NAME && name.split('-').all(is_part)
}

fn is_digest(digest: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let digits = digest.strip_prefix("sha256:");
    digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
}
