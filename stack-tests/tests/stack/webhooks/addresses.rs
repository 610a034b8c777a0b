//! No request reaches an address that is not for everybody: not when it is registered, not by a name, not by a name that
//! means something else a moment later.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use parceltrack::domain::{AddressRule, AttemptEnd, CallError, DomainEventType, WebhookUrl};
use reqwest::Method;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{RootCertStore, ServerConfig};
use serde_json::json;
use stack_tests::Stack;
use stack_tests::webhooks::{Behaviour, Endpoint, Merchant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use webhook_worker::{CallEndpoint as _, EndpointCall, Endpoints, ResolveName, SystemResolver};

const NAME: &str = "shop.example.com";

#[tokio::test]
async fn what_is_plainly_inside_is_refused_when_it_is_registered() {
    let stack = Stack::running().await;
    let merchant = Merchant::new(&stack).await;
    for url in [
        "http://shop.example.com:8080/",
        "https://10.0.0.1/",
        "https://127.0.0.2/",
        "https://0x7f000002/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://[fd00:ec2::254]/latest/",
        "https://[::ffff:10.0.0.1]/",
        "https://[64:ff9b::a9fe:a9fe]/",
        "https://localhost/",
        "https://metadata.google.internal/",
        "https://user:secret@shop.example.com/",
        "https://shop.example.com:22/",
        "ftp://shop.example.com/",
        "shop.example.com",
    ] {
        let body = json!({"url": url, "eventTypes": ["ParcelCreated"], "contactEmail": "tan@example.com"});
        let problem = merchant.ask(Method::POST, "/api/webhooks", Some(body), 422).await;
        assert_eq!(problem["errors"][0]["field"], "url", "{url}: {problem}");
    }
    merchant.register("https://shop.example.com/", &[DomainEventType::ParcelCreated]).await;
}

/// A name that means something else each time.
struct Changing(Mutex<VecDeque<Vec<&'static str>>>);

#[async_trait]
impl ResolveName for Changing {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        assert_eq!(name, NAME);
        let addresses = self.0.lock().unwrap().pop_front().ok_or(io::ErrorKind::NotFound)?;
        Ok(addresses.into_iter().map(|address| address.parse().unwrap()).collect())
    }
}

/// A server with a certificate for [`NAME`]: its port, the roots that trust it, and how many requests it has got.
async fn tls_server() -> (u16, RootCertStore, Arc<Mutex<usize>>) {
    let made = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
    let (certificate, key) = (made.cert.der().clone(), made.signing_key.serialize_der());
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let chain: Vec<CertificateDer<'static>> = vec![certificate];
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::try_from(key).unwrap())
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests = Arc::new(Mutex::new(0));
    let counted = requests.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Who does not trust it goes away again.
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut request = vec![0; 4096];
            let read = stream.read(&mut request).await.unwrap();
            assert!(request[..read].starts_with(b"POST /hooks?x=1 HTTP/1.1\r\n"));
            *counted.lock().unwrap() += 1;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
        }
    });
    (port, roots, requests)
}

async fn call(endpoints: &Endpoints, url: &str) -> AttemptEnd {
    let url: WebhookUrl = url.parse().unwrap();
    let headers = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| (name, "x".to_owned()));
    endpoints.call(EndpointCall { url: &url, headers, body: "{}" }).await
}

fn unanswered(error: CallError) -> AttemptEnd {
    AttemptEnd::Unanswered { error }
}

#[tokio::test]
async fn a_name_is_looked_up_and_checked_for_each_call_and_only_the_checked_address_is_connected_to() {
    let (port, roots, requests) = tls_server().await;
    // Only 127.0.0.1 counts as outside here; what a name may turn to is private.
    let turns = [
        vec!["127.0.0.1"],
        // Rebound, to our own network and to the service that hands out credentials.
        vec!["10.0.0.1"],
        vec!["169.254.169.254", "fd00:ec2::254", "::ffff:127.0.0.1", "127.0.0.2"],
        // Of several the good ones are used.
        vec!["10.0.0.1", "127.0.0.1"],
        vec![],
    ];
    let resolver = Arc::new(Changing(Mutex::new(turns.into())));
    let endpoints = Endpoints::trusting(resolver, "127.0.0.1".parse().unwrap(), roots).unwrap();
    let url = format!("https://{NAME}:{port}/hooks?x=1");
    let ok = AttemptEnd::Answered { status: 200, response_start: "ok".to_owned() };
    assert_eq!(call(&endpoints, &url).await, ok);
    assert_eq!(call(&endpoints, &url).await, unanswered(CallError::AddressForbidden));
    assert_eq!(call(&endpoints, &url).await, unanswered(CallError::AddressForbidden));
    assert_eq!(call(&endpoints, &url).await, ok);
    assert_eq!(call(&endpoints, &url).await, unanswered(CallError::CouldNotResolve));
    assert_eq!(call(&endpoints, &url).await, unanswered(CallError::CouldNotResolve), "the name is gone");
    assert_eq!(*requests.lock().unwrap(), 2);
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_ends_the_call() {
    let (port, _, requests) = tls_server().await;
    let resolver = Arc::new(Changing(Mutex::new([vec!["127.0.0.1"]].into())));
    let endpoints = Endpoints::new(resolver, "127.0.0.1".parse().unwrap()).unwrap();
    let end = call(&endpoints, &format!("https://{NAME}:{port}/hooks?x=1")).await;
    assert_eq!(end, unanswered(CallError::TlsFailed));
    assert_eq!(*requests.lock().unwrap(), 0);
}

#[tokio::test]
async fn outside_a_laptop_not_even_this_machine_is_called() {
    let endpoint = Endpoint::start(Behaviour::Status(200)).await;
    let strict = Endpoints::new(Arc::new(SystemResolver), AddressRule::default()).unwrap();
    assert_eq!(call(&strict, &endpoint.url).await, unanswered(CallError::AddressForbidden));
    let port = endpoint.url.split(':').nth(2).unwrap().split('/').next().unwrap();
    for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        let end = call(&strict, &format!("https://{host}:{port}/")).await;
        assert_eq!(end, unanswered(CallError::AddressForbidden), "{host}");
    }
    assert!(endpoint.received().is_empty());
}
