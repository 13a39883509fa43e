//! Prints one line of JSON for each compared value of ACP, with the results of acp-types and the
//! official types, for oracles in other languages.
use jsonrpc_core::wire::Mode;
use oracles::acp::instances::{changed, instances};
use oracles::acp::types::Type;
use oracles::acp::versions;
use serde_json::{Value, json};
use std::io::{BufWriter, Write, stdout};

fn main() -> std::io::Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    for version in versions() {
        for one in version.types {
            for instance in instances(&version.official, one.name) {
                writeln!(out, "{}", line(version.name, one, "Instance", "", &instance))?;
                for (change, at, value) in changed(&instance) {
                    writeln!(
                        out,
                        "{}",
                        line(version.name, one, &format!("{change:?}"), &at, &value)
                    )?;
                }
            }
        }
    }
    out.flush()
}

fn line(version: &str, one: &Type, change: &str, at: &str, value: &Value) -> Value {
    let text = value.to_string();
    let ours = (one.ours)(&text, Mode::SpecLenient);
    let told =
        ours.as_ref().map(|ours| ours.diagnostics.iter().map(|(_, at)| at.clone()).collect());
    let told: Vec<String> = told.unwrap_or_default();
    json!({
        "version": version, "type": one.name, "change": change, "at": at, "value": value,
        "official": (one.official)(&text).is_some(),
        "ours": ours.as_ref().map(|ours| &ours.value).ok(),
        "told": told,
    })
}
