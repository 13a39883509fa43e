//! Validation of a form's content.
use crate::answer_error::AnswerError;
use acp_types::v1::elicitation::{
    ElicitationContentValue as Content, ElicitationPropertySchema as Property, ElicitationSchema,
    EnumOption, MultiSelectItems, MultiSelectPropertySchema, StringPropertySchema,
};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::pointer::push_segment;

/// Checks the content of a form.
pub(super) fn check(
    schema: &ElicitationSchema,
    content: &BTreeMap<String, Content>,
) -> Result<(), AnswerError> {
    for name in schema.required.iter().flatten() {
        if !content.contains_key(name) {
            return Err(wrong(name, "a value, since it is required".into()));
        }
    }
    let properties = schema.properties.iter().flat_map(|properties| &properties.0);
    for (name, property) in properties {
        if let Some(value) = content.get(name) {
            check_value(property, value).map_err(|expected| wrong(name, expected))?;
        }
    }
    Ok(())
}

fn wrong(name: &str, expected: String) -> AnswerError {
    let mut pointer = String::new();
    push_segment(&mut pointer, name);
    AnswerError::Content { pointer, expected }
}

fn check_value(property: &Property, value: &Content) -> Result<(), String> {
    match (property, value) {
        (Property::String(property), Content::String(text)) => check_text(property, text),
        (Property::String(_), _) => Err("a string".into()),
        (Property::Number(property), value) => {
            let number = match value {
                Content::Integer(number) => *number as f64,
                Content::Number(number) => *number,
                _ => return Err("a number".into()),
            };
            check_range(number, property.minimum, property.maximum)
        }
        (Property::Integer(property), Content::Integer(number)) => {
            check_range(*number, property.minimum, property.maximum)
        }
        (Property::Integer(_), _) => Err("a whole number".into()),
        (Property::Boolean(_), Content::Boolean(_)) => Ok(()),
        (Property::Boolean(_), _) => Err("true or false".into()),
        (Property::Array(property), Content::StringArray(chosen)) => check_choice(property, chosen),
        (Property::Array(_), _) => Err("a list of strings".into()),
        _ => Ok(()),
    }
}

fn check_text(property: &StringPropertySchema, text: &str) -> Result<(), String> {
    let characters = text.chars().count();
    let fits = |limit: Option<u32>, holds: fn(usize, usize) -> bool| {
        limit.is_none_or(|limit| holds(characters, usize::try_from(limit).unwrap_or(usize::MAX)))
    };
    if !fits(property.min_length, |given, limit| given >= limit) {
        return Err(format!("at least {} characters", property.min_length.unwrap_or_default()));
    }
    if !fits(property.max_length, |given, limit| given <= limit) {
        return Err(format!("at most {} characters", property.max_length.unwrap_or_default()));
    }
    let listed = property.r#enum.as_ref().is_none_or(|values| values.iter().any(|v| v == text));
    let titled = property.one_of.as_ref().is_none_or(|options| has(options, text));
    if listed && titled { Ok(()) } else { Err("one of the values that the form offers".into()) }
}

fn check_choice(property: &MultiSelectPropertySchema, chosen: &[String]) -> Result<(), String> {
    let count = u64::try_from(chosen.len()).unwrap_or(u64::MAX);
    if property.min_items.is_some_and(|limit| count < limit) {
        return Err(format!("at least {} values", property.min_items.unwrap_or_default()));
    }
    if property.max_items.is_some_and(|limit| count > limit) {
        return Err(format!("at most {} values", property.max_items.unwrap_or_default()));
    }
    let offered = |value: &String| match &property.items {
        MultiSelectItems::String(items) => items.r#enum.contains(value),
        MultiSelectItems::Titled(items) => has(&items.any_of, value),
        _ => true,
    };
    let strange: Vec<_> = chosen.iter().filter(|value| !offered(value)).collect();
    if strange.is_empty() { Ok(()) } else { Err("values that the form offers".into()) }
}

fn has(options: &[EnumOption], value: &str) -> bool {
    options.iter().any(|option| option.r#const == value)
}

fn check_range<T: PartialOrd + core::fmt::Display>(
    number: T,
    minimum: Option<T>,
    maximum: Option<T>,
) -> Result<(), String> {
    if let Some(minimum) = minimum.filter(|minimum| number < *minimum) {
        return Err(format!("{minimum} at least"));
    }
    if let Some(maximum) = maximum.filter(|maximum| number > *maximum) {
        return Err(format!("{maximum} at most"));
    }
    Ok(())
}
