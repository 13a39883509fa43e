//! The agents as a table for people.
use crate::catalog::{Agent, Catalog, CatalogError, Programs};
use core::fmt::Write;
use std::path::Path;

/// Returns a table of the agents: the name, whether it is installed, and how it is logged in to;
/// then how the others are installed. `is_set` returns whether a variable of the environment is
/// set.
pub fn table(catalog: &Catalog, programs: &Programs, is_set: impl Fn(&str) -> bool) -> String {
    let rows: Vec<_> = catalog
        .agents()
        .iter()
        .map(|agent| [agent.id.clone(), status(agent, programs), login(agent, &is_set)])
        .collect();
    let heads = ["AGENT", "STATUS", "LOGIN OR KEY"];
    let [name_width, status_width, _] = rows.iter().fold(heads.map(str::len), |widths, row| {
        let [name, status, _] = row.each_ref().map(|cell| cell.chars().count());
        [widths[0].max(name), widths[1].max(status), 0]
    });
    let mut table = String::new();
    for [name, status, login] in core::iter::once(heads.map(str::to_owned)).chain(rows) {
        let line = format!("{name:name_width$}  {status:status_width$}  {login}");
        // Writing to a string does not fail.
        let _ = writeln!(table, "{}", line.trim_end());
    }
    let missing = catalog.agents().iter().filter(|agent| agent.launch(programs).is_err());
    for (index, agent) in missing.enumerate() {
        let head = if index == 0 { "\nINSTALL\n" } else { "" };
        let _ = writeln!(table, "{head}{:name_width$}  {}", agent.id, agent.install_hint());
    }
    table
}

/// Returns the table for the environment of this process, with the agents of a document of the
/// official registry.
///
/// # Errors
/// The document cannot be read.
pub(crate) fn table_of_environment(document: Option<&Path>) -> Result<String, CatalogError> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let catalog = Catalog::load(document)?;
    let warning = catalog.warning().map(|warning| format!("warning: {warning}\n"));
    Ok(warning.unwrap_or_default() + &table(&catalog, &Programs::of_environment(), is_set))
}

fn status(agent: &Agent, programs: &Programs) -> String {
    match agent.launch(programs) {
        Ok(launch) if !launch.is_downloaded => "installed".to_owned(),
        Ok(launch) => {
            let runner = launch.words.first().map_or("", String::as_str);
            format!("runs with {runner}")
        }
        Err(_) => "not installed".to_owned(),
    }
}

fn login(agent: &Agent, is_set: &impl Fn(&str) -> bool) -> String {
    if let Some(key) = agent.keys.iter().find(|key| is_set(key)) {
        return format!("{key} is set");
    }
    let keys = (!agent.keys.is_empty()).then(|| format!("set {}", agent.keys.join(" or ")));
    let methods = agent.login.iter().filter(|method| method.variables.is_empty());
    let methods: Vec<_> = methods.map(|method| method.id.as_str()).collect();
    let methods = (!methods.is_empty()).then(|| format!("log in: {}", methods.join(", ")));
    let ways: Vec<_> = keys.into_iter().chain(methods).collect();
    if ways.is_empty() { "none".to_owned() } else { ways.join("; ") }
}
