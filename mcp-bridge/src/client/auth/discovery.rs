//! Places of metadata documents, and checks of URLs.
use super::AuthError;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use url::{Host, Url};

/// Parses a URL. It has to use HTTPS, or HTTP to this machine.
pub(super) fn secure_url(what: &'static str, text: &str) -> Result<Url, AuthError> {
    let invalid = || AuthError::Url { what, url: shown(text) };
    let url = Url::parse(text).map_err(|_| invalid())?;
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => return Err(invalid()),
    };
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_local => Ok(url),
        _ => Err(invalid()),
    }
}

/// Returns a URL for an error, without the parts that may be secrets: its query, fragment and user.
pub(super) fn shown(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        _ => text.into(),
    }
}

/// Returns the places of the metadata of a server, in the order to try.
///
/// Spec: [Protected Resource Metadata
/// Discovery](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#protected-resource-metadata-discovery-requirements)
pub(super) fn resource_metadata(server: &Url) -> VecDeque<String> {
    let origin = server.origin().ascii_serialization();
    let path = path(server);
    let root = format!("{origin}/.well-known/oauth-protected-resource");
    let mut places = VecDeque::new();
    if !path.is_empty() {
        places.push_back(format!("{root}{path}"));
    }
    places.push_back(root);
    places
}

/// Returns the places of the metadata of an authorization server, in the order to try.
///
/// Spec: [Authorization Server Metadata
/// Discovery](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-server-metadata-discovery)
pub(super) fn server_metadata(issuer: &Url) -> VecDeque<String> {
    let origin = issuer.origin().ascii_serialization();
    let path = path(issuer);
    let mut places = VecDeque::from([
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ]);
    if !path.is_empty() {
        places.push_back(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    places
}

/// Returns the path of a URL without the slash at its end.
fn path(url: &Url) -> &str {
    url.path().trim_end_matches('/')
}

/// Checks that a resource identifier covers the server: the same origin, and a path that the
/// server's begins with.
pub(super) fn check_resource(server: &Url, resource: &str) -> Result<(), AuthError> {
    let covers = Url::parse(resource).is_ok_and(|resource| {
        let rest = path(server).strip_prefix(path(&resource));
        resource.origin() == server.origin()
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    match covers {
        true => Ok(()),
        false => {
            let expected = shown(server.as_str());
            let actual = shown(resource);
            Err(AuthError::Resource { expected, actual })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{check_resource, resource_metadata, secure_url, server_metadata};
    use alloc::format;
    use alloc::string::ToString;
    use url::Url;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    #[test]
    fn metadata_is_searched_at_the_specified_places() {
        let places = resource_metadata(&url("https://a.example:8443/public/mcp?x=1"));
        let root = "https://a.example:8443/.well-known/oauth-protected-resource";
        assert_eq!(places, [format!("{root}/public/mcp"), root.to_string()]);
        assert_eq!(resource_metadata(&url("https://a.example")).len(), 1);
        assert_eq!(
            server_metadata(&url("https://a.example/tenant1")),
            [
                "https://a.example/.well-known/oauth-authorization-server/tenant1",
                "https://a.example/.well-known/openid-configuration/tenant1",
                "https://a.example/tenant1/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            server_metadata(&url("https://a.example/")),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ]
        );
    }

    #[test]
    fn resource_has_to_cover_the_server() {
        let server = url("https://a.example/api/mcp");
        for good in [
            "https://a.example/api/mcp",
            "https://a.example/api",
            "https://a.example",
            "https://a.example/",
        ] {
            assert!(check_resource(&server, good).is_ok(), "{good}");
        }
        for bad in [
            "https://a.example/ap",
            "https://a.example/api/mcp/x",
            "http://a.example/api/mcp",
            "https://b.example",
            "",
            "x",
        ] {
            assert!(check_resource(&server, bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn errors_show_no_secrets_of_urls() {
        let text = "ftp://user:secret@a.example/mcp?key=secret#secret";
        let shown = "invalid URL of the server: expected https, or http to this machine, got";
        let error = secure_url("server", text).expect_err("an error").to_string();
        assert_eq!(error, format!("{shown} `ftp://a.example/mcp`"));
        let server = url("https://a.example/mcp?key=secret");
        let error = check_resource(&server, "https://b.example").expect_err("an error");
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn plain_http_is_accepted_on_this_machine_only() {
        for good in
            ["https://a.example", "http://localhost:1/x", "http://127.0.0.2", "http://[::1]:9"]
        {
            assert!(secure_url("server", good).is_ok(), "{good}");
        }
        for bad in [
            "http://a.example",
            "http://localhost.example",
            "ftp://localhost",
            "javascript:alert(1)",
            "file:///x",
            "a",
        ] {
            assert!(secure_url("server", bad).is_err(), "{bad}");
        }
    }
}
