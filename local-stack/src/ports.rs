//! Which ports the stack takes, and what to say when one is taken.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Result, bail};
use tokio::net::TcpListener;

/// The stack's ports; 0 means any free one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// The page.
    pub page: u16,
    /// The API.
    pub api: u16,
    /// The inbox's page.
    pub inbox: u16,
    /// The mail server.
    pub smtp: u16,
    /// The local AWS.
    pub emulator: u16,
}

impl Ports {
    /// Any free ports, so that several stacks run side by side.
    #[must_use]
    pub fn free() -> Self {
        Self { page: 0, api: 0, inbox: 0, smtp: 0, emulator: 0 }
    }
}

impl Default for Ports {
    fn default() -> Self {
        Self { page: 8081, api: 8080, inbox: 8025, smtp: 1025, emulator: 4566 }
    }
}

/// Ports the stack serves itself are taken before anything slow begins, so that a busy one is reported
/// at once and nobody takes it meanwhile.
pub(crate) struct Listeners {
    pub(crate) page: TcpListener,
    pub(crate) api: TcpListener,
    pub(crate) inbox: TcpListener,
    pub(crate) smtp: TcpListener,
    /// Only kept from others: the emulator opens it itself, once this is dropped.
    pub(crate) emulator: TcpListener,
}

impl Listeners {
    pub(crate) async fn bind(ports: Ports) -> Result<Self> {
        Ok(Self {
            page: listen(ports.page, "the page", "--page-port").await?,
            api: listen(ports.api, "the API", "--api-port").await?,
            inbox: listen(ports.inbox, "the inbox", "--inbox-port").await?,
            smtp: listen(ports.smtp, "the mail server", "--smtp-port").await?,
            emulator: listen(ports.emulator, "the local AWS", "--emulator-port").await?,
        })
    }
}

async fn listen(port: u16, purpose: &str, option: &str) -> Result<TcpListener> {
    if port == 0 {
        return listen_anywhere().await;
    }
    match TcpListener::bind(loopback(port)).await {
        Ok(listener) => Ok(listener),
        Err(error) => bail!(
            "port {port}, for {purpose}, cannot be opened ({error}): stop the program that has it, \
             or choose another port with {option}"
        ),
    }
}

/// A free port below the range from which systems lend ports to outgoing connections: the mail server
/// and the emulator close theirs and open it again, and meanwhile it must not be lent.
async fn listen_anywhere() -> Result<TcpListener> {
    for _ in 0..100 {
        if let Ok(listener) = TcpListener::bind(loopback(fastrand::u16(10_000..30_000))).await {
            return Ok(listener);
        }
    }
    bail!("no free port found on 127.0.0.1");
}

fn loopback(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

pub(crate) fn http(listener: &TcpListener) -> Result<String> {
    Ok(format!("http://{}", listener.local_addr()?))
}
