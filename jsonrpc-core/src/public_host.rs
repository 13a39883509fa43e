//! Hosts that are reachable from everywhere, for programs that are given URLs by others.
use core::cell::Cell;
use core::net::{Ipv4Addr, Ipv6Addr};
use url::{Host, SyntaxViolation, Url};

/// Domains that are resolved only within a network or a machine.
///
/// Spec: [Special-use domain names](https://www.iana.org/assignments/special-use-domain-names)
const PRIVATE_NAMES: [&str; 7] =
    ["localhost", "localdomain", "local", "internal", "home.arpa", "onion", "test"];

/// Returns whether a URL names a public host, as a browser reads it: `http://loca%6chost` and
/// `http://0x7f.1` name this machine. Only the text is examined: names are not resolved.
///
/// A URL is not public
///
/// - without a host, or with a scheme other than `http`, `https`, `ws`, `wss` and `ftp`,
/// - if its host is a name without a dot, such as `router`: it is resolved by the network of the
///   reader,
/// - if other readers find another host in it, which may be private, as in
///   `http://a.example\@127.0.0.1`.
///
/// Spec: [URL, host parsing](https://url.spec.whatwg.org/#host-parsing)
///
/// ```
/// use jsonrpc_core::is_public_url;
///
/// assert!(is_public_url("https://example.com/a"));
/// assert!(!is_public_url("https://192.168.0.1/a"));
/// assert!(!is_public_url("http://[::1]:8080"));
/// ```
pub fn is_public_url(url: &str) -> bool {
    let is_ambiguous = Cell::new(false);
    let note = |violation| {
        if may_move_host(violation) {
            is_ambiguous.set(true);
        }
    };
    let Ok(url) = Url::options().syntax_violation_callback(Some(&note)).parse(url) else {
        return false;
    };
    if is_ambiguous.get() || !url.is_special() || url.scheme() == "file" {
        return false;
    }
    match url.host() {
        Some(Host::Ipv4(address)) => is_public_v4(address),
        Some(Host::Ipv6(address)) => is_public_v6(address),
        Some(Host::Domain(name)) => is_public_name(name.trim_end_matches('.')),
        None => false,
    }
}

/// Returns whether readers by [RFC 3986](https://www.rfc-editor.org/rfc/rfc3986) may find another
/// host than browsers.
fn may_move_host(violation: SyntaxViolation) -> bool {
    use SyntaxViolation::{
        Backslash, C0SpaceIgnored, ExpectedDoubleSlash, TabOrNewlineIgnored, UnencodedAtSign,
    };
    matches!(
        violation,
        Backslash | C0SpaceIgnored | ExpectedDoubleSlash | TabOrNewlineIgnored | UnencodedAtSign
    )
}

/// The parser has made the name lower case and ASCII.
fn is_public_name(name: &str) -> bool {
    let is_private = PRIVATE_NAMES.iter().any(|private| {
        name.strip_suffix(*private).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    });
    name.contains('.') && !is_private
}

/// Spec: [Special-purpose addresses](https://www.rfc-editor.org/rfc/rfc6890)
fn is_public_v4(address: Ipv4Addr) -> bool {
    // Shared addresses, protocol assignments, benchmarks, this network, reserved addresses.
    let special = matches!(
        address.octets(),
        [100, 64..=127, ..] | [192, 0, 0, _] | [198, 18 | 19, ..] | [0, ..] | [240..=255, ..]
    );
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || special)
}

/// An address that contains an IPv4 address is as public as that one.
///
/// Spec: [RFC 4291](https://www.rfc-editor.org/rfc/rfc4291#section-2.5.5), compatible and mapped
/// addresses; [RFC 2765](https://www.rfc-editor.org/rfc/rfc2765#section-2.1) and [RFC
/// 6052](https://www.rfc-editor.org/rfc/rfc6052#section-2.1), translation; [RFC
/// 3056](https://www.rfc-editor.org/rfc/rfc3056#section-2), 6to4
fn is_public_v6(address: Ipv6Addr) -> bool {
    let v4 = |high: u16, low: u16| {
        is_public_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        [0x2002, high, low, ..] => v4(high, low),
        // Local translation, Teredo, discarded packets.
        [0x64, 0xff9b, ..] | [0x2001, 0, ..] | [0x100, 0, 0, 0, ..] => false,
        // fc00::/7, fe80::/10, fec0::/10, ff00::/8.
        [first, ..] => {
            !(first & 0xfe00 == 0xfc00 || first & 0xff80 == 0xfe80 || first & 0xff00 == 0xff00)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_public_url;
    use alloc::format;

    #[test]
    fn hosts_of_the_internet_are_public() {
        let hosts = [
            "example.com",
            "EXAMPLE.com.",
            "b\u{fc}cher.example",
            "xn--bcher-kva.example",
            "localhost.example",
            "notlocalhost.com",
            "u@a.example",
            "u:p@a.example",
            "8.8.8.8",
            "0x8.0x8.010.8",
            "[2606:4700::1111]",
            "[::ffff:8.8.8.8]",
            "[64:ff9b::808:808]",
        ];
        for host in hosts {
            assert!(is_public_url(&format!("https://{host}:8443/x@y")), "{host}");
        }
    }

    /// The second value is the host that the URL Standard finds; empty if it finds none.
    ///
    /// Spec: [Host parsing](https://url.spec.whatwg.org/#host-parsing),
    /// [domain to ASCII](https://url.spec.whatwg.org/#concept-domain-to-ascii),
    /// [IPv4 parser](https://url.spec.whatwg.org/#concept-ipv4-parser),
    /// [IPv6 parser](https://url.spec.whatwg.org/#concept-ipv6-parser)
    const PRIVATE_HOSTS: [(&str, &str); 50] = [
        // Names, in any notation.
        ("localhost", "localhost"),
        ("LOCALHOST.", "localhost."),
        ("a.localhost", "a.localhost"),
        ("\u{24db}ocalhost", "localhost"),
        ("\u{ff4c}ocalhost", "localhost"),
        ("lo\u{ad}calhost", "localhost"),
        ("local\u{200b}host", "localhost"),
        ("loca%6chost", "localhost"),
        ("loca%6Chost", "localhost"),
        ("a\u{3002}localhost", "a.localhost"),
        ("%6c%6f%63%61%6c%68%6f%73%74", "localhost"),
        ("localhost.localdomain", "localhost.localdomain"),
        ("ip6-localhost", "ip6-localhost"),
        ("ip6-loopback", "ip6-loopback"),
        ("router", "router"),
        ("db.internal", "db.internal"),
        ("printer.local", "printer.local"),
        ("printer.local.", "printer.local."),
        ("nas.home.arpa", "nas.home.arpa"),
        // IPv4 addresses, in any notation.
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("0177.0.0.01", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0X7f.1", "127.0.0.1"),
        ("127.0.0.0x1", "127.0.0.1"),
        ("\u{ff11}27.0.0.1", "127.0.0.1"),
        ("127%2e0%2e0%2e1", "127.0.0.1"),
        ("\u{2460}27.0.0.1", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("10.1.2.3", "10.1.2.3"),
        ("172.31.0.1", "172.31.0.1"),
        ("169.254.169.254", "169.254.169.254"),
        // IPv6 addresses, also those that contain an IPv4 address.
        ("[::1]", "[::1]"),
        ("[0:0:0:0:0:0:0:1]", "[::1]"),
        ("[::]", "[::]"),
        ("[::1%25lo]", ""),
        ("[::1%lo]", ""),
        ("[fd00::1]", "[fd00::1]"),
        ("[fe80::1]", "[fe80::1]"),
        ("[::ffff:10.0.0.1]", "[::ffff:a00:1]"),
        ("[::ffff:0:7f00:1]", "[::ffff:0:7f00:1]"),
        ("[::7f00:1]", "[::7f00:1]"),
        ("[64:ff9b::7f00:1]", "[64:ff9b::7f00:1]"),
        ("[2002:7f00:1::]", "[2002:7f00:1::]"),
        // User information is not a host, and an empty host is invalid.
        ("example.com@127.0.0.1", "127.0.0.1"),
        ("example.com:80@127.0.0.1", "127.0.0.1"),
        ("", ""),
    ];

    #[test]
    fn hosts_of_networks_and_machines_are_not_public() {
        for (host, expected) in PRIVATE_HOSTS {
            let url = format!("https://{host}:8443/x");
            let parsed = url::Url::parse(&url);
            let found = parsed.as_ref().ok().and_then(|url| url.host_str()).unwrap_or_default();
            assert_eq!(found, expected, "{host}");
            assert!(!is_public_url(&url), "{host}");
        }
    }

    /// Browsers read `example.com` or another public host, and others a private one.
    #[test]
    fn url_with_two_readings_is_not_public() {
        let urls = [
            r"http://example.com\@127.0.0.1",
            r"http:\\example.com@127.0.0.1",
            "http://127.0.0.1@x@example.com",
            "http:/127.0.0.1@example.com",
            "http:example.com",
            "http://exam\tple.com",
            "http://exam\nple.com",
            " http://example.com",
            "\u{1}http://example.com",
        ];
        for url in urls {
            assert!(!is_public_url(url), "{url}");
        }
    }

    #[test]
    fn url_without_a_host_of_the_web_is_not_public() {
        let urls = [
            "example.com",
            "//example.com",
            "mailto:a@example.com",
            "data:text/plain,https://example.com",
            "file://example.com/a",
            "ssh://example.com",
            "http://a b.example",
            "http://a.example:99999",
        ];
        for url in urls {
            assert!(!is_public_url(url), "{url}");
        }
    }
}
