//! Elicitation: forms and URLs for the user.
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
    /// A request for input of the user.
    ///
    /// Method `elicitation/create`.
    /// Spec: [`CreateElicitationRequest`](https://agentclientprotocol.com/protocol/v2/schema#createelicitationrequest)
    #[doc(alias = "elicitation/create")]
    pub struct CreateElicitationRequest {
        /// Human-readable question.
        message: String = "message",
    }
    rest {
        /// The mode of the elicitation.
        mode: ElicitationMode,
    }
    and "_meta"
}

open_union! {
    /// The mode of an elicitation. A client must not show an unknown mode.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema#createelicitationrequest)
    pub enum ElicitationMode by "mode" {
        /// By form.
        Form(Box<ElicitationFormMode>) = "form",
        /// By URL.
        Url(Box<ElicitationUrlMode>) = "url",
    }
}

object! {
    /// An elicitation by form.
    ///
    /// Spec: [`ElicitationFormMode`](https://agentclientprotocol.com/protocol/v2/schema#elicitationformmode)
    pub struct ElicitationFormMode {
        /// Schema of the form.
        requested_schema: ElicitationSchema = "requestedSchema",
    }
    rest {
        /// The session or request that the elicitation belongs to.
        scope: ElicitationScope,
    }
}

object! {
    /// The schema of a form: a flat object, in a subset of JSON Schema.
    ///
    /// Spec: [`ElicitationSchema`](https://agentclientprotocol.com/protocol/v2/schema#elicitationschema)
    pub struct ElicitationSchema {
        /// Type of the content.
        r#type: ElicitationSchemaType = "type",
        /// The fields, in display order.
        properties: ElicitationProperties = "properties",
    }
    optional {
        /// The form's title.
        title: String = "title" [default_on_error],
        /// Human-readable description.
        description: String = "description" [default_on_error],
        /// Names of the required fields.
        required: Vec<String> = "required",
    }
    and "_meta"
}
