//! The word that asks with a form.

use crate::script::{Scene, Step, ask};
use crate::talk::{say, words};
use acp_types::v1::elicitation::{
    CreateElicitationRequest, ElicitationAction, ElicitationContentValue, ElicitationFormMode,
    ElicitationMode, ElicitationSchema, ElicitationScope, ElicitationSessionScope,
};
use jsonrpc_core::wire;
use std::collections::BTreeMap;

/// Asks for a seat.
pub(crate) fn form(scene: &mut Scene) -> Vec<Step> {
    if !scene.shows_forms {
        return say(scene, "You show no forms, so I ask nothing. ");
    }
    let schema = match wire::decode::<ElicitationSchema>(SCHEMA) {
        Ok(schema) => schema,
        Err(error) => return say(scene, &format!("My form is wrong: {error}. ")),
    };
    let scope = ElicitationScope::Session(ElicitationSessionScope::new(scene.session_id.clone()));
    let mode = ElicitationMode::Form(Box::new(ElicitationFormMode::new(schema, scope)));
    let request = CreateElicitationRequest::new("Which seat would you like?", mode);
    let name = scene.message_id();
    // The request has the same form in both versions.
    vec![ask(&request, move |answer| {
        let said = match answer.map(|answer| answer.action) {
            Ok(ElicitationAction::Accept(accept)) => booked(&accept.content.unwrap_or_default()),
            Ok(ElicitationAction::Decline(_)) => "No seat, then. ".to_owned(),
            Ok(_) => "Another time, then. ".to_owned(),
            Err(error) => format!("You cannot be asked: {}. ", error.message),
        };
        words(&name, &said)
    })]
}

/// All kinds of fields of a form.
const SCHEMA: &str = r#"{
    "type": "object",
    "title": "Your seat",
    "properties": {
        "name": { "type": "string", "title": "Name", "minLength": 1, "maxLength": 40 },
        "seat": { "type": "string", "title": "Seat", "oneOf": [
            { "const": "window", "title": "At the window" },
            { "const": "aisle", "title": "At the aisle" }
        ] },
        "bags": { "type": "integer", "title": "Bags", "minimum": 0, "maximum": 3, "default": 1 },
        "meals": { "type": "array", "title": "Meals", "items": {
            "type": "string", "enum": ["breakfast", "lunch", "dinner"]
        } },
        "insured": { "type": "boolean", "title": "With insurance", "default": false }
    },
    "required": ["name", "seat"]
}"#;

fn booked(content: &BTreeMap<String, ElicitationContentValue>) -> String {
    let fields: Vec<_> = content
        .iter()
        .map(|(name, value)| format!("{name} {}", serde_json::to_string(value).unwrap_or_default()))
        .collect();
    format!("Booked: {}. ", fields.join(", "))
}
