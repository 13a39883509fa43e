//! Options of a session, and their values.
use super::report::{Limits, Report};
use super::rule;
use super::value::{items, shown, text};
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use serde_json::Value;

/// By option, the values to choose from; nothing where it is not a choice.
pub(super) type Options = BTreeMap<String, Option<BTreeSet<String>>>;

/// The options in a list, if there is one.
pub(super) fn read(value: &Value, limits: &Limits) -> Option<Options> {
    value.get("configOptions").filter(|options| options.is_array())?;
    let option = |option: &Value| {
        let id = text(option, "id").or_else(|| text(option, "configId"))?;
        Some((id.to_owned(), values(option, limits)))
    };
    Some(items(value, "configOptions").filter_map(option).take(limits.names).collect())
}

/// The values of a choice, those in groups too.
fn values(option: &Value, limits: &Limits) -> Option<BTreeSet<String>> {
    if text(option, "type") != Some("select") {
        return None;
    }
    let values = items(option, "options").flat_map(|item| items(item, "options").chain([item]));
    let names = values.filter_map(|item| text(item, "value").map(str::to_owned));
    Some(names.take(limits.names).collect())
}

/// Looks at a request to set an option; nothing is known where there is no list.
pub(super) fn set(options: Option<&Options>, params: &Value, report: &mut Report) {
    let Some(id) = text(params, "configId") else { return };
    let Some(values) = options.and_then(|options| options.get(id)) else {
        let message = format!("the session has no option `{}`", shown(id));
        return report.add(&rule::OPTION_ID_UNKNOWN, "/params/configId", message);
    };
    let value =
        text(params, "value").or_else(|| params.get("value").and_then(|it| text(it, "value")));
    if let (Some(values), Some(value)) = (values, value)
        && !values.contains(value)
    {
        let message = format!("`{}` has no value `{}`", shown(id), shown(value));
        report.add(&rule::CONFIG_VALUE, "/params/value", message);
    }
}
