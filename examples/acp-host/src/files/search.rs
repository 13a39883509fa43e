//! A search for files below a root by their paths.
use super::Root;
use ignore::WalkBuilder;
use serde::Serialize;
use std::cmp::Reverse;
use std::time::{Duration, Instant};

/// Maximum number of files of a result.
pub const MAX_FOUND: usize = 50;

/// Maximum number of files and directories that a search examines.
const MAX_VISITED: usize = 50_000;

/// Maximum duration of a search.
const SEARCH_TIME: Duration = Duration::from_millis(500);

/// Maximum depth of an examined directory below the root.
const MAX_DEPTH: usize = 32;

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct FoundFiles {
    /// Paths below the root with `/` as separator, the best match first.
    pub files: Vec<String>,
    /// Whether more files may match, because a limit was reached.
    pub is_partial: bool,
}

/// The quality of a match: a prefix of the name, part of the name, part of the path; then the shortest path.
type Rank = (Reverse<bool>, Reverse<bool>, usize, String);

impl Root {
    /// Returns the files with `query` in their paths, without regard to case; up to [`MAX_FOUND`].
    ///
    /// Hidden files, and files that a `.gitignore` or `.ignore` below the root excludes, are left out. Links are not
    /// followed.
    pub fn search(&self, query: &str) -> FoundFiles {
        let until = Instant::now() + SEARCH_TIME;
        let query = query.to_lowercase();
        // The rules above the root and of the user do not count, so that the result depends on the root only.
        let walk = WalkBuilder::new(&self.canonical)
            .parents(false)
            .git_global(false)
            .git_exclude(false)
            .require_git(false)
            .max_depth(Some(MAX_DEPTH))
            .build();
        let (mut found, mut is_partial) = (Vec::new(), false);
        for (visited, entry) in walk.enumerate() {
            if visited > MAX_VISITED || Instant::now() > until {
                is_partial = true;
                break;
            }
            // A directory without access is left out.
            let Ok(entry) = entry else { continue };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let Ok(below) = entry.path().strip_prefix(&self.canonical) else { continue };
            let parts: Option<Vec<_>> = below.iter().map(|part| part.to_str()).collect();
            let Some(path) = parts.map(|parts| parts.join("/")) else { continue };
            found.extend(rank(&query, path));
        }
        found.sort_unstable();
        is_partial |= found.len() > MAX_FOUND;
        let files = found.into_iter().take(MAX_FOUND).map(|(.., path)| path).collect();
        FoundFiles { files, is_partial }
    }
}

/// Returns the rank of a path, or `None` if it does not match.
fn rank(query: &str, path: String) -> Option<Rank> {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let is_match = lower.contains(query);
    is_match.then(|| {
        (Reverse(name.starts_with(query)), Reverse(name.contains(query)), path.len(), path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let root = Root::open(folder.path()).unwrap();
        (folder, root)
    }

    #[test]
    fn names_come_before_folders_and_ignored_files_are_left_out() {
        let (_folder, root) = tree(&[
            (".gitignore", "target/\n*.log\n"),
            (".env", "SECRET=1"),
            ("Main.rs", ""),
            ("main/other.rs", ""),
            ("src/domain.rs", ""),
            ("src/main.rs", ""),
            ("src/main.log", ""),
            ("target/main.rs", ""),
            ("a/.ignore", "main.txt\n"),
            ("a/main.txt", ""),
        ]);
        let found = root.search("main");
        assert_eq!(found.files, ["Main.rs", "src/main.rs", "src/domain.rs", "main/other.rs"]);
        assert!(!found.is_partial);
        assert_eq!(root.search("SRC/M").files, ["src/main.rs"]);
        assert_eq!(root.search("").files.len(), 4);
        assert_eq!(root.search("secret"), FoundFiles::default());
    }

    #[test]
    fn result_is_bounded() {
        let names: Vec<String> = (0..MAX_FOUND + 5).map(|at| format!("file-{at}")).collect();
        let files: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
        let (_folder, root) = tree(&files);
        let found = root.search("file");
        assert_eq!(found.files.len(), MAX_FOUND);
        assert!(found.is_partial);
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_root_are_not_followed() {
        let (outside, _) = tree(&[("secret.txt", "")]);
        let (folder, root) = tree(&[("inside.txt", "")]);
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
        let link = folder.path().join("secret-link.txt");
        std::os::unix::fs::symlink(outside.path().join("secret.txt"), link).unwrap();
        assert_eq!(root.search("").files, ["inside.txt"]);
    }

    proptest! {
        /// Each path that contains the query is a match, and no other.
        #[test]
        fn matches_contain_the_query(path in "[a-cA-C/]{1,12}", query in "[a-c/]{0,3}") {
            let is_match = rank(&query, path.clone()).is_some();
            prop_assert_eq!(is_match, path.to_lowercase().contains(&query));
        }
    }
}
