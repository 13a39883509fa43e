//! The validation of a token: its header, its signature and its claims.
use super::keys::{Header, Keys};
use super::settings::{OidcSettings, SignatureAlgorithm};
use crate::http::Principal;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header, get_current_timestamp};
use serde_json::{Map, Value};
use std::time::Duration;

/// Maximum size of a token, in bytes.
pub(crate) const MAX_TOKEN: usize = 16 * 1024;

/// Maximum size of the name of a user, in bytes.
const MAX_NAME: usize = 256;

/// Permitted difference between the clocks of the provider and of this machine, in seconds.
const LEEWAY: u64 = 60;

/// Types of tokens that name a user. Others, such as `logout+jwt`, have the same issuer and
/// audience.
///
/// Spec: [RFC 8725, section 3.11](https://www.rfc-editor.org/rfc/rfc8725#section-3.11)
const TYPES: [&str; 3] = ["jwt", "at+jwt", "application/at+jwt"];

/// A token of the provider that is not accepted. The messages contain no part of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenError {
    #[error(
        "expected a signed JWT of at most {MAX_TOKEN} bytes, with a permitted algorithm and type"
    )]
    Header,
    #[error("the key of the token is unknown")]
    UnknownKey,
    #[error("the signature is invalid")]
    Signature,
    #[error("the token has expired")]
    Expired,
    #[error("the token is not valid yet")]
    Early,
    #[error("the token has another issuer")]
    Issuer,
    #[error("the token is for another audience")]
    Audience,
    #[error("the token has no valid claim `{0}`")]
    Claim(String),
    /// A valid token of a user without access.
    #[error("the token does not have the needed {0}")]
    Forbidden(String),
    /// The keys of the provider are unknown. They may be known after this time.
    #[error("the keys of the OpenID provider cannot be read")]
    NoKeys(Duration),
}

impl TokenError {
    /// Returns whether the token is invalid, so that its sender has to wait after many.
    pub(crate) fn is_about_token(&self) -> bool {
        !matches!(self, Self::Forbidden(_) | Self::NoKeys(_))
    }
}

/// Returns the header of a token; `None` if no key can make the token valid.
pub(super) fn header(token: &[u8], permitted: &[SignatureAlgorithm]) -> Option<Header> {
    if token.len() > MAX_TOKEN {
        return None;
    }
    let header = decode_header(token).ok()?;
    let is_type = |own: &String| TYPES.iter().any(|known| own.eq_ignore_ascii_case(known));
    // Extensions that have to be understood are not supported.
    if header.crit.is_some() || !header.typ.as_ref().is_none_or(is_type) {
        return None;
    }
    let algorithm = permitted.iter().find(|it| Algorithm::from(**it) == header.alg)?;
    Some(Header { key: header.kid, algorithm: *algorithm })
}

/// Returns the user of a token with this header, and the end of the token in seconds since 1970.
///
/// Spec: [RFC 9068, section 4](https://www.rfc-editor.org/rfc/rfc9068#section-4)
pub(super) fn user(
    token: &[u8],
    header: &Header,
    keys: &Keys,
    settings: &OidcSettings,
    issuer: &str,
    audience: &str,
) -> Result<(Principal, u64), TokenError> {
    let mut rules = Validation::new(header.algorithm.into());
    rules.leeway = LEEWAY;
    rules.validate_nbf = true;
    rules.set_issuer(&[issuer]);
    rules.set_audience(&[audience]);
    rules.set_required_spec_claims(&["exp", "iss", "aud"]);
    let mut result = Err(TokenError::UnknownKey);
    for key in keys.of(header) {
        result =
            decode::<Map<String, Value>>(token, key, &rules).map_err(|error| refusal(error.kind()));
        if !matches!(result, Err(TokenError::Signature)) {
            break;
        }
    }
    let claims = result.map(|token| token.claims)?;
    // The library accepts a list of issuers, and does not check when a token was issued.
    if claims.get("iss").and_then(Value::as_str) != Some(issuer) {
        return Err(TokenError::Issuer);
    }
    if let Some(issued) = claims.get("iat") {
        let issued = issued.as_f64().ok_or_else(|| TokenError::Claim("iat".to_owned()))?;
        if issued > (get_current_timestamp() + LEEWAY) as f64 {
            return Err(TokenError::Early);
        }
    }
    check_access(&claims, settings)?;
    let name =
        claims.get(&settings.user_claim).and_then(Value::as_str).filter(|name| is_name(name));
    let name = name.ok_or_else(|| TokenError::Claim(settings.user_claim.clone()))?;
    let end = claims.get("exp").and_then(Value::as_f64).unwrap_or_default();
    Ok((name.into(), end as u64))
}

/// Checks the scopes and other claims that tokens need.
fn check_access(claims: &Map<String, Value>, settings: &OidcSettings) -> Result<(), TokenError> {
    let scopes = || ["scope", "scp"].iter().filter_map(|name| claims.get(*name));
    for scope in settings.scope.iter().flat_map(|needed| needed.split_whitespace()) {
        let is_in = |text: &str| text.split_whitespace().any(|own| own == scope);
        if !scopes().any(|value| texts(value).any(is_in)) {
            return Err(TokenError::Forbidden(format!("scope `{scope}`")));
        }
    }
    for (name, needed) in &settings.claims {
        if !claims.get(name).is_some_and(|value| texts(value).any(|own| own == needed)) {
            return Err(TokenError::Forbidden(format!("value of the claim `{name}`")));
        }
    }
    Ok(())
}

/// Returns the texts of a claim: itself, or those of its list.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    value.as_str().into_iter().chain(list.iter().filter_map(Value::as_str))
}

/// Returns whether a claim can name a user. The empty name is that of all callers without
/// authentication.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control)
}

fn refusal(error: &ErrorKind) -> TokenError {
    match error {
        ErrorKind::ExpiredSignature => TokenError::Expired,
        ErrorKind::ImmatureSignature => TokenError::Early,
        ErrorKind::InvalidIssuer => TokenError::Issuer,
        ErrorKind::InvalidAudience => TokenError::Audience,
        ErrorKind::MissingRequiredClaim(name) | ErrorKind::InvalidClaimFormat(name) => {
            TokenError::Claim(name.clone())
        }
        ErrorKind::InvalidSignature => TokenError::Signature,
        _ => TokenError::Header,
    }
}
