//! From names to addresses.

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;

/// Looks names up. Tests have names of their own.
#[async_trait]
pub trait ResolveName: Send + Sync {
    /// All addresses of this name.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's resolver.
#[derive(Clone, Copy, Debug)]
pub struct SystemResolver;

#[async_trait]
impl ResolveName for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // The port is of no meaning, but the call wants one.
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}
