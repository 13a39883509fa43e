//! Rejected credentials, counted by the network of the address that sent them.
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of rejected credentials of an address in [`WINDOW`].
const MAX_FAILURES: u32 = 8;

/// Time after which the failures of an address are forgotten.
const WINDOW: Duration = Duration::from_secs(10);

/// Maximum number of addresses that are remembered. Beyond it, further addresses share one entry.
const MAX_ADDRESSES: usize = 1024;

/// Rejected credentials of each address.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    by_address: Mutex<HashMap<Option<IpAddr>, Window>>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    began: Instant,
    failures: u32,
}

impl Failures {
    /// Returns how long an address has to wait, if it has reached the limit.
    pub(crate) fn wait(&self, address: Option<IpAddr>, now: Instant) -> Option<Duration> {
        let address = address.map(network);
        let windows = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.get(&address).or_else(|| windows.get(&None))?;
        let left = WINDOW.checked_sub(now.saturating_duration_since(window.began))?;
        (window.failures >= MAX_FAILURES).then_some(left)
    }

    /// Counts a failure. Returns whether it is within the limit, so that it can be logged.
    pub(crate) fn count(&self, address: Option<IpAddr>, now: Instant) -> bool {
        let address = address.map(network);
        let mut windows = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = |window: &Window| now.saturating_duration_since(window.began) < WINDOW;
        if windows.len() >= MAX_ADDRESSES {
            windows.retain(|_, window| is_current(window));
        }
        let has_room = windows.len() < MAX_ADDRESSES || windows.contains_key(&address);
        let window = windows
            .entry(if has_room { address } else { None })
            .or_insert(Window { began: now, failures: 0 });
        if !is_current(window) {
            *window = Window { began: now, failures: 0 };
        }
        window.failures = window.failures.saturating_add(1);
        window.failures <= MAX_FAILURES
    }
}

/// Bits of an address of version 6 that name one network; its owner can choose the others.
const NETWORK_BITS: u32 = 64;

/// Returns the address as which failures are counted.
///
/// Spec: [RFC 4291, section 2.5.4](https://www.rfc-editor.org/rfc/rfc4291#section-2.5.4)
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() >> NETWORK_BITS << NETWORK_BITS).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_for_one_address_and_one_window() {
        let failures = Failures::default();
        let now = Instant::now();
        let [one, other] = [1, 2].map(|last| Some(IpAddr::from([10, 0, 0, last])));
        for _ in 0..MAX_FAILURES {
            assert_eq!(failures.wait(one, now), None);
            assert!(failures.count(one, now));
        }
        assert_eq!(failures.wait(one, now + WINDOW / 2), Some(WINDOW / 2));
        assert!(!failures.count(one, now), "further failures are not logged");
        assert_eq!(failures.wait(other, now), None);
        assert_eq!(failures.wait(one, now + WINDOW + Duration::from_millis(1)), None);
        assert!(failures.count(one, now + WINDOW), "a window of its own");
    }

    #[test]
    fn addresses_of_one_network_share_a_limit() {
        let failures = Failures::default();
        let now = Instant::now();
        let address = |text: &str| Some(text.parse::<IpAddr>().unwrap());
        for number in 0..MAX_FAILURES {
            assert!(failures.count(address(&format!("2001:db8:0:1::{number:x}")), now));
        }
        assert!(failures.wait(address("2001:db8:0:1:ffff::"), now).is_some());
        assert_eq!(failures.wait(address("2001:db8:0:2::"), now), None);
        assert!((0..MAX_FAILURES).all(|_| failures.count(address("::ffff:10.0.0.1"), now)));
        assert!(failures.wait(address("10.0.0.1"), now).is_some());
        assert_eq!(failures.wait(address("::ffff:10.0.0.2"), now), None);
    }

    #[test]
    fn many_addresses_use_bounded_memory() {
        let failures = Failures::default();
        let now = Instant::now();
        for number in 0..4 * MAX_ADDRESSES {
            let number = u32::try_from(number).unwrap();
            failures.count(Some(IpAddr::from(number.to_be_bytes())), now);
        }
        assert!(failures.by_address.lock().unwrap().len() <= MAX_ADDRESSES + 1);
        let unknown = Some(IpAddr::from([255, 0, 0, 1]));
        assert!(failures.wait(unknown, now).is_some(), "the addresses without an entry share one");
    }
}
