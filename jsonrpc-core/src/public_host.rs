//! Hosts that are reachable from everywhere, for programs that are given URLs by others.
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Domains that are resolved only within a network or a machine.
///
/// Spec: [Special-use domain names](https://www.iana.org/assignments/special-use-domain-names)
const PRIVATE_NAMES: [&str; 4] = ["localhost", "local", "internal", "home.arpa"];

/// Returns whether a URL names a public host. Only the text is examined: names are not resolved. A URL without a host, or with
/// an unusual notation of an address, is not public.
///
/// ```
/// use jsonrpc_core::is_public_url;
///
/// assert!(is_public_url("https://example.com/a"));
/// assert!(!is_public_url("https://192.168.0.1/a"));
/// assert!(!is_public_url("http://[::1]:8080"));
/// ```
pub fn is_public_url(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let name = match host.strip_prefix('[') {
        Some(literal) => literal.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    match name.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => is_public_v4(address),
        Ok(IpAddr::V6(address)) => is_public_v6(address),
        // Other notations of addresses are numeric too: `127.1`, `0x7f000001`.
        Err(_) => {
            let last = name.rsplit('.').next().unwrap_or_default();
            let number = last.starts_with(|c: char| c.is_ascii_digit());
            let is_private = PRIVATE_NAMES.iter().any(|private| {
                name.strip_suffix(*private)
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            });
            !number && !name.is_empty() && !is_private
        }
    }
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
/// Spec: [RFC 4291](https://www.rfc-editor.org/rfc/rfc4291#section-2.5.5), compatible and mapped addresses;
/// [RFC 6052](https://www.rfc-editor.org/rfc/rfc6052#section-2.1), translation;
/// [RFC 3056](https://www.rfc-editor.org/rfc/rfc3056#section-2), 6to4
fn is_public_v6(address: Ipv6Addr) -> bool {
    let v4 = |high: u16, low: u16| {
        is_public_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            v4(high, low)
        }
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
    fn addresses_of_networks_and_machines_are_not_public() {
        for public in
            ["example.com", "8.8.8.8", "[2606:4700::1111]", "localhost.example", "u@a.example"]
        {
            assert!(is_public_url(&format!("https://{public}:8443/x@y")), "{public}");
        }
        let private = [
            "127.0.0.1",
            "127.1",
            "0x7f000001",
            "10.1.2.3",
            "169.254.169.254",
            "[::1]",
            "[fd00::1]",
            "[::ffff:10.0.0.1]",
            "[64:ff9b::7f00:1]",
            "a.localhost",
            "LOCALHOST.",
            "db.internal",
            "example.com@127.0.0.1",
            "",
        ];
        for private in private {
            assert!(!is_public_url(&format!("https://{private}:8443/x")), "{private}");
        }
        assert!(!is_public_url("example.com"), "no URL");
    }
}
