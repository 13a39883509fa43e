//! **Unstable.** Providers of models.
//!
//! Spec: [Configurable LLM Providers](https://agentclientprotocol.com/rfds/custom-llm-endpoint)
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum, string_id};

string_id! {
    /// **Unstable.** Identifies a provider.
    ///
    /// Spec: [`ProviderId`](https://agentclientprotocol.com/protocol/v1/draft/schema#providerid),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#providerid)
    pub struct ProviderId;
}

open_enum! {
    /// **Unstable.** The API protocol of a model server.
    ///
    /// Spec: [`LlmProtocol`](https://agentclientprotocol.com/protocol/v1/draft/schema#llmprotocol),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#llmprotocol)
    pub enum LlmProtocol {
        /// Anthropic.
        Anthropic = "anthropic",
        /// OpenAI.
        OpenAi = "openai",
        /// Azure OpenAI.
        Azure = "azure",
        /// Google Vertex AI.
        Vertex = "vertex",
        /// AWS Bedrock.
        Bedrock = "bedrock",
    }
}

object! {
    /// **Unstable.** A request for the configurable providers.
    ///
    /// Method `providers/list`.
    /// Spec: [`ListProvidersRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#listprovidersrequest),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#listprovidersrequest)
    #[doc(alias = "providers/list")]
    pub struct ListProvidersRequest {}
    and "_meta"
}

object! {
    /// **Unstable.** The configurable providers.
    ///
    /// Method `providers/list`.
    /// Spec: [`ListProvidersResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#listprovidersresponse),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#listprovidersresponse)
    pub struct ListProvidersResponse {
        /// The providers.
        providers: Vec<ProviderInfo> = "providers",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A configurable provider.
    ///
    /// Spec: [`ProviderInfo`](https://agentclientprotocol.com/protocol/v1/draft/schema#providerinfo),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#providerinfo)
    pub struct ProviderInfo {
        /// Identifier of the provider.
        provider_id: ProviderId = "providerId",
        /// Supported API protocols.
        supported: Vec<LlmProtocol> = "supported" [default_on_error, skip_invalid_items] or "[]",
        /// Whether the provider must not be disabled.
        required: bool = "required",
    }
    optional {
        /// Current configuration; absent if the provider is disabled.
        current: ProviderCurrentConfig = "current",
    }
    and "_meta"
}

object! {
    /// **Unstable.** Configuration of a provider, without secrets.
    ///
    /// Spec: [`ProviderCurrentConfig`](https://agentclientprotocol.com/protocol/v1/draft/schema#providercurrentconfig),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#providercurrentconfig)
    pub struct ProviderCurrentConfig {
        /// API protocol of the server.
        api_type: LlmProtocol = "apiType",
        /// Base URL of the server.
        base_url: String = "baseUrl",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A request to configure a provider.
    ///
    /// Method `providers/set`.
    /// Spec: [`SetProviderRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#setproviderrequest),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#setproviderrequest)
    #[doc(alias = "providers/set")]
    pub struct SetProviderRequest {
        /// Identifier of the provider.
        provider_id: ProviderId = "providerId",
        /// API protocol of the server.
        api_type: LlmProtocol = "apiType",
        /// Base URL of the server.
        base_url: String = "baseUrl",
    }
    optional {
        /// Headers of each request, including secrets. They replace all earlier headers.
        headers: BTreeMap<String, String> = "headers",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The provider is configured.
    ///
    /// Method `providers/set`.
    /// Spec: [`SetProviderResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#setproviderresponse),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#setproviderresponse)
    pub struct SetProviderResponse {}
    and "_meta"
}

object! {
    /// **Unstable.** A request to disable a provider.
    ///
    /// Method `providers/disable`.
    /// Spec: [`DisableProviderRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#disableproviderrequest),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#disableproviderrequest)
    #[doc(alias = "providers/disable")]
    pub struct DisableProviderRequest {
        /// Identifier of the provider, which must not be required.
        provider_id: ProviderId = "providerId",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The provider is disabled.
    ///
    /// Method `providers/disable`.
    /// Spec: [`DisableProviderResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#disableproviderresponse),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#disableproviderresponse)
    pub struct DisableProviderResponse {}
    and "_meta"
}
