//! Where events are sent.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// The longest URL, in characters.
const MAX_LENGTH: usize = 2048;

/// The port of https, which is allowed below those that anybody may listen on.
const HTTPS: u16 = 443;

/// The first port that anybody may listen on: below are mail servers and the like, which must not hear from us.
const FIRST_FREE_PORT: u16 = 1024;

/// Last labels of names that mean something only inside a network (RFC 6761, RFC 6762, and what ICANN reserved).
const INSIDE: [&str; 3] = ["localhost", "local", "internal"];

/// The URL of an endpoint: http or https, a host, a port that may be called, no user, no password, no fragment. Whether its
/// host may be called says [`AddressRule`](super::AddressRule).
///
/// Its `Debug` hides the path, which may hold a secret of the merchant's.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WebhookUrl(Url);

/// Why a text is not the URL of an endpoint, worded for the person who typed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWebhookUrl {
    /// Over the length.
    #[error("must be at most {MAX_LENGTH} characters long")]
    TooLong,
    /// No URL, or one of another kind.
    #[error("must be a URL such as https://shop.example.com/webhooks")]
    Malformed,
    /// A user or password in it.
    #[error("must not have a user or a password: the signature says who calls")]
    HasUser,
    /// A fragment, which is never sent.
    #[error("must not have a fragment")]
    HasFragment,
    /// A port that must not be called.
    #[error("must have port 443, or one from 1024 on")]
    ForbiddenPort,
    /// A name that means nothing in the internet.
    #[error("must have a host of the public internet")]
    NameFromInside,
}

impl WebhookUrl {
    /// As it is called.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether it is called over TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Its host, if that is an address and no name.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        match self.0.host()? {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }

    /// Its host: a name in ASCII, or an address without brackets.
    #[must_use]
    pub fn host(&self) -> String {
        match self.0.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => String::new(),
        }
    }

    /// Its port, also where it is the usual one.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(HTTPS)
    }

    /// Host and port, as the `Host` header has them: without the port where it is the usual one.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.0.authority()
    }

    /// Path and query, as the request line has them.
    #[must_use]
    pub fn path_and_query(&self) -> String {
        match self.0.query() {
            Some(query) => format!("{}?{query}", self.0.path()),
            None => self.0.path().to_owned(),
        }
    }
}

impl FromStr for WebhookUrl {
    type Err = InvalidWebhookUrl;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.chars().count() > MAX_LENGTH {
            return Err(InvalidWebhookUrl::TooLong);
        }
        // The parser would take white space around it and line breaks in it away.
        if text.chars().any(|character| character.is_whitespace() || character.is_control()) {
            return Err(InvalidWebhookUrl::Malformed);
        }
        let url = Url::parse(text).map_err(|_| InvalidWebhookUrl::Malformed)?;
        if !matches!(url.scheme(), "http" | "https") || url.as_str().len() > MAX_LENGTH {
            return Err(InvalidWebhookUrl::Malformed);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidWebhookUrl::HasUser);
        }
        if url.fragment().is_some() {
            return Err(InvalidWebhookUrl::HasFragment);
        }
        if !url.port_or_known_default().is_some_and(|port| port == HTTPS || port >= FIRST_FREE_PORT) {
            return Err(InvalidWebhookUrl::ForbiddenPort);
        }
        if let Some(Host::Domain(name)) = url.host() {
            let name = name.strip_suffix('.').unwrap_or(name);
            let (_, last) = name.rsplit_once('.').ok_or(InvalidWebhookUrl::NameFromInside)?;
            if INSIDE.contains(&last) {
                return Err(InvalidWebhookUrl::NameFromInside);
            }
        }
        Ok(Self(url))
    }
}

impl TryFrom<String> for WebhookUrl {
    type Error = InvalidWebhookUrl;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<WebhookUrl> for String {
    fn from(url: WebhookUrl) -> Self {
        url.0.into()
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "WebhookUrl({}…)", self.0.scheme())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart_as_it_is_called() {
        let url: WebhookUrl = "https://Shop.Example.com/hooks/a%20b?x=1&y".parse().unwrap();
        assert_eq!((url.host().as_str(), url.port(), url.address()), ("shop.example.com", 443, None));
        assert_eq!((url.authority(), url.path_and_query().as_str()), ("shop.example.com", "/hooks/a%20b?x=1&y"));
        let url: WebhookUrl = "https://[2606:4700::1]:8443".parse().unwrap();
        assert_eq!((url.host().as_str(), url.port()), ("2606:4700::1", 8443));
        assert_eq!((url.authority(), url.path_and_query().as_str()), ("[2606:4700::1]:8443", "/"));
        assert_eq!(url.address(), Some("2606:4700::1".parse().unwrap()));
    }

    #[test]
    fn an_address_is_known_however_it_is_written() {
        for text in ["https://127.1/", "https://0x7f000001/", "https://2130706433/", "https://0177.0.0.1/"] {
            let url: WebhookUrl = text.parse().unwrap();
            assert_eq!(url.address(), Some("127.0.0.1".parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn names_of_other_scripts_are_called_by_their_ascii_form() {
        let url: WebhookUrl = "https://商店.example/".parse().unwrap();
        assert_eq!(url.host(), "xn--czrs0t.example");
    }

    #[test]
    fn what_is_wrong_is_said() {
        use InvalidWebhookUrl as Why;
        for (text, why) in [
            ("", Why::Malformed),
            ("shop.example.com", Why::Malformed),
            ("ftp://shop.example.com/", Why::Malformed),
            ("file:///etc/passwd", Why::Malformed),
            ("https://", Why::Malformed),
            ("https://shop .example.com/", Why::Malformed),
            ("https://shop.example.com/\n", Why::Malformed),
            ("https://user@shop.example.com/", Why::HasUser),
            ("https://user:secret@shop.example.com/", Why::HasUser),
            ("https://shop.example.com/#part", Why::HasFragment),
            ("https://shop.example.com:25/", Why::ForbiddenPort),
            ("http://shop.example.com/", Why::ForbiddenPort),
            ("https://localhost/", Why::NameFromInside),
            ("https://intranet/", Why::NameFromInside),
            ("https://a.localhost./", Why::NameFromInside),
            ("https://printer.local/", Why::NameFromInside),
            ("https://metadata.google.internal/", Why::NameFromInside),
        ] {
            assert_eq!(text.parse::<WebhookUrl>(), Err(why), "{text}");
        }
        let long = format!("https://shop.example.com/{}", "a".repeat(MAX_LENGTH));
        assert_eq!(long.parse::<WebhookUrl>(), Err(Why::TooLong));
    }

    #[test]
    fn its_debug_output_hides_what_it_says() {
        let url: WebhookUrl = "https://shop.example.com/hooks/a-secret".parse().unwrap();
        assert_eq!(format!("{url:?}"), "WebhookUrl(https…)");
    }
}
