//! Lists the files of the page for `src/page.rs`.
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=page");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
    let mut files = fs::read_dir(&folder)?.collect::<io::Result<Vec<_>>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    let entries: Vec<String> = files
        .iter()
        .map(|file| format!("({:?}, include_str!({:?}))", file.file_name(), file.path()))
        .collect();
    let list = format!("&[\n{}\n]", entries.join(",\n"));
    let target = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&target).join("page.rs"), list)
}
