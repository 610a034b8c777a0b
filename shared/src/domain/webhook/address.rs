//! Which addresses an endpoint may have: those that everybody in the internet can reach, and no others. Behind the others
//! are we ourselves: our network, our machine, and the service that hands out its credentials.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::WebhookUrl;

/// What the registry of special-purpose addresses keeps from being reached by everybody, with multicast, and with the
/// protocol assignments and relays as a whole.
/// <https://www.iana.org/assignments/iana-ipv4-special-registry>
const FORBIDDEN_IPV4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// Global unicast is all of it that is given out: <https://www.iana.org/assignments/ipv6-address-space>. Outside are
/// loopback, unique local (also `fd00:ec2::254`), link-local, multicast, IPv4-mapped and -compatible, and NAT64.
const GLOBAL_UNICAST: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// What of it is not for everybody, or carries an IPv4 address inside.
/// <https://www.iana.org/assignments/iana-ipv6-special-registry>
const FORBIDDEN_IPV6: [(Ipv6Addr, u32); 4] = [
    // Protocol assignments: Teredo, benchmarking, ORCHID.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

fn in_ipv4(address: Ipv4Addr, (network, length): (Ipv4Addr, u32)) -> bool {
    (address.to_bits() ^ network.to_bits()).leading_zeros() >= length
}

fn in_ipv6(address: Ipv6Addr, (network, length): (Ipv6Addr, u32)) -> bool {
    (address.to_bits() ^ network.to_bits()).leading_zeros() >= length
}

/// Whether everybody in the internet can reach this address, so that reaching it from here gives nobody more than they
/// have. In doubt it is not.
#[must_use]
pub fn is_globally_reachable(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !FORBIDDEN_IPV4.into_iter().any(|network| in_ipv4(address, network)),
        IpAddr::V6(address) => {
            in_ipv6(address, GLOBAL_UNICAST) && !FORBIDDEN_IPV6.into_iter().any(|network| in_ipv6(address, network))
        }
    }
}

/// The addresses that may be called: all that everybody can reach and, on a laptop, a few others for tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressRule {
    also: Vec<IpAddr>,
}

/// The text is no list of addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be addresses, separated by commas, and {0:?} is none")]
pub struct InvalidAddressRule(String);

impl FromStr for AddressRule {
    type Err = InvalidAddressRule;

    /// From the other addresses, separated by commas; there may be none.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let addresses = text.split(',').map(str::trim).filter(|address| !address.is_empty());
        let also = addresses.map(|address| address.parse().map_err(|_| InvalidAddressRule(address.to_owned())));
        Ok(Self { also: also.collect::<Result<_, _>>()? })
    }
}

impl AddressRule {
    /// Whether this address may be called.
    #[must_use]
    pub fn admits(&self, address: IpAddr) -> bool {
        is_globally_reachable(address) || self.also.contains(&address)
    }

    /// Whether no others than those that everybody can reach may be called.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        self.also.is_empty()
    }

    /// Whether this may be somebody's endpoint, as far as its text tells: a name is looked up before each call, and its
    /// addresses are asked for then. Without TLS only an address that is allowed by itself.
    #[must_use]
    pub fn admits_url(&self, url: &WebhookUrl) -> bool {
        match url.address() {
            Some(address) => self.admits(address) && (url.is_https() || self.also.contains(&address)),
            None => url.is_https(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reachable(address: &str) -> bool {
        is_globally_reachable(address.parse().unwrap())
    }

    #[test]
    fn addresses_of_the_internet_are_reachable() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "52.94.236.248",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2400:cb00::1",
            "2606:4700:4700::1111",
            "2a00:1450:4001::1",
            "3ffe:ffff::1",
        ] {
            assert!(reachable(address), "{address}");
        }
    }

    #[test]
    fn whatever_is_private_special_or_hides_another_address_is_not() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.0.1",
            "169.254.169.254",
            "169.254.170.2",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:8.8.8.8",
            "::ffff:0:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:7f00:1::",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:1ff::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:a9fe:a9fe::1",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!reachable(address), "{address}");
        }
    }

    #[test]
    fn a_listed_address_is_admitted_and_no_other_private_one() {
        let rule: AddressRule = "127.0.0.1, ::1".parse().unwrap();
        assert!(!rule.is_strict());
        for (address, admitted) in
            [("127.0.0.1", true), ("::1", true), ("8.8.8.8", true), ("127.0.0.2", false), ("10.0.0.1", false)]
        {
            assert_eq!(rule.admits(address.parse().unwrap()), admitted, "{address}");
        }
        assert!(AddressRule::from_str("").unwrap().is_strict());
        assert!(AddressRule::from_str("127.0.0.1/8").is_err());
    }

    #[test]
    fn a_url_is_admitted_over_tls_and_without_it_only_to_a_listed_address() {
        let (strict, local) = (AddressRule::default(), AddressRule::from_str("127.0.0.1").unwrap());
        for (url, by_strict, by_local) in [
            ("https://hooks.example.com/a", true, true),
            ("https://8.8.8.8/a", true, true),
            ("http://hooks.example.com:8080/a", false, false),
            ("http://8.8.8.8:8080/a", false, false),
            ("http://127.0.0.1:8080/a", false, true),
            ("https://127.0.0.1:8443/a", false, true),
            ("https://127.0.0.2:8443/a", false, false),
            ("https://0x7f.1:8443/a", false, true),
            ("https://2130706433:8443/a", false, true),
            ("https://[::ffff:127.0.0.1]:8443/a", false, false),
            ("https://169.254.169.254/latest", false, false),
            ("https://0xa9fea9fe/latest", false, false),
        ] {
            let parsed: WebhookUrl = url.parse().unwrap();
            assert_eq!((strict.admits_url(&parsed), local.admits_url(&parsed)), (by_strict, by_local), "{url}");
        }
    }

    proptest! {
        /// Against the standard library's own words for the kinds of addresses.
        #[test]
        fn no_address_of_a_kind_that_the_standard_library_knows_as_special_is_reachable(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            let special = address.is_private() || address.is_loopback() || address.is_link_local()
                || address.is_broadcast() || address.is_documentation() || address.is_multicast()
                || address.is_unspecified();
            prop_assert!(!(special && is_globally_reachable(address.into())), "{address}");
        }

        #[test]
        fn no_ipv6_address_that_carries_an_ipv4_address_in_a_known_way_is_reachable(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            let [a, b] = [(bits >> 16) as u16, (bits & 0xffff) as u16];
            for carrier in [
                address.to_ipv6_mapped(),
                address.to_ipv6_compatible(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a, b),
                Ipv6Addr::new(0x2002, a, b, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0x2001, 0, a, b, 0, 0, !a, !b),
            ] {
                prop_assert!(!is_globally_reachable(carrier.into()), "{carrier}");
            }
        }

        #[test]
        fn outside_global_unicast_nothing_is_reachable(bits: u128) {
            let address = Ipv6Addr::from_bits(bits);
            if is_globally_reachable(address.into()) {
                prop_assert!((0x2000..=0x3fff).contains(&address.segments()[0]), "{address}");
            }
        }
    }
}
