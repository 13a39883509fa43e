//! Access to an HTTP server that runs agents: its users, pages of other sites, and limits of
//! connections and requests.
//!
//! [`Access`] is one object for three layers of an axum router: [`check_site`] for all routes,
//! [`sign_in`] for the page, and [`authenticate`] for the API, of which [`session_routes`] are a
//! part. [`serve`] accepts the connections. The handlers of the API get a [`Principal`].
//!
//! ```
//! use axum::routing::get;
//! use axum::{Extension, Router, middleware::from_fn_with_state};
//! use host::http::{Access, AuthSettings, Principal, SiteSettings, UserLimits};
//! use host::http::{authenticate, check_site, sign_in};
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), host::http::AccessError> {
//! let listen = ([127, 0, 0, 1], 8080).into();
//! let limits = UserLimits { at_work: 64, a_minute: 1200 };
//! let (site, auth) = (SiteSettings::default(), AuthSettings::default());
//! let (access, token) = Access::new(&site, &auth, limits, listen)?;
//! // Without a token in the settings, one is generated for this start.
//! assert!(token.is_some());
//! let access = Arc::new(access);
//! let name = async |Extension(user): Extension<Principal>| user.as_str().to_owned();
//! let api = Router::new()
//!     .route("/api/name", get(name))
//!     .route_layer(from_fn_with_state(access.clone(), authenticate));
//! let page = Router::new()
//!     .route("/", get(async || "the page"))
//!     .route_layer(from_fn_with_state(access.clone(), sign_in));
//! let router: Router = api.merge(page).layer(from_fn_with_state(access, check_site));
//! # Ok(())
//! # }
//! ```

mod access;
mod access_error;
mod body;
mod connection;
mod failures;
mod grant;
mod layers;
mod oidc;
mod progress;
mod proxies;
mod quotas;
mod request_error;
mod request_refusal;
mod secret;
mod serve;
mod session_routes;
mod sessions;
mod site;
mod tls;
mod users;

pub use access::Access;
pub use access_error::AccessError;
pub use body::{MAX_BODY, read_body, read_json};
pub use connection::{BodyTimeout, Connection, hold};
pub use grant::Principal;
pub use layers::{authenticate, check_site, sign_in};
pub use oidc::{KeysError, OidcSettings, SignatureAlgorithm, SourceError};
pub use proxies::TrustedProxies;
pub use quotas::{RequestPermit, UserLimits};
pub use request_error::{Part, RequestError};
pub use secret::{MIN_LOCAL_TOKEN, MIN_TOKEN, Secret};
pub use serve::{ConnectionLimits, serve};
pub use session_routes::session_routes;
pub use sessions::{SessionLimits, SessionStore};
pub use site::SiteSettings;
pub use tls::{Tls, TlsError};
pub use users::{AuthSettings, cookie_suffix, cookies_of};
