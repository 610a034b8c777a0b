//! An endpoint of a webhook that takes everything at once.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use http::StatusCode;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// An endpoint on 127.0.0.1. Ends with this value.
pub struct Endpoint {
    address: SocketAddr,
    calls: Arc<AtomicUsize>,
    server: JoinHandle<()>,
}

impl Endpoint {
    /// Listens on a free port.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no free port")?;
        let address = listener.local_addr()?;
        let calls: Arc<AtomicUsize> = Arc::default();
        let routes = Router::new().fallback(take).with_state(calls.clone());
        let server = tokio::spawn(async move {
            axum::serve(listener, routes).await.ok();
        });
        Ok(Self { address, calls, server })
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Forgets the calls so far and returns how many there were.
    pub fn take_calls(&self) -> usize {
        self.calls.swap(0, Ordering::SeqCst)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn take(State(calls): State<Arc<AtomicUsize>>, _: Bytes) -> StatusCode {
    calls.fetch_add(1, Ordering::SeqCst);
    StatusCode::NO_CONTENT
}
