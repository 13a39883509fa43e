//! A search for files below a root by their paths.
use super::{Root, regular_file};
use cap_std::fs::{Dir, OpenOptions};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::Serialize;
use std::cmp::Reverse;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
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

/// The quality of a match: a prefix of the name, part of the name, part of the path; then the
/// shortest path.
type Rank = (Reverse<bool>, Reverse<bool>, usize, String);

/// Files with rules about what a search leaves out, the first one with precedence.
const RULES: [&str; 2] = [".ignore", ".gitignore"];

/// Maximum number of bytes of such a file that are read.
const MAX_RULES: u64 = 256 * 1024;

/// A search in progress.
struct Search {
    query: String,
    until: Instant,
    visited: usize,
    is_partial: bool,
    found: Vec<Rank>,
    /// The rules of each directory from the root to the one that is being visited.
    levels: Vec<Level>,
}

/// The rules of a directory, in the order of [`RULES`].
struct Level {
    below: PathBuf,
    rules: [Gitignore; 2],
}

impl Root {
    /// Returns the files with `query` in their paths, without regard to case; up to [`MAX_FOUND`].
    ///
    /// Hidden files, and files that a `.gitignore` or `.ignore` below the root excludes, are left
    /// out. Rules above the root and of the user do not count, so that the result depends on the
    /// root only. Links are not followed.
    pub fn search(&self, query: &str) -> FoundFiles {
        let mut search = Search {
            query: query.to_lowercase(),
            until: Instant::now() + SEARCH_TIME,
            visited: 0,
            is_partial: false,
            found: Vec::new(),
            levels: Vec::new(),
        };
        search.visit(&self.dir, Path::new(""));
        let Search { mut found, is_partial, .. } = search;
        found.sort_unstable();
        let is_partial = is_partial || found.len() > MAX_FOUND;
        let files = found.into_iter().take(MAX_FOUND).map(|(.., path)| path).collect();
        FoundFiles { files, is_partial }
    }
}

impl Search {
    fn visit(&mut self, dir: &Dir, below: &Path) {
        // A directory without access is left out.
        let Ok(entries) = dir.entries() else { return };
        let rules = RULES.map(|name| rules(dir, name));
        self.levels.push(Level { below: below.to_owned(), rules });
        for entry in entries {
            if self.visited >= MAX_VISITED || Instant::now() > self.until {
                self.is_partial = true;
                break;
            }
            self.visited += 1;
            let Ok(entry) = entry else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            let path = below.join(entry.file_name());
            if self.is_left_out(&path, kind.is_dir()) {
                continue;
            }
            if kind.is_file() {
                let parts: Option<Vec<_>> = path.iter().map(|part| part.to_str()).collect();
                let path = parts.map(|parts| parts.join("/"));
                self.found.extend(path.and_then(|path| rank(&self.query, path)));
            } else if kind.is_dir()
                && self.levels.len() < MAX_DEPTH
                && let Ok(dir) = entry.open_dir()
            {
                self.visit(&dir, &path);
            }
        }
        self.levels.pop();
    }

    /// Returns whether rules leave an entry out, or it is hidden and no rule includes it.
    fn is_left_out(&self, path: &Path, is_dir: bool) -> bool {
        for file in 0..RULES.len() {
            for level in self.levels.iter().rev() {
                let Ok(path) = path.strip_prefix(&level.below) else { continue };
                match level.rules.get(file).map(|rules| rules.matched(path, is_dir)) {
                    Some(Match::Ignore(_)) => return true,
                    Some(Match::Whitelist(_)) => return false,
                    _ => {}
                }
            }
        }
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    }
}

/// Reads the rules in a file of a directory.
fn rules(dir: &Dir, name: &str) -> Gitignore {
    let mut rules = GitignoreBuilder::new("");
    let text = rules_text(dir, name).unwrap_or_default();
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A line that is no rule is left out.
        let _invalid = rules.add_line(None, line);
    }
    rules.build().unwrap_or_else(|_| Gitignore::empty())
}

fn rules_text(dir: &Dir, name: &str) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(file) = regular_file(dir, Path::new(name), OpenOptions::new().read(true))? {
        file.take(MAX_RULES).read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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

    #[test]
    fn rules_of_a_directory_precede_those_above() {
        let (_folder, root) = tree(&[
            (".gitignore", "/one.txt\n*.log\n!.shown\n"),
            (".shown", ""),
            ("one.txt", ""),
            ("a/.gitignore", "!keep.log\n"),
            ("a/one.txt", ""),
            ("a/keep.log", ""),
            ("a/other.log", ""),
            ("b/.ignore", "!kept.log\n"),
            ("b/.gitignore", "kept.log\n"),
            ("b/kept.log", ""),
        ]);
        assert_eq!(root.search("").files, [".shown", "a/one.txt", "a/keep.log", "b/kept.log"]);
    }

    /// Rules in a file that has no end, or that cannot be opened before another process writes to
    /// it.
    #[cfg(unix)]
    #[test]
    fn rules_are_read_from_regular_files_only() {
        let (folder, root) = tree(&[("a/one.txt", ""), ("two.txt", "")]);
        let mode = nix::sys::stat::Mode::S_IRWXU;
        nix::unistd::mkfifo(&folder.path().join(".gitignore"), mode).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("a/.ignore")).unwrap();
        let (found, search) = std::sync::mpsc::channel();
        std::thread::spawn(move || found.send(root.search("")));
        let found = search.recv_timeout(Duration::from_secs(60)).expect("an end");
        assert_eq!(found.files, ["two.txt", "a/one.txt"]);
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
