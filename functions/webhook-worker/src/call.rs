//! One call of an endpoint: looked up, checked, connected to just the address that was checked, and nothing followed.
//!
//! A connection of its own for each call: none is kept that a name was once allowed for, and none that died while the
//! function was frozen. No proxy of the environment is asked, and no redirect followed, since both lead elsewhere.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, USER_AGENT};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use parceltrack::domain::{AddressRule, AttemptEnd, CallError, MAX_RESPONSE_START, WebhookUrl};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;

use crate::resolve::ResolveName;

/// How long a call may take, from the look-up of the name to the head of the answer.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(10);

/// How long of that the look-up and the connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// How many of a name's addresses are tried.
const ADDRESSES: usize = 3;

/// How long the beginning of the answer's body is waited for, once its head has come and so the call is decided.
const BODY_TIMEOUT: Duration = Duration::from_millis(500);

/// The largest head of an answer that is read, in bytes.
const MAX_HEAD: usize = 32 * 1024;

/// Who calls, as endpoints see it.
const AGENT: &str = "ParcelTrack-Webhooks/1";

/// What an endpoint is sent.
#[derive(Clone, Debug)]
pub struct EndpointCall<'a> {
    /// Where.
    pub url: &'a WebhookUrl,
    /// The headers of the Standard Webhooks scheme: name and value.
    pub headers: [(&'static str, String); 3],
    /// What.
    pub body: &'a str,
}

/// Calls endpoints.
#[async_trait]
pub trait CallEndpoint: Send + Sync {
    /// Once.
    async fn call(&self, call: EndpointCall<'_>) -> AttemptEnd;
}

/// This machine has no certificates by which others could be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoots;

impl std::fmt::Display for NoRoots {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("this machine has no root certificates")
    }
}

impl std::error::Error for NoRoots {}

/// The endpoints out there.
pub struct Endpoints {
    resolver: Arc<dyn ResolveName>,
    rule: AddressRule,
    tls: TlsConnector,
}

impl Endpoints {
    /// With this machine's root certificates.
    ///
    /// # Errors
    /// If it has none.
    pub fn new(resolver: Arc<dyn ResolveName>, rule: AddressRule) -> Result<Self, NoRoots> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() { Err(NoRoots) } else { Self::trusting(resolver, rule, roots) }
    }

    /// With these root certificates.
    ///
    /// # Errors
    /// If TLS cannot be set up with what it was built with.
    pub fn trusting(resolver: Arc<dyn ResolveName>, rule: AddressRule, roots: RootCertStore) -> Result<Self, NoRoots> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|_| NoRoots)?.with_root_certificates(roots).with_no_client_auth();
        Ok(Self { resolver, rule, tls: TlsConnector::from(Arc::new(config)) })
    }

    /// Those addresses of the endpoint that may be called, as they are now. What is connected to later is one of them and
    /// not what the name may mean by then.
    async fn addresses(&self, url: &WebhookUrl) -> Result<Vec<IpAddr>, CallError> {
        if !self.rule.admits_url(url) {
            return Err(CallError::AddressForbidden);
        }
        let all = match url.address() {
            Some(address) => vec![address],
            None => self.resolver.resolve(&url.host()).await.map_err(|_| CallError::CouldNotResolve)?,
        };
        if all.is_empty() {
            return Err(CallError::CouldNotResolve);
        }
        let mut admitted: Vec<IpAddr> = all.into_iter().filter(|address| self.rule.admits(*address)).collect();
        if admitted.is_empty() {
            return Err(CallError::AddressForbidden);
        }
        // Lambda outside a VPC reaches no IPv6.
        admitted.sort_by_key(IpAddr::is_ipv6);
        admitted.truncate(ADDRESSES);
        Ok(admitted)
    }

    async fn connect(&self, url: &WebhookUrl, end: Instant) -> Result<TcpStream, CallError> {
        let addresses = timeout_at(end, self.addresses(url)).await.map_err(|_| CallError::TimedOut)??;
        let mut error = CallError::CouldNotConnect;
        for (index, address) in addresses.iter().enumerate() {
            let others = u32::try_from(addresses.len() - index).unwrap_or(1);
            let share = end.saturating_duration_since(Instant::now()) / others;
            error = match timeout(share, TcpStream::connect(SocketAddr::new(*address, url.port()))).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(_)) => CallError::CouldNotConnect,
                Err(_) => CallError::TimedOut,
            };
        }
        Err(error)
    }

    async fn exchange(&self, call: &EndpointCall<'_>, connected_by: Instant) -> Result<AttemptEnd, CallError> {
        let stream = self.connect(call.url, connected_by).await?;
        if !call.url.is_https() {
            return send(stream, call).await;
        }
        let name = ServerName::try_from(call.url.host()).map_err(|_| CallError::TlsFailed)?;
        let secured = timeout_at(connected_by, self.tls.connect(name, stream)).await;
        let stream = secured.map_err(|_| CallError::TimedOut)?.map_err(|_| CallError::TlsFailed)?;
        send(stream, call).await
    }
}

#[async_trait]
impl CallEndpoint for Endpoints {
    async fn call(&self, call: EndpointCall<'_>) -> AttemptEnd {
        let exchange = self.exchange(&call, Instant::now() + CONNECT_TIMEOUT);
        match timeout(CALL_TIMEOUT, exchange).await {
            Ok(Ok(end)) => end,
            Ok(Err(error)) => AttemptEnd::Unanswered { error },
            Err(_) => AttemptEnd::Unanswered { error: CallError::TimedOut },
        }
    }
}

async fn send<S>(stream: S, call: &EndpointCall<'_>) -> Result<AttemptEnd, CallError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let lost = |_: hyper::Error| CallError::ConnectionLost;
    let mut builder = http1::Builder::new();
    let handshake = builder.max_buf_size(MAX_HEAD).handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(lost)?;
    let mut request = Request::post(call.url.path_and_query())
        .header(HOST, call.url.authority())
        .header(USER_AGENT, AGENT)
        .header(CONTENT_TYPE, "application/json");
    for (name, value) in &call.headers {
        request = request.header(*name, value);
    }
    let body = Full::new(Bytes::copy_from_slice(call.body.as_bytes()));
    let request = request.body(body).map_err(|_| CallError::ConnectionLost)?;
    let answered = async {
        let response = sender.send_request(request).await.map_err(lost)?;
        Ok(read(response).await)
    };
    tokio::pin!(answered);
    // The connection moves only while it is polled, and ends with this call.
    tokio::select! {
        end = &mut answered => end,
        _ = connection => answered.await,
    }
}

/// Status and beginning of an answer. The status decides; a body that does not come changes nothing.
async fn read(response: Response<Incoming>) -> AttemptEnd {
    let (status, mut body) = (response.status().as_u16(), response.into_body());
    let mut start = Vec::new();
    let reading = async {
        while start.len() < MAX_RESPONSE_START
            && let Some(Ok(frame)) = body.frame().await
        {
            if let Some(data) = frame.data_ref() {
                let wanted = data.len().min(MAX_RESPONSE_START - start.len());
                start.extend_from_slice(&data[..wanted]);
            }
        }
    };
    timeout(BODY_TIMEOUT, reading).await.ok();
    AttemptEnd::answered(status, &start)
}
