//! The `WWW-Authenticate` header of a server that requires authorization.
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter::Peekable;
use core::str::Chars;

/// The Bearer and DPoP challenges of a `WWW-Authenticate` header.
///
/// Spec: [RFC 9110, section 11.6.1](https://www.rfc-editor.org/rfc/rfc9110.html#section-11.6.1),
/// [RFC 6750, section 3](https://www.rfc-editor.org/rfc/rfc6750.html#section-3),
/// [RFC 9449, section 7.1](https://www.rfc-editor.org/rfc/rfc9449.html#section-7.1)
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// URL of the metadata of the server.
    pub(super) resource_metadata: Option<String>,
    /// Required scopes.
    pub(super) scopes: Vec<String>,
    /// Whether the token has too few scopes.
    pub(super) needs_scopes: bool,
    /// Whether the server accepts tokens that are bound to a key.
    pub(super) is_dpop: bool,
    /// JWS algorithms of proofs that the server accepts. Empty if the header does not limit them.
    pub(super) dpop_algs: Vec<String>,
    /// Whether the proof lacks the nonce of the response.
    pub(super) needs_nonce: bool,
}

impl Challenge {
    /// Reads the Bearer and DPoP challenges of a header. The result is empty if the header has
    /// none.
    pub(super) fn read(header: &str) -> Self {
        let mut challenge = Self::default();
        let mut scheme = Scheme::Other;
        let mut rest = header.chars().peekable();
        loop {
            while rest.next_if(|it| it.is_whitespace() || *it == ',').is_some() {}
            let name = token(&mut rest);
            if name.is_empty() {
                // The end, or a character that no token begins with.
                return challenge;
            }
            while rest.next_if(|it| it.is_whitespace()).is_some() {}
            if rest.next_if_eq(&'=').is_none() {
                scheme = match name.to_ascii_lowercase().as_str() {
                    "bearer" => Scheme::Bearer,
                    "dpop" => Scheme::Dpop,
                    _ => Scheme::Other,
                };
                challenge.is_dpop |= scheme == Scheme::Dpop;
                continue;
            }
            while rest.next_if(|it| it.is_whitespace()).is_some() {}
            let value = value(&mut rest);
            match (name.to_ascii_lowercase().as_str(), &scheme) {
                (_, Scheme::Other) => {}
                ("resource_metadata", _) => challenge.resource_metadata = Some(value),
                ("scope", _) => challenge.scopes = words(&value),
                ("algs", Scheme::Dpop) => challenge.dpop_algs = words(&value),
                ("error", _) => {
                    challenge.needs_scopes |= value == "insufficient_scope";
                    challenge.needs_nonce |= scheme == Scheme::Dpop && value == "use_dpop_nonce";
                }
                _ => {}
            }
        }
    }
}

/// The scheme of the parameters that follow.
#[derive(PartialEq, Eq)]
enum Scheme {
    Bearer,
    Dpop,
    Other,
}

/// Splits a list.
fn words(list: &str) -> Vec<String> {
    list.split_ascii_whitespace().map(ToOwned::to_owned).collect()
}

fn token(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut token = String::new();
    while let Some(it) = rest.next_if(|it| !it.is_whitespace() && !matches!(it, ',' | '=' | '"')) {
        token.push(it);
    }
    token
}

fn value(rest: &mut Peekable<Chars<'_>>) -> String {
    if rest.next_if_eq(&'"').is_none() {
        return token(rest);
    }
    let mut value = String::new();
    while let Some(it) = rest.next() {
        match it {
            '"' => break,
            '\\' => value.extend(rest.next()),
            it => value.push(it),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::Challenge;

    #[test]
    fn bearer_parameters_are_read_among_other_challenges() {
        let header = r#"Basic realm="a, b", scope="x", bearer error="insufficient_scope" , scope = "mcp:a  mcp:b",
            resource_metadata="https://a.example/\"m\"?a=b,c", Digest scope=y"#;
        let challenge = Challenge::read(header);
        assert_eq!(challenge.scopes, ["mcp:a", "mcp:b"]);
        assert!(challenge.needs_scopes);
        assert_eq!(challenge.resource_metadata.as_deref(), Some(r#"https://a.example/"m"?a=b,c"#));
    }

    #[test]
    fn dpop_challenge_is_read_beside_a_bearer_challenge() {
        let header =
            r#"DPoP algs="ES256 PS256", error="use_dpop_nonce", Bearer scope="a", algs="x""#;
        let challenge = Challenge::read(header);
        assert!(challenge.is_dpop && challenge.needs_nonce && !challenge.needs_scopes);
        assert_eq!(challenge.dpop_algs, ["ES256", "PS256"]);
        assert_eq!(challenge.scopes, ["a"]);
        let other = Challenge::read(r#"Bearer error="use_dpop_nonce", DPoPX algs=a"#);
        assert!(!other.is_dpop && !other.needs_nonce && other.dpop_algs.is_empty());
    }

    #[test]
    fn malformed_headers_are_read_as_far_as_possible() {
        for header in
            ["", "Basic", "\"", "Bearer =", "Bearer scope", "Bearer scope=\"a", "=,,\"a\""]
        {
            let challenge = Challenge::read(header);
            assert_eq!(challenge.resource_metadata, None, "{header}");
        }
        assert_eq!(Challenge::read("Bearer scope=\"a\\").scopes, ["a"]);
        assert_eq!(Challenge::read("Bearer scope=a").scopes, ["a"]);
    }
}
