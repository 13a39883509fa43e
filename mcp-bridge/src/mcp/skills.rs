//! Agent skills that a server offers: directories of instructions and other files, each file a
//! resource. An extension since 2026-07-28.
//!
//! Spec: [Skills](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx)
//! (SEP-2640)
use super::base::{CacheScope, ResultType, list_result};
use super::capabilities::ServerCapabilities;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;
use jsonrpc_core::wire::{Extra, Fault, Raw, ValueReader, View, Wire};
use serde_json::Number;

/// Name of the extension.
pub const SKILLS_EXTENSION: &str = "io.modelcontextprotocol/skills";

/// Name of the file that every skill has at its root.
pub const SKILL_FILE: &str = "SKILL.md";

/// Media type of a directory.
pub const DIRECTORY_TYPE: &str = "inode/directory";

/// Maximum number of files of a skill that every host supports.
pub const MAX_SKILL_FILES: usize = 512;

/// Maximum size of all files of a skill that every host supports, in bytes.
pub const MAX_SKILL_BYTES: u64 = 16 << 20;

object! {
    /// Settings of a server that offers skills.
    ///
    /// Spec: [Capability
    /// Negotiation](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#capability-negotiation)
    pub struct SkillsCapability {}
    optional {
        /// Whether the server supports `resources/directory/read`.
        directory_read: bool = "directoryRead",
    }
}

impl SkillsCapability {
    /// Returns the settings that a server declared, or `None` if it offers no skills. Invalid
    /// settings count as empty.
    pub fn of(capabilities: &ServerCapabilities) -> Option<Self> {
        let settings = capabilities.extensions.as_ref()?.get(SKILLS_EXTENSION)?;
        Some(settings.decode().unwrap_or_default())
    }

    /// Declares the settings.
    pub fn declare(&self, capabilities: &mut ServerCapabilities) {
        let extensions = capabilities.extensions.get_or_insert_with(Extra::new);
        extensions.insert(SKILLS_EXTENSION, Raw::of(self));
    }
}

object! {
    /// A skill: its instructions and the list of its files.
    ///
    /// ```
    /// use mcp_bridge::jsonrpc_core::wire;
    /// use mcp_bridge::mcp::skills::Skill;
    ///
    /// let skill: Skill = wire::decode(r#"{"uri":"skill://reports/daily/SKILL.md","resources":"dynamic",
    ///     "frontmatter":{"name":"daily","description":"Assembles the daily report"}}"#)?;
    /// assert_eq!((skill.path(), skill.frontmatter.name.as_str()), (Some("skill://reports/daily"), "daily"));
    /// # Ok::<(), wire::DecodeError>(())
    /// ```
    ///
    /// Spec: [Skill
    /// Entries](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#skill-entries)
    pub struct Skill {
        /// URI of the skill's `SKILL.md`. It identifies the skill within its server.
        uri: String = "uri",
        /// The frontmatter of `SKILL.md` as a JSON object.
        frontmatter: SkillFrontmatter = "frontmatter",
        /// All files of the skill.
        resources: SkillResources = "resources",
    }
    and "_meta"
}

impl Skill {
    /// Returns the URI of the skill's directory, or `None` if the URI of the skill does not name a
    /// `SKILL.md`.
    pub fn path(&self) -> Option<&str> {
        self.uri.strip_suffix(SKILL_FILE)?.strip_suffix('/')
    }
}

object! {
    /// The frontmatter of a `SKILL.md`. Other fields, such as `license` and `metadata`, are kept in
    /// `extra`.
    ///
    /// Spec: [Agent Skills](https://agentskills.io/specification#frontmatter)
    pub struct SkillFrontmatter {
        /// Name of the skill: a label, not an identifier.
        name: String = "name",
        /// What the skill does, and when it is used.
        description: String = "description",
    }
}

/// Files of a skill.
///
/// Spec: [Resources](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#resources)
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has these two forms, and any other is invalid"
)]
pub enum SkillResources {
    /// All files of the skill, `SKILL.md` included.
    Files(Vec<SkillResource>),
    /// The files are generated and have no stable digests: `"dynamic"`.
    Dynamic,
}

/// Text of [`SkillResources::Dynamic`].
const DYNAMIC: &str = "dynamic";

impl Wire for SkillResources {
    fn blank() -> Self {
        Self::Files(Vec::new())
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        const FORM: &str = "a list of files or `dynamic`";
        match reader.next_byte() {
            b'[' => {
                let mut files = Vec::blank();
                files.read(reader)?;
                *self = Self::Files(files);
            }
            b'"' if reader.string()? == DYNAMIC => *self = Self::Dynamic,
            b'"' => return Err(reader.invalid(FORM)),
            _ => return Err(reader.expected(FORM)),
        }
        Ok(())
    }

    fn view(&self) -> View<'_> {
        match self {
            Self::Files(files) => files.view(),
            Self::Dynamic => View::Str(DYNAMIC),
        }
    }
}

object! { @serde SkillResources }

object! {
    /// A file of a skill.
    ///
    /// Spec: [Skill
    /// Entries](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#skill-entries)
    pub struct SkillResource by name {
        /// URI of the file.
        uri: String = "uri",
        /// SHA-256 digest of the file: `sha256:` and 64 lowercase hexadecimal digits.
        digest: String = "digest",
        /// Size of the file in bytes.
        size: Number = "size",
    }
}

list_result! {
    /// The result of `skills/list`. A missing skill may still exist.
    ///
    /// Spec: [Listing
    /// Skills](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#listing-skills)
    #[doc(alias = "skills/list")]
    pub struct ListSkillsResult { raw_skills = "skills", skills: Skill }
}

object! {
    /// The result of `skills/get`.
    ///
    /// Spec: [Getting a
    /// Skill](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#getting-a-skill)
    #[doc(alias = "skills/get")]
    pub struct GetSkillResult {
        /// The skill.
        skill: Skill = "skill",
    }
    optional {
        /// How long the result may be cached, in milliseconds. Required.
        ttl_ms: Number = "ttlMs",
        /// Scope in which the result may be cached. Required.
        cache_scope: CacheScope = "cacheScope",
        /// `complete`. Required.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}

object! {
    /// The params of `resources/directory/read`.
    ///
    /// Spec: [Reading
    /// Directories](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#reading-directories)
    #[doc(alias = "resources/directory/read")]
    pub struct ReadResourceDirectoryRequestParams {
        /// URI of the directory, without a slash at its end.
        uri: String = "uri",
    }
    optional {
        /// Cursor returned with the previous page. If absent, the first page is returned.
        cursor: String = "cursor",
    }
    and "_meta"
}
