//! Initialization: versions and capabilities.
//!
//! Spec: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization), [version
//! 2](https://agentclientprotocol.com/protocol/v2/initialization)
use alloc::string::String;
use jsonrpc_core::{__json_schema, object, transparent};

/// A protocol version: a single number, raised only for incompatible changes.
///
/// Spec: [`ProtocolVersion`](https://agentclientprotocol.com/protocol/v1/schema#protocolversion),
/// [version 2](https://agentclientprotocol.com/protocol/v2/schema#protocolversion)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolVersion(
    /// The number, from 0 to 65535.
    pub u16,
);

transparent! { ProtocolVersion(u16) }

__json_schema! { ProtocolVersion, generator => object!(@schema u16, generator) }

impl ProtocolVersion {
    /// Version 1, the current one.
    pub const V1: Self = Self(1);

    /// Version 2, a preview.
    pub const V2: Self = Self(2);
}

object! {
    /// Name and version of a peer's program.
    ///
    /// Spec: [`Implementation`](https://agentclientprotocol.com/protocol/v1/schema#implementation),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#implementation)
    pub struct Implementation {
        /// Programmatic name.
        name: String = "name",
        /// Version of the program, in any format.
        version: String = "version",
    }
    optional {
        /// Human-readable name.
        title: String = "title" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The elicitation modes that a client supports.
    ///
    /// Spec: [`ElicitationCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#elicitationcapabilities),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationcapabilities)
    pub struct ElicitationCapabilities {}
    optional {
        /// Present if the client supports forms.
        form: ElicitationFormCapabilities = "form" [default_on_error],
        /// Present if the client supports URLs.
        url: ElicitationUrlCapabilities = "url" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The client supports elicitation by form.
    ///
    /// Spec: [`ElicitationFormCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#elicitationformcapabilities),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationformcapabilities)
    pub struct ElicitationFormCapabilities {}
    and "_meta"
}

object! {
    /// The client supports elicitation by URL.
    ///
    /// Spec: [`ElicitationUrlCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#elicitationurlcapabilities),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#elicitationurlcapabilities)
    pub struct ElicitationUrlCapabilities {}
    and "_meta"
}

object! {
    /// The agent supports `session/delete`.
    ///
    /// Spec: [`SessionDeleteCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessiondeletecapabilities),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessiondeletecapabilities)
    pub struct SessionDeleteCapabilities {}
    and "_meta"
}

object! {
    /// The agent supports `additionalDirectories` for new sessions.
    ///
    /// Spec: [`SessionAdditionalDirectoriesCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessionadditionaldirectoriescapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#sessionadditionaldirectoriescapabilities)
    pub struct SessionAdditionalDirectoriesCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** The agent supports `providers/*`.
    ///
    /// Spec: [`ProvidersCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#providerscapabilities),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#providerscapabilities)
    pub struct ProvidersCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** The agent supports `auth/status`, and reports changes.
    ///
    /// Spec: [`AuthStatusCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#authstatuscapabilities),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#authstatuscapabilities)
    pub struct AuthStatusCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** The agent supports `session/fork`.
    ///
    /// Spec: [`SessionForkCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionforkcapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionforkcapabilities)
    pub struct SessionForkCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** The agent supports `session/archive` and `session/unarchive`.
    ///
    /// Spec: [`SessionArchiveCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionarchivecapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionarchivecapabilities)
    pub struct SessionArchiveCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** The agent supports `session/status`.
    ///
    /// Spec: [`SessionStatusCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionstatuscapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionstatuscapabilities)
    pub struct SessionStatusCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** The agent supports `session/set_title`.
    ///
    /// Spec: [`SessionTitleCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessiontitlecapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#sessiontitlecapabilities)
    pub struct SessionTitleCapabilities {}
    and "_meta"
}

object! {
    /// The agent supports a `systemPrompt` for new sessions.
    ///
    /// Spec: [`SessionSystemPromptCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessionsystempromptcapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#sessionsystempromptcapabilities)
    pub struct SessionSystemPromptCapabilities {}
    optional {
        /// Modes that are supported beyond `append`.
        mode: SessionSystemPromptModeCapabilities = "mode" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Modes of a `systemPrompt` that an agent supports beyond `append`.
    ///
    /// Spec: [`SessionSystemPromptModeCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessionsystempromptmodecapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#sessionsystempromptmodecapabilities)
    pub struct SessionSystemPromptModeCapabilities {}
    optional {
        /// Present if `override` is supported.
        r#override: SessionSystemPromptOverrideCapabilities = "override" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The agent supports the mode `override` of a `systemPrompt`.
    ///
    /// Spec: [`SessionSystemPromptOverrideCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessionsystempromptoverridecapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#sessionsystempromptoverridecapabilities)
    pub struct SessionSystemPromptOverrideCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** The agent supports `session/options`, and `configOptions` of session setup.
    ///
    /// Spec: [`SessionOptionsCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionoptionscapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionoptionscapabilities)
    pub struct SessionOptionsCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** The client offers suggested prompts of text and resource links.
    ///
    /// Spec: [`PromptSuggestionsCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#promptsuggestionscapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#promptsuggestionscapabilities)
    pub struct PromptSuggestionsCapabilities {}
    optional {
        /// Present if suggestions may contain images.
        image: PromptSuggestionsImageCapabilities = "image" [default_on_error],
        /// Present if suggestions may contain audio.
        audio: PromptSuggestionsAudioCapabilities = "audio" [default_on_error],
        /// Present if suggestions may contain embedded resources.
        embedded_context: PromptSuggestionsEmbeddedContextCapabilities = "embeddedContext" [default_on_error],
    }
    and "_meta"
}

object! {
    /// **Unstable.** The client offers suggested prompts with images.
    ///
    /// Spec: [`PromptSuggestionsImageCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#promptsuggestionsimagecapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#promptsuggestionsimagecapabilities)
    pub struct PromptSuggestionsImageCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** The client offers suggested prompts with audio.
    ///
    /// Spec: [`PromptSuggestionsAudioCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#promptsuggestionsaudiocapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#promptsuggestionsaudiocapabilities)
    pub struct PromptSuggestionsAudioCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** The client offers suggested prompts with embedded resources.
    ///
    /// Spec: [`PromptSuggestionsEmbeddedContextCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#promptsuggestionsembeddedcontextcapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#promptsuggestionsembeddedcontextcapabilities)
    pub struct PromptSuggestionsEmbeddedContextCapabilities {}
    and "_meta"
}
