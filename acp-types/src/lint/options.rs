//! Configuration options of a session, and their values.
use super::report::{LintLimits, Report};
use super::rule;
use super::value::{Json, is_text, items, shown, text};
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;

/// By option, the permitted values; `None` for an option without a list of values.
pub(super) type Options = BTreeMap<String, Option<BTreeSet<String>>>;

/// Reads a list of options, if there is one.
pub(super) fn read(value: Json<'_>, limits: &LintLimits) -> Option<Options> {
    value.get("configOptions").filter(|options| options.is_array())?;
    let option = |option: Json<'_>| {
        let id = text(option, "id").or_else(|| text(option, "configId"))?;
        Some((id.into_owned(), values(option, limits)))
    };
    Some(items(value, "configOptions").filter_map(option).take(limits.names).collect())
}

/// Returns the values of a selection, including those in groups.
fn values(option: Json<'_>, limits: &LintLimits) -> Option<BTreeSet<String>> {
    if !is_text(option, "type", "select") {
        return None;
    }
    let values = items(option, "options").flat_map(|item| items(item, "options").chain([item]));
    let names = values.filter_map(|item| text(item, "value").map(Cow::into_owned));
    Some(names.take(limits.names).collect())
}

/// Checks a request to set an option. Without a list of options, nothing is known.
pub(super) fn set(options: Option<&Options>, params: Json<'_>, report: &mut Report) {
    let Some(id) = text(params, "configId") else { return };
    let Some(values) = options.and_then(|options| options.get(&*id)) else {
        let message = format!("the session has no option `{}`", shown(&id));
        return report.add(&rule::OPTION_ID_UNKNOWN, "/params/configId", message);
    };
    let value =
        text(params, "value").or_else(|| params.get("value").and_then(|it| text(it, "value")));
    if let (Some(values), Some(value)) = (values, value)
        && !values.contains(&*value)
    {
        let message = format!("`{}` has no value `{}`", shown(&id), shown(&value));
        report.add(&rule::CONFIG_VALUE, "/params/value", message);
    }
}
