//! The HTTP client under all of the SDK's clients. Left to itself each would have its own, with its own connections, and
//! read the machine's certificates at least twice.

use aws_sdk_dynamodb::config::SharedHttpClient;
use aws_smithy_http_client::Connector;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_smithy_runtime_api::client::http::{HttpConnectorSettings, SharedHttpConnector, http_client_fn};

use super::CONNECT_TIMEOUT;

/// Amazon Root CA 1 to 4 and Starfield Services Root CA G2, valid until December 2037 at least.
/// <https://www.amazontrust.com/repository/>
const AMAZON_ROOTS: &[u8] = include_bytes!("amazon-roots.pem");

/// Whose certificates are believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Those of Amazon's own authorities, which all endpoints of AWS have. They are read in a tenth of a millisecond,
    /// the hundred and forty authorities of a machine in three.
    Amazon,
    /// Those that the machine believes, such as a company's proxy.
    Machine,
}

/// One connector for whoever asks, so that there is one pool of connections.
pub(super) fn client(trust: Trust) -> SharedHttpClient {
    let store = match trust {
        Trust::Amazon => TrustStore::empty().with_pem_certificate(AMAZON_ROOTS),
        Trust::Machine => TrustStore::default(),
    };
    let connector = Connector::builder()
        .connector_settings(HttpConnectorSettings::builder().connect_timeout(CONNECT_TIMEOUT).build())
        .proxy_config(ProxyConfig::from_env())
        .tls_provider(Provider::Rustls(CryptoMode::AwsLc))
        .tls_context(TlsContext::builder().with_trust_store(store).build().unwrap_or_default())
        .build();
    let connector = SharedHttpConnector::new(connector);
    http_client_fn(move |_, _| connector.clone())
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// As Amazon publishes them.
    const FINGERPRINTS: [&str; 5] = [
        "8ecde6884f3d87b1125ba31ac3fcb13d7016de7f57cc904fe1cb97c6ae98196e",
        "1ba5b2aa8c65401a82960118f80bec4f62304d83cec4713a19c39c011ea46db4",
        "18ce6cfe7bf14e60b2e347b8dfe868cb31d02ebb3ada271569f50343b46db3a4",
        "e35d28419ed02025cfa69038cd623962458da5c695fbdea3c22b0bfb25897092",
        "568d6905a2c88708a4b3025190edcfedb1974a606a13c6e5290fcb2ae63edab5",
    ];

    #[test]
    fn the_authorities_that_functions_believe_are_amazons_five() {
        let text = std::str::from_utf8(AMAZON_ROOTS).unwrap();
        let fingerprints = text.split("-----BEGIN CERTIFICATE-----").skip(1).map(|certificate| {
            let body: String = certificate.split("-----END").next().unwrap().split_whitespace().collect();
            format!("{:x}", Sha256::digest(STANDARD.decode(body).unwrap()))
        });
        assert_eq!(fingerprints.collect::<Vec<_>>(), FINGERPRINTS);
    }

    #[test]
    fn the_tls_stack_can_read_them() {
        // It panics over a certificate that it cannot read.
        client(Trust::Amazon);
    }
}
