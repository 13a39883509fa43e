//! Settings of an OpenID Connect provider.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Users of an OpenID Connect provider, if an issuer is set.
///
/// Spec: [RFC 9068](https://www.rfc-editor.org/rfc/rfc9068#section-4), for the validation of access
/// tokens
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct OidcSettings {
    /// URL of the provider, exactly as in the `iss` of its tokens.
    pub issuer: Option<String>,
    /// The `aud` of tokens for this server.
    pub audience: Option<String>,
    /// A file with the keys of the provider, as a JWK set.
    pub jwks_file: Option<PathBuf>,
    /// URL of the keys. Without it and without a file, the provider names the URL in its metadata.
    pub jwks_url: Option<String>,
    /// The claim that names the user.
    pub user_claim: String,
    /// Scopes that a token needs, separated by spaces.
    pub scope: Option<String>,
    /// Values that a token needs in other claims, such as a group.
    pub claims: BTreeMap<String, String>,
    /// Accepted algorithms of signatures.
    pub algorithms: Vec<SignatureAlgorithm>,
}

impl Default for OidcSettings {
    fn default() -> Self {
        use SignatureAlgorithm::{EdDsa, Es256, Ps256, Rs256};
        Self {
            issuer: None,
            audience: None,
            jwks_file: None,
            jwks_url: None,
            user_claim: "sub".to_owned(),
            scope: None,
            claims: BTreeMap::new(),
            algorithms: vec![Rs256, Ps256, Es256, EdDsa],
        }
    }
}

/// An algorithm of signatures with a public key.
///
/// Spec: [RFC 7518, section 3.1](https://www.rfc-editor.org/rfc/rfc7518#section-3.1)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub enum SignatureAlgorithm {
    /// RSA with PKCS #1 v1.5 and SHA-256.
    #[serde(rename = "RS256")]
    Rs256,
    /// RSA with PSS and SHA-256.
    #[serde(rename = "PS256")]
    Ps256,
    /// ECDSA on P-256 with SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// Ed25519.
    #[serde(rename = "EdDSA")]
    EdDsa,
}
