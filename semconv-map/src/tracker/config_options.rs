//! Config options of a session: the model and the reasoning level.
use crate::attribute::clip;
use alloc::borrow::Cow;
use alloc::string::String;
use jsonrpc_core::{JsonStr, array_items, find_member};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Returns the model of `configOptions`; else that of `models` of older agents, unless a model is
/// known.
pub(super) fn model(object: &str, is_known: bool) -> Option<String> {
    let older = || {
        let models = find_member(object, &["models"]).filter(|_| !is_known)?;
        let models = serde_json::from_str::<Models<'_>>(models).ok()?;
        Some(clip(&models.current_model_id))
    };
    option_value(object, "model").or_else(older)
}

/// Returns the reasoning level of `configOptions`.
pub(super) fn reasoning_level(object: &str) -> Option<String> {
    option_value(object, "thought_level")
}

/// Common members of config options of both versions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigOption<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    category: Option<Cow<'a, str>>,
    #[serde(borrow)]
    current_value: Option<&'a RawValue>,
}

/// Member of older agents that is no longer part of the schema.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Models<'a> {
    #[serde(borrow)]
    current_model_id: Cow<'a, str>,
}

/// Returns the value of the option of a category. Of several, it is the one with the id of the
/// category, such as the model and not its provider, else the first.
fn option_value(object: &str, category: &str) -> Option<String> {
    let mut value = None;
    for option in array_items(find_member(object, &["configOptions"])?) {
        let option: ConfigOption<'_> = serde_json::from_str(option).ok()?;
        let id = option.id.and_then(|id| JsonStr::new(id.get())?.decode());
        let is_named = id.is_some_and(|id| *id == *category);
        if option.category.as_deref() == Some(category) && (value.is_none() || is_named) {
            value = Some(option.current_value);
        }
    }
    JsonStr::new(value??.get())?.decode().map(|value| clip(&value))
}
