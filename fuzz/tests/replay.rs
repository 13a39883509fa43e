//! Every target holds for every input of all corpora.
use spanwire_fuzz::TARGETS;
use std::error::Error;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

fn inputs(target: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let entries: Result<Vec<_>, _> =
        fs::read_dir(folder)?.map(|entry| Ok::<_, std::io::Error>(entry?.path())).collect();
    Ok(entries?)
}

#[test]
fn targets_hold_for_the_corpus() -> Result<(), Box<dyn Error>> {
    let mut failed = Vec::new();
    for (folder, _) in TARGETS {
        let inputs = inputs(folder)?;
        assert!(!inputs.is_empty(), "{folder} has no corpus");
        for input in inputs {
            let data = fs::read(&input)?;
            for (name, target) in TARGETS {
                if catch_unwind(|| target(&data)).is_err() {
                    failed.push(format!("{name}: {}", input.display()));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    Ok(())
}
