//! Validation of answers against a form.
use super::AnswerProblem;
use super::keywords::pointer;
use crate::mcp::elicitation::{
    Choice, MultiSelectEnumSchema, NumberSchema, PrimitiveSchemaDefinition, RequestedSchema,
    StringFormat, StringSchema,
};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Extra, Raw};
use serde_json::Number;

/// Validates the content of an accepted form against its schema. Checks required fields, types,
/// bounds, choices and formats.
///
/// Unknown fields are allowed. A field with an undecodable schema accepts any value.
///
/// ```
/// use jsonrpc_core::wire::{self, Extra};
/// use mcp_bridge::schema;
///
/// let form = wire::decode(r#"{"type":"object","properties":{"seat":{"type":"string","enum":["12A"]}},"required":["seat"]}"#)?;
/// let content: Extra = wire::decode(r#"{"seat":"13F"}"#)?;
/// let problems: Vec<_> = schema::check(&form, &content).map(|problem| problem.to_string()).collect();
/// assert_eq!(problems, ["at /seat: expected one of the choices"]);
/// # Ok::<(), wire::DecodeError>(())
/// ```
pub fn check<'a>(
    schema: &'a RequestedSchema,
    content: &'a Extra,
) -> impl Iterator<Item = AnswerProblem> + 'a {
    let is_missing =
        |name: &&String| content.get(name).is_none_or(|value| value.as_str() == "null");
    let missing = schema.required.iter().flatten().filter(is_missing);
    let missing = missing.map(|name| AnswerProblem::new(&pointer("", name), "expected a value"));
    let wrong = schema.fields().filter_map(|(name, field)| {
        let value = content.get(name).filter(|value| value.as_str() != "null")?;
        let problem = check_value(&field.ok()?, value).err()?;
        Some(AnswerProblem::new(&pointer("", name), problem))
    });
    missing.chain(wrong)
}

fn check_value(field: &PrimitiveSchemaDefinition, value: &Raw) -> Result<(), String> {
    match field {
        PrimitiveSchemaDefinition::String(schema) => {
            check_string(schema, &value.decode::<String>().map_err(problem)?)
        }
        PrimitiveSchemaDefinition::Number(schema) => {
            check_number(schema, &value.decode().map_err(problem)?)
        }
        PrimitiveSchemaDefinition::Integer(schema) => {
            let number: Number = value.decode().map_err(problem)?;
            // JSON Schema treats `12.0` as an integer.
            let is_integer =
                !number.is_f64() || number.as_f64().is_some_and(|number| number % 1.0 == 0.0);
            if !is_integer {
                return Err("expected an integer".into());
            }
            check_number(schema, &number)
        }
        PrimitiveSchemaDefinition::Boolean(_) => {
            value.decode::<bool>().map(|_| ()).map_err(problem)
        }
        PrimitiveSchemaDefinition::Array(schema) => {
            check_choices(schema, &value.decode::<Vec<String>>().map_err(problem)?)
        }
        PrimitiveSchemaDefinition::Unknown(_) => Ok(()),
    }
}

fn problem(error: DecodeError) -> String {
    error.problem().into()
}

fn check_string(schema: &StringSchema, value: &str) -> Result<(), String> {
    let mut choices = schema.choices().peekable();
    if choices.peek().is_some() {
        let is_there = choices.any(|choice| choice.value == value);
        return if is_there { Ok(()) } else { Err("expected one of the choices".into()) };
    }
    check_count(
        value.chars().count(),
        schema.min_length.as_ref(),
        schema.max_length.as_ref(),
        "characters",
    )?;
    let expected = match &schema.format {
        Some(StringFormat::Email) if !is_email(value) => "an e-mail address",
        Some(StringFormat::Uri) if !is_uri(value) => "a URI",
        Some(StringFormat::Date) if !is_date(value) => "a date such as 2026-07-28",
        Some(StringFormat::DateTime) if !is_date_time(value) => {
            "a date and time such as 2026-07-28T10:00:00Z"
        }
        _ => return Ok(()),
    };
    Err(format!("expected {expected}"))
}

fn check_number(schema: &NumberSchema, value: &Number) -> Result<(), String> {
    match (&schema.minimum, &schema.maximum) {
        (Some(minimum), _) if is_less(value, minimum) => {
            Err(format!("expected at least {minimum}"))
        }
        (_, Some(maximum)) if is_less(maximum, value) => Err(format!("expected at most {maximum}")),
        _ => Ok(()),
    }
}

fn check_choices(schema: &MultiSelectEnumSchema, values: &[String]) -> Result<(), String> {
    check_count(values.len(), schema.min_items.as_ref(), schema.max_items.as_ref(), "choices")?;
    let choices: Vec<&str> = schema.items.choices().map(|Choice { value, .. }| value).collect();
    let is_free = choices.is_empty();
    if is_free || values.iter().all(|value| choices.contains(&value.as_str())) {
        return Ok(());
    }
    Err("expected some of the choices".into())
}

fn check_count(
    count: usize,
    least: Option<&Number>,
    most: Option<&Number>,
    of: &str,
) -> Result<(), String> {
    let number = Number::from(count);
    match (least, most) {
        (Some(least), _) if is_less(&number, least) => {
            Err(format!("expected at least {least} {of}"))
        }
        (_, Some(most)) if is_less(most, &number) => Err(format!("expected at most {most} {of}")),
        _ => Ok(()),
    }
}

/// Compares integers exactly. As floating-point numbers, large neighbors would be equal.
fn is_less(one: &Number, other: &Number) -> bool {
    let integer = |number: &Number| number.as_i128();
    match (integer(one), integer(other)) {
        (Some(one), Some(other)) => one < other,
        _ => one.as_f64() < other.as_f64(),
    }
}

fn is_email(value: &str) -> bool {
    let is_plain = !value.chars().any(|it| it.is_whitespace() || it.is_control());
    is_plain
        && value.rsplit_once('@').is_some_and(|(local, domain)| {
            !local.is_empty() && !domain.is_empty() && !domain.contains('@')
        })
}

/// Returns whether a text has the shape of an absolute URI: a scheme, a colon, and only characters
/// that URIs permit.
fn is_uri(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|it: char| it.is_ascii_alphabetic())
        && scheme.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it));
    is_scheme
        && !rest.is_empty()
        && rest.bytes().all(|it| it.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&it))
}

fn is_date(value: &str) -> bool {
    let [year, month, day] = value.split('-').collect::<Vec<_>>()[..] else { return false };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// Returns whether a text is a `date-time` of [RFC
/// 3339](https://www.rfc-editor.org/rfc/rfc3339#section-5.6).
fn is_date_time(value: &str) -> bool {
    let Some((date, time)) = value.split_once(['T', 't']) else { return false };
    let (time, offset) = match time.strip_suffix(['Z', 'z']) {
        Some(time) => (time, "00:00"),
        None => match time.split_once(['+', '-']) {
            Some(parts) => parts,
            None => return false,
        },
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_clock = |clock: &str, parts: usize| {
        let clock: Vec<_> = clock.split(':').map(|part| digits(part, 2)).collect();
        // The sixty-first second is a leap second.
        let limits = [23, 59, 60];
        clock.len() == parts
            && clock.iter().zip(limits).all(|(part, limit)| part.is_some_and(|it| it <= limit))
    };
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|it| it.is_ascii_digit());
    is_date(date) && is_clock(time, 3) && is_clock(offset, 2) && is_fraction
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let is_number = text.len() == count && text.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}
