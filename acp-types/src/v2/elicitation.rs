//! Questions to the user: forms, and pages to go to.
//!
//! Spec: [Elicitation](https://agentclientprotocol.com/protocol/v2/elicitation)
pub use crate::shared::elicitation::{
    BooleanPropertySchema, CompleteElicitationNotification, CreateElicitationResponse,
    ElicitationAcceptAction, ElicitationAction, ElicitationContentValue, ElicitationId,
    ElicitationProperties, ElicitationPropertySchema, ElicitationRequestScope,
    ElicitationSchemaType, ElicitationScope, ElicitationSessionScope, ElicitationUrlMode,
    EnumOption, IntegerPropertySchema, MultiSelectItems, MultiSelectPropertySchema,
    NumberPropertySchema, StringFormat, StringMultiSelectItems, StringPropertySchema,
    TitledMultiSelectItems,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_union};

object! {
    /// The agent asks the user something.
    ///
    /// Method `elicitation/create`. Spec: [`CreateElicitationRequest`](https://agentclientprotocol.com/protocol/v2/schema#createelicitationrequest)
    #[doc(alias = "elicitation/create")]
    pub struct CreateElicitationRequest {
        /// The question, for people to read.
        message: String = "message",
    }
    rest {
        /// How to ask it.
        mode: ElicitationMode,
    }
    and "_meta"
}

open_union! {
    /// How to ask the user. A client must not show a mode that it does not know.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema#createelicitationrequest)
    pub enum ElicitationMode by "mode" {
        /// With a form.
        Form(Box<ElicitationFormMode>) = "form",
        /// On a page.
        Url(Box<ElicitationUrlMode>) = "url",
    }
}

object! {
    /// The user is asked with a form.
    ///
    /// Spec: [`ElicitationFormMode`](https://agentclientprotocol.com/protocol/v2/schema#elicitationformmode)
    pub struct ElicitationFormMode {
        /// What the form asks for.
        requested_schema: ElicitationSchema = "requestedSchema",
    }
    rest {
        /// What the question belongs to.
        scope: ElicitationScope,
    }
}

object! {
    /// What a form asks for: a flat object in a part of JSON Schema.
    ///
    /// Spec: [`ElicitationSchema`](https://agentclientprotocol.com/protocol/v2/schema#elicitationschema)
    pub struct ElicitationSchema {
        /// What the form gives.
        r#type: ElicitationSchemaType = "type",
        /// Its fields, in the order to show them.
        properties: ElicitationProperties = "properties",
    }
    optional {
        /// The form's title.
        title: String = "title" [default_on_error],
        /// More about it, for the user.
        description: String = "description" [default_on_error],
        /// Names of the fields that must be filled in.
        required: Vec<String> = "required",
    }
    and "_meta"
}
