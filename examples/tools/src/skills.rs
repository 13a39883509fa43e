//! Skills of a folder: each directory with a `SKILL.md`, with all files below it.
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry};
use jsonrpc_core::wire;
use mcp_bridge::mcp::skills::{MAX_SKILL_BYTES, SKILL_FILE, SkillFrontmatter};
use mcp_bridge::skills::{SkillCatalog, SkillFile, frontmatter_text};
use std::io::{self, Read};
use std::path::Path;

/// Maximum depth of directories below the folder.
const MAX_DEPTH: usize = 16;

/// Maximum number of files, directories and others in the folder.
const MAX_ENTRIES: usize = 16_384;

/// Maximum size of all files together, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// The folder cannot be served. The message has the file and the next step.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct SkillsError {
    /// The file or directory, relative to the folder; the folder itself, if it cannot be opened.
    file: String,
    problem: String,
}

impl SkillsError {
    fn new(file: &str, problem: impl ToString) -> Self {
        Self { file: file.to_owned(), problem: problem.to_string() }
    }
}

/// Reads the skills of a folder. A skill in `billing/refunds` has the URI
/// `skill://billing/refunds/SKILL.md`. Hidden files are left out, and links are not followed.
///
/// # Errors
/// Returns an error if there is no skill, if a skill does not meet the specification, or if the
/// folder exceeds the limits.
pub fn read_skills(folder: &Path) -> Result<SkillCatalog, SkillsError> {
    let shown = folder.display().to_string();
    let dir = Dir::open_ambient_dir(folder, ambient_authority());
    let dir = dir.map_err(|error| SkillsError::new(&shown, error))?;
    let mut found = Found::default();
    found.read(&dir, "", 0)?;
    let mut catalog = SkillCatalog::new();
    for file in &found.files {
        if file.path == SKILL_FILE {
            let problem = "expected in a directory with the name of the skill: move it there";
            return Err(SkillsError::new(SKILL_FILE, problem));
        }
        let Some(path) = file.path.strip_suffix("/SKILL.md") else { continue };
        let text = str::from_utf8(&file.bytes).map_err(|_| "expected UTF-8".to_owned());
        let frontmatter = text.and_then(frontmatter);
        let frontmatter = frontmatter.map_err(|problem| SkillsError::new(&file.path, problem))?;
        let files = found.files.iter().filter_map(|file| {
            let below = file.path.strip_prefix(path)?.strip_prefix('/')?;
            Some(SkillFile::new(below, file.bytes.clone()))
        });
        let added = catalog.add(path, frontmatter, files);
        added.map_err(|error| SkillsError::new(&file.path, error))?;
    }
    if catalog.skills().is_empty() {
        let problem =
            format!("expected a `{SKILL_FILE}` in a directory, such as `refunds/{SKILL_FILE}`");
        return Err(SkillsError::new(&shown, problem));
    }
    Ok(catalog)
}

/// Converts the frontmatter of the text of a `SKILL.md` from YAML 1.2. Unlike there, `1_000` is a
/// number; quote such a text.
///
/// # Errors
/// Returns the problem.
pub fn frontmatter(text: &str) -> Result<SkillFrontmatter, String> {
    let yaml = frontmatter_text(text)
        .ok_or("expected `---`, the frontmatter, and `---` at the start of the file")?;
    // Other programs read YAML 1.2, in which `no` is a text.
    let options = serde_saphyr::options! { strict_booleans: true };
    let value = serde_saphyr::from_str_with_options::<serde_json::Value>(yaml, options);
    let value = value.map_err(|error| format!("the frontmatter is invalid YAML: {error}"))?;
    let decoded = wire::decode(&value.to_string());
    decoded.map_err(|error| format!("the frontmatter is invalid: {error}"))
}

/// The files of the folder.
#[derive(Default)]
struct Found {
    files: Vec<SkillFile>,
    entries: usize,
    bytes: u64,
}

impl Found {
    /// Reads the files below a directory. `path` is empty, or ends with a slash.
    fn read(&mut self, dir: &Dir, path: &str, depth: usize) -> Result<(), SkillsError> {
        let place = if path.is_empty() { "." } else { path };
        let failed = |error: io::Error| SkillsError::new(place, error);
        let mut entries = Vec::new();
        for entry in dir.entries().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                let problem =
                    format!("expected at most {MAX_ENTRIES} files and directories in the folder");
                return Err(SkillsError::new(place, problem));
            }
            let name = entry.file_name().into_string().map_err(|name| {
                let at = format!("{path}{}", name.to_string_lossy());
                SkillsError::new(&at, "expected a name in UTF-8")
            })?;
            if !name.starts_with('.') {
                entries.push((name, entry));
            }
        }
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, entry) in entries {
            self.take(&entry, format!("{path}{name}"), depth)?;
        }
        Ok(())
    }

    /// Reads a file, or the files below a directory.
    fn take(&mut self, entry: &DirEntry, at: String, depth: usize) -> Result<(), SkillsError> {
        let failed = |error: io::Error| SkillsError::new(&at, error);
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            if depth == MAX_DEPTH {
                let problem = format!("expected at most {MAX_DEPTH} levels of directories");
                return Err(SkillsError::new(&at, problem));
            }
            return self.read(&entry.open_dir().map_err(failed)?, &format!("{at}/"), depth + 1);
        }
        if !kind.is_file() {
            tracing::warn!(file = at, "left out: neither a file nor a directory");
            return Ok(());
        }
        let mut bytes = Vec::new();
        // One byte more than a skill may have.
        let mut file = entry.open().map_err(failed)?.take(MAX_SKILL_BYTES + 1);
        let length = file.read_to_end(&mut bytes).map_err(failed)?;
        self.bytes = self.bytes.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
        if self.bytes > MAX_BYTES {
            let problem = format!("expected at most {MAX_BYTES} bytes in the folder");
            return Err(SkillsError::new(&at, problem));
        }
        self.files.push(SkillFile::new(at, bytes));
        Ok(())
    }
}
