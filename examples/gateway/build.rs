//! Lists the files of the page for `src/page.rs`.
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=page");
    let mut files = fs::read_dir("page")?.collect::<io::Result<Vec<_>>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    // Without the path of this folder, because copies of it may share a target folder.
    let entries: Vec<String> = files
        .iter()
        .map(|file| file.file_name())
        .map(|name| {
            format!("({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/page/\", {name:?})))")
        })
        .collect();
    let list = format!("&[\n{}\n]", entries.join(",\n"));
    let target = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&target).join("page.rs"), list)
}
