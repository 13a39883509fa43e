//! Addresses of the proxies that may name the user.
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Addresses or networks, such as `127.0.0.1` or `10.0.0.0/8`. In a variable they are separated by
/// commas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "ProxySetting", into = "Vec<String>")]
pub struct TrustedProxies(Vec<IpNet>);

/// The forms of the setting.
#[derive(Deserialize)]
#[serde(untagged)]
enum ProxySetting {
    Text(String),
    List(Vec<String>),
}

impl TrustedProxies {
    /// Returns whether no address is trusted.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a connection from this address is one of a proxy.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        // A listener for both versions of IP has the address of a client with IPv4 within one of
        // IPv6.
        let address = address.to_canonical();
        self.0.iter().any(|net| net.contains(&address))
    }
}

impl TryFrom<ProxySetting> for TrustedProxies {
    type Error = String;

    fn try_from(written: ProxySetting) -> Result<Self, String> {
        let list = match written {
            ProxySetting::Text(text) => text.split(',').map(str::to_owned).collect(),
            ProxySetting::List(list) => list,
        };
        let parse = |text: &String| {
            let text = text.trim();
            let wrong = "expected an address or a network, such as 10.0.0.0/8";
            let address = text.parse::<IpAddr>().map(IpNet::from);
            address.or_else(|_| text.parse()).map_err(|_| format!("{wrong}, got `{text}`"))
        };
        Ok(Self(list.iter().map(parse).collect::<Result<_, _>>()?))
    }
}

impl From<TrustedProxies> for Vec<String> {
    fn from(proxies: TrustedProxies) -> Self {
        proxies.0.iter().map(ToString::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_networks_are_read() {
        let written = ProxySetting::Text("127.0.0.1, 10.0.0.0/8,fd00::/8".to_owned());
        let proxies = TrustedProxies::try_from(written).unwrap();
        for (address, is_trusted) in [
            ("127.0.0.1", true),
            ("127.0.0.2", false),
            ("10.1.2.3", true),
            ("11.0.0.1", false),
            ("::ffff:10.1.2.3", true),
            ("fd00::1", true),
            ("::1", false),
        ] {
            assert_eq!(proxies.contains(address.parse().unwrap()), is_trusted, "{address}");
        }
        let again = TrustedProxies::try_from(ProxySetting::List(proxies.clone().into())).unwrap();
        assert_eq!(again, proxies);
        let wrong = TrustedProxies::try_from(ProxySetting::List(vec!["proxy.example".to_owned()]));
        let error = "expected an address or a network, such as 10.0.0.0/8, got `proxy.example`";
        assert_eq!(wrong.unwrap_err(), error);
    }
}
