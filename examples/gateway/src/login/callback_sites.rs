//! The addresses that authorization servers may redirect to.
use axum::http::uri::Authority;
use host::http::SiteSettings;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The addresses that authorization servers may redirect to: those of the settings of the site, and
/// of the listener.
#[derive(Clone, Debug)]
pub struct CallbackSites {
    hosts: Vec<String>,
    origins: Vec<String>,
    listen: SocketAddr,
}

impl CallbackSites {
    /// Returns the addresses of a program that listens on `listen`.
    pub fn new(site: &SiteSettings, listen: SocketAddr) -> Self {
        Self { hosts: site.hosts.clone(), origins: site.origins.clone(), listen }
    }

    /// Returns whether a user reaches the program at an origin. Another address may belong to
    /// another machine, although a request can name it: a name of the settings with the port of the
    /// listener or without one, an origin of the settings, or the address of the listener. On all
    /// addresses, only local ones are known.
    pub(super) fn has(&self, origin: &str) -> bool {
        let Some((scheme, host)) = origin.split_once("://") else { return false };
        let Ok(host) = host.parse::<Authority>() else { return false };
        let name = host.host();
        let port = host.port_u16();
        let default = if scheme == "https" { 443 } else { 80 };
        let is_own_port = port.unwrap_or(default) == self.listen.port();
        let is_of_settings = self.origins.iter().any(|own| own == origin)
            || self.hosts.iter().any(|own| own.eq_ignore_ascii_case(name))
                && (port.is_none() || is_own_port);
        let listens_on = |address: IpAddr| {
            let own = self.listen.ip();
            own == address || address.is_loopback() && (own.is_loopback() || own.is_unspecified())
        };
        let is_listener = name.eq_ignore_ascii_case("localhost")
            && listens_on(Ipv4Addr::LOCALHOST.into())
            || name.trim_matches(['[', ']']).parse().is_ok_and(listens_on);
        is_of_settings || is_own_port && is_listener
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirect_leads_to_addresses_of_settings_and_listener_only() {
        let site = SiteSettings {
            hosts: vec!["chat.example".to_owned(), "192.0.2.7".to_owned()],
            origins: vec!["https://chat.example:8443".to_owned()],
            ..SiteSettings::default()
        };
        let local = ["http://127.0.0.1:8787", "http://localhost:8787", "http://[::1]:8787"];
        let of_settings = [
            "https://chat.example",
            "http://chat.example",
            "http://chat.example:8787",
            "https://chat.example:8443",
            "http://192.0.2.7:8787",
        ];
        let foreign = [
            "http://203.0.113.9",
            "http://203.0.113.9:8787",
            "http://[2001:db8::9]:8787",
            "http://localhost:1",
            "http://127.0.0.1",
            "http://chat.example:9000",
            "https://chat.example:9443",
            "http://chat.example@203.0.113.9:8787",
            "http://other.example",
            "chat.example",
        ];
        let listeners =
            [("127.0.0.1:8787", true), ("0.0.0.0:8787", true), ("198.51.100.4:8787", false)];
        for (listen, is_local) in listeners {
            let sites = CallbackSites::new(&site, listen.parse().unwrap());
            for origin in local {
                assert_eq!(sites.has(origin), is_local, "{origin} at {listen}");
            }
            for origin in of_settings {
                assert!(sites.has(origin), "{origin} at {listen}");
            }
            for origin in foreign {
                assert!(!sites.has(origin), "{origin} at {listen}");
            }
            let own = "http://198.51.100.4:8787";
            assert_eq!(sites.has(own), !is_local, "{own} at {listen}");
        }
    }
}
