//! Metadata documents of protected resources and authorization servers.
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// The metadata of a server that requires authorization.
    ///
    /// Spec: [RFC 9728, section 2](https://www.rfc-editor.org/rfc/rfc9728.html#section-2)
    pub struct ProtectedResourceMetadata {
        /// Identifier of the server: its URL, or the beginning of its URL.
        resource: String = "resource",
    }
    optional {
        /// Issuers of the authorization servers that the server accepts.
        authorization_servers: Vec<String> = "authorization_servers",
        /// Scopes for basic use of the server.
        scopes_supported: Vec<String> = "scopes_supported",
        /// JWS algorithms of DPoP proofs that the server accepts.
        dpop_signing_alg_values_supported: Vec<String> = "dpop_signing_alg_values_supported",
        /// Whether the server accepts only tokens that are bound to a key (DPoP).
        dpop_bound_access_tokens_required: bool = "dpop_bound_access_tokens_required",
    }
}

object! {
    /// The metadata of an authorization server.
    ///
    /// Spec: [RFC 8414, section 2](https://www.rfc-editor.org/rfc/rfc8414.html#section-2)
    pub struct AuthorizationServerMetadata {
        /// Identifier of the authorization server, a URL.
        issuer: String = "issuer",
        /// URL of the token endpoint.
        token_endpoint: String = "token_endpoint",
    }
    optional {
        /// URL that the user opens to sign in. Absent if users do not sign in.
        authorization_endpoint: String = "authorization_endpoint",
        /// URL at which clients register themselves.
        registration_endpoint: String = "registration_endpoint",
        /// URL at which tokens are revoked.
        ///
        /// Spec: [RFC 7009](https://www.rfc-editor.org/rfc/rfc7009.html)
        revocation_endpoint: String = "revocation_endpoint",
        /// Scopes that can be requested.
        scopes_supported: Vec<String> = "scopes_supported",
        /// Client authentication at the token endpoint. If absent, it is `client_secret_basic`.
        token_endpoint_auth_methods_supported: Vec<String> = "token_endpoint_auth_methods_supported",
        /// PKCE methods. If absent, the authorization server does not support PKCE.
        code_challenge_methods_supported: Vec<String> = "code_challenge_methods_supported",
        /// Whether a client id may be the URL of a metadata document.
        client_id_metadata_document_supported: bool = "client_id_metadata_document_supported",
        /// Whether authorization responses contain the issuer.
        authorization_response_iss_parameter_supported: bool = "authorization_response_iss_parameter_supported",
        /// JWS algorithms of DPoP proofs that the authorization server accepts. If absent, it does
        /// not support DPoP.
        ///
        /// Spec: [RFC 9449, section 5.1](https://www.rfc-editor.org/rfc/rfc9449.html#section-5.1)
        dpop_signing_alg_values_supported: Vec<String> = "dpop_signing_alg_values_supported",
    }
}
