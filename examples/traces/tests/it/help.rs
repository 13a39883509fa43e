//! Help, completions and manual pages.

use crate::proxy::acp_traces;
use std::fs;

#[test]
fn shells_complete_options_and_tasks() {
    // The scripts of the other two shells do not complete values.
    for (shell, knows_values) in
        [("bash", true), ("elvish", false), ("fish", true), ("powershell", false), ("zsh", true)]
    {
        let output = acp_traces(&["completions", shell]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{shell}");
        assert_eq!(&*output.stderr, &b""[..], "{shell}");
        let script = String::from_utf8(output.stdout).unwrap();
        for word in ["acp-traces", "replay", "otlp-endpoint", "record"] {
            assert!(script.contains(word), "{word} for {shell}");
        }
        assert_eq!(script.contains("http/protobuf"), knows_values, "{shell}");
    }
}

/// Returns the completions of bash for the last word.
#[cfg(unix)]
fn offered(words: &[&str]) -> String {
    const COMPLETE: &str = r#"
        source <("$0" completions bash)
        function=$(complete -p acp-traces); function=${function#*-F }
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        ${function%% *} acp-traces "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        echo "${COMPREPLY[*]}""#;
    let mut command = std::process::Command::new("bash");
    command.args(["-c", COMPLETE, env!("CARGO_BIN_EXE_acp-traces")]).args(words);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[cfg(unix)]
#[test]
fn bash_completes_what_belongs_to_a_task() {
    for (words, expected) in [
        (&["acp-traces", "--self"][..], "--self-metrics\n"),
        (&["acp-traces", "--protocol", "http"], "http/protobuf http/json\n"),
        (&["acp-traces", "re"], "replay report\n"),
        (&["acp-traces", "replay", "--otlp"], "--otlp-endpoint\n"),
        (&["acp-traces", "report", "--out"], "--output\n"),
        (&["acp-traces", "report", "--policy", "usage"], "usage=per-turn usage=cumulative\n"),
        (&["acp-traces", "completions", "z"], "zsh\n"),
    ] {
        assert_eq!(offered(words), expected, "{words:?}");
    }
}

#[test]
fn manual_pages_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man/man1");
    let status = acp_traces(&["man", pages.to_str().unwrap()]).status().unwrap();
    assert_eq!(status.code(), Some(0));
    for (page, option) in [("acp-traces.1", "grace"), ("acp-traces-replay.1", "TRANSCRIPT")] {
        let text = fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(".TH") && text.contains(option), "{page}");
    }
    let taken = pages.join("acp-traces.1");
    let output = acp_traces(&["man", taken.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.starts_with(&format!("acp-traces: cannot write to {}: ", taken.display())),
        "{told}"
    );
}

#[test]
fn usage_is_printed() {
    let output = acp_traces(&["--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(help.contains("Usage: acp-traces [OPTIONS] -- <COMMAND>...\n"), "{help}");
}
