//! Content of a span in the places that a policy selects.
use crate::attribute::{AttributeValue, Attributes};
use crate::content::{ContentKind, Gate};
use crate::policy::Policy;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// Content of a span to record: on the span, and in an event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Details {
    pub(crate) span: Attributes,
    pub(crate) event: Attributes,
}

impl Details {
    pub(crate) fn set(
        &mut self,
        policy: &Policy,
        gate: Gate,
        key: &'static str,
        value: impl Into<AttributeValue>,
    ) {
        let value = value.into();
        let (on_span, in_event) = policy.places(gate);
        if in_event {
            self.event.set(key, value.clone());
        }
        if on_span {
            self.span.set(key, value);
        }
    }

    /// Sets a structured value: text on the span, a value in the event.
    pub(crate) fn set_json(&mut self, policy: &Policy, key: &'static str, json: String) {
        let (on_span, in_event) = policy.places(Gate::WithContent);
        if in_event {
            self.event.set(key, AttributeValue::Json(json.clone()));
        }
        if on_span {
            self.span.set(key, json);
        }
    }
}

/// Redacts each text of a list.
pub(crate) fn redacted_list(
    policy: &Policy,
    kind: ContentKind,
    texts: impl Iterator<Item = String>,
) -> Vec<Cow<'static, str>> {
    texts.map(|text| policy.redacted(kind, text).into()).collect()
}
