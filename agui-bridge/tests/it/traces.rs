//! Worked traces: the agent's messages and the page's events, written by hand.
use crate::script::{in_stream, interrupting, play_lines, verify};
use agui_bridge::{ArgsMode, Options};
use agui_types::profile::Profile;
use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::Path;

/// Each folder's `acp.jsonl` translates to its `ag-ui-1.0.jsonl` and, if present, its
/// `ag-ui-0.x.jsonl`, byte for byte. Its `options` has deviating options.
#[test]
fn traces_translate_to_the_stored_events() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1/traces");
    let mut compared = 0;
    for trace in fs::read_dir(folder)? {
        let trace = trace?.path();
        let steps = fs::read_to_string(trace.join("acp.jsonl"))?;
        let steps: Vec<Value> =
            steps.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        for (profile, name) in
            [(Profile::V1, "ag-ui-1.0.jsonl"), (Profile::Legacy, "ag-ui-0.x.jsonl")]
        {
            let Some(options) = options(&trace, profile)? else { continue };
            let given = play_lines(options, &steps);
            let values: Vec<_> =
                given.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>()?;
            verify(profile, &values);
            let expected = trace.join(name);
            if expected.exists() {
                compare(&given, &expected)?;
                compared += 1;
            }
        }
    }
    assert!(compared >= 15, "only {compared} traces were compared");
    Ok(())
}

/// Returns `None` if the trace does not apply to such clients.
fn options(trace: &Path, profile: Profile) -> Result<Option<Options>, Box<dyn Error>> {
    let path = trace.join("options");
    let words = if path.exists() { fs::read_to_string(path)? } else { String::new() };
    let mut options = in_stream(profile);
    for word in words.split_whitespace() {
        match word {
            "interrupt" if profile == Profile::Legacy => return Ok(None),
            "interrupt" => options = interrupting(),
            "stream-keys" => options.arguments = ArgsMode::StreamKeys,
            other => return Err(format!("{}: `{other}`", trace.display()).into()),
        }
    }
    Ok(Some(options))
}

fn compare(given: &[String], path: &Path) -> Result<(), Box<dyn Error>> {
    let expected = fs::read_to_string(path)?;
    for (number, (given, expected)) in given.iter().zip(expected.lines()).enumerate() {
        assert_eq!(given, expected, "{}, line {}", path.display(), number + 1);
    }
    assert_eq!(given.len(), expected.lines().count(), "{}: as many lines", path.display());
    Ok(())
}
