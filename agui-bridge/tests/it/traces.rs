//! Worked traces: what an agent says, and what the page is told, written by hand.
use crate::script::{in_stream, play, verify};
use agui_types::profile::Profile;
use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::Path;

/// Each folder's `acp.jsonl` gives its `ag-ui-1.0.jsonl` and its `ag-ui-0.x.jsonl`, where there is one.
#[test]
fn traces_translate_to_what_is_written() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1/traces");
    let mut compared = 0;
    for trace in fs::read_dir(folder)? {
        let trace = trace?.path();
        let steps = lines(&trace.join("acp.jsonl"))?;
        for (profile, name) in
            [(Profile::V1, "ag-ui-1.0.jsonl"), (Profile::Legacy, "ag-ui-0.x.jsonl")]
        {
            let given = play(in_stream(profile), &steps);
            verify(profile, &given);
            let expected = trace.join(name);
            if expected.exists() {
                compare(&given, &lines(&expected)?, &expected);
                compared += 1;
            }
        }
    }
    assert!(compared >= 10, "only {compared} traces were compared");
    Ok(())
}

fn compare(given: &[Value], expected: &[Value], path: &Path) {
    for (number, (given, expected)) in given.iter().zip(expected).enumerate() {
        assert_eq!(given, expected, "{}, line {}", path.display(), number + 1);
    }
    assert_eq!(given.len(), expected.len(), "{}: as many lines", path.display());
}

fn lines(path: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}
