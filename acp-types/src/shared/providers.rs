//! **Unstable.** Where the agent gets its models from.
//!
//! Spec: [Configurable LLM Providers](https://agentclientprotocol.com/rfds/custom-llm-endpoint)
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum, string_id};

string_id! {
    /// **Unstable.** Names a provider.
    ///
    /// Spec: [`ProviderId`](https://agentclientprotocol.com/protocol/v1/draft/schema#providerid), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#providerid)
    pub struct ProviderId;
}

open_enum! {
    /// **Unstable.** The protocol that a model's server speaks.
    ///
    /// Spec: [`LlmProtocol`](https://agentclientprotocol.com/protocol/v1/draft/schema#llmprotocol), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#llmprotocol)
    pub enum LlmProtocol {
        /// That of Anthropic.
        Anthropic = "anthropic",
        /// That of OpenAI.
        OpenAi = "openai",
        /// That of Azure OpenAI.
        Azure = "azure",
        /// That of Google Vertex AI.
        Vertex = "vertex",
        /// That of AWS Bedrock.
        Bedrock = "bedrock",
    }
}

object! {
    /// **Unstable.** The client asks for the providers that can be set.
    ///
    /// Method `providers/list`. Spec: [`ListProvidersRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#listprovidersrequest), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#listprovidersrequest)
    #[doc(alias = "providers/list")]
    pub struct ListProvidersRequest {}
    and "_meta"
}

object! {
    /// **Unstable.** The providers that can be set.
    ///
    /// Method `providers/list`. Spec: [`ListProvidersResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#listprovidersresponse), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#listprovidersresponse)
    pub struct ListProvidersResponse {
        /// All of them.
        providers: Vec<ProviderInfo> = "providers",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A provider that can be set.
    ///
    /// Spec: [`ProviderInfo`](https://agentclientprotocol.com/protocol/v1/draft/schema#providerinfo), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#providerinfo)
    pub struct ProviderInfo {
        /// Names it.
        provider_id: ProviderId = "providerId",
        /// The protocols that may be set for it.
        supported: Vec<LlmProtocol> = "supported" [default_on_error, skip_invalid_items] or "[]",
        /// Whether it must not be disabled.
        required: bool = "required",
    }
    optional {
        /// What it is set to; absent when it is disabled.
        current: ProviderCurrentConfig = "current",
    }
    and "_meta"
}

object! {
    /// **Unstable.** What a provider is set to, without secrets.
    ///
    /// Spec: [`ProviderCurrentConfig`](https://agentclientprotocol.com/protocol/v1/draft/schema#providercurrentconfig), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#providercurrentconfig)
    pub struct ProviderCurrentConfig {
        /// The protocol that its server speaks.
        api_type: LlmProtocol = "apiType",
        /// Where its server is.
        base_url: String = "baseUrl",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The client sets a provider, whole.
    ///
    /// Method `providers/set`. Spec: [`SetProviderRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#setproviderrequest), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#setproviderrequest)
    #[doc(alias = "providers/set")]
    pub struct SetProviderRequest {
        /// Which one.
        provider_id: ProviderId = "providerId",
        /// The protocol that its server speaks.
        api_type: LlmProtocol = "apiType",
        /// Where its server is.
        base_url: String = "baseUrl",
    }
    optional {
        /// Headers to send with each request, secrets among them; they replace all that were set.
        headers: BTreeMap<String, String> = "headers",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The provider is set.
    ///
    /// Method `providers/set`. Spec: [`SetProviderResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#setproviderresponse), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#setproviderresponse)
    pub struct SetProviderResponse {}
    and "_meta"
}

object! {
    /// **Unstable.** The client disables a provider.
    ///
    /// Method `providers/disable`. Spec: [`DisableProviderRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#disableproviderrequest), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#disableproviderrequest)
    #[doc(alias = "providers/disable")]
    pub struct DisableProviderRequest {
        /// Which one; not one that is required.
        provider_id: ProviderId = "providerId",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The provider is disabled.
    ///
    /// Method `providers/disable`. Spec: [`DisableProviderResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#disableproviderresponse), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#disableproviderresponse)
    pub struct DisableProviderResponse {}
    and "_meta"
}
