//! Responses of authorization servers.
use super::AuthError;
use super::credentials::ErrorResponse;
use super::metadata::AuthorizationServerMetadata;
use jsonrpc_core::wire::{self, DecodeError};

/// Reads the metadata of the authorization server with this issuer.
pub(super) fn authorization_server(
    issuer: &str,
    body: &str,
) -> Result<AuthorizationServerMetadata, AuthError> {
    let server = wire::decode::<AuthorizationServerMetadata>(body);
    let server = server.map_err(|error| invalid("metadata of the authorization server", error))?;
    match server.issuer == issuer {
        true => Ok(server),
        false => Err(AuthError::Issuer { expected: issuer.into(), actual: server.issuer }),
    }
}

/// Returns whether a status is one of success.
pub(super) fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

pub(super) fn invalid(what: &'static str, error: DecodeError) -> AuthError {
    AuthError::Decode { what, error }
}

/// Returns the error of a response without success.
pub(super) fn check_status(what: &'static str, status: u16, body: &str) -> Result<(), AuthError> {
    if is_success(status) {
        return Ok(());
    }
    let response = wire::decode_serde::<ErrorResponse>(body).ok();
    // Spec: RFC 6749, section 5.2.
    let is_of_client =
        |it: &ErrorResponse| matches!(&*it.error, "invalid_client" | "unauthorized_client");
    let is_of_client = response.as_ref().is_some_and(is_of_client);
    let message = response.map(ErrorResponse::message).unwrap_or_default();
    Err(match is_of_client {
        true => AuthError::Client(message),
        false => AuthError::Status { what, status, message },
    })
}
