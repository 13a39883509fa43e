//! Agent skills: a catalog for servers, and the checks that hosts have to make.
//!
//! The directory of a skill, and the conversion of its frontmatter from YAML to JSON, belong to the
//! program. A [`SkillCatalog`] in [`ServerOptions`](crate::server::ServerOptions) answers the
//! requests of clients. A host lists skills with
//! [`Client::request`](crate::client::Client::request), [checks](check) each entry, and
//! [verifies](verify) each file that it reads:
//!
//! ```
//! use jsonrpc_core::wire;
//! use mcp_bridge::mcp::content::ResourceContents;
//! use mcp_bridge::mcp::dispatch::ClientRequest;
//! use mcp_bridge::mcp::resources::{ReadResourceRequestParams, ReadResourceResult};
//! use mcp_bridge::mcp::skills::SkillFrontmatter;
//! use mcp_bridge::skills::{self, SkillCatalog, SkillFile};
//!
//! let text = "---\nname: refunds\ndescription: Handles refunds\n---\nRead `policy.md` first.";
//! let mut catalog = SkillCatalog::new();
//! let files = [SkillFile::new("SKILL.md", text), SkillFile::new("policy.md", "30 days")];
//! catalog.add("billing/refunds", SkillFrontmatter::new("refunds", "Handles refunds"), files)?;
//!
//! let skill = &catalog.skills()[0];
//! skills::check(skill)?;
//! let read = ReadResourceRequestParams::new("skill://billing/refunds/policy.md");
//! let read = catalog.handle(&ClientRequest::ReadResource(Box::new(read))).ok_or("no such file")??;
//! let read: ReadResourceResult = read.decode()?;
//! assert_eq!(skills::verify(skill, &read.contents[0])?, b"30 days");
//!
//! let changed = ResourceContents::new("skill://billing/refunds/policy.md").with_text("31 days");
//! assert!(skills::verify(skill, &changed).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Spec: [Skills](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx)
//! (SEP-2640)
use crate::mcp::base::{CacheScope, ResultType, page};
use crate::mcp::capabilities::{ResourcesCapability, ServerCapabilities};
use crate::mcp::content::ResourceContents;
use crate::mcp::dispatch::ClientRequest;
use crate::mcp::resources::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceTemplate,
};
use crate::mcp::skills::{
    DIRECTORY_TYPE, GetSkillResult, ListSkillsResult, SKILL_FILE, Skill, SkillFrontmatter,
    SkillResource, SkillResourceMembers, SkillResources, SkillsCapability,
};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde_json::Number;

mod check;

pub use check::{SkillError, check, digest, frontmatter_text, is_same_frontmatter, verify};

/// Start of the URIs of skills and their files.
pub(crate) const SCHEME: &str = "skill://";

/// Default time for which clients may cache skills: five minutes, in milliseconds.
const TTL_MS: u64 = 5 * 60 * 1000;

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillFile {
    /// Path relative to the directory of the skill, with `/` between its segments.
    pub path: String,
    /// Contents of the file.
    pub bytes: Vec<u8>,
    /// The media type. If absent, it is determined by the name and the contents.
    pub mime_type: Option<String>,
}

impl SkillFile {
    /// Creates a file.
    pub fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), mime_type: None }
    }

    fn media_type(&self) -> String {
        let guess = || match (self.path.ends_with(".md"), core::str::from_utf8(&self.bytes)) {
            (true, _) => "text/markdown",
            (false, Ok(_)) => "text/plain",
            (false, Err(_)) => "application/octet-stream",
        };
        self.mime_type.clone().unwrap_or_else(|| guess().into())
    }
}

/// Skills that a server offers, and the contents of their files.
///
/// The [module](self) has an example.
#[derive(Clone, Debug)]
pub struct SkillCatalog {
    skills: Vec<Skill>,
    /// The files by URI.
    files: BTreeMap<String, ServedFile>,
    page_size: Option<usize>,
    ttl_ms: u64,
    cache_scope: CacheScope,
}

#[derive(Clone, Debug, PartialEq)]
struct ServedFile {
    resource: Resource,
    bytes: Vec<u8>,
}

impl Default for SkillCatalog {
    fn default() -> Self {
        Self::new()
    }
}

impl SkillCatalog {
    /// Maximum number of skills.
    pub const MAX_SKILLS: usize = 4096;

    /// Creates a catalog without skills.
    pub fn new() -> Self {
        Self {
            skills: Vec::new(),
            files: BTreeMap::new(),
            page_size: None,
            ttl_ms: TTL_MS,
            cache_scope: CacheScope::Private,
        }
    }

    /// Sets the number of skills or files in one page of a list.
    #[must_use]
    pub fn with_page_size(mut self, size: usize) -> Self {
        self.page_size = Some(size);
        self
    }

    /// Sets how long clients may cache skills, in milliseconds, and for which users.
    #[must_use]
    pub fn with_caching(mut self, ttl_ms: u64, scope: CacheScope) -> Self {
        self.ttl_ms = ttl_ms;
        self.cache_scope = scope;
        self
    }

    /// Adds the skill in the directory `path`, such as `billing/refunds`. The last segment is the
    /// name of the skill. `frontmatter` is that of its `SKILL.md`, and `files` are all files below
    /// the directory. A skill within the directory of another one is added to both.
    ///
    /// # Errors
    /// Returns an error if the skill does not meet the specification, exceeds its limits, or
    /// conflicts with another skill. The catalog is then unchanged.
    pub fn add(
        &mut self,
        path: &str,
        frontmatter: SkillFrontmatter,
        files: impl IntoIterator<Item = SkillFile>,
    ) -> Result<&Skill, SkillError> {
        if self.skills.len() >= Self::MAX_SKILLS {
            return Err(SkillError::TooManySkills(Self::MAX_SKILLS));
        }
        let root = format!("{SCHEME}{}", check::encoded(path)?);
        let uri = format!("{root}/{SKILL_FILE}");
        if self.get(&uri).is_some() {
            return Err(SkillError::Repeated { uri });
        }
        let mut listed = Vec::new();
        let mut served = BTreeMap::new();
        for file in files {
            let file_uri = format!("{root}/{}", check::encoded(&file.path)?);
            listed.push(SkillResource::from(SkillResourceMembers {
                uri: file_uri.clone(),
                digest: digest(&file.bytes),
                size: Number::from(file.bytes.len()),
            }));
            let name = file.path.rsplit('/').next().unwrap_or_default();
            let mut resource = Resource::new(&*file_uri, name).with_mime_type(file.media_type());
            resource.size = Some(Number::from(file.bytes.len()));
            let entry = ServedFile { resource, bytes: file.bytes };
            if self.files.get(&file_uri).is_some_and(|known| known.bytes != entry.bytes) {
                return Err(SkillError::Conflict { uri: file_uri });
            }
            served.insert(file_uri, entry);
        }
        let skill = Skill::new(uri, frontmatter, SkillResources::Files(listed));
        check(&skill)?;
        if let Some(main) = served.get_mut(&skill.uri) {
            main.resource.name.clone_from(&skill.frontmatter.name);
            main.resource.description = Some(skill.frontmatter.description.clone());
        }
        for (uri, file) in served {
            let main = uri == skill.uri;
            // The own entry of a skill describes its `SKILL.md` better than that of the skill
            // around it.
            if main || !self.files.contains_key(&uri) {
                self.files.insert(uri, file);
            }
        }
        let index = self.skills.len();
        self.skills.push(skill);
        self.skills.get(index).ok_or(SkillError::TooManySkills(Self::MAX_SKILLS))
    }

    /// Returns the skills.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// Returns the skill with the URI of its `SKILL.md`.
    pub fn get(&self, uri: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.uri == uri)
    }

    /// Returns whether a URI is that of a file of a skill.
    pub fn has_file(&self, uri: &str) -> bool {
        self.files.contains_key(uri)
    }

    /// Declares the extension and the capability that it requires.
    pub fn declare(&self, capabilities: &mut ServerCapabilities) {
        SkillsCapability::new().with_directory_read(true).declare(capabilities);
        capabilities.resources.get_or_insert_with(ResourcesCapability::new);
    }

    /// Answers a request for skills, files or directories, for the list of resources, which then
    /// are the `SKILL.md` files, or for that of templates, which is empty. Returns `None` for any
    /// other request. The result is one since 2026-07-28;
    /// [`adapt_outcome`](crate::server::adapt_outcome) adapts it.
    pub fn handle(&self, request: &ClientRequest) -> Option<Result<Raw, ErrorObject>> {
        Some(match request {
            ClientRequest::ListSkills(params) => self.list(params.cursor.as_deref()),
            ClientRequest::GetSkill(params) => self.get_skill(&params.uri),
            ClientRequest::ReadResourceDirectory(params) => {
                self.read_directory(&params.uri, params.cursor.as_deref())
            }
            ClientRequest::ReadResource(params) => self.read(&params.uri),
            ClientRequest::ListResources(params) => {
                let main = |skill: &Skill| Some(&self.files.get(&skill.uri)?.resource);
                let resources: Vec<_> = self.skills.iter().filter_map(main).collect();
                self.resources(&resources, params.cursor.as_deref())
            }
            ClientRequest::ListResourceTemplates(_) => {
                let none = Vec::<ResourceTemplate>::new();
                let mut result = ListResourceTemplatesResult::new(none);
                (result.ttl_ms, result.cache_scope) = self.caching();
                Ok(Raw::of(&result.with_result_type(ResultType::Complete)))
            }
            _ => return None,
        })
    }

    fn caching(&self) -> (Option<Number>, Option<CacheScope>) {
        (Some(Number::from(self.ttl_ms)), Some(self.cache_scope.clone()))
    }

    fn list(&self, cursor: Option<&str>) -> Result<Raw, ErrorObject> {
        let (skills, next) = page(&self.skills, cursor, self.page_size)?;
        let mut result = ListSkillsResult::new(skills.to_vec());
        result.next_cursor = next;
        (result.ttl_ms, result.cache_scope) = self.caching();
        Ok(Raw::of(&result.with_result_type(ResultType::Complete)))
    }

    fn get_skill(&self, uri: &str) -> Result<Raw, ErrorObject> {
        let skill = self.get(uri).ok_or_else(|| invalid(uri, "expected the URI of a skill"))?;
        let mut result = GetSkillResult::new(skill.clone());
        (result.ttl_ms, result.cache_scope) = self.caching();
        Ok(Raw::of(&result.with_result_type(ResultType::Complete)))
    }

    fn read(&self, uri: &str) -> Result<Raw, ErrorObject> {
        let file =
            self.files.get(uri).ok_or_else(|| invalid(uri, "expected the URI of a resource"))?;
        let mut contents = ResourceContents::new(uri);
        contents.mime_type.clone_from(&file.resource.mime_type);
        match core::str::from_utf8(&file.bytes) {
            Ok(text) => contents.text = Some(text.into()),
            Err(_) => contents.blob = Some(STANDARD.encode(&file.bytes)),
        }
        let mut result = ReadResourceResult::new([contents]);
        (result.ttl_ms, result.cache_scope) = self.caching();
        Ok(Raw::of(&result.with_result_type(ResultType::Complete)))
    }

    /// Returns the direct children of a directory.
    fn read_directory(&self, uri: &str, cursor: Option<&str>) -> Result<Raw, ErrorObject> {
        let mut children: Vec<Resource> = Vec::new();
        for (below, file) in self.below(uri) {
            let child = match below.split_once('/') {
                None => file.resource.clone(),
                Some((name, _)) => Resource::new(format!("{uri}/{name}"), check::decoded(name))
                    .with_mime_type(DIRECTORY_TYPE),
            };
            if children.last().is_none_or(|last| last.uri != child.uri) {
                children.push(child);
            }
        }
        if children.is_empty() {
            return Err(invalid(uri, "expected the URI of a directory, without `/` at its end"));
        }
        self.resources(&children.iter().collect::<Vec<_>>(), cursor)
    }

    /// Returns the files below a directory, with their paths in it.
    fn below(&self, directory: &str) -> impl Iterator<Item = (&str, &ServedFile)> {
        let prefix = format!("{directory}/");
        let path = directory.strip_prefix(SCHEME).unwrap_or_default();
        let is_directory = !path.is_empty() && !path.ends_with('/');
        let start = prefix.clone();
        let files = self.files.range(start..).filter(move |_| is_directory);
        files.map_while(move |(uri, file)| Some((uri.strip_prefix(&prefix)?, file)))
    }

    fn resources(&self, resources: &[&Resource], cursor: Option<&str>) -> Result<Raw, ErrorObject> {
        let (resources, next) = page(resources, cursor, self.page_size)?;
        let resources: Vec<Resource> = resources.iter().copied().cloned().collect();
        let mut result = ListResourcesResult::new(resources);
        result.next_cursor = next;
        (result.ttl_ms, result.cache_scope) = self.caching();
        Ok(Raw::of(&result.with_result_type(ResultType::Complete)))
    }
}

fn invalid(uri: &str, expected: &str) -> ErrorObject {
    let mut error =
        ErrorObject::new(ErrorCode::INVALID_PARAMS, format!("at /uri: {expected}, got `{uri}`"));
    error.data = Raw::from_value(&serde_json::json!({ "uri": uri })).ok();
    error
}
